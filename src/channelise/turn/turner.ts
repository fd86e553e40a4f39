/** Phase rotation of channelised data by delays. */
import type { SpectraBlock } from '../../core/blocks.js';
import type { Closable } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import type { DelayModel } from '../../delay/index.js';
import type { TurningPlan } from './plan.js';

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
