/** Collects the rows of a visibility file, in any order, into canonical integrations. */
import {
  baselineCount,
  baselineIndex,
  durationsB,
  uvwB,
  visibilitiesCBPP,
  weightsCBPP,
} from '../../core/axes.js';
import type { PassThrough, Integration } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import { median } from '../../core/median.js';
import { settleCounts } from '../../core/product-counts.js';
import type { SkyPosition } from '../../sky/frame.js';

/** The polarisations of the first and second antenna in a stored product; 0 is X or R, 1 is Y or L. */
export interface StoredProduct {
  readonly p1: 0 | 1;
  readonly p2: 0 | 1;
  readonly label: string;
}

/** X alone (or R) is one polarisation. Y alone is the second of two, the first missing, because its beam differs. */
export const polarisationsOf = (products: readonly Pick<StoredProduct, 'p1' | 'p2'>[]): 1 | 2 =>
  products.every(({ p1, p2 }) => p1 === 0 && p2 === 0) ? 1 : 2;

/** Refuses a product that a file lists twice: its values would be added, and the meaning of the second is unknown. */
export function refuseTwice(path: string, products: readonly StoredProduct[]): void {
  const labels = products.map(({ label }) => label);
  const twice = labels.find((label, q) => labels.indexOf(label) !== q);
  if (twice !== undefined)
    refuse(path, `lists ${twice} twice among its products`, 'correct its codes (CDELT of the STOKES axis)');
}

/** AIPS codes of correlation products. */
export const storedProducts: Readonly<Partial<Record<number, StoredProduct>>> = {
  [-1]: { p1: 0, p2: 0, label: 'RR' },
  [-2]: { p1: 1, p2: 1, label: 'LL' },
  [-3]: { p1: 0, p2: 1, label: 'RL' },
  [-4]: { p1: 1, p2: 0, label: 'LR' },
  [-5]: { p1: 0, p2: 0, label: 'XX' },
  [-6]: { p1: 1, p2: 1, label: 'YY' },
  [-7]: { p1: 0, p2: 1, label: 'XY' },
  [-8]: { p1: 1, p2: 0, label: 'YX' },
};

export const feedsOf = ([{ label }]: readonly StoredProduct[]): 'linear' | 'circular' =>
  /[RL]/.test(label) ? 'circular' : 'linear';

/** Codes of stored products from their polarisations, descending; undefined for all of them, or for the first alone. */
export function codesOf(products: readonly StoredProduct[]): readonly number[] | undefined {
  const first = firstCode[feedsOf(products)];
  const codes = [...new Set(products.map(({ p1, p2 }) => first - (p1 === p2 ? p1 : 2 + p1)))].sort(
    (x, y) => y - x,
  );
  return codes.length === 4 || (codes.length === 1 && codes[0] === first) ? undefined : codes;
}

/** XY without YX, or YX without XY: for a pair in the other order it is the other one. */
export const hasOneCrossHand = (products: readonly StoredProduct[]): boolean =>
  new Set(products.filter(({ p1, p2 }) => p1 !== p2).map(({ p1 }) => p1)).size === 1;

/**
 * Codes in our pair order, the earlier station first, for rows in the file's own order of stations. XY alone becomes YX
 * if all pairs are reversed; if only some are, there is no single name.
 */
export function codesInOurOrder(
  path: string,
  products: readonly StoredProduct[],
  pairs: Iterable<readonly [one: number, two: number]>,
): readonly number[] | undefined {
  if (!hasOneCrossHand(products)) return codesOf(products);
  let [isTurned, isForward] = [false, false];
  for (const [one, two] of pairs) {
    if (one > two) isTurned = true;
    else isForward = true;
  }
  if (isTurned && isForward)
    refuse(
      path,
      `holds ${products.find(({ p1, p2 }) => p1 !== p2)?.label ?? 'XY'} without its counterpart of pairs in both orders, (1, 2) and (2, 1)`,
      'export all four products, or all pairs with the earlier antenna first',
    );
  return codesOf(
    isTurned ? products.map(({ p1, p2, ...others }) => ({ ...others, p1: p2, p2: p1 })) : products,
  );
}

/** The first code in descending order of XX, YY, XY, YX or RR, LL, RL, LR. */
export const firstCode = { linear: -5, circular: -1 } as const;

export interface GatherShape {
  readonly channels: number;
  readonly stations: number;
  readonly polarisations: 1 | 2;
  readonly products: readonly StoredProduct[];
  /** What the file stores: means over samples, or whole sums. */
  readonly values: 'mean' | 'sum';
  /** The phase centre of every row; absent if fringes are running, or if there are several. */
  readonly stoppedAt?: SkyPosition;
  /** For error messages. */
  readonly path?: string;
  /** Counts values that are not numbers: each is flagged. */
  readonly faults?: ValueFaults;
}

/** Invalid values found so far in a file of visibilities; complete after all integrations are read. */
export interface ValueFaults {
  /** NaN and infinities among unflagged values and weights. */
  notNumbers: number;
  /** Values flagged because they are too large to be real. */
  outsized: number;
}

