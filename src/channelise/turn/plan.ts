/** The plan of a phase rotation of channelised spectra by delays, before any data. */
import type { SpectraType } from '../../core/axes.js';
import type { SpectraBlock } from '../../core/blocks.js';
import type { Closable } from '../../core/closing.js';
import { realNumber, refuse, wholeNumber } from '../../core/errors.js';
import type { DelayModel } from '../../delay/index.js';

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

/** Rotates blocks of spectra on a backend. */
export interface Turner extends Closable {
  /**
   * Rotates the spectra of a block, the first of them number `first` of its source, each at its own middle, into `out`,
   * which has floats. Gaps are copied.
   */
  run(given: SpectraBlock, out: SpectraBlock, delayModel: DelayModel, first: number): Promise<void>;
}

/** Both blocks must fit the plan. */
export function checkTurning(
  { type, channels, inputs }: TurningPlan,
  given: SpectraBlock,
  out: SpectraBlock,
): void {
  for (const [block, wanted] of [[given, type] as const, [out, 'cf32'] as const]) {
    const { shape } = block;
    if (shape.type !== wanted || shape.channels !== channels || shape.inputs !== inputs) {
      refuse(
        'turning',
        `a block of ${shape.channels} channels and ${shape.inputs} inputs as ${shape.type} where ` +
          `${channels} and ${inputs} as ${wanted} were planned`,
        'allocate blocks as the plan has them',
      );
    }
  }
  if (given.samples > out.shape.capacity)
    refuse(
      'turning',
      `${given.samples} spectra for a block of ${out.shape.capacity}`,
      'allocate a larger one',
    );
}
