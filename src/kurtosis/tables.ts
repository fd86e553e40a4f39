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
  private readonly tables = new Map<string, NoiseTable>();
  private readonly means = new Map<number, number[]>();

  constructor(private readonly plan: KurtosisPlan) {}

  /** lost : [w][c][a], spectra that never came, where any did not. */
  of(edges: Int32Array, lost: Uint32Array | undefined): Tables {
    if (!lost && this.last && areSameEdges(this.last.edges, edges)) return this.last;
    const windows = edges.length - 1;
    const used: NoiseTable[] = [];
    const placeOf = (table: NoiseTable): number => {
      const at = used.indexOf(table);
      return at < 0 ? used.push(table) - 1 : at;
    };
    const lengths = Array.from({ length: windows }, (_, w) => edges[w + 1] - edges[w]);
    const places = new Int32Array(4 * windows).fill(-1);
    for (const [w, length] of lengths.entries())
      for (const [kind, shape] of shapes.entries()) {
        if (length >= LEAST_SPECTRA) places[4 * w + 2 * kind] = placeOf(this.tableOf(shape, length));
        if (w + 1 < windows && length + lengths[w + 1] >= LEAST_SPECTRA)
          places[4 * w + 2 * kind + 1] = placeOf(this.tableOf(shape, length + lengths[w + 1], PAIR_SIGMAS));
      }
    const most = Math.max(...lengths);
    const byLength = new Int32Array(2 * (most + 1)).fill(-1);
    if (lost)
      for (const length of this.lengthsOf(lengths, lost))
        for (const [kind, shape] of shapes.entries())
          byLength[kind * (most + 1) + length] = placeOf(this.tableOf(shape, length, 0, fewer(length)));
    const shortest = Math.max(LEAST_SPECTRA, Math.min(...lengths));
    const made = {
      ...{ edges: edges.slice(), places, byLength, ...packed(used) },
      means: Float64Array.from(
        this.meansOf(shortest, this.plan.inputs * Math.max(windows, this.plan.channels)),
      ),
      sigma: Math.sqrt(kurtosisMoments(shortest, 1).variance),
    };
    if (!lost) this.last = made;
    return made;
  }

  private tableOf(shape: PowerShape, spectra: number, moreSigmas = 0, limitsOf = spectra): NoiseTable {
    const key = `${shape} ${spectra} ${moreSigmas} ${limitsOf}`;
    const found = this.tables.get(key);
    if (found) return found;
    const { type, sigmas } = this.plan;
    const made = noiseTable(type, shape, sigmas + moreSigmas, spectra, limitsOf);
    this.tables.set(key, made);
    return made;
  }

  /** Spectra that came of windows that lack some, each number once. */
  private lengthsOf(lengths: readonly number[], lost: Uint32Array): Set<number> {
    const perWindow = this.plan.channels * this.plan.inputs;
    const came = new Set<number>();
    for (let at = 0; at < lost.length; at++)
      if (lost[at] > 0) came.add(lengths[Math.floor(at / perWindow)] - lost[at]);
    return new Set([...came].filter((length) => length >= LEAST_SPECTRA));
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