export const noFaults = (): ValueFaults => ({ notNumbers: 0, outsized: 0 });

/**
 * Receivers, even with interference, have less than half of this dynamic range (120 dB), and float32 has seven digits:
 * in any sum the other values would vanish beside such a value.
 */
const OUTSIZED = 1e12;
/**
 * No data reach this in any unit: whole sums of samples end at 9e18. Simulated tones without noise may be any multiple
 * of the median.
 */
const LARGEST = 1e20;
/** In an integration with such values, which is damaged, all values above this multiple of the median are flagged. */
const OUTSIZED_IN_DAMAGED = 1e4;

/** The median uses this many evenly spaced values. */
const MEDIAN_OF = 4096;

/**
 * Flags the values of a damaged integration that are too large to be real, and returns their number. An integration is
 * damaged if a pair of different stations is above `OUTSIZED` times the median of such pairs and above `LARGEST`; pairs of different
 * stations and autocorrelations are compared with medians of their own.
 */
function flagOutsized(
  means: Float64Array,
  weights: Float64Array,
  baselines: number,
  products: number,
): number {
  // Below this no value is outsized: one pass without a root.
  const [most2, length] = [0.9 * LARGEST ** 2, weights.length];
  let isSuspect = false;
  for (let at = 0; at < length && !isSuspect; at++)
    isSuspect = means[2 * at] * means[2 * at] + means[2 * at + 1] * means[2 * at + 1] > most2;
  if (!isSuspect) return 0;
  const isCross = new Uint8Array(baselines).fill(1);
  for (let s = 0, b = 0; b < baselines; s++, b += s + 1) isCross[b] = 0;
  const kindOf = (at: number): number => isCross[Math.floor(at / products) % baselines];
  const sizeOf = (at: number): number => (weights[at] > 0 ? Math.hypot(means[2 * at], means[2 * at + 1]) : 0);
  const step = Math.max(1, Math.floor(weights.length / MEDIAN_OF));
  const sizes: [number[], number[]] = [[], []];
  for (let at = 0; at < weights.length; at += step) {
    const size = sizeOf(at);
    if (size > 0) sizes[kindOf(at)].push(size);
  }
  const [ofAutos, ofPairs] = sizes.map((some) => (some.length > 0 ? median(some) : Infinity));
  const most = Math.max(LARGEST, OUTSIZED * ofPairs);
  if (!weights.some((_, at) => kindOf(at) === 1 && sizeOf(at) > most)) return 0;
  const limits = [OUTSIZED_IN_DAMAGED * ofAutos, OUTSIZED_IN_DAMAGED * ofPairs];
  let count = 0;
  for (let at = 0; at < weights.length; at++) {
    if (!(sizeOf(at) > limits[kindOf(at)])) continue;
    weights[at] = -weights[at];
    count++;
  }
  return count;
}

/** Metadata of a row, besides its values. */
interface StoredRow {
  /** r₁ − r₂. */
  readonly uvwM: readonly [number, number, number];
  readonly integrationS?: number | undefined;
}

export interface Gathering {
  /** Begins a row: the pair of all following values, and its stored metadata. Antennas in either order. */
  row(s1: number, s2: number, passThrough?: StoredRow): void;
  /** V₁₂ of one product in this row, unphased; a weight that is not above 0 marks a flagged value. */
  add(c: number, product: StoredProduct, re: number, im: number, weight: number): void;
  /** The same of all channels and products of the row at once, [channel][product] in the order of the shape. */
  fill(values: Float64Array, weights: Float64Array): void;
  /** Sums are computed on demand: a plain copy does not need them. */
  finish(when: Pick<Integration, 'start' | 'durationS'>): Integration;
  /** Restarts in the same memory: the last result of `finish` becomes invalid. */
  clear(): void;
}

