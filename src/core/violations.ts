/** Stored values outside the range of docs/conventions.md, Numbers: −128, −8, not finite. */
import { elementsPerSpectra, type SpectraElements, type SpectraType } from './axes.js';
import type { SpectraShape } from './blocks.js';

export interface SpectraViolation {
  readonly channel: number;
  readonly input: number;
  readonly sample: number;
}

const broken = {
  ci8: (x) => x === -128,
  ci4: (x) => (x & 0xf0) === 0x80 || (x & 0x0f) === 0x08,
  // x − x is 0 for every finite number and NaN for the others.
  cf32: (x) => x - x !== 0,
} satisfies Record<SpectraType, (element: number) => boolean>;

/** The first of each row. spectra : [c][a][t] */
export function* violationsIn(
  spectra: SpectraElements,
  { type, channels, inputs }: Pick<SpectraShape, 'type' | 'channels' | 'inputs'>,
  samples: number,
): Generator<SpectraViolation> {
  const isBroken = broken[type];
  const elements = elementsPerSpectra(type);
  const rowElements = samples * elements;
  for (let row = 0; row < channels * inputs; row++) {
    const end = (row + 1) * rowElements;
    let n = row * rowElements;
    while (n < end && !isBroken(spectra[n])) n++;
    if (n === end) continue;
    const sample = Math.floor(n / elements) - row * samples;
    yield { channel: Math.floor(row / inputs), input: row % inputs, sample };
  }
}
