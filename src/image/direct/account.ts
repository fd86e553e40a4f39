/** What a direct imager remembers beside its sums, whatever makes them: gains, gaps, and so the image's scale. */
import { weightsCP, type GainsCA } from '../../core/axes.js';
import type { SpectraBlock } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import { SampleCounter } from '../../core/presence/sample-counter.js';
import { takeAutos } from './autos.js';
import { checkBlock, inputFactors, pairSum, scaleImage, unitFactors, type DirectImage } from './direct.js';
import type { ImagePlan } from '../plan.js';

export class DirectAccount {
  /** factors : [c][a] complex, what each voltage is multiplied by; 0 leaves the input out, whatever it holds. */
  factors: Float64Array;
  private readonly counter: SampleCounter;

  constructor(
    private readonly plan: ImagePlan,
    private readonly autos: 'include' | 'leave-out' = 'include',
  ) {
    this.factors = unitFactors(plan);
    this.counter = new SampleCounter(plan);
  }

  /** What has been added since the last image. */
  get counted(): Pick<SampleCounter, 'samples' | 'gaplessSamples' | 'gappyRows'> {
    return this.counter;
  }

  setGains(gains: GainsCA, solved?: Uint8Array): void {
    this.checkBetween();
    this.factors = inputFactors(this.plan, gains, solved);
  }

  /** Refuses new gains in the middle of an image: it has one calibration. */
  checkBetween(): void {
    if (this.counter.samples > 0) {
      refuse('direct image', 'new gains in the middle of an image', 'finish it first');
    }
  }

  /** Refuses a block that does not fit; counts its samples and gaps. */
  add(block: SpectraBlock): void {
    checkBlock(this.plan, block);
    this.counter.add(block.samples, block.gaps);
  }

  /** Refuses an image of nothing. */
  checkAny(): void {
    if (this.counter.samples === 0)
      refuse('direct image', 'nothing was accumulated', 'accumulate a block first');
  }

  /** A fresh start, for an image that is scaled elsewhere. */
  restart(): void {
    this.counter.restart();
  }

  /**
   * Scales sums : [c][product][m][l] as the transform leaves them, and starts again. pairSums : [c][product], where the
   * factors are not those known here. powers : [c][s][product], where autocorrelations are left out: they are taken
   * from the sums.
   */
  finish(
    sums: Float64Array,
    pairSums?: Float64Array,
    into?: DirectImage,
    powers?: Float64Array,
  ): DirectImage {
    const { plan, counter, autos } = this;
    if (autos === 'leave-out') {
      if (!powers) throw new Error("autocorrelations are left out, and the stations' powers were not summed");
      takeAutos(plan, sums, powers, this.factors);
    }
    const { samples } = counter;
    const counts = counter.finish(into?.counts);
    const scales =
      pairSums ??
      Float64Array.from({ length: plan.channels * plan.products }, (_, plane) =>
        pairSum(
          ...([plan, counts, this.factors] as const),
          ...([Math.floor(plane / plan.products), plane % plan.products, autos] as const),
        ),
      );
    return {
      image: scaleImage(plan, sums, scales, into?.image),
      samples,
      counts,
      weights: weightsCP(scales, plan.channels, plan.products),
    };
  }
}
