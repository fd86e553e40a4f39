/** The plan of a phase rotation of channelised spectra, before any data. */
import type { SpectraType } from '../../core/axes.js';
import { realNumber, refuse, wholeNumber } from '../../core/errors.js';

/** Spectra that were channelised elsewhere. */
export interface TurningOptions {
  readonly type: SpectraType;
  readonly channels: number;
  readonly inputs: number;
  /** A tick of the delays' clock is a spectrum. */
  readonly spectrumRateHz: number;
  /** [c], the middle of each channel on the sky. */
  readonly frequenciesHz: Float64Array;
}

/** The same, checked. */
export type TurningPlan = TurningOptions;

/** Checks the spectra to be rotated; independent of the machine. */
export function planTurning(options: TurningOptions): TurningPlan {
  const { type, frequenciesHz } = options;
  const channels = wholeNumber('turning', 'channels', options.channels, 1, 2 ** 20);
  if (frequenciesHz.length !== channels)
    refuse('turning', `${frequenciesHz.length} frequencies for ${channels} channels`, 'give one for each');
  const without = frequenciesHz.findIndex((frequencyHz) => !Number.isFinite(frequencyHz));
  if (without >= 0)
    refuse('turning', `channel ${without} is at ${frequenciesHz[without]} Hz`, 'give a number');
  return {
    type,
    channels,
    inputs: wholeNumber('turning', 'inputs', options.inputs, 1, 2 ** 16),
    spectrumRateHz: realNumber('turning', 'spectrumRateHz', options.spectrumRateHz, 1e-9, 1e12),
    frequenciesHz: frequenciesHz.slice(),
  };
}
