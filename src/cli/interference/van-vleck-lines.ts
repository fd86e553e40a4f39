/** What became of the bias of rounding: asked for, and told afterwards. */
import { refuse } from '../../core/errors.js';
import type { RequestedVanVleck, VanVleckTally } from '../../pipeline/stages/van-vleck.js';

export interface VanVleckWork {
  /** Empty where nothing was asked for: spread it into settings. */
  readonly asked: { readonly vanVleck?: RequestedVanVleck };
  readonly history: readonly string[];
  readonly lines: () => string[];
  readonly facts: () => { readonly vanVleck?: Readonly<VanVleckTally> };
}

/** `recordedBits`: of one or two the recorder's own rounding, before the filter, weighs more, and is not corrected. */
export function vanVleckWork(
  { vanVleck, values }: { readonly vanVleck?: true; readonly values: 'means' | 'sums' },
  recordedBits: number | undefined,
): VanVleckWork {
  if (vanVleck !== true) return { asked: {}, history: [], lines: () => [], facts: () => ({}) };
  if (values === 'sums')
    refuse('--van-vleck', 'sums are whole numbers as they were summed', 'take means, or leave it out');
  const ownBits =
    recordedBits !== undefined && recordedBits <= 2
      ? `the recording's own rounding to ${recordedBits === 1 ? 'one bit' : 'two bits'}, which weakens correlations by ${recordedBits === 1 ? 36 : 12} %, is not corrected`
      : undefined;
  let tally: Readonly<VanVleckTally> | undefined;
  return {
    asked: {
      vanVleck: {
        onPlan: (made) => {
          tally = made;
        },
      },
    },
    history: [
      `quantisation corrected: powers and correlations as before rounding (van Vleck)${ownBits === undefined ? '' : `; ${ownBits}`}`,
    ],
    lines: () => [
      ...(tally && tally.left > 0
        ? [
            `${tally.left} of ${tally.left + tally.corrected} products were left as they are: their inputs are too weak or too strong to tell what rounding did`,
          ]
        : []),
      ...(ownBits === undefined ? [] : [`--van-vleck: ${ownBits}`]),
    ],
    facts: () => (tally ? { vanVleck: tally } : {}),
  };
}
