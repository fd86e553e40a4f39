/**
 * Number of samples that both stations of each baseline have, from gaps of any shape. Blocks are added as pairs of
 * stations for each run of channels between gap edges, and spread over [c][b] on request: if the same sources are
 * missing in every channel, a block of 132 channels costs as much as one of a single channel.
 */
import { baselineCount, type CountsCB } from '../axes.js';
import type { SpectraGap } from '../gaps.js';
import { emptyPresence, markSlots, popcount } from './presence.js';

export interface PairShape {
  readonly channels: number;
  readonly stations: number;
  readonly polarisations: 1 | 2;
}

/** counts[c][b] in compact form: rows : [run][b], common to the channels of a run, and the run of each channel. */
export interface CountRows {
  readonly rows: Float64Array;
  readonly runOf: Int32Array;
}

interface Run {
  readonly firstChannel: number;
  readonly endChannel: number;
  /** Samples of blocks without gaps in this run: the same for all pairs. */
  whole: number;
  /** pairs : [b], samples of the other blocks. */
  readonly pairs: Float64Array | undefined;
}

export class SampleCounts {
  private runs: Run[];

  constructor(private readonly shape: PairShape) {
    this.runs = this.emptyRuns();
  }

  /** The part of a gap outside the block is ignored. */
  add(samples: number, gaps: readonly SpectraGap[]): void {
    if (samples === 0) return;
    if (gaps.length > 0) this.cutAt(gaps.flatMap((gap) => [gap.firstChannel, gap.endChannel]));
    this.runs = this.runs.map((run) => {
      const here = gaps.filter(
        (gap) => gap.firstChannel <= run.firstChannel && gap.endChannel > run.firstChannel,
      );
      if (here.length === 0) {
        run.whole += samples;
        return run;
      }
      const pairs = run.pairs ?? new Float64Array(baselineCount(this.shape.stations));
      this.addPairs(pairs, samples, here);
      return { ...run, pairs };
    });
  }

  /** counts[c][b] += all that was added; a station with all inputs flagged (1) counts nothing. */
  spread(counts: CountsCB, flaggedInputs?: Uint8Array): void {
    const { rows } = this.rows(flaggedInputs);
    const baselines = baselineCount(this.shape.stations);
    this.runs.forEach(({ firstChannel, endChannel }, run) => {
      const row = rows.subarray(run * baselines, (run + 1) * baselines);
      for (let c = firstChannel; c < endChannel; c++)
        for (let b = 0; b < baselines; b++) counts[c * baselines + b] += row[b];
    });
  }

  /** The same without expanding to channels, which a GPU can do. */
  rows(flaggedInputs?: Uint8Array): CountRows {
    const { stations, channels } = this.shape;
    const dead = deadStations(this.shape, flaggedInputs);
    const baselines = baselineCount(stations);
    const rows = new Float64Array(this.runs.length * baselines);
    const runOf = new Int32Array(channels);
    this.runs.forEach(({ firstChannel, endChannel, whole, pairs }, run) => {
      runOf.fill(run, firstChannel, endChannel);
      for (let i = 0, b = 0; i < stations; i++) {
        for (let j = 0; j <= i; j++, b++) {
          rows[run * baselines + b] = dead[i] || dead[j] ? 0 : whole + (pairs?.[b] ?? 0);
        }
      }
    });
    return { rows, runOf };
  }

  clear(): void {
    this.runs = this.emptyRuns();
  }

  private emptyRuns(): Run[] {
    return [{ firstChannel: 0, endChannel: this.shape.channels, whole: 0, pairs: undefined }];
  }

  /** Splits runs wherever a gap begins or ends; each part keeps its counts. */
  private cutAt(channels: readonly number[]): void {
    const cuts = new Set(channels);
    this.runs = this.runs.flatMap((run) => {
      const inside = [...cuts].filter((c) => c > run.firstChannel && c < run.endChannel);
      if (inside.length === 0) return [run];
      const edges = [run.firstChannel, ...inside.sort((x, y) => x - y), run.endChannel];
      return edges.slice(0, -1).map((firstChannel, k) => ({
        ...run,
        firstChannel,
        endChannel: edges[k + 1],
        pairs: run.pairs?.slice(),
      }));
    });
  }

