/**
 * Takes tracking out of an integration again, as it was at the integration's middle: internally visibilities are never
 * phased. What tracking gained, the amplitude within the integration and the channel, is kept.
 */
import { trackedDelays, type DelayModel } from '../delay/index.js';
import { gainsCA } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { addSeconds, secondsBetween, type Instant } from '../core/instant.js';
import { calibratedAt, type Calibrated, type CalibratedAt } from './sky-image.js';
import { changing, type Stage } from './stage.js';

export interface UnphaseSettings {
  readonly delayModel: DelayModel;
  readonly tickRateHz: number;
  /** The time of tick 0. */
  readonly start: Instant;
  readonly frequenciesHz: Float64Array;
}

/** Undoes what was tracked, at the middle of each integration: visibilities come out unphased again. */
export function prepareUnphase(settings: UnphaseSettings): Stage<Integration, Integration> {
  const { delayModel, tickRateHz, start, frequenciesHz } = settings;
  /** e^(+2πi f d)·e^(−iφ) of each input. */
  const cosines = new Float64Array(delayModel.inputs);
  const sines = new Float64Array(delayModel.inputs);
  return changing((integration) => {
    const { channels, stations, polarisations, visibilities } = integration;
    const middle = addSeconds(integration.start, integration.durationS / 2);
    const delays = trackedDelays(delayModel, tickRateHz, secondsBetween(start, middle) * tickRateHz);
    let at = 0;
    for (let c = 0; c < channels; c++) {
      delays.forEach(({ delayS, phaseRad }, a) => {
        const angle = 2 * Math.PI * ((frequenciesHz[c] * delayS) % 1) - phaseRad;
        cosines[a] = Math.cos(angle);
        sines[a] = Math.sin(angle);
      });
      for (let i = 0; i < stations; i++) {
        for (let j = 0; j <= i; j++) {
          for (let product = 0; product < polarisations ** 2; product++, at += 2) {
            const x = i * polarisations + Math.floor(product / polarisations);
            const y = j * polarisations + (product % polarisations);
            const cos = cosines[x] * cosines[y] + sines[x] * sines[y];
            const sin = sines[x] * cosines[y] - cosines[x] * sines[y];
            const [re, im] = [visibilities[at], visibilities[at + 1]];
            visibilities[at] = re * cos - im * sin;
            visibilities[at + 1] = re * sin + im * cos;
          }
        }
      }
    }
    return integration;
  });
}

/**
 * For imaging without visibilities, which cannot be unphased: gains that undo tracking as it was at one moment, the
 * inputs' own times e^(−2πi f d)·e^(iφ). The tracked target appears at its sky position, in an image whose geometry is of
 * that moment. Filled anew by the next call.
 */
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
