/**
 * All limits for the decision on a block, in flat arrays for native code and the reference; computed once for each
 * length.
 */
import { areSameEdges } from '../core/windows.js';
import { kurtosisMoments, momentsOfMean, pearsonLimits, type PowerShape } from './limits.js';
import { ENTRY, noiseTable } from './noise.js';
import { LEAST_SPECTRA, type KurtosisPlan } from './plan.js';

/** Numbers of a head: spectra, least mean power, first key, scale, entries, the first of them. */
export const HEAD = 6;
/** Numbers of a mean's limits: of so many inputs' windows, low, high. */
export const MEAN = 3;
/** Steps of that number for each octave. */
const STEPS = 16;
/** Limits of two windows together are one σ wider: noise must not flag both of them often. */
const PAIR_SIGMAS = 1;
/**
 * Means of many windows and many lengths are tested, and flag all of them together: so their limits are so many σ
 * wider.
 */
const MEAN_SIGMAS = 1.5;

export interface Tables {
  readonly edges: Int32Array;
  /** heads : [table][6 numbers]; entries : [all tables' entries][offset, perSpread, low, high] (noise.ts) */
  readonly heads: Float64Array;
  readonly entries: Float64Array;
  /** byLength : [complex, real][number of spectra], its table; −1 where they are too few. */
  readonly byLength: Int32Array;
  /** pairs : [w][complex, real], the same for a window and the next together. */
  readonly pairs: Int32Array;
  /** means : [step][count, low, high] */
  readonly means: Float64Array;
  /** Of one window's kurtosis. */
  readonly sigma: number;
}

const shapes = [1, 0.5] as const satisfies readonly PowerShape[];

export class LimitTables {
  private last: Tables | undefined;
  private readonly means = new Map<number, number[]>();

  constructor(private readonly plan: KurtosisPlan) {}

  /** lost : [w][c][a], missing spectra, where there are any. */
  of(edges: Int32Array, lost: Uint32Array | undefined): Tables {
    if (!lost && this.last && areSameEdges(this.last.edges, edges)) return this.last;
    const { type, sigmas, channels, inputs } = this.plan;
    const windows = edges.length - 1;
    const heads: number[] = [];
    const entries: number[] = [];
    const known = new Map<string, number>();
    /** The place of a table among those used. */
    const placeOf = (shape: PowerShape, spectra: number, moreSigmas = 0, limitsOf = spectra): number => {
      const name = [shape, spectra, moreSigmas].join();
      const found = known.get(name);
      if (found !== undefined) return found;
      const table = noiseTable(type, shape, sigmas + moreSigmas, spectra, limitsOf);
      known.set(name, heads.length / HEAD);
      heads.push(...table.head, table.entries.length / ENTRY, entries.length / ENTRY);
      for (const one of table.entries) entries.push(one);
      return heads.length / HEAD - 1;
    };
    const lengths = Array.from({ length: windows }, (_, w) => edges[w + 1] - edges[w]);
    const most = Math.max(...lengths);
    const byLength = new Int32Array(2 * (most + 1)).fill(-1);
    const pairs = new Int32Array(2 * windows).fill(-1);
    const addLength = (spectra: number, limitsOf: number): void => {
      if (spectra < LEAST_SPECTRA || byLength[spectra] >= 0) return;
      for (const [kind, shape] of shapes.entries())
        byLength[kind * (most + 1) + spectra] = placeOf(shape, spectra, 0, limitsOf);
    };
    for (const [w, length] of lengths.entries()) {
      addLength(length, length);
      const both = w + 1 < windows ? length + lengths[w + 1] : 0;
      for (const [kind, shape] of shapes.entries())
        if (both >= LEAST_SPECTRA) pairs[2 * w + kind] = placeOf(shape, both, PAIR_SIGMAS);
    }
    for (let at = 0; lost && at < lost.length; at++) {
      const came = lengths[Math.floor(at / (channels * inputs))] - lost[at];
      if (lost[at] > 0) addLength(came, fewer(came));
    }
    const shortest = Math.max(LEAST_SPECTRA, Math.min(...lengths));
    const made = {
      edges: edges.slice(),
      byLength,
      pairs,
      heads: Float64Array.from(heads),
      entries: Float64Array.from(entries),
      means: Float64Array.from(this.meansOf(shortest, inputs * Math.max(windows, channels))),
      sigma: Math.sqrt(kurtosisMoments(shortest, 1).variance),
    };
    if (!lost) this.last = made;
    return made;
  }

  private meansOf(spectra: number, most: number): readonly number[] {
    const means = this.means.get(spectra) ?? [];
    this.means.set(spectra, means);
    const { over, sigmas } = this.plan;
    const moments = kurtosisMoments(spectra, 1);
    for (let step = means.length / MEAN; 2 ** ((step - 1) / STEPS) < most; step++) {
      const count = 2 ** (step / STEPS);
      const mean = momentsOfMean(moments, count);
      const { low, high } = pearsonLimits(mean, over === 'inputs' ? sigmas : sigmas + MEAN_SIGMAS);
      means.push(count, low, high);
    }
    return means;
  }
}

/** The first five bits of a number: limits are computed only for such numbers. */
const fewer = (spectra: number): number => {
  const step = 2 ** Math.max(0, Math.floor(Math.log2(spectra)) - 4);
  return step * Math.floor(spectra / step);
};
