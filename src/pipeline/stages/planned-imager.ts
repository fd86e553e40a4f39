/**
 * An imager and its plan, kept for as long as they hold. A plan is made for the J2000 axes at the zenith of one moment.
 * Against the ground they rotate slowly, by what precession has moved the pole, so the plan of one image serves the next:
 * it is made anew once the axes have rotated by so much that the edge of the image would be off by a hundredth of a pixel.
 */
import type { Closable } from '../../core/closing.js';
import { dot, type Vector3 } from '../../core/vector.js';
import type { ImagePlan } from '../../image/index.js';
import type { SkyFrame } from '../../sky/frame.js';
import type { Telescope } from '../../telescope/telescope.js';
import { planSky, type ImageSettings } from '../sky-image.js';

const MOST_ERROR_PIXELS = 0.01;

export interface PlannedImagerOptions<Imager> {
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly settings: ImageSettings;
  readonly prepare: (plan: ImagePlan) => Promise<Imager>;
}

export class PlannedImager<Imager extends Closable> implements Closable {
  private current: { readonly plan: ImagePlan; readonly imager: Imager } | undefined;
  private count = 0;

  constructor(private readonly options: PlannedImagerOptions<Imager>) {}

  /** Plans made so far. */
  get plans(): number {
    return this.count;
  }

  async at(frame: SkyFrame): Promise<{ readonly plan: ImagePlan; readonly imager: Imager }> {
    if (this.current && stillHolds(this.current.plan, frame)) return this.current;
    await this.close();
    const { telescope, frequenciesHz, settings, prepare } = this.options;
    const plan = planSky(telescope, frame, frequenciesHz, settings);
    this.current = { plan, imager: await prepare(plan) };
    this.count++;
    return this.current;
  }

  async close(): Promise<void> {
    const old = this.current;
    this.current = undefined;
    await old?.imager.close();
  }
}

function stillHolds({ axes, pixels }: ImagePlan, frame: SkyFrame): boolean {
  const now = frame.tangentAxes(frame.zenith);
  const rotatedRad = Math.max(angleBetween(axes.l, now.l), angleBetween(axes.m, now.m));
  return rotatedRad * (pixels / 2) <= MOST_ERROR_PIXELS;
}

/** Of unit vectors; small angles keep their digits. */
function angleBetween(x: Vector3, y: Vector3): number {
  const apart = { x: x.x - y.x, y: x.y - y.y, z: x.z - y.z };
  return Math.sqrt(dot(apart, apart));
}
