/**
 * An imager and its plan, kept as long as they are valid. A plan is made for the J2000 axes of one moment round the
 * zenith, or round the normal of the stations' own plane, which is chosen once for all plans. Relative to the ground
 * they rotate slowly, by what precession has moved the pole, so the plan of one image serves the next: it is made anew
 * once the axes have rotated by so much that the edge of the image would be off by a hundredth of a pixel. Machines
 * that share a band, and began at different times, use plans for fixed time ranges of UTC instead: theirs are equal.
 */
import type { Closable } from '../core/closing.js';
import { dot, type Vector3 } from '../core/vector.js';
import { instant, type Instant } from '../core/instant.js';
import type { ImagePlan } from '../image/index.js';
import { skyFrame, type SkyFrame, type TangentAxes } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import { axesAt, pixelsOf, planSky, withCentre, type ImageSettings } from './sky-image.js';

const MOST_ERROR_PIXELS = 0.01;

interface PlannedImagerOptions<Imager> {
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly settings: ImageSettings;
  /** The moment a plan is made for: by default that of the first image that uses it. */
  readonly plannedFor?: PlannedFor;
  readonly prepare: (plan: ImagePlan) => Promise<Imager>;
  /** Where the imager is left for the next run that makes the same images; closed by default. */
  readonly store?: ImagerStore;
  /** For an imager from the store: what `prepare` does after planning. */
  readonly renew?: (imager: Imager) => void;
}

/** Keeps one imager from a stream epoch to the next: planning takes seconds, during which data would wait. */
export class ImagerStore implements Closable {
  private kept: Current<Closable> | undefined;

  /** The stored imager; the caller closes it or leaves it again. */
  take(): Current<Closable> | undefined {
    const { kept } = this;
    this.kept = undefined;
    return kept;
  }

  async leave(current: Current<Closable>): Promise<void> {
    await this.close();
    this.kept = current;
  }

  async close(): Promise<void> {
    await this.take()?.imager.close();
  }
}

export type PlannedFor =
  /** The middle of a fixed time range of UTC, the same for every process. */
  | 'utc'
  /** An earlier image, whose plan is used as long as it is valid: for a run that continues another. */
  | Instant;

interface Current<Imager> {
  readonly plan: ImagePlan;
  readonly imager: Imager;
  readonly range?: PlanRange;
}

export class PlannedImager<Imager extends Closable> implements Closable {
  private current: Current<Imager> | undefined;
  private count = 0;
  private hasAsked = false;
  private readonly settings: ReturnType<typeof withCentre>;

  constructor(private readonly options: PlannedImagerOptions<Imager>) {
    const { telescope, frequenciesHz, settings } = options;
    this.settings = withCentre(telescope, frequenciesHz, settings);
  }

  /** Only plans for fixed time ranges of UTC are the same in every process. */
  private get store(): ImagerStore | undefined {
    return this.options.plannedFor === 'utc' ? this.options.store : undefined;
  }

  /** Plans made so far. */
  get plans(): number {
    return this.count;
  }

  async at(frame: SkyFrame): Promise<{ readonly plan: ImagePlan; readonly imager: Imager }> {
    const { settings } = this;
    this.takeOver();
    if (this.current && isFor(this.current, frame, settings.normalEnu)) return this.current;
    await this.drop();
    const { telescope, frequenciesHz, plannedFor, prepare } = this.options;
    const sizeAt = (moment: SkyFrame): number => pixelsOf(telescope, moment, frequenciesHz, settings);
    const range = plannedFor === 'utc' ? planRangeOf(frame, sizeAt(frame), settings.normalEnu) : undefined;
    const plan = planSky(
      telescope,
      range?.middle ?? this.begunBefore(frame, sizeAt) ?? frame,
      frequenciesHz,
      settings,
    );
    this.current = { plan, imager: await prepare(plan), range };
    this.count++;
    return this.current;
  }

