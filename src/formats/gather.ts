/** Collects the rows of a visibility file, in whatever order it keeps them, into canonical integrations. */
import { baselineCount, baselineIndex, countsCB, visibilitiesCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';

/** Which polarisations of the first and second antenna a stored product joins; 0 is X or R, 1 is Y or L. */
export interface StoredProduct {
  readonly p1: 0 | 1;
  readonly p2: 0 | 1;
  readonly label: string;
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

export interface GatherShape {
  readonly channels: number;
  readonly stations: number;
  readonly polarisations: 1 | 2;
  readonly products: readonly StoredProduct[];
}

export interface Gathering {
  /**
   * Adds V₁₂ = Σ x₁ conj(x₂) of one product, unphased, summed over `weight` samples; a weight of 0 is a
   * flagged value. Either order of antennas.
   */
  add(
    cell: { c: number; s1: number; s2: number; product: StoredProduct },
    re: number,
    im: number,
    weight: number,
  ): void;
  finish(): Omit<Integration, 'start' | 'durationS'>;
}

/**
 * From weights per product to flagged inputs and one count a baseline. An input none of whose products has
 * weight is flagged. Beyond that a baseline counts as its least product: a product without weight must not pass
 * for a zero.
 */
export function gather(shape: GatherShape): Gathering {
  const { channels, stations, polarisations } = shape;
  const baselines = baselineCount(stations);
  const pairs = polarisations ** 2;
  const sums = new Float64Array(channels * baselines * pairs * 2);
  const weights = new Float64Array(channels * baselines * pairs);

  return {
    add: ({ c, s1, s2, product }, re, im, weight) => {
      if (!(weight > 0)) return;
      const put = (i: number, j: number, pi: number, pj: number, sign: 1 | -1): void => {
        const at = ((c * baselines + baselineIndex(i, j)) * polarisations + pi) * polarisations + pj;
        sums[2 * at] += re;
        sums[2 * at + 1] += sign * im;
        weights[at] += weight;
      };
      // V₂₁[p₂][p₁] is the conjugate of V₁₂[p₁][p₂].
      if (s1 >= s2) put(s1, s2, product.p1, product.p2, 1);
      else put(s2, s1, product.p2, product.p1, -1);
    },
    finish: () => {
      const flaggedInputs = new Uint8Array(stations * polarisations).fill(1);
      const counts = new Float64Array(channels * baselines);
      const stored = (pi: number, pj: number): boolean =>
        shape.products.some(({ p1, p2 }) => (p1 === pi && p2 === pj) || (p1 === pj && p2 === pi));
      const visit = (see: (cell: number, at: number, i: number, j: number) => void): void => {
        for (let c = 0; c < channels; c++) {
          for (let i = 0; i < stations; i++) {
            for (let j = 0; j <= i; j++) {
              const cell = c * baselines + baselineIndex(i, j);
              for (let pair = 0; pair < pairs; pair++) {
                const pi = Math.floor(pair / polarisations);
                see(
                  cell,
                  cell * pairs + pair,
                  i * polarisations + pi,
                  j * polarisations + (pair % polarisations),
                );
              }
            }
          }
        }
      };
      visit((_cell, at, a1, a2) => {
        if (weights[at] <= 0) return;
        flaggedInputs[a1] = 0;
        flaggedInputs[a2] = 0;
      });
      counts.fill(Number.POSITIVE_INFINITY);
      visit((cell, at, a1, a2) => {
        if (flaggedInputs[a1] === 1 || flaggedInputs[a2] === 1) return;
        if (stored(a1 % polarisations, a2 % polarisations))
          counts[cell] = Math.min(counts[cell], weights[at]);
      });
      for (let cell = 0; cell < counts.length; cell++)
        if (counts[cell] === Number.POSITIVE_INFINITY) counts[cell] = 0;
      visit((cell, at) => {
        const factor = weights[at] > 0 ? counts[cell] / weights[at] : 0;
        // Exact sums stay exact: nothing is scaled where all products weigh the same.
        if (factor === 1) return;
        sums[2 * at] *= factor;
        sums[2 * at + 1] *= factor;
      });
      return {
        channels,
        stations,
        polarisations,
        visibilities: visibilitiesCBPP(sums, channels, baselines, polarisations),
        counts: countsCB(counts, channels, baselines),
        flaggedInputs,
      };
    },
  };
}
