/** What a direct imager remembers beside its sums, whatever makes them: gains, gaps, and so the image's scale. */
import type { CountsCB, GainsCA } from '../../core/axes.js';
import type { SpectraBlock } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import { addSampleCounts, type SpectraGap } from '../../core/gaps.js';
import {
  checkBlock,
  emptyCounts,
  inputFactors,
  pairSum,
  scaleImage,
  unitFactors,
  type DirectImage,
} from './direct.js';
import type { ImagePlan } from '../plan.js';

/** What an image was made of, where its scale is made elsewhere. */
export interface DirectTally {
  readonly samples: number;
  /** Samples that every pair of stations had. */
  readonly wholeSamples: number;
  /** counts : [c][b], samples on top of those; undefined where no block had a gap. */
  readonly counts?: CountsCB;
}

export class DirectAccount {
  private current: Float64Array;
  private counts: CountsCB;
  private samples = 0;
  private hadGaps = false;
  /** Samples of blocks without gaps: every baseline counts them alike, so they are counted once, at the end. */
  private wholeSamples = 0;

  constructor(private readonly plan: ImagePlan) {
    this.current = unitFactors(plan);
    this.counts = emptyCounts(plan);
  }

  /** factors : [c][a] complex, what each voltage is multiplied by; 0 leaves the input out, whatever it holds. */
  get factors(): Float64Array {
    return this.current;
  }

  setGains(gains: GainsCA, solved?: Uint8Array): void {
    this.checkBetween();
    this.current = inputFactors(this.plan, gains, solved);
  }

  /** Refuses new gains in the middle of an image: it has one calibration. */
  checkBetween(): void {
    if (this.samples > 0) {
      refuse('direct image', 'new gains in the middle of an image', 'finish it first');
    }
  }

  /** Refuses a block that does not fit; counts its samples and gaps. */
  add(block: SpectraBlock): void {
    checkBlock(this.plan, block);
    if (block.gaps.length === 0) this.wholeSamples += block.samples;
    else this.count(block.samples, block.gaps);
    this.samples += block.samples;
  }

  private count(samples: number, gaps: readonly SpectraGap[]): void {
    this.hadGaps ||= gaps.length > 0;
    const { channels, stations, polarisations } = this.plan;
    const shape = { channels, stations, polarisations, samples };
    addSampleCounts(this.counts, shape, gaps, new Uint8Array(stations * polarisations));
  }

  /** Refuses an image of nothing. */
  checkAny(): void {
    if (this.samples === 0) refuse('direct image', 'nothing was accumulated', 'accumulate a block first');
  }

  /** What was added, for an image that is scaled elsewhere, and a new start. */
  tally(): DirectTally {
    const tally = this.soFar;
    if (tally.counts) this.counts = emptyCounts(this.plan);
    this.restart();
    return tally;
  }

  /** What has been added so far, as `tally` would say it. */
  get soFar(): DirectTally {
    const { samples, wholeSamples, counts, hadGaps } = this;
    return { samples, wholeSamples, ...(hadGaps ? { counts } : {}) };
  }

  private restart(): void {
    this.samples = 0;
    this.wholeSamples = 0;
    this.hadGaps = false;
  }

  /**
   * Scales sums : [c][product][m][l] as the transform leaves them, and starts again. pairSums : [c][product], where the
   * factors are not those known here.
   */
  finish(sums: Float64Array, pairSums?: Float64Array, into?: DirectImage): DirectImage {
    const { plan, samples } = this;
    this.count(this.wholeSamples, []);
    const counts = into?.counts ?? emptyCounts(plan);
    counts.set(this.counts);
    const scales =
      pairSums ??
      Float64Array.from({ length: plan.channels * plan.products }, (_, plane) =>
        pairSum(plan, counts, this.current, Math.floor(plane / plan.products), plane % plan.products),
      );
    this.counts.fill(0);
    this.restart();
    return { image: scaleImage(plan, sums, scales, into?.image), samples, counts };
  }
}
