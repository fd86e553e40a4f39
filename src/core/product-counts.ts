/** Separate counts for the products of a pair: one flagged product does not flag the others, and losing Y leaves X. */
import {
  baselineCount,
  baselineIndex,
  countsCB,
  countsCBPP,
  type CountsCB,
  type CountsCBPP,
} from './axes.js';
import type { Integration } from './blocks.js';

type Counted = Pick<Integration, 'counts' | 'productCounts' | 'polarisations'>;

/** Samples of product (pi, pj) at [c][b]; ignores flags of inputs. */
export const productCount = (
  { counts, productCounts, polarisations }: Counted,
  cell: number,
  pi: number,
  pj: number,
): number => (productCounts ? productCounts[(cell * polarisations + pi) * polarisations + pj] : counts[cell]);

/** Σ|x|² of an input in a channel, from its autocorrelation, and its number of samples; ignores flags of inputs. */
export function inputPower(
  integration: Counted & Pick<Integration, 'visibilities' | 'stations'>,
  channel: number,
  input: number,
): { readonly sum: number; readonly count: number } {
  const { visibilities, stations, polarisations } = integration;
  const [station, p] = [Math.floor(input / polarisations), input % polarisations];
  const cell = channel * baselineCount(stations) + baselineIndex(station, station);
  return {
    sum: visibilities[2 * ((cell * polarisations + p) * polarisations + p)],
    count: productCount(integration, cell, p, p),
  };
}

/** Count of every product, 0 if an input of it is flagged. */
export function allProductCounts(
  one: Counted & Pick<Integration, 'channels' | 'stations' | 'flaggedInputs'>,
): CountsCBPP {
  const { channels, stations, polarisations: p, flaggedInputs } = one;
  const baselines = baselineCount(stations);
  const all = new Float64Array(channels * baselines * p * p);
  let at = 0;
  for (let c = 0; c < channels; c++)
    for (let i = 0, b = 0; i < stations; i++)
      for (let j = 0; j <= i; j++, b++)
        for (let pi = 0; pi < p; pi++)
          for (let pj = 0; pj < p; pj++, at++)
            all[at] =
              flaggedInputs[i * p + pi] === 1 || flaggedInputs[j * p + pj] === 1
                ? 0
                : productCount(one, c * baselines + b, pi, pj);
  return countsCBPP(all, channels, baselines, p);
}

/** counts : [c][b] of each pair if products have their own: the largest of them. */
export function mostOfProducts(
  productCounts: Float64Array,
  { channels, stations, polarisations: p }: Pick<Integration, 'channels' | 'stations' | 'polarisations'>,
): CountsCB {
  const baselines = baselineCount(stations);
  const counts = new Float64Array(channels * baselines);
  for (let cell = 0, at = 0; cell < counts.length; cell++)
    for (const end = at + p * p; at < end; at++) counts[cell] = Math.max(counts[cell], productCounts[at]);
  return countsCB(counts, channels, baselines);
}

/** The weights of an integration: flagged inputs, counts, and counts of products if they differ. */
interface SettledCounts {
  readonly counts: CountsCB;
  readonly flaggedInputs: Uint8Array;
  readonly productCounts?: CountsCBPP;
}

/**
 * From one weight per product, [c][b][pi][pj]. Products with weights at or below 0 are flagged or missing. An input
 * whose products all lack weight is flagged; a pair counts as the largest of its products.
 */
export function settleCounts(
  shape: Pick<Integration, 'channels' | 'stations' | 'polarisations'>,
  weights: Float64Array,
): SettledCounts {
  const { channels, stations, polarisations: p } = shape;
  const baselines = baselineCount(stations);
  const flaggedInputs = new Uint8Array(stations * p).fill(1);
  const counts = new Float64Array(channels * baselines);
  // [b][pi][pj]: the two inputs of each product.
  const perChannel = baselines * p * p;
  const [ones, others] = [new Uint32Array(perChannel), new Uint32Array(perChannel)];
  for (let i = 0, k = 0; i < stations; i++)
    for (let j = 0; j <= i; j++)
      for (let pi = 0; pi < p; pi++)
        for (let pj = 0; pj < p; pj++, k++) {
          ones[k] = i * p + pi;
          others[k] = j * p + pj;
        }
  const each = p * p;
  for (let c = 0, at = 0, cell = 0; c < channels; c++)
    for (let k = 0; k < perChannel; cell++) {
      let most = 0;
      for (const end = k + each; k < end; k++, at++) {
        const weight = weights[at];
        if (!(weight > 0)) continue;
        flaggedInputs[ones[k]] = 0;
        flaggedInputs[others[k]] = 0;
        if (weight > most) most = weight;
      }
      counts[cell] = most;
    }
  let differing = 0;
  for (let c = 0, at = 0, cell = 0; c < channels && differing === 0; c++)
    for (let k = 0; k < perChannel; cell++)
      for (const end = k + each; k < end; k++, at++) {
        const weight = weights[at] > 0 ? weights[at] : 0;
        if (weight !== counts[cell] && flaggedInputs[ones[k]] === 0 && flaggedInputs[others[k]] === 0)
          differing++;
      }
  const settled = { counts: countsCB(counts, channels, baselines), flaggedInputs };
  if (differing === 0) return settled;
  const own = Float64Array.from(weights, (weight) => (weight > 0 ? weight : 0));
  return { ...settled, productCounts: countsCBPP(own, channels, baselines, p) };
}
