/** StEFCal with A and B precomputed, in float64 and plain loops: the layout and the formula are in plan.ts. */
import { baselineCount, baselineIndex } from '../core/axes.js';
import type { IterationRule, SolveBatch } from './plan.js';

export function solveReference(batch: SolveBatch): Promise<void> {
  for (let solve = 0; solve < batch.solves; solve++) solveOne(batch, solve);
  return Promise.resolve();
}

function solveOne(batch: SolveBatch, solve: number): void {
  const { stations, iterations } = batch;
  const { numerator, denominator } = precompute(batch, solve);
  const gains = batch.gains.subarray(2 * solve * stations, 2 * (solve + 1) * stations);
  const before = new Float64Array(2 * stations);
  const last = iterations.kind === 'fixed' ? iterations.count : iterations.most;
  let change = Infinity;
  let iteration = 0;
  while (iteration < last) {
    iteration++;
    before.set(gains);
    step(numerator, denominator, before, gains);
    const even = iteration % 2 === 0;
    if (even) for (let n = 0; n < gains.length; n++) gains[n] = (gains[n] + before[n]) / 2;
    change = relativeChange(before, gains);
    if (even && isSmallEnough(iterations, change)) break;
  }
  batch.iterationsRun[solve] = iteration;
  batch.lastChange[solve] = change;
}

const isSmallEnough = (rule: IterationRule, change: number): boolean =>
  rule.kind === 'until' && change < rule.tolerance;

/** A_ij = w_ij R_ij conj(M_ij) : [i][j] complex, B_ij = w_ij |M_ij|² : [i][j] real, both triangles. */
function precompute(
  batch: SolveBatch,
  solve: number,
): { readonly numerator: Float64Array; readonly denominator: Float64Array } {
  const { stations, data, model, weights } = batch;
  const numerator = new Float64Array(2 * stations * stations);
  const denominator = new Float64Array(stations * stations);
  const first = solve * baselineCount(stations);
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j <= i; j++) {
      const b = first + baselineIndex(i, j);
      const [dataRe, dataIm, modelRe, modelIm] = [
        data[2 * b],
        data[2 * b + 1],
        model[2 * b],
        model[2 * b + 1],
      ];
      const re = weights[b] * (dataRe * modelRe + dataIm * modelIm);
      const im = weights[b] * (dataIm * modelRe - dataRe * modelIm);
      const power = weights[b] * (modelRe * modelRe + modelIm * modelIm);
      const lower = i * stations + j;
      const upper = j * stations + i;
      numerator[2 * upper] = re;
      numerator[2 * upper + 1] = -im;
      numerator[2 * lower] = re;
      numerator[2 * lower + 1] = im;
      denominator[lower] = denominator[upper] = power;
    }
  }
  return { numerator, denominator };
}

/** gains_i = Σ_j A_ij before_j / Σ_j B_ij |before_j|². */
function step(
  numerator: Float64Array,
  denominator: Float64Array,
  before: Float64Array,
  gains: Float64Array,
): void {
  const stations = before.length / 2;
  for (let i = 0; i < stations; i++) {
    let sumRe = 0;
    let sumIm = 0;
    let power = 0;
    for (let j = 0; j < stations; j++) {
      const at = i * stations + j;
      const gainRe = before[2 * j];
      const gainIm = before[2 * j + 1];
      sumRe += numerator[2 * at] * gainRe - numerator[2 * at + 1] * gainIm;
      sumIm += numerator[2 * at] * gainIm + numerator[2 * at + 1] * gainRe;
      power += denominator[at] * (gainRe * gainRe + gainIm * gainIm);
    }
    if (power === 0) continue;
    gains[2 * i] = sumRe / power;
    gains[2 * i + 1] = sumIm / power;
  }
}

/** How far the gains moved, over their size. */
export function relativeChange(before: Float64Array, after: Float64Array): number {
  let difference = 0;
  let size = 0;
  for (let n = 0; n < after.length; n++) {
    difference += (after[n] - before[n]) ** 2;
    size += after[n] ** 2;
  }
  return Math.sqrt(difference / size);
}
