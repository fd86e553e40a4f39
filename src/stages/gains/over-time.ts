/** Gains between the times at which they were solved: linear in amplitude and in phase, the shorter way round. */
import { gainsCA, type GainsCA } from '../../core/axes.js';
import { secondsBetween, type Instant } from '../../core/instant.js';
import { crossHandKnown, type GainsAt, type GainsFile } from '../../formats/index.js';
import type { CalibratedFully } from '../sky-image.js';

/** Where a gain is known; gains of solves that were given up are not used. */
export function usable({ polarisations, frequenciesHz }: GainsFile, at: GainsAt): CalibratedFully {
  const { gains, leakage, solved, solutions } = at;
  const inputs = solved.length / frequenciesHz.length;
  const known = solved.slice();
  for (const { channel, polarisation, converged, residual } of solutions) {
    if (converged || Number.isNaN(residual)) continue;
    for (let a = polarisation; a < inputs; a += polarisations) known[channel * inputs + a] = 0;
  }
  return {
    gains,
    solved: known,
    crossHands: crossHandKnown(at, frequenciesHz.length),
    ...(leakage && { leakage }),
  };
}

/** Constant before the first and after the last. An input that either neighbour lacks has none. */
export function gainsAtMoment(file: GainsFile, moment: Instant): CalibratedFully {
  const series = [file, ...(file.later ?? [])];
  const next = series.findIndex(({ time }) => secondsBetween(moment, time) > 0);
  if (next === 0) return usable(file, file);
  const last = series.at(next < 0 ? -1 : next - 1) ?? file;
  const before = usable(file, last);
  if (next < 0) return before;
  const after = usable(file, series[next]);
  const share = secondsBetween(last.time, moment) / secondsBetween(last.time, series[next].time);
  // At the time of a solution it is that one, whatever follows.
  if (share === 0) return before;
  const solved = before.solved.map((one, at) => one & after.solved[at]);
  const inputs = file.stations.length * file.polarisations;
  const crossHands = before.crossHands.map((one, c) => one & after.crossHands[c]);
  const columns = file.polarisations;
  // turns : [c][p], of all stations at once: X and Y together where they have one phase, else each its own.
  const turns = Array.from(crossHands).flatMap((known, c) =>
    Array.from({ length: columns }, (_, p) =>
      commonTurn(before, after, { c, inputs, columns, of: known === 1 ? [0, 1] : [p] }),
    ),
  );
  /** `other` is 1 where values belong to the other polarisation's column, as leakage does. */
  const between = (from: Float64Array, to: Float64Array, other: 0 | 1): GainsCA => {
    const made = new Float64Array(from.length).fill(Number.NaN);
    solved.forEach((isSolved, at) => {
      if (isSolved === 0) return;
      const column = Math.floor(at / inputs) * columns + (((at % columns) + other) % columns);
      made.set(drawn(from, to, 2 * at, { share, common: turns[column] }), 2 * at);
    });
    return gainsCA(made, file.frequenciesHz.length, inputs);
  };
  return {
    gains: between(before.gains, after.gains, 0),
    solved,
    crossHands,
    ...(before.leakage && after.leakage && { leakage: between(before.leakage, after.leakage, 1) }),
  };
}

interface Way {
  readonly share: number;
  /** The common phase change. */
  readonly common: number;
}

/**
 * A complex number between two, linear in amplitude and in phase. The shorter way is relative to the common phase: all
 * stations together may have rotated by half a turn, and all of them must go the same way round.
 */
function drawn(from: Float64Array, to: Float64Array, at: number, { share, common }: Way): [number, number] {
  const [re, im, toRe, toIm] = [from[at], from[at + 1], to[at], to[at + 1]];
  const size = (1 - share) * Math.hypot(re, im) + share * Math.hypot(toRe, toIm);
  const turn = Math.atan2(toIm * re - toRe * im, toRe * re + toIm * im) - common;
  const own = turn - 2 * Math.PI * Math.round(turn / (2 * Math.PI));
  const phase = Math.atan2(im, re) + share * (common + own);
  return [size * Math.cos(phase), size * Math.sin(phase)];
}

type Solved = Pick<CalibratedFully, 'gains' | 'solved'>;

interface TurnOf {
  readonly c: number;
  /** Per channel, and per station. */
  readonly inputs: number;
  readonly columns: number;
  /** Those that share a phase. */
  readonly of: readonly number[];
}

/**
 * The phase common to all gains that changes from one solution to another, which visibilities do not constrain: the mean
 * direction of the phase changes of inputs that both have, equally weighted; 0
 * where they share none.
 */
export function commonTurn(from: Solved, to: Solved, { c, inputs, columns, of }: TurnOf): number {
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
