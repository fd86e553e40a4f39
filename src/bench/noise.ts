/** Blocks to time kernels with: noise, since zeros run faster than real data. */
import type { Backend } from '../backend/backend.js';
import {
  allocateSpectra,
  allocateVoltages,
  baselineCount,
  countsCB,
  visibilitiesCBPP,
  type SpectraCAT,
  type SpectraElements,
} from '../core/axes.js';
import type { Integration, SpectraBlock, SpectraShape, VoltageBlock } from '../core/blocks.js';
import type { Closers } from '../core/closing.js';
import { instant } from '../core/instant.js';
import { randomStream } from '../core/random.js';

/** Repeats some thousand numbers, a prime so that inputs differ: the kernels' time does not depend on it. */
function repeat(to: SpectraElements, next: () => number): void {
  const noise = Array.from({ length: 8191 }, next);
  for (let at = 0; at < to.length; at += noise.length) {
    const left = to.length - at;
    to.set(left < noise.length ? noise.slice(0, left) : noise, at);
  }
}

export function fillWithNoise(bytes: Int8Array, most: number): void {
  const random = randomStream(1, 'noise to time with');
  repeat(bytes, () => random.below(2 * most + 1) - most);
}

/** Whole numbers over the full range of 4 or 8 bits, as floats too. */
export function fillSpectra(spectra: SpectraElements): void {
  const random = randomStream(2, 'spectra to time with');
  const nibble = (): number => (random.below(15) - 7) & 15;
  const isPacked = spectra instanceof Uint8Array;
  repeat(spectra, () => (isPacked ? (nibble() << 4) | nibble() : random.below(255) - 127));
}

export const spectraType = (bits: 4 | 8): 'ci4' | 'ci8' => (bits === 4 ? 'ci4' : 'ci8');

/** A full block, and the spectra that it was filled with. */
export async function noiseSpectra(
  backend: Backend,
  shape: SpectraShape,
  closers: Closers,
): Promise<{ readonly block: SpectraBlock; readonly spectra: SpectraCAT }> {
  const { type, channels, inputs, capacity } = shape;
  const spectra = allocateSpectra(type, channels, inputs, capacity);
  fillSpectra(spectra);
  const block = closers.keep(backend.allocateSpectra(shape));
  await block.write(spectra, capacity);
  return { block, spectra };
}

export function noiseVoltages(inputs: number, samples: number): VoltageBlock {
  const voltages = allocateVoltages('ci8', inputs, samples);
  if (voltages instanceof Int8Array) fillWithNoise(voltages, 60);
  return { type: 'ci8', inputs, samples, voltages, gaps: [], start: instant(0) };
}

/** An integration of a second. */
export function noiseIntegration(stations: number, polarisations: 1 | 2, channels: number): Integration {
  const baselines = baselineCount(stations);
  const random = randomStream(3, 'visibilities');
  const values = new Float64Array(2 * channels * baselines * polarisations ** 2);
  random.addGaussians(values, 1);
  return {
    start: instant(0),
    durationS: 1,
    channels,
    stations,
    polarisations,
    visibilities: visibilitiesCBPP(values, channels, baselines, polarisations),
    counts: countsCB(new Float64Array(channels * baselines).fill(1000), channels, baselines),
    flaggedInputs: new Uint8Array(stations * polarisations),
  };
}