  /** The frame of an inherited plan, where it is still valid; later plans are our own. */
  private begunBefore(frame: SkyFrame, sizeAt: (frame: SkyFrame) => number): SkyFrame | undefined {
    const { plannedFor } = this.options;
    if (plannedFor === undefined || plannedFor === 'utc' || this.count > 0) return undefined;
    const earlier = skyFrame(frame.site, plannedFor);
    const { normalEnu } = this.settings;
    return holds(axesAt(earlier, normalEnu), sizeAt(earlier), frame, normalEnu) ? earlier : undefined;
  }

  /** Takes over an imager of the same images, once. */
  private takeOver(): void {
    if (this.hasAsked) return;
    this.hasAsked = true;
    const { store } = this;
    const { renew } = this.options;
    this.current = store?.take() as Current<Imager> | undefined;
    if (this.current) renew?.(this.current.imager);
  }

  private async drop(): Promise<void> {
    const old = this.current;
    this.current = undefined;
    await old?.imager.close();
  }

  async close(): Promise<void> {
    const { current, store } = this;
    this.current = undefined;
    if (current && store) await store.leave(current);
    else await current?.imager.close();
  }
}

function isFor<Imager>({ plan, range }: Current<Imager>, frame: SkyFrame, normalEnu: Vector3): boolean {
  if (!range) return holds(plan.axes, plan.pixels, frame, normalEnu);
  const at = secondsOf(frame.moment);
  return at >= range.fromS && at < range.toS;
}

/** The moments for which one process would make its plans, for images in the order of time: one per moment. */
export function planMoments(
  moments: readonly SkyFrame[],
  sizeAt: (frame: SkyFrame) => number,
  normalEnu: Vector3,
  plannedFor?: 'utc',
): readonly Instant[] {
  if (plannedFor === 'utc')
    return moments.map((frame) => planRangeOf(frame, sizeAt(frame), normalEnu).middle.moment);
  let current: { readonly moment: Instant; readonly axes: TangentAxes; readonly pixels: number } | undefined;
  return moments.map((frame) => {
    if (!current || !holds(current.axes, current.pixels, frame, normalEnu))
      current = { moment: frame.moment, axes: axesAt(frame, normalEnu), pixels: sizeAt(frame) };
    return current.moment;
  });
}

interface PlanRange {
  readonly fromS: number;
  readonly toS: number;
  readonly middle: SkyFrame;
}

const LONGEST_RANGE_S = 3600;
const SHORTEST_RANGE_S = 1;
/** An image whose middle is on a boundary belongs to the next range, however its clock was rounded. */
const ROUNDING_S = 1e-6;
const secondsOf = ({ unixSeconds, fraction }: Instant): number => unixSeconds + fraction + ROUNDING_S;

/** The longest of UTC's hours, halves, quarters and so on in which the plan for its middle is valid. */
function planRangeOf({ site, moment }: SkyFrame, pixels: number, normalEnu: Vector3): PlanRange {
  for (let lengthS = LONGEST_RANGE_S; ; lengthS /= 2) {
    const fromS = Math.floor(secondsOf(moment) / lengthS) * lengthS;
    const toS = fromS + lengthS;
    const frameAt = (unixS: number): SkyFrame =>
      skyFrame(site, instant(Math.floor(unixS), unixS - Math.floor(unixS)));
    const middle = frameAt((fromS + toS) / 2);
    const axes = axesAt(middle, normalEnu);
    if (
      lengthS / 2 < SHORTEST_RANGE_S ||
      [fromS, toS].every((unixS) => holds(axes, pixels, frameAt(unixS), normalEnu))
    )
      return { fromS, toS, middle };
  }
}

function holds(axes: TangentAxes, pixels: number, frame: SkyFrame, normalEnu: Vector3): boolean {
  const now = axesAt(frame, normalEnu);
  const rotatedRad = Math.max(angleBetween(axes.l, now.l), angleBetween(axes.m, now.m));
  return rotatedRad * (pixels / 2) <= MOST_ERROR_PIXELS;
}

/** Between unit vectors; small angles keep their precision. */
function angleBetween(x: Vector3, y: Vector3): number {
  const apart = { x: x.x - y.x, y: x.y - y.y, z: x.z - y.z };
  return Math.sqrt(dot(apart, apart));
}
