/** The phase common to all gains that changes from one solution to another, which visibilities do not constrain. */

interface GainsOfTime {
  readonly gains: Float64Array;
  /** solved : [c][a] */
  readonly solved: Uint8Array;
}

interface TurnOf {
  readonly c: number;
  /** Per channel, and per station. */
  readonly inputs: number;
  readonly columns: number;
  /** Those that share a phase. */
  readonly of: readonly number[];
}

/** The mean direction of the phase changes of inputs that both have, equally weighted; 0 where they share none. */
export function commonTurn(from: GainsOfTime, to: GainsOfTime, { c, inputs, columns, of }: TurnOf): number {
  let [sumRe, sumIm] = [0, 0];
  for (let s = c * inputs; s < (c + 1) * inputs; s += columns) {
    for (const p of of) {
      const at = s + p;
      if (p >= columns || from.solved[at] * to.solved[at] === 0) continue;
      const [re, im] = [from.gains[2 * at], from.gains[2 * at + 1]];
      const [toRe, toIm] = [to.gains[2 * at], to.gains[2 * at + 1]];
      const size = Math.hypot(re, im) * Math.hypot(toRe, toIm);
      sumRe += (toRe * re + toIm * im) / size;
      sumIm += (toIm * re - toRe * im) / size;
    }
  }
  return Math.atan2(sumIm, sumRe);
}
