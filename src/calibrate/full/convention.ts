/**
 * Where the data leave a common U open (common.ts), a convention chooses it: the least leakage over all stations, and,
 * if still open, the reference's Y real and positive. The overall phase makes the reference's X real and positive.
 */
import { eigenSymmetric } from '../../core/eigen.js';
import { timesMatrix } from '../../core/jones.js';
import { turnAll } from './common.js';
import type { FullBatch } from './plan.js';

/** Leakage converges quadratically: few steps are needed. */
const STEPS = 30;

export function fixConvention(
  batch: FullBatch,
  solve: number,
  open: readonly Float64Array[],
  reference: number,
): void {
  if (open.length > 0) {
    for (let n = 0; n < STEPS; n++) if (leastLeakage(batch, solve, open) < 1e-14) break;
    // diag(−i, i): opposite phases of X and Y, where nothing fixes them.
    const apart = Float64Array.of(0, -Math.SQRT1_2, 0, 0, 0, 0, 0, Math.SQRT1_2);
    const within = open.reduce((sum, u) => sum + u.reduce((dot, x, k) => dot + x * apart[k], 0) ** 2, 0);
    if (within > 1 - 1e-6) turnColumns(batch, solve, [phaseOf(batch, solve, reference, 0), phaseOf(batch, solve, reference, 6)]); // prettier-ignore
  }
  const phase = phaseOf(batch, solve, reference, 0);
  turnColumns(batch, solve, [phase, phase]);
}

/** The phase of an element of a station's matrix. */
const phaseOf = ({ gains, stations }: FullBatch, solve: number, s: number, element: number): number => {
  const at = 8 * (solve * stations + s) + element;
  return Math.atan2(gains[at + 1], gains[at]);
};

/** The columns of every station rotated back by these phases. */
function turnColumns(batch: FullBatch, solve: number, [x, y]: readonly [number, number]): void {
  const common = Float64Array.of(Math.cos(x), -Math.sin(x), 0, 0, 0, 0, Math.cos(y), -Math.sin(y));
  turnAll(batch, solve, common);
}

/** One Gauss–Newton step along the open modes towards the least Σ |G_01|² + |G_10|²; returns its size. */
function leastLeakage(batch: FullBatch, solve: number, open: readonly Float64Array[]): number {
  const { gains, stations } = batch;
  const size = open.length;
  const normal = new Float64Array(size * size);
  const right = new Float64Array(size);
  for (let at = 8 * solve * stations; at < 8 * (solve + 1) * stations; at += 8) {
    const own = gains.subarray(at, at + 8);
    const moved = open.map((u) => timesMatrix(own, u));
    for (let m = 0; m < size; m++) {
      for (let n = 2; n < 6; n++) right[m] -= moved[m][n] * own[n];
      for (let k = 0; k < size; k++)
        for (let n = 2; n < 6; n++) normal[m * size + k] += moved[m][n] * moved[k][n];
    }
  }
  const { values, vectors } = eigenSymmetric(normal, size);
  const stiffest = Math.max(...values);
  const u = new Float64Array(8);
  values.forEach((value, m) => {
    // Opposite phases of X and Y, which leakage hardly determines, are not changed.
    if (!(value > 0.2 * stiffest)) return;
    const along = vectors[m].reduce((sum, x, k) => sum + x * right[k], 0) / value;
    vectors[m].forEach((x, k) => {
      open[k].forEach((y, n) => (u[n] += along * x * y));
    });
  });
  const length = Math.hypot(...u);
  turnAll(batch, solve, exponential(u.map((value) => value * Math.min(1, 0.3 / length))));
  return length;
}

/** 1 + u + u²/2 + …, of a u below 1. */
function exponential(u: Float64Array): Float64Array {
  const sum = Float64Array.of(1, 0, 0, 0, 0, 0, 1, 0);
  let term = sum.slice();
  for (let n = 1; n < 20; n++) {
    term = timesMatrix(term, u).map((value) => value / n);
    term.forEach((value, k) => (sum[k] += value));
  }
  return sum;
}
