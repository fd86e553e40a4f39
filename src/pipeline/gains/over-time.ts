/** Gains between the times at which they were solved: straight in size and in phase, the shorter way round. */
import { gainsCA } from '../../core/axes.js';
import { secondsBetween, type Instant } from '../../core/instant.js';
import { crossHandKnown, type GainsAt, type GainsFile } from '../../formats/index.js';
import type { Calibrated } from '../sky-image.js';

/** Where a gain is known; of files that hold gains of solves that were given up, not there. */
function usable({ polarisations, frequenciesHz }: GainsFile, at: GainsAt): Required<Calibrated> {
  const { gains, solved, solutions } = at;
  const inputs = solved.length / frequenciesHz.length;
  const known = solved.slice();
  for (const { channel, polarisation, converged, residual } of solutions) {
    if (converged || Number.isNaN(residual)) continue;
    for (let a = polarisation; a < inputs; a += polarisations) known[channel * inputs + a] = 0;
  }
  return { gains, solved: known, crossHands: crossHandKnown(at, frequenciesHz.length) };
}

/** Before the first and after the last they stay as they were. An input that either neighbour lacks has none. */
export function gainsAtMoment(file: GainsFile, moment: Instant): Required<Calibrated> {
  const series = [file, ...(file.later ?? [])];
  const next = series.findIndex(({ time }) => secondsBetween(moment, time) > 0);
  if (next === 0) return usable(file, file);
  const last = series.at(next < 0 ? -1 : next - 1) ?? file;
  const before = usable(file, last);
  if (next < 0) return before;
  const after = usable(file, series[next]);
  const share = secondsBetween(last.time, moment) / secondsBetween(last.time, series[next].time);
  const solved = before.solved.map((one, at) => one & after.solved[at]);
  const gains = new Float64Array(before.gains.length).fill(Number.NaN);
  solved.forEach((isSolved, at) => {
    if (isSolved === 0) return;
    const [re, im, toRe, toIm] = [
      ...before.gains.subarray(2 * at, 2 * at + 2),
      ...after.gains.subarray(2 * at, 2 * at + 2),
    ];
    const size = (1 - share) * Math.hypot(re, im) + share * Math.hypot(toRe, toIm);
    const turn = Math.atan2(toIm * re - toRe * im, toRe * re + toIm * im);
    const phase = Math.atan2(im, re) + share * turn;
    gains[2 * at] = size * Math.cos(phase);
    gains[2 * at + 1] = size * Math.sin(phase);
  });
  const inputs = file.stations.length * file.polarisations;
  const crossHands = before.crossHands.map((one, c) => one & after.crossHands[c]);
  return { gains: gainsCA(gains, file.frequenciesHz.length, inputs), solved, crossHands };
}