export function gather(shape: GatherShape): Gathering {
  const { channels, stations, polarisations, stoppedAt } = shape;
  const baselines = baselineCount(stations);
  const cells = channels * baselines * polarisations ** 2;
  /** Unflagged values only. For means these are weight · mean, computed on demand. */
  let sums = shape.values === 'sum' ? new Float64Array(2 * cells) : undefined;
  const means = new Float64Array(2 * cells);
  /** NaN where no value arrived. */
  const weights = new Float64Array(cells);
  const uvw = new Float64Array(3 * baselines);
  const durations = new Float64Array(baselines);
  for (const unknown of [weights, uvw, durations]) unknown.fill(Number.NaN);
  const there = new Uint8Array(baselines);
  let b = 0;
  let pair: readonly [number, number] = [0, 0];
  let order: 'i is first' | 'i is second' = 'i is first';
  const perCell = polarisations ** 2;
  const isMean = shape.values === 'mean';
  // V₂₁[p₂][p₁] is the conjugate of V₁₂[p₁][p₂].
  const inOrder = Uint8Array.from(shape.products, ({ p1, p2 }) => p1 * polarisations + p2);
  const turned = Uint8Array.from(shape.products, ({ p1, p2 }) => p2 * polarisations + p1);

  /** V_ij of a place in the canonical order. */
  const put = (at: number, re: number, im: number, said: number): void => {
    let weight = said;
    if (!(weight <= 0) && !Number.isFinite(re + im + weight)) {
      if (shape.faults) shape.faults.notNumbers++;
      weight = weight < Infinity ? -weight : -0;
    }
    // Flagged, with unknown weight.
    if (weight === -Infinity) weight = -0;
    // It is unknown which of the two is valid, or whether their sum is.
    if (!Number.isNaN(weights[at])) refuseSecond(shape, pair);
    const size = Math.abs(weight);
    const perMean = isMean || !(size > 0) ? 1 : size;
    means[2 * at] = re / perMean;
    means[2 * at + 1] = im / perMean;
    if (weight > 0) {
      if (sums) {
        sums[2 * at] = re;
        // No −0: a conjugated 0 is 0.
        sums[2 * at + 1] = 0 + im;
      }
      weights[at] = weight;
    } else weights[at] = size > 0 ? -size : -0;
  };

  return {
    row: (s1, s2, row) => {
      pair = [s1, s2];
      order = s1 >= s2 ? 'i is first' : 'i is second';
      b = baselineIndex(Math.max(s1, s2), Math.min(s1, s2));
      there[b] = 1;
      if (row === undefined) return;
      durations[b] = row.integrationS ?? Number.NaN;
      const [u, v, w] = row.uvwM;
      // A row without uvw is written with our own geometry.
      if (!Number.isFinite(u + v + w)) return;
      uvw.set(order === 'i is first' ? row.uvwM : [-u, -v, -w], 3 * b);
    },
    add: (c, { p1, p2 }, re, im, weight) => {
      const place = order === 'i is first' ? p1 * polarisations + p2 : p2 * polarisations + p1;
      put((c * baselines + b) * perCell + place, re, order === 'i is first' ? im : -im, weight);
    },
    fill: (values, rowWeights) => {
      const isFirst = order === 'i is first';
      const places = isFirst ? inOrder : turned;
      const count = places.length;
      for (let c = 0, k = 0; c < channels; c++) {
        const cell = (c * baselines + b) * perCell;
        for (let q = 0; q < count; q++, k++)
          put(
            cell + places[q],
            values[2 * k],
            isFirst ? values[2 * k + 1] : -values[2 * k + 1],
            rowWeights[k],
          );
      }
    },
    finish: (when) => {
      const outsized = flagOutsized(means, weights, baselines, polarisations ** 2);
      if (shape.faults) shape.faults.outsized += outsized;
      // Sums are of unflagged values only.
      if (sums && outsized > 0)
        for (let at = 0; at < cells; at++) if (!(weights[at] > 0)) sums.fill(0, 2 * at, 2 * at + 2);
      const settled = settleCounts(shape, weights);
      for (let at = 0; at < cells; at++) if (Number.isNaN(weights[at])) weights[at] = -0;
      const summed = once(() =>
        visibilitiesCBPP(sums ?? weighted(means, weights), channels, baselines, polarisations),
      );
      const passThrough: PassThrough = {
        means: visibilitiesCBPP(means, channels, baselines, polarisations),
        weights: weightsCBPP(weights, channels, baselines, polarisations),
        ...(differ(durations) && { integrationS: durationsB(durations, baselines) }),
        ...(stoppedAt && { stopped: { phaseCentre: stoppedAt, uvwM: uvwB(uvw, baselines) } }),
      };
      return {
        ...when,
        channels,
        stations,
        polarisations,
        get visibilities() {
          return summed();
        },
        ...settled,
        ...(there.includes(0) && { pairs: there.slice() }),
        passThrough,
      };
    },
    clear: () => {
      means.fill(0);
      sums = shape.values === 'sum' ? new Float64Array(2 * cells) : undefined;
      for (const unknown of [weights, uvw, durations]) unknown.fill(Number.NaN);
      there.fill(0);
    },
  };
}

function refuseSecond({ path }: GatherShape, [s1, s2]: readonly [number, number]): never {
  refuse(
    path ?? 'visibilities',
    `the pair of its antennas ${s1} and ${s2} (counted from 0) is there twice at one time`,
    'keep one row of each pair and time, or one target with source.target',
  );
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** weight · mean where there is a weight. */
function weighted(means: Float64Array, weights: Float64Array): Float64Array {
  const sums = new Float64Array(means.length);
  for (let at = 0; at < weights.length; at++) {
    if (!(weights[at] > 0)) continue;
    sums[2 * at] += means[2 * at] * weights[at];
    sums[2 * at + 1] += means[2 * at + 1] * weights[at];
  }
  return sums;
}

const differ = (values: Float64Array): boolean => {
  const first = values.find((value) => !Number.isNaN(value));
  return values.some((value) => !Number.isNaN(value) && value !== first);
};
