/**
 * Re-images a kept integration with other weights. This runs between two integrations of the chain, one image at a
 * time: it uses the chain's backend, and the chain has priority.
 */
import { CorellaError, refuse } from '../../core/errors.js';
import type { Closable } from '../../core/closing.js';
import {
  through,
  imagedTelescope,
  prepareImage,
  type ImageInput,
  type VisibilitySkyImage,
  type Stage,
} from '../../stages/index.js';
import type { Frame } from '../image-history.js';
import type { Kept } from './kept-integrations.js';
import type { LiveState } from '../live-state.js';

const weightings = ['natural', 'uniform'] as const;
type Weighting = (typeof weightings)[number];

interface Asked {
  readonly kept: Kept;
  readonly weight: Weighting;
  readonly resolve: (frame: Frame) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: NodeJS.Timeout;
}

/** Further requests are refused: each costs the chain an image's time. */
const MOST_WAITING = 4;
/** Timeout for the chain to finish an integration. */
const TIMEOUT_MS = 20_000;

function weightingNamed(name: string): Weighting {
  const found = weightings.find((one) => one === name);
  if (found) return found;
  return name === 'briggs'
    ? refuse(
        'weight',
        'briggs is of wide fields, which are made of many integrations',
        'give natural or uniform, or make it with products.images.weights: briggs from the visibilities of the run',
      )
    : refuse('weight', `'${name}' is no weighting`, `give ${weightings.join(' or ')}`);
}

export class ReImager implements Closable {
  private readonly asked: Asked[] = [];
  private readonly stages = new Map<Weighting, Stage<ImageInput, VisibilitySkyImage>>();
  /** True if no data arrive, so there is nothing to wait for. */
  isIdle = false;

  constructor(private readonly state: LiveState) {}

  async make(unixS: number, name: string): Promise<Frame> {
    const weight = weightingNamed(name);
    const { begun, kept } = this.state;
    if (!begun?.shown.imaging)
      return refuse('images/again', 'no images are made', 'begin with --image, once data flow');
    if (kept.isTooLarge)
      return refuse(
        'images/again',
        'an integration is too large to be kept',
        'make it with products.images.weights: uniform from the visibilities of the run',
      );
    const nearest =
      kept.at(unixS) ?? refuse('images/again', 'no integration was kept yet', 'wait for the next one');
    if (this.asked.length >= MOST_WAITING)
      refuse('images/again', `${MOST_WAITING} pictures are waited for already`, 'ask again in a while');
    const made = this.wait(nearest, weight);
    if (this.isIdle) await this.work();
    return made;
  }

  /** Makes one requested image, if any: called when the chain has finished an integration. */
  work(): Promise<void> {
    this.working = this.working.then(() => this.one());
    return this.working;
  }
  private working: Promise<void> = Promise.resolve();

  private wait(kept: Kept, weight: Weighting): Promise<Frame> {
    return new Promise<Frame>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.asked.splice(this.asked.indexOf(asked), 1);
        reject(
          new CorellaError({
            where: 'images/again',
            what: 'no integration ended meanwhile',
            fix: "wait for data, or let 'corella view' make it from the observation's files",
          }),
        );
      }, TIMEOUT_MS);
      timer.unref();
      const asked: Asked = { kept, weight, resolve, reject, timer };
      this.asked.push(asked);
    });
  }

  private async one(): Promise<void> {
    const next = this.asked.shift();
    if (!next) return;
    clearTimeout(next.timer);
    const { kept, weight, resolve, reject } = next;
    try {
      const { start } = kept.integration;
      const calibration = this.state.begun?.shown.steering?.calibratedAt(start);
      const input = calibration ? { integration: kept.integration, calibration } : kept.integration;
      resolve(this.state.frameOf(await through(this.stageOf(weight), input), 0, { weight }));
    } catch (error) {
      reject(error);
    }
  }

  private stageOf(weight: Weighting): Stage<ImageInput, VisibilitySkyImage> {
    const known = this.stages.get(weight);
    if (known) return known;
    const { begun } = this.state;
    const { shown } = begun ?? refuse('images/again', 'no data yet');
    const { backend, frequenciesHz, imaging } = shown;
    const made = prepareImage({
      backend,
      frequenciesHz,
      weight,
      autos: 'leave-out',
      beam: 'leave-out',
      telescope: imagedTelescope(shown.telescope, shown.flaggedInputs),
      image: imaging?.image ?? refuse('images/again', 'no images are made'),
    });
    this.stages.set(weight, made);
    return made;
  }

  async close(): Promise<void> {
    for (const { reject, timer } of this.asked.splice(0)) {
      clearTimeout(timer);
      reject(new CorellaError({ where: 'images/again', what: 'the observation is over' }));
    }
    await this.working;
    for (const stage of this.stages.values()) await stage.close();
    this.stages.clear();
  }
}
