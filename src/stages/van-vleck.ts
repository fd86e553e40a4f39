/** Corrects integrations of few levels for rounding: autocorrelations and all products. */
import { baselineIndex } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { productCount } from '../core/product-counts.js';
import { VanVleck, type RoundedInput } from '../core/van-vleck.js';
import { changing, type Stage } from './stage.js';

export interface RequestedVanVleck {
  /** Called with the tally, for a later report. */
  readonly onPlan?: (tally: Readonly<VanVleckTally>) => void;
}

export interface VanVleckTally {
  /** Products of channels, baselines and integrations. */
  corrected: number;
  /** Products of inputs too weak, too strong or silent for it: their sums are unchanged. */
  left: number;
}

interface VanVleckSettings extends RequestedVanVleck {
  /** The largest level. */
  readonly rail: number;
  /** So many channels, from the first on, are real. */
  readonly realChannels: number;
}

export function prepareVanVleck({
  rail,
  realChannels,
  onPlan,
}: VanVleckSettings): Stage<Integration, Integration> {
  const vanVleck = VanVleck.of(rail);
  const tally: VanVleckTally = { corrected: 0, left: 0 };
  onPlan?.(tally);
  return changing((integration) => {
    correct(integration, vanVleck, realChannels, tally);
    return integration;
  });
}

/** Changes the integration's own memory. */
function correct(
  integration: Integration,
  vanVleck: VanVleck,
  realChannels: number,
  tally: VanVleckTally,
): void {
  const { visibilities, channels, stations, polarisations } = integration;
  const baselines = baselineIndex(stations, 0);
  const products = polarisations ** 2;
  const inputs: (RoundedInput | undefined)[] = [];
  for (let c = 0; c < channels; c++) {
    // A complex value is two numbers, and both contribute to each part of a product.
    const numbers = c < realChannels ? 1 : 2;
    for (let a = 0; a < stations * polarisations; a++) {
      const [s, p] = [Math.floor(a / polarisations), a % polarisations];
      const b = c * baselines + baselineIndex(s, s);
      inputs[a] = vanVleck.input(
        visibilities[2 * (b * products + p * (polarisations + 1))] /
          productCount(integration, b, p, p) /
          numbers,
      );
    }
    for (let i = 0; i < stations; i++)
      for (let j = 0; j <= i; j++) {
        const b = c * baselines + baselineIndex(i, j);
        for (let product = 0; product < products; product++) {
          const [pi, pj] = [Math.floor(product / polarisations), product % polarisations];
          const scale = productCount(integration, b, pi, pj) * numbers;
          if (scale === 0) continue;
          const x = inputs[i * polarisations + pi];
          const y = inputs[j * polarisations + pj];
          const at = 2 * (b * products + product);
          if (!x || !y) {
            if (visibilities[at] !== 0 || visibilities[at + 1] !== 0) tally.left++;
            continue;
          }
          tally.corrected++;
          if (i === j && pi === pj) visibilities[at] = scale * x.rms ** 2;
          else {
            visibilities[at] = scale * vanVleck.covariance(visibilities[at] / scale, x, y);
            visibilities[at + 1] = scale * vanVleck.covariance(visibilities[at + 1] / scale, x, y);
          }
        }
      }
  }
}
