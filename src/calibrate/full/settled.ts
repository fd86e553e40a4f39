/** Iterations of single stations, and what all stations share settled in between. */
import { commonModes, settleCommon, type CommonModes } from './common.js';
import type { FullBatch, FullSolver } from './plan.js';

/** Single stations' steps are slow along what all share: it is settled apart, every so many iterations. */
const ROUND = 10;

/** Rounds of iterations with the common modes settled in between; a fixed count runs in one. */
export async function solveSettled(solver: FullSolver, batch: FullBatch): Promise<CommonModes[]> {
  const rule = batch.iterations;
  const all = Array.from({ length: batch.solves }, (_, k) => k);
  if (rule.kind === 'fixed') {
    await solver.solve(batch);
    return all.map((k) => commonModes(batch, k));
  }
  const made = new Int32Array(batch.solves);
  let left = rule.most;
  for (let isSettled = false; left >= 2;) {
    // Where nothing was left to settle, iterations go on alone.
    const most = isSettled ? left : Math.min(left, ROUND);
    await solver.solve({ ...batch, iterations: { ...rule, most } });
    batch.iterationsRun.forEach((count, k) => (made[k] += count));
    left = rule.most - made.reduce((a, b) => Math.max(a, b), 0);
    const steps = all.map((k) => settleCommon(batch, k).step);
    isSettled = steps.every((step) => step < 10 * rule.tolerance);
    if (isSettled && batch.lastChange.every((change) => change < rule.tolerance)) break;
  }
  batch.iterationsRun.set(made);
  return all.map((k) => commonModes(batch, k));
}
