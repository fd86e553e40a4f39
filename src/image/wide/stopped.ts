/**
 * Integrations become rows: fringes stopped at the centre, sums turned into means, one product selected. Visibilities
 * are never phased internally, so geometry alone is enough: V·e^(−2πi f w/c), w = (r_i − r_j)·n.
 */
import {
  baselineCount,
  baselineIndex,
  uvwR,
  visibilitiesRC,
  weightsRC,
  type GainsCA,
  type UvwB,
} from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import { productCount } from '../../core/product-counts.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { dot, type Vector3 } from '../../core/vector.js';
import type { TangentAxes } from '../../sky/frame.js';
import type { WidePrecision } from './plan.js';
import type { WideGeometry, WideRows } from './rows.js';

const WHERE = 'image';

/** The possible products of an image. Re XY and Im XY are U and −V near the zenith (docs/conventions.md). */
export type WideProduct = 'XX' | 'YY' | 'I' | 'Re XY' | 'Im XY';

interface Part {
  readonly pi: 0 | 1;
  readonly pj: 0 | 1;
  readonly re: number;
  readonly im: number;
}

/** Each product as a sum of V[pi][pj] times a number; the real image of that sum is the product's. */
const partsOf = {
  XX: [{ pi: 0, pj: 0, re: 1, im: 0 }],
  YY: [{ pi: 1, pj: 1, re: 1, im: 0 }],
  I: [
    { pi: 0, pj: 0, re: 0.5, im: 0 },
    { pi: 1, pj: 1, re: 0.5, im: 0 },
  ],
  // XY of the pair (j, i) is conj(YX) of (i, j): both orders together make the complex image XY.
  'Re XY': [
    { pi: 0, pj: 1, re: 0.5, im: 0 },
    { pi: 1, pj: 0, re: 0.5, im: 0 },
  ],
  'Im XY': [
    { pi: 0, pj: 1, re: 0, im: -0.5 },
    { pi: 1, pj: 0, re: 0, im: 0.5 },
  ],
} satisfies Record<WideProduct, readonly Part[]>;

export interface Centre {
  /** x east, y north, z up. */
  readonly stationsM: readonly Vector3[];
  /** East, north and the direction of the centre at the middle of the integration, written in ENU. */
  readonly axes: TangentAxes;
  readonly frequenciesHz: Float64Array;
  /** [b], of a file whose fringes were stopped at this very centre; NaN, or left out, where geometry gives them. */
  readonly storedUvwM?: UvwB;
}

export interface StopOptions extends Centre {
  readonly product: WideProduct;
  /** Precision of the visibilities; float32 by default. */
  readonly precision?: WidePrecision;
  readonly gains?: GainsCA;
  /** solved : [c][a], 0 leaves the input out. */
  readonly solved?: Uint8Array;
  /** Added to. */
  readonly hands?: HandTally;
}

/** Visibilities of I made of both polarisations, and of one where the other is flagged or missing. */
export interface HandTally {
  both: number;
  one: number;
  /** Of those, how many are of the second polarisation: Y, or L. */
  second: number;
}

/** Every pair of different stations, i > j in the order of baselines. */
export function pairGeometry({ stationsM, axes, frequenciesHz, storedUvwM }: Centre): WideGeometry {
  const uvw = new Float64Array((3 * stationsM.length * (stationsM.length - 1)) / 2);
  const along = stationsM.map((place) => [dot(place, axes.l), dot(place, axes.m), dot(place, axes.n)]);
  let at = 0;
  for (const [i, a] of along.entries()) {
    for (let j = 0; j < i; j++) {
      const stored = 3 * baselineIndex(i, j);
      const isStored = storedUvwM !== undefined && Number.isFinite(storedUvwM[stored + 2]);
      for (let axis = 0; axis < 3; axis++) {
        uvw[at++] = isStored ? storedUvwM[stored + axis] : a[axis] - along[j][axis];
      }
    }
  }
  return { uvwM: uvwR(uvw, uvw.length / 3), frequenciesHz };
}

/** An integration as rows of calibrated visibilities whose fringes are stopped at a centre. */
export const stopFringes = (integration: Integration, options: StopOptions): WideRows =>
  stopFringesOf(integration, options, [options.product])[0];

/** So many channels at a time: their visibilities lie far apart, and a line of memory holds their rows. */
const TILE = 8;

/**
 * The same rows for several products, in one pass over the integration: each visibility is read, calibrated and turned
 * once. Hands are counted of the first product.
 */
