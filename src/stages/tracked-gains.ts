/**
 * Gains that undo tracking, as it was at one moment: the tracked target appears at its sky position, in an image whose
 * geometry is of that moment. For imaging without visibilities, which cannot be unphased.
 */
import { gainsCA } from '../core/axes.js';
import { secondsBetween } from '../core/instant.js';
import { trackedDelays } from '../delay/index.js';
import { calibratedAt, type Calibrated, type CalibratedAt } from './sky-image.js';
import type { UnphaseSettings } from './unphase.js';

/** Each input's own gain, or 1, times what tracking multiplied it by: e^(−2πi f d)·e^(iφ). Filled anew by the next call. */
export function trackedGains(
  { delayModel, tickRateHz, start, frequenciesHz }: UnphaseSettings,
  calibrated?: Calibrated | CalibratedAt,
): CalibratedAt {
  const { inputs } = delayModel;
  const channels = frequenciesHz.length;
  const gains = gainsCA(new Float64Array(2 * channels * inputs), channels, inputs);
  const all = new Uint8Array(channels * inputs).fill(1);
  return (moment, begun) => {
    const own = calibrated && calibratedAt(calibrated, moment, begun);
    const delays = trackedDelays(delayModel, tickRateHz, secondsBetween(start, moment) * tickRateHz);
    for (let c = 0; c < channels; c++) {
      delays.forEach(({ delayS, phaseRad }, a) => {
        const at = 2 * (c * inputs + a);
        const angle = phaseRad - 2 * Math.PI * ((frequenciesHz[c] * delayS) % 1);
        const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
        const [re, im] = own ? [own.gains[at], own.gains[at + 1]] : [1, 0];
        gains[at] = re * cos - im * sin;
        gains[at + 1] = re * sin + im * cos;
      });
    }
    return { gains, solved: own?.solved ?? all };
  };
}
