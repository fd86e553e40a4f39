/** From stored spectra to numbers, and the constraints on stored spectra. */
import type { SpectraElements, SpectraType } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import { highNibble, lowNibble } from '../core/nibbles.js';
import { violationsIn, type SpectraViolation } from '../core/violations.js';
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

const contracts = {
  ci8: { what: 'holds −128', fix: 'parts run from −127 to 127' },
  ci4: { what: 'holds −8', fix: 'parts run from −7 to 7' },
  cf32: { what: 'is not a finite number', fix: 'flag the input or mark a gap and write zeros' },
} satisfies Record<SpectraType, Readonly<Record<'what' | 'fix', string>>>;

/** The error for a value outside its type's range. */
export function refuseValue(type: SpectraType, { channel, input, sample }: SpectraViolation): never {
  const { what, fix } = contracts[type];
  refuse('correlate', `channel ${channel}, input ${input}, sample ${sample} ${what}`, fix);
}

/**
 * Refuses values outside the allowed range (docs/conventions.md, Numbers), with their place; flagged inputs may have
 * any values.
 */
export function checkSpectra(plan: CorrelatePlan, spectra: SpectraElements, samples: number): void {
  for (const violation of violationsIn(spectra, plan, samples))
    if (plan.flaggedInputs[violation.input] === 0) refuseValue(plan.type, violation);
}
