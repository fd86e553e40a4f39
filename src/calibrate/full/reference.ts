/** Full-polarisation StEFCal in float64 and plain loops: the layout and the formula are in plan.ts. */
import { baselineCount, baselineIndex } from '../../core/axes.js';
import { adjoint, inverseMatrix, timesMatrix } from '../../core/jones.js';
import { relativeChange } from '../reference.js';
import { Mixing } from './accelerate.js';
import {
  amend,
  commonNormalOf,
  FIT_AGAIN_ABOVE,
  FIT_AGAIN_AFTER,
  FIT_BELOW,
  fitCommon,
  LATE_BELOW,
  MOST_TOLERANCES,
  turnAll,
  type CommonFit,
  type CommonNormal,
} from './common.js';
import { formOf, LEAST_DETERMINANT, type FullBatch } from './plan.js';

export function solveFullReference(batch: FullBatch): Promise<void> {
  for (let solve = 0; solve < batch.solves; solve++) solveOne(batch, solve);
  return Promise.resolve();
}

function solveOne(batch: FullBatch, solve: number): void {
  const { stations, iterations } = batch;
  const gains = batch.gains.subarray(8 * solve * stations, 8 * (solve + 1) * stations);
  const before = new Float64Array(8 * stations);
  const mixing = new Mixing();
  const last = iterations.kind === 'fixed' ? iterations.count : iterations.most;
  const form = formOf(batch, solve);
  let fit: CommonFit | undefined;
  let isLate = false;
  let shared: CommonNormal | undefined;
  let [fits, fitted, amended] = [0, 0, 0];
  let change = Infinity;
  let iteration = 0;
  while (iteration < last) {
    iteration++;
    before.set(gains);
    for (let i = 0; i < stations; i++) gains.set(stepOf(batch, solve, before, i), 8 * i);
    const isEven = iteration % 2 === 0;
    if (iterations.kind === 'fixed') {
      if (isEven) for (let n = 0; n < gains.length; n++) gains[n] = (gains[n] + before[n]) / 2;
      change = relativeChange(before, gains);
      continue;
    }
    change = relativeChange(before, gains);
    const normal = form === 0 ? undefined : commonNormalOf(batch, solve, before);
    if (normal) {
      const isFar = amended > FIT_AGAIN_ABOVE;
      let isNew = isFar || (fit !== undefined && !isLate && iteration >= fitted + FIT_AGAIN_AFTER);
      for (; fits < FIT_BELOW.length && change < FIT_BELOW[fits]; fits++) isNew = true;
      if (isNew) {
        fit = fitCommon(normal);
        fitted = iteration;
        isLate = change < LATE_BELOW;
        shared = normal;
      }
      if (isFar) mixing.forget();
      if (fit) amended = amend(before, gains, fit, normal.right).size;
      change = relativeChange(before, gains);
    }
    if (change < iterations.tolerance) {
      // A late fit is used to the end: its correction is included in the change.
      if (fit && isLate) break;
      const now = fitCommon(normal ?? commonNormalOf(batch, solve, before));
      if (!(now.size >= MOST_TOLERANCES * iterations.tolerance)) break;
      change = now.size;
      fit = form === 0 ? undefined : now;
      isLate = form !== 0;
      shared = normal;
      gains.set(before);
      turnAll(batch, solve, now.turn);
      mixing.forget();
    } else if (iteration < last) mixing.next(before, gains, change, isEven);
  }
  const { normal, variance } = isLate && shared ? shared : commonNormalOf(batch, solve, before);
  batch.commonNormal.set(normal, 64 * solve);
  batch.commonVariance[solve] = variance;
  batch.iterationsRun[solve] = iteration;
  batch.lastChange[solve] = change;
}

/** N_i D_i⁻¹ from the previous gains. */
function stepOf(batch: FullBatch, solve: number, before: Float64Array, i: number): Float64Array {
  const { stations, data, model, weights } = batch;
  const numerator = new Float64Array(8);
  const denominator = new Float64Array(8);
  const first = solve * baselineCount(stations);
  for (let j = 0; j < stations; j++) {
    const b = first + (i >= j ? baselineIndex(i, j) : baselineIndex(j, i));
    const weight = weights[b];
    if (weight === 0) continue;
    const own = (values: Float64Array): Float64Array => {
      const stored = values.subarray(8 * b, 8 * b + 8);
      return i >= j ? stored : adjoint(stored);
    };
    const z = timesMatrix(before.subarray(8 * j, 8 * j + 8), adjoint(own(model)));
    const up = timesMatrix(own(data), z);
    const down = timesMatrix(adjoint(z), z);
    for (let n = 0; n < 8; n++) {
      numerator[n] += weight * up[n];
      denominator[n] += weight * down[n];
    }
  }
  const kept = before.subarray(8 * i, 8 * i + 8);
  const determinant = denominator[0] * denominator[6] - denominator[2] ** 2 - denominator[3] ** 2;
  if (!(determinant > LEAST_DETERMINANT * denominator[0] * denominator[6])) return kept;
  const inverse = inverseMatrix(denominator);
  return inverse ? timesMatrix(numerator, inverse) : kept;
}
