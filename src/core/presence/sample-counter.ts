/**
 * Number of samples of each pair of stations, over the blocks of an integration or an image. A block without gaps
 * counts the same for every pair, so such blocks are one number until the end; those with gaps are counted by presence
 * bits. If a block lacks one polarisation of a station and not the other, pairs of inputs are counted instead, and
 * products have their own counts.
 */
import { baselineCount, countsCB, countsCBPP, type CountsCB, type CountsCBPP } from '../axes.js';
import { refuse } from '../errors.js';
import { coversStations, type SpectraGap } from '../gaps.js';
import { SampleCounts, type CountRows, type PairShape } from './sample-counts.js';
import { mostOfProducts } from '../product-counts.js';

export class SampleCounter {
  private total = 0;
  private gapless = 0;
  /** For blocks with gaps. */
  private readonly gappy: SampleCounts;
  /** For blocks that lack half a station: counts of pairs of inputs. */
  private halves: SampleCounts | undefined;

  constructor(
    private readonly shape: PairShape,
    private readonly flaggedInputs?: Uint8Array,
  ) {
    this.gappy = new SampleCounts(shape);
  }

  /** Samples added so far, missing ones included. */
  get samples(): number {
    return this.total;
  }

  /** Samples of blocks without gaps: every pair has them, unless a station is flagged. */
  get gaplessSamples(): number {
    return this.gapless;
  }

  /** Whether no sample was missing. */
  get isGapless(): boolean {
    return this.total === this.gapless;
  }

  /** What the blocks with gaps add, computed on request; undefined if there was none. */
  get gappyRows(): CountRows | undefined {
    this.refuseHalves();
    return this.isGapless ? undefined : this.gappy.rows(this.flaggedInputs);
  }

  add(samples: number, gaps: readonly SpectraGap[]): void {
    const { polarisations, channels, stations } = this.shape;
    if (gaps.length === 0) this.gapless += samples;
    else if (gaps.every((gap) => coversStations(gap, polarisations))) this.gappy.add(samples, gaps);
    else {
      this.halves ??= new SampleCounts({ channels, stations: stations * polarisations, polarisations: 1 });
      this.halves.add(samples, gaps);
    }
    this.total += samples;
  }

  /** counts : [c][b] of all blocks added; then restarts. Returns a new array unless one is given. */
  finish(into: CountsCB = this.emptyCounts()): CountsCB {
    if (this.halves) into.set(this.finishProducts().counts);
    else if (this.total === this.gapless && this.flaggedInputs?.includes(1) !== true) into.fill(this.gapless);
    else {
      this.gappy.add(this.gapless, []);
      into.fill(0);
      this.gappy.spread(into, this.flaggedInputs);
    }
    this.restart();
    return into;
  }

  /**
   * As `finish`, with productCounts : [c][b][p_i][p_j] if they differ within a pair; a pair's count is then the largest
   * of its products.
   */
  finishProducts(): { readonly counts: CountsCB; readonly productCounts?: CountsCBPP } {
    const { halves, flaggedInputs } = this;
    if (!halves) return { counts: this.finish() };
    const { channels, stations, polarisations: p } = this.shape;
    const [baselines, pairs] = [baselineCount(stations), baselineCount(stations * p)];
    this.gappy.add(this.gapless, []);
    const alike = this.gappy.rows(flaggedInputs);
    const apart = halves.rows(flaggedInputs);
    const own = new Float64Array(channels * baselines * p * p);
    let at = 0;
    for (let c = 0; c < channels; c++) {
      const [ofStations, ofInputs] = [alike.runOf[c] * baselines, apart.runOf[c] * pairs];
      for (let i = 0, b = ofStations; i < stations; i++)
        for (let j = 0; j <= i; j++, b++)
          for (let pi = 0; pi < p; pi++)
            for (let pj = 0; pj < p; pj++, at++) {
              const [x, y] = [i * p + pi, j * p + pj];
              if (flaggedInputs?.[x] === 1 || flaggedInputs?.[y] === 1) continue;
              const pair = x >= y ? (x * (x + 1)) / 2 + y : (y * (y + 1)) / 2 + x;
              own[at] = alike.rows[b] + apart.rows[ofInputs + pair];
            }
    }
    this.restart();
    return {
      counts: mostOfProducts(own, this.shape),
      productCounts: countsCBPP(own, channels, baselines, p),
    };
  }

  /** As `finish`, in compact form. */
  finishRows(): CountRows {
    this.refuseHalves();
    this.gappy.add(this.gapless, []);
    const rows = this.gappy.rows(this.flaggedInputs);
    this.restart();
    return rows;
  }

  /** Forgets what was added. */
  restart(): void {
    this.gappy.clear();
    this.halves = undefined;
    this.total = 0;
    this.gapless = 0;
  }

  /** A row holds one number per pair. */
  private refuseHalves(): void {
    if (this.halves)
      refuse(
        'sample counts',
        'a block lacks one polarisation of a station, and these counts are of stations',
        "widen gaps with wholeStations and zero what they cover (gapsCover: 'stations')",
      );
  }

  private emptyCounts(): CountsCB {
    const baselines = baselineCount(this.shape.stations);
    return countsCB(new Float64Array(this.shape.channels * baselines), this.shape.channels, baselines);
  }
}