export function stopFringesOf(
  integration: Integration,
  options: Omit<StopOptions, 'product'>,
  products: readonly WideProduct[],
): WideRows[] {
  const { channels, stations, polarisations, flaggedInputs, passThrough, productCounts } = integration;
  const { frequenciesHz, solved, gains, hands } = options;
  const partsOfEach = products.map((product): readonly Part[] => partsOf[product]);
  const beyondOne = products.find((_, p) => partsOfEach[p].some(({ pi, pj }) => pi + pj > 0));
  if (polarisations === 1 && beyondOne !== undefined) {
    refuse(WHERE, `${beyondOne} of visibilities with one polarisation`, "ask for 'XX'");
  }
  if (options.stationsM.length !== stations || frequenciesHz.length !== channels) {
    const planned = `${options.stationsM.length} stations and ${frequenciesHz.length} channels`;
    refuse(
      WHERE,
      `an integration of ${stations} stations and ${channels} channels where there are ${planned}`,
    );
  }
  const geometry = pairGeometry(options);
  const rows = geometry.uvwM.length / 3;
  const length = 2 * rows * channels;
  const made = products.map((product, p) => ({
    values: options.precision === 'float64' ? new Float64Array(length) : new Float32Array(length),
    weights: new Float32Array(rows * channels),
    places: Uint8Array.from(partsOfEach[p], ({ pi, pj }) => pi * polarisations + pj),
    factors: Float64Array.from(partsOfEach[p].flatMap(({ re, im }) => [re, im])),
    // One polarisation replaces I where the other is lost, with half the weight; XY needs all its parts.
    least: product === 'I' ? 1 : partsOfEach[p].length,
  }));
  const baselines = baselineCount(stations);
  const perCell = polarisations * polarisations;
  const isRead = Uint8Array.from({ length: perCell }, (_, k) =>
    Number(made.some(({ places }) => places.includes(k))),
  );
  // The products of a cell: weights, 0 where one is left out, and calibrated means.
  const cellWeights = new Float64Array(perCell);
  const cellMeans = new Float64Array(2 * perCell);
  const stored = passThrough?.weights ?? productCounts;
  const sums = passThrough ? passThrough.means : integration.visibilities;
  const inputs = stations * polarisations;
  const gainInputs = gains ? gains.length / 2 / channels : 0;
  for (let first = 0; first < channels; first += TILE) {
    const end = Math.min(channels, first + TILE);
    for (let i = 0, row = 0; i < stations; i++) {
      for (let j = 0; j < i; j++, row++) {
        const b = baselineIndex(i, j);
        const delayS = geometry.uvwM[3 * row + 2] / SPEED_OF_LIGHT_M_PER_S;
        for (let c = first; c < end; c++) {
          const cell = c * baselines + b;
          for (let k = 0; k < perCell; k++) {
            if (isRead[k] === 0) continue;
            const inputI = polarisations === 1 ? i : 2 * i + (k >> 1);
            const inputJ = polarisations === 1 ? j : 2 * j + (k & 1);
            const at = cell * perCell + k;
            const weight = stored ? stored[at] : integration.counts[cell];
            const isLeftOut =
              !(weight > 0) ||
              flaggedInputs[inputI] === 1 ||
              flaggedInputs[inputJ] === 1 ||
              (solved !== undefined &&
                (solved[c * inputs + inputI] === 0 || solved[c * inputs + inputJ] === 0));
            cellWeights[k] = isLeftOut ? 0 : weight;
            if (isLeftOut) continue;
            const perWeight = passThrough ? 1 : weight;
            const re = sums[2 * at] / perWeight;
            const im = sums[2 * at + 1] / perWeight;
            cellMeans[2 * k] = re;
            cellMeans[2 * k + 1] = im;
            if (!gains) continue;
            // V_ij / (g_i conj(g_j))
            const gi = 2 * (c * gainInputs + inputI);
            const gj = 2 * (c * gainInputs + inputJ);
            const gainRe = gains[gi] * gains[gj] + gains[gi + 1] * gains[gj + 1];
            const gainIm = gains[gi + 1] * gains[gj] - gains[gi] * gains[gj + 1];
            const power = gainRe ** 2 + gainIm ** 2;
            cellMeans[2 * k] = (re * gainRe + im * gainIm) / power;
            cellMeans[2 * k + 1] = (im * gainRe - re * gainIm) / power;
          }
          const angle = -2 * Math.PI * frequenciesHz[c] * delayS;
          const cosine = Math.cos(angle);
          const sine = Math.sin(angle);
          const to = row * channels + c;
          for (let p = 0; p < made.length; p++) {
            const { values, weights, places, factors, least } = made[p];
            const parts = places.length;
            let [sumRe, sumIm, perWeight, used, last] = [0, 0, 0, 0, 0];
            for (let n = 0; n < parts; n++) {
              const k = places[n];
              const weight = cellWeights[k];
              if (weight === 0) continue;
              used++;
              last = polarisations === 1 ? 0 : k >> 1;
              perWeight += 1 / weight / parts;
              sumRe += factors[2 * n] * cellMeans[2 * k] - factors[2 * n + 1] * cellMeans[2 * k + 1];
              sumIm += factors[2 * n] * cellMeans[2 * k + 1] + factors[2 * n + 1] * cellMeans[2 * k];
            }
            if (used < least) continue;
            const share = parts / used;
            sumRe *= share;
            sumIm *= share;
            perWeight *= share ** 2;
            if (!Number.isFinite(sumRe + sumIm)) continue;
            if (hands && p === 0) {
              hands[used === parts ? 'both' : 'one']++;
              if (used < parts) hands.second += last;
            }
            values[2 * to] = sumRe * cosine - sumIm * sine;
            values[2 * to + 1] = sumRe * sine + sumIm * cosine;
            weights[to] = 1 / perWeight;
          }
        }
      }
    }
  }
  return made.map(({ values, weights }) => ({
    ...geometry,
    visibilities: visibilitiesRC(values, rows, channels),
    weights: weightsRC(weights, rows, channels),
  }));
}

