/** The van Vleck correction: its request and its result. */
import { present } from '../../core/present.js';
import { message, type Message } from '../../messages/index.js';
import type { VanVleckTally } from '../../stages/index.js';

const totalOf = (made: readonly Readonly<VanVleckTally>[]): VanVleckTally =>
  made.reduce((sum, one) => ({ corrected: sum.corrected + one.corrected, left: sum.left + one.left }), {
    corrected: 0,
    left: 0,
  });

/** What the correction could not do. */
export const vanVleckLines = (
  { left, corrected }: Readonly<VanVleckTally>,
  recordedBits: number | undefined,
): Message[] =>
  present(
    left > 0 && message('van-vleck.not-corrected', { products: left, of: left + corrected }),
    recordedBits !== undefined && recordedBits <= 2 && message('van-vleck.recorder', { bits: recordedBits }),
  );

/** For a live run: one tally per stream epoch. */
export function liveVanVleck(
  tallies: readonly Readonly<VanVleckTally>[],
  recordedBits: number | undefined,
): { readonly lines: readonly Message[]; readonly facts: { readonly vanVleck?: Readonly<VanVleckTally> } } {
  const total = totalOf(tallies);
  return tallies.length === 0
    ? { lines: [], facts: {} }
    : { lines: vanVleckLines(total, recordedBits), facts: { vanVleck: total } };
}