  private addPairs(pairs: Float64Array, samples: number, gaps: readonly SpectraGap[]): void {
    const { stations, polarisations } = this.shape;
    const presence = emptyPresence(stations, 1, samples);
    for (let s = 0; s < stations; s++) markSlots(presence, s, 0, samples, 'present');
    for (const gap of gaps) {
      // Gaps are widened to both polarisations: a sample without one of them does not count.
      const end = Math.min(stations, Math.ceil(gap.endInput / polarisations));
      const to = Math.min(samples, gap.endSample);
      for (let s = Math.floor(gap.firstInput / polarisations); s < end; s++) {
        markSlots(presence, s, Math.max(0, gap.firstSample), to, 'missing');
      }
    }
    const { classOf, rows } = alikeRows(presence.bits, presence.rowWords, stations);
    const classes = rows.length / presence.rowWords;
    const sums = new Float64Array(baselineCount(classes));
    addSharedBits(sums, rows, presence.rowWords, samples);
    for (let i = 0, b = 0; i < stations; i++) {
      const x = classOf[i];
      for (let j = 0; j <= i; j++, b++) {
        const y = classOf[j];
        pairs[b] += x >= y ? sums[(x * (x + 1)) / 2 + y] : sums[(y * (y + 1)) / 2 + x];
      }
    }
  }
}

/** Stations of one board miss the same data: the distinct rows, and the row of each station. */
function alikeRows(
  bits: Uint32Array,
  rowWords: number,
  count: number,
): { readonly classOf: Int32Array; readonly rows: Uint32Array } {
  const classOf = new Int32Array(count);
  const rows = new Uint32Array(bits.length);
  const byHash = new Map<number, number[]>();
  let classes = 0;
  for (let row = 0; row < count; row++) {
    const words = bits.subarray(row * rowWords, (row + 1) * rowWords);
    let hash = 0x811c9dc5;
    for (const word of words) hash = Math.imul(hash ^ word, 0x01000193) ^ (hash >>> 15);
    const candidates = byHash.get(hash) ?? [];
    let found = candidates.find((one) => words.every((word, w) => word === rows[one * rowWords + w]));
    if (found === undefined) {
      found = classes++;
      rows.set(words, found * rowWords);
      byHash.set(hash, [...candidates, found]);
    }
    classOf[row] = found;
  }
  return { classOf, rows: rows.subarray(0, classes * rowWords) };
}

/**
 * sums[i(i + 1)/2 + j] += the number of bits that rows i and j share; rows : [row][word]. Complete rows are recognised
 * by their own number of bits, so that with little loss hardly any pair is compared.
 */
function addSharedBits(sums: Float64Array, rows: Uint32Array, rowWords: number, bits: number): void {
  const count = rowWords === 0 ? 0 : rows.length / rowWords;
  const own = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    for (let w = 0; w < rowWords; w++) own[i] += popcount(rows[i * rowWords + w]);
  }
  for (let i = 0, b = 0; i < count; i++) {
    const x = i * rowWords;
    for (let j = 0; j <= i; j++, b++) {
      if (own[i] === bits) sums[b] += own[j];
      else if (own[j] === bits || j === i) sums[b] += own[i];
      else {
        let shared = 0;
        for (let w = 0, y = j * rowWords; w < rowWords; w++) shared += popcount(rows[x + w] & rows[y + w]);
        sums[b] += shared;
      }
    }
  }
}

/** Whether every input of a station is flagged. */
function deadStations(
  { stations, polarisations }: { readonly stations: number; readonly polarisations: 1 | 2 },
  flaggedInputs?: Uint8Array,
): boolean[] {
  return Array.from(
    { length: stations },
    (_, s) =>
      flaggedInputs?.subarray(s * polarisations, (s + 1) * polarisations).every((flag) => flag === 1) ===
      true,
  );
}