/** Each station with itself: sums over stations of a product, and of its weights, channel by channel. */
export function ownPowers(
  integration: Integration,
  options: Pick<StopOptions, 'product' | 'gains' | 'solved' | 'frequenciesHz'>,
): { readonly sums: Float64Array; readonly weights: Float64Array } {
  const { channels, stations, polarisations, flaggedInputs } = integration;
  const { product, solved } = options;
  const sums = new Float64Array(channels);
  const weights = new Float64Array(channels);
  const parts: readonly Part[] = partsOf[product];
  const baselines = baselineCount(stations);
  for (let c = 0; c < channels; c++)
    for (let s = 0; s < stations; s++)
      for (const part of parts) {
        const [inputI, inputJ] = [s * polarisations + part.pi, s * polarisations + part.pj];
        const b = c * baselines + baselineIndex(s, s);
        const at = (b * polarisations + part.pi) * polarisations + part.pj;
        const isLeftOut = [inputI, inputJ].some(
          (input) => flaggedInputs[input] === 1 || solved?.[c * stations * polarisations + input] === 0,
        );
        const weight = isLeftOut ? 0 : weightOf(integration, at, b, part);
        if (!(weight > 0)) continue;
        const [re, im] = calibrated(meanOf(integration, at, weight), { c, inputI, inputJ }, options);
        sums[c] += weight * (part.re * re - part.im * im);
        weights[c] += weight / parts.length;
      }
  return { sums, weights };
}

/** Samples of a product, from its file. */
const weightOf = (integration: Integration, at: number, cell: number, { pi, pj }: Part): number =>
  integration.passThrough ? integration.passThrough.weights[at] : productCount(integration, cell, pi, pj);

function meanOf(
  { passThrough, visibilities }: Integration,
  at: number,
  weight: number,
): readonly [number, number] {
  if (passThrough) return [passThrough.means[2 * at], passThrough.means[2 * at + 1]];
  return [visibilities[2 * at] / weight, visibilities[2 * at + 1] / weight];
}

/** V_ij / (g_i conj(g_j)) */
function calibrated(
  [re, im]: readonly [number, number],
  { c, inputI, inputJ }: { readonly c: number; readonly inputI: number; readonly inputJ: number },
  { gains, frequenciesHz }: Pick<StopOptions, 'gains' | 'frequenciesHz'>,
): readonly [number, number] {
  if (!gains) return [re, im];
  const inputs = gains.length / 2 / frequenciesHz.length;
  const i = 2 * (c * inputs + inputI);
  const j = 2 * (c * inputs + inputJ);
  const gainRe = gains[i] * gains[j] + gains[i + 1] * gains[j + 1];
  const gainIm = gains[i + 1] * gains[j] - gains[i] * gains[j + 1];
  const power = gainRe ** 2 + gainIm ** 2;
  return [(re * gainRe + im * gainIm) / power, (im * gainRe - re * gainIm) / power];
}
