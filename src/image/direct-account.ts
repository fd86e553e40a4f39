/** What a direct imager remembers beside its sums, whatever makes them: gains, gaps, and so the image's scale. */
import type { CountsCB, GainsCA } from '../core/axes.js';
import type { SpectraBlock } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { addSampleCounts, type SpectraGap } from '../core/gaps.js';
import {
  checkBlock,
  emptyCounts,
  inputFactors,
  pairSum,
  scaleImage,
  unitFactors,
  type DirectImage,
} from './direct.js';
import type { ImagePlan } from './plan.js';

export class DirectAccount {
  private current: Float64Array;
  private counts: CountsCB;
  private samples = 0;
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
    if (this.samples > 0) {
      refuse('direct image', 'new gains in the middle of an image', 'finish it first');
    }
    this.current = inputFactors(this.plan, gains, solved);
  }

  /** Refuses a block that does not fit; counts its samples and gaps. */
  add(block: SpectraBlock): void {
    checkBlock(this.plan, block);
    if (block.gaps.length === 0) this.wholeSamples += block.samples;
    else this.count(block.samples, block.gaps);
    this.samples += block.samples;
  }

  private count(samples: number, gaps: readonly SpectraGap[]): void {
    const { channels, stations, polarisations } = this.plan;
    const shape = { channels, stations, polarisations, samples };
    addSampleCounts(this.counts, shape, gaps, new Uint8Array(stations * polarisations));
  }

  /** Refuses an image of nothing. */
  checkAny(): void {
    if (this.samples === 0) refuse('direct image', 'nothing was accumulated', 'accumulate a block first');
  }

  /** Scales sums : [c][product][m][l] as the transform leaves them, and starts again. */
  finish(sums: Float64Array): DirectImage {
    const { plan, counts, samples } = this;
    this.count(this.wholeSamples, []);
    this.wholeSamples = 0;
    const pairSums = Float64Array.from({ length: plan.channels * plan.products }, (_, plane) =>
      pairSum(plan, counts, this.current, Math.floor(plane / plan.products), plane % plan.products),
    );
    this.counts = emptyCounts(plan);
    this.samples = 0;
    return { image: scaleImage(plan, sums, pairSums), samples, counts };
  }
}
