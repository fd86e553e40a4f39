/** Seeded spectra for the shared cases. */
import { allocateSpectra, type SpectraCAT, type SpectraType } from '../core/axes.js';
import { packNibbles } from '../core/nibbles.js';
import { randomStream, type RandomStream } from '../core/random.js';
import type { CorrelationResult } from './correlator.js';
import type { CorrelatePlan } from './plan.js';

const evenly = (stream: RandomStream, rail: number): number => stream.below(2 * rail + 1) - rail;
const corner = (stream: RandomStream, rail: number): number => (stream.below(2) === 0 ? rail : -rail);

const randomElement = {
  ci8: (stream) => evenly(stream, 127),
  ci4: (stream) => packNibbles(evenly(stream, 7), evenly(stream, 7)),
  cf32: (stream) => stream.gaussian(),
} satisfies Record<SpectraType, (stream: RandomStream) => number>;

const fullScaleElement = {
  ci8: (stream) => corner(stream, 127),
  ci4: (stream) => packNibbles(corner(stream, 7), corner(stream, 7)),
  cf32: (stream) => corner(stream, 1),
} satisfies Record<SpectraType, (stream: RandomStream) => number>;

function filled(plan: CorrelatePlan, samples: number, element: () => number): SpectraCAT {
  const spectra = allocateSpectra(plan.type, plan.channels, plan.inputs, samples);
  for (let n = 0; n < spectra.length; n++) spectra[n] = element();
  return spectra;
}

/** Every allowed value, evenly; normal deviates for floats. */
export const randomSpectra = (plan: CorrelatePlan, samples: number, stream: RandomStream): SpectraCAT =>
  filled(plan, samples, () => randomElement[plan.type](stream));

/** Each part at one rail or the other. */
export const fullScaleSpectra = (plan: CorrelatePlan, samples: number, stream: RandomStream): SpectraCAT =>
  filled(plan, samples, () => fullScaleElement[plan.type](stream));

/** The content of a block before the data: large, and unlike them. */
export const garbage = (plan: CorrelatePlan, samples: number): SpectraCAT =>
  fullScaleSpectra(plan, samples, randomStream(666, 'garbage'));

/** The caller owns a returned array: changes to it must not affect later results. */
export function poison({ visibilities, counts }: CorrelationResult): void {
  visibilities.fill(12345.678);
  counts.fill(-9876.5);
}
