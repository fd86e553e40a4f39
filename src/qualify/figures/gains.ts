/** Solved gains compared with the true ones, and their scatter relative to the Cramér–Rao bound. */
import { baselineIndex } from '../../core/axes.js';
import { linePlot } from '../../draw/index.js';
import { all, atMost, within, type Figure, type Plot, type Rig } from '../figure.js';
import { drawGains, SIGNAL_TO_NOISE, solve, STATIONS } from '../solve-case.js';

export const gainsFigure: Figure = {
  name: 'gains',
  title: 'Gains against the truth',
  about:
    'Visibilities of a known sky through known gains, noise of a third of a visibility in each: the mean square error of the solved gains over all inputs and channels must be the bound that Fisher’s information sets.',
  measure: async (rig) => {
    const channels = rig.quick ? 128 : 1024;
    const truth = drawGains();
    const { calibration, data } = await solve(rig.backend, truth, channels);
    const { square, worst } = errorsOf(calibration.gains, truth, channels);
    const bound = boundOf(truth, data.model);
    const converged = calibration.solutions.filter((one) => one.converged).length;
    return {
      checks: [
        all('solves that converged', converged, channels),
        within('mean |δg|² over the Cramér–Rao bound', square / bound, 0.9, 1.1),
        atMost('worst gain, in standard errors', worst / Math.sqrt(bound / STATIONS), 6, 'σ'),
      ],
      plots: [await convergence(rig, truth)],
    };
  },
};

function errorsOf(
  gains: Float64Array,
  truth: Float64Array,
  channels: number,
): { readonly square: number; readonly worst: number } {
  let square = 0;
  let worst = 0;
  for (let n = 0; n < channels * STATIONS; n++) {
    const a = 2 * (n % STATIONS);
    const error = Math.hypot(gains[2 * n] - truth[a], gains[2 * n + 1] - truth[a + 1]);
    square += error ** 2 / channels;
    worst = Math.max(worst, error);
  }
  return { square, worst };
}

/** Trace of the inverse of the Fisher information over Re g and Im g, with the reference's imaginary part known. */
function boundOf(truth: Float64Array, model: Float64Array): number {
  const size = 2 * STATIONS - 1;
  // Re g_0, then Re and Im of each other station.
  const place = (a: number, part: 0 | 1): number => (a === 0 ? (part === 0 ? 0 : -1) : 2 * a - 1 + part);
  const information = Array.from({ length: size }, () => new Float64Array(size));
  const each = 2 * SIGNAL_TO_NOISE ** 2;
  for (let i = 0; i < STATIONS; i++)
    for (let j = 0; j < i; j++) {
      const [re, im] = model.subarray(2 * baselineIndex(i, j));
      const strength = re * re + im * im;
      const [gi, gj] = [i, j].map((a) => ({ re: truth[2 * a], im: truth[2 * a + 1] }));
      // Derivatives of g_i conj(g_j) by the four numbers it depends on; the model rotates and scales all equally.
      const slopes = [
        { at: place(i, 0), re: gj.re, im: -gj.im },
        { at: place(i, 1), re: gj.im, im: gj.re },
        { at: place(j, 0), re: gi.re, im: gi.im },
        { at: place(j, 1), re: gi.im, im: -gi.re },
      ].filter(({ at }) => at >= 0);
      for (const x of slopes)
        for (const y of slopes) information[x.at][y.at] += each * strength * (x.re * y.re + x.im * y.im);
    }
  return traceOfInverse(information);
}

/** StEFCal's first figure: the change between iterations, which averaging every second one makes fall fast. */
async function convergence(rig: Rig, truth: Float64Array): Promise<Plot> {
  const counts = Array.from({ length: 20 }, (_, n) => 2 * n + 2);
  const changes: number[] = [];
  for (const count of counts) {
    const { calibration } = await solve(rig.backend, truth, 4, count);
    changes.push(Math.log10(Math.max(...calibration.solutions.map(({ lastChange }) => lastChange))));
  }
  return {
    caption: 'How fast StEFCal converges: relative change of the gains over iterations',
    picture: linePlot({
      title: `Convergence, ${STATIONS} stations`,
      x: { label: 'iterations', range: [0, 42] },
      y: { label: 'log₁₀ of the relative change' },
      series: [{ name: 'largest of four solves', x: counts, y: changes }],
    }),
  };
}

/** Of the inverse of a square matrix, by Gauss–Jordan elimination with the largest pivot. */
export function traceOfInverse(matrix: readonly Float64Array[]): number {
  const size = matrix.length;
  const rows = matrix.map((row, k) => {
    const wide = new Float64Array(2 * size);
    wide.set(row);
    wide[size + k] = 1;
    return wide;
  });
  for (let k = 0; k < size; k++) {
    let best = k;
    for (let r = k + 1; r < size; r++) if (Math.abs(rows[r][k]) > Math.abs(rows[best][k])) best = r;
    [rows[k], rows[best]] = [rows[best], rows[k]];
    const pivot = rows[k][k];
    rows[k] = rows[k].map((value) => value / pivot);
    for (let r = 0; r < size; r++) {
      if (r === k) continue;
      const factor = rows[r][k];
      for (let n = 0; n < 2 * size; n++) rows[r][n] -= factor * rows[k][n];
    }
  }
  return rows.reduce((sum, row, k) => sum + row[size + k], 0);
}
