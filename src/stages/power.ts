/** Integrations to the mean power of each input and channel, from the autocorrelations. */
import type { Integration } from '../core/blocks.js';
import type { Instant } from '../core/instant.js';
import { inputPower } from '../core/product-counts.js';
import { changing, type Stage } from './stage.js';

export interface InputPowers {
  readonly start: Instant;
  readonly durationS: number;
  /** powers : [c][a], mean of |x|²; NaN where no data arrived or the input is flagged. Filled anew by the next one. */
  readonly powers: Float64Array;
}

/** The stage that measures the mean power of each input. */
export function preparePower(shape: {
  readonly channels: number;
  readonly stations: number;
  readonly polarisations: 1 | 2;
}): Stage<Integration, InputPowers> {
  const { channels, stations, polarisations } = shape;
  const inputs = stations * polarisations;
  const powers = new Float64Array(channels * inputs);
  return changing((integration) => {
    const { flaggedInputs, start, durationS } = integration;
    for (let c = 0; c < channels; c++) {
      for (let a = 0; a < inputs; a++) {
        const { sum, count } = inputPower(integration, c, a);
        powers[c * inputs + a] = flaggedInputs[a] === 1 || count === 0 ? NaN : sum / count;
      }
    }
    return { start, durationS, powers };
  });
}
