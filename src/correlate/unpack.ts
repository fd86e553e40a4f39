/** From stored spectra to numbers, and the constraints on stored spectra. */
import { elementsPerSpectra, type SpectraElements, type SpectraType } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import { highNibble, lowNibble } from '../core/nibbles.js';
import type { CorrelatePlan } from './plan.js';

/** Unpacks `length` samples from complex index `from` into re and im, starting at `to`. */
type UnpackRow = (
  spectra: SpectraElements,
  from: number,
  length: number,
  re: Float64Array,
  im: Float64Array,
  to: number,
) => void;

const unpackPairs: UnpackRow = (spectra, from, length, re, im, to) => {
  for (let t = 0; t < length; t++) {
    re[to + t] = spectra[2 * (from + t)];
    im[to + t] = spectra[2 * (from + t) + 1];
  }
};

export const unpackRow = {
  ci8: unpackPairs,
  cf32: unpackPairs,
  ci4: (spectra, from, length, re, im, to) => {
    for (let t = 0; t < length; t++) {
      re[to + t] = highNibble(spectra[from + t]);
      im[to + t] = lowNibble(spectra[from + t]);
    }
  },
} satisfies Record<SpectraType, UnpackRow>;

interface Contract {
  readonly broken: (element: number) => boolean;
  readonly what: string;
  readonly fix: string;
}
const contracts = {
  ci8: { broken: (x) => x === -128, what: 'holds −128', fix: 'parts run from −127 to 127' },
  ci4: {
    broken: (x) => (x & 0xf0) === 0x80 || (x & 0x0f) === 0x08,
    what: 'holds −8',
    fix: 'parts run from −7 to 7',
  },
  // x − x is 0 for every finite number and NaN for the others
  cf32: {
    broken: (x) => x - x !== 0,
    what: 'is not a finite number',
    fix: 'flag the input or mark a gap and write zeros',
  },
} satisfies Record<SpectraType, Contract>;

/** The error for a value outside its type's range. */
export function refuseValue(
  type: SpectraType,
  at: { readonly channel: number; readonly input: number; readonly sample: number },
): never {
  const { what, fix } = contracts[type];
  refuse('correlate', `channel ${at.channel}, input ${at.input}, sample ${at.sample} ${what}`, fix);
}

/**
 * Refuses values outside the allowed range (docs/conventions.md, Numbers), with their place; flagged inputs may have
 * any values.
 */
export function checkSpectra(plan: CorrelatePlan, spectra: SpectraElements, samples: number): void {
  const { channels, inputs, type } = plan;
  const { broken } = contracts[type];
  const elements = elementsPerSpectra(type);
  for (let row = 0; row < channels * inputs; row++) {
    const input = row % inputs;
    if (plan.flaggedInputs[input] === 1) continue;
    for (let n = row * samples * elements; n < (row + 1) * samples * elements; n++) {
      if (!broken(spectra[n])) continue;
      const sample = Math.floor(n / elements) - row * samples;
      refuseValue(type, { channel: Math.floor(row / inputs), input, sample });
    }
  }
}
