/** Several integrations as one. */
import type { Integration } from '../../core/blocks.js';
import { productCount } from '../../core/product-counts.js';

/** Sums over integrations and the weight of each. */
interface Summed {
  readonly visibilities: Float64Array;
  /** weights : [c][b], or [c][b][pi][pj] where `weightsPerBaseline` is more than 1. */
  readonly weights: Float64Array;
  readonly weightsPerBaseline: number;
  readonly flags: Uint8Array;
}

/** One integration unchanged; several added up, each input's flags expressed in its products' weights. */
export function sumIntegrations(integrations: readonly Integration[]): Summed {
  const [first] = integrations;
  if (integrations.length === 1) {
    const { visibilities, counts, productCounts, flaggedInputs } = first;
    if (productCounts)
      return {
        visibilities,
        weights: productCounts,
        weightsPerBaseline: first.polarisations ** 2,
        flags: flaggedInputs,
      };
    return { visibilities, weights: counts, weightsPerBaseline: 1, flags: flaggedInputs };
  }
  const { stations, polarisations } = first;
  const products = polarisations ** 2;
  const visibilities = new Float64Array(first.visibilities.length);
  const weights = new Float64Array(first.counts.length * products);
  for (const one of integrations) {
    const { visibilities: sums, flaggedInputs, channels } = one;
    let b = 0;
    for (let c = 0; c < channels; c++) {
      for (let i = 0; i < stations; i++) {
        for (let j = 0; j <= i; j++, b++) {
          for (let product = 0; product < products; product++) {
            const inputI = i * polarisations + Math.floor(product / polarisations);
            const inputJ = j * polarisations + (product % polarisations);
            if (flaggedInputs[inputI] === 1 || flaggedInputs[inputJ] === 1) continue;
            const at = b * products + product;
            visibilities[2 * at] += sums[2 * at];
            visibilities[2 * at + 1] += sums[2 * at + 1];
            weights[at] += productCount(one, b, Math.floor(product / polarisations), product % polarisations);
          }
        }
      }
    }
  }
  const flags = new Uint8Array(stations * polarisations);
  return { visibilities, weights, weightsPerBaseline: products, flags };
}
