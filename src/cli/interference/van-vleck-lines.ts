/** What became of the bias of rounding: asked for, and told afterwards. */
import { refuse } from '../../core/errors.js';
import { message, type Message } from '../../messages/index.js';
import type { RequestedVanVleck, VanVleckTally } from '../../stages/index.js';

export interface VanVleckWork {
  /** Empty where nothing was asked for: spread it into settings. */
  readonly asked: { readonly vanVleck?: RequestedVanVleck };
  /** Of one or two recorded bits the recorder's own rounding, before the filter, weighs more, and is not corrected. */
  readonly history: (recordedBits: number | undefined) => string[];
  readonly lines: (recordedBits: number | undefined) => Message[];
  readonly facts: () => { readonly vanVleck?: Readonly<VanVleckTally> };
}

export interface VanVleckOptions {
  readonly vanVleck?: true;
}

const ownBits = (recordedBits: number | undefined): string[] =>
  recordedBits !== undefined && recordedBits <= 2
    ? [
        `the recording's own rounding to ${recordedBits === 1 ? 'one bit' : 'two bits'}, which weakens correlations by ${recordedBits === 1 ? 36 : 12} %, is not corrected`,
      ]
    : [];

const totalOf = (made: readonly Readonly<VanVleckTally>[]): VanVleckTally =>
  made.reduce((sum, one) => ({ corrected: sum.corrected + one.corrected, left: sum.left + one.left }), {
    corrected: 0,
    left: 0,
  });

/** What the correction could not do. */
export const vanVleckLines = (
  { left, corrected }: Readonly<VanVleckTally>,
  recordedBits: number | undefined,
): Message[] => [
  ...(left > 0 ? [message('van-vleck.not-corrected', { products: left, of: left + corrected })] : []),
  ...(recordedBits !== undefined && recordedBits <= 2
    ? [message('van-vleck.recorder', { bits: recordedBits })]
    : []),
];

export function vanVleckWork({
  vanVleck,
  values,
}: VanVleckOptions & { readonly values: 'means' | 'sums' }): VanVleckWork {
  if (vanVleck !== true) return { asked: {}, history: () => [], lines: () => [], facts: () => ({}) };
  if (values === 'sums')
    refuse('--van-vleck', 'sums are whole numbers as they were summed', 'take means, or leave it out');
  /** One for each stream epoch. */
  const made: Readonly<VanVleckTally>[] = [];
  return {
    asked: {
      vanVleck: {
        onPlan: (tally) => {
          made.push(tally);
        },
      },
    },
    history: (recordedBits) => [
      [
        'quantisation corrected: powers and correlations as before rounding (van Vleck)',
        ...ownBits(recordedBits),
      ].join('; '),
    ],
    lines: (recordedBits) => vanVleckLines(totalOf(made), recordedBits),
    facts: () => (made.length > 0 ? { vanVleck: totalOf(made) } : {}),
  };
}

/** Of a live run: one tally for each stream epoch. */
export function liveVanVleck(
  tallies: readonly Readonly<VanVleckTally>[],
  recordedBits: number | undefined,
): { readonly lines: readonly Message[]; readonly facts: { readonly vanVleck?: Readonly<VanVleckTally> } } {
  const total = totalOf(tallies);
  return tallies.length === 0
    ? { lines: [], facts: {} }
    : { lines: vanVleckLines(total, recordedBits), facts: { vanVleck: total } };
}
