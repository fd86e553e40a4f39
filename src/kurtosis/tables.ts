/** All limits that a block is decided by, in flat arrays for native code and the reference alike; worked out once for each length. */
import { areSameEdges } from '../core/windows.js';
import { kurtosisMoments, momentsOfMean, pearsonLimits, type PowerShape } from './limits.js';
import { ENTRY, noiseTable, type NoiseTable } from './noise.js';
import { LEAST_SPECTRA, type KurtosisPlan } from './plan.js';

/** Numbers of a head: spectra, least mean power, first key, scale, entries, the first of them. */
export const HEAD = 6;
/** Numbers of a mean's limits: of so many inputs' windows, low, high. */
export const MEAN = 3;
/** Steps of that number for each octave. */
const STEPS = 16;
/** Two windows together have limits of one σ more: noise must not lose both of them often. */
const PAIR_SIGMAS = 1;
/** Means of many windows and many lengths are tested, and all of them are flagged together: so by so many σ more. */
const MEAN_SIGMAS = 1.5;

export interface Tables {
  readonly edges: Int32Array;
  /** heads : [table][6 numbers]; entries : [all tables' entries][offset, perSpread, low, high] (noise.ts) */
  readonly heads: Float64Array;
  readonly entries: Float64Array;
  /** places : [w][complex, real][window, pair], which table; a pair is a window and the next. */
  readonly places: Int32Array;
  /** byLength : [complex, real][spectra that came], of windows that lack some; −1 where those are too few. */
  readonly byLength: Int32Array;
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

  /** lost : [w][c][a], spectra that never came, where any did not. */
  of(edges: Int32Array, lost: Uint32Array | undefined): Tables {
    if (!lost && this.last && areSameEdges(this.last.edges, edges)) return this.last;
    const { type, sigmas, channels, inputs } = this.plan;
    const windows = edges.length - 1;
    const used: NoiseTable[] = [];
    const known = new Map<string, number>();
    /** Where a table is among those used. */
    const placeOf = (shape: PowerShape, spectra: number, moreSigmas = 0, limitsOf = spectra): number => {
      const name = [shape, spectra, moreSigmas].join();
      const at = known.get(name) ?? used.length;
      if (at === used.length) used.push(noiseTable(type, shape, sigmas + moreSigmas, spectra, limitsOf));
      known.set(name, at);
      return at;
    };
    const lengths = Array.from({ length: windows }, (_, w) => edges[w + 1] - edges[w]);
    const places = new Int32Array(4 * windows).fill(-1);
    for (const [w, length] of lengths.entries())
      for (const [kind, shape] of shapes.entries()) {
        if (length >= LEAST_SPECTRA) places[4 * w + 2 * kind] = placeOf(shape, length);
        if (w + 1 < windows && length + lengths[w + 1] >= LEAST_SPECTRA)
          places[4 * w + 2 * kind + 1] = placeOf(shape, length + lengths[w + 1], PAIR_SIGMAS);
      }
    const most = Math.max(...lengths);
    const byLength = new Int32Array(2 * (most + 1)).fill(-1);
    for (let at = 0; lost && at < lost.length; at++) {
      const came = lengths[Math.floor(at / (channels * inputs))] - lost[at];
      if (lost[at] === 0 || came < LEAST_SPECTRA || byLength[came] >= 0) continue;
      for (const [kind, shape] of shapes.entries())
        byLength[kind * (most + 1) + came] = placeOf(shape, came, 0, fewer(came));
    }
    const shortest = Math.max(LEAST_SPECTRA, Math.min(...lengths));
    const made = {
      ...{ edges: edges.slice(), places, byLength, ...packed(used) },
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

/** The first five bits of a number: limits of so few numbers are worked out. */
const fewer = (spectra: number): number => {
  const step = 2 ** Math.max(0, Math.floor(Math.log2(spectra)) - 4);
  return step * Math.floor(spectra / step);
};

function packed(tables: readonly NoiseTable[]): Pick<Tables, 'heads' | 'entries'> {
  const heads: number[] = [];
  const entries: number[] = [];
  for (const table of tables) {
    const { spectra, leastPower, firstKey, scale } = table;
    heads.push(spectra, leastPower, firstKey, scale, table.entries.length / ENTRY, entries.length / ENTRY);
    for (const one of table.entries) entries.push(one);
  }
  return { heads: Float64Array.from(heads), entries: Float64Array.from(entries) };
}
