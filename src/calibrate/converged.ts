/** Gains of solves that did not converge are marked unsolved, so that they are not used. */
import { gainsCA } from '../core/axes.js';
import type { Calibration, Solution } from './solve.js';

/** Solves that had data and did not converge. */
export const unconverged = ({ solutions }: Pick<Calibration, 'solutions'>): readonly Solution[] =>
  solutions.filter(({ converged, residual }) => !converged && !Number.isNaN(residual));

/** The same calibration with every gain of those solves unknown. */
export function leaveOutUnconverged<Found extends Calibration>(calibration: Found): Found {
  const given = unconverged(calibration);
  if (given.length === 0) return calibration;
  const { solutions } = calibration;
  const polarisations = 1 + solutions.reduce((most, { polarisation }) => Math.max(most, polarisation), 0);
  const channels = solutions.length / polarisations;
  const inputs = calibration.solved.length / channels;
  const gains = gainsCA(calibration.gains.slice(), channels, inputs);
  const solved = calibration.solved.slice();
  for (const { channel, polarisation } of given) {
    for (let a = polarisation; a < inputs; a += polarisations) {
      const at = channel * inputs + a;
      gains.fill(Number.NaN, 2 * at, 2 * at + 2);
      solved[at] = 0;
    }
  }
  return { ...calibration, gains, solved };
}
