/** Extracts and measures parts of images. */
import { imageCPML, planeML, weightsCP, type ImageCPML, type PlaneML, type WeightsCP } from '../core/axes.js';
import { refuse, wholeNumber } from '../core/errors.js';
import type { Vector3 } from '../core/vector.js';
import { cosinesAlong } from '../sky/frame.js';
import { pixelCosine, type ImagePlan } from './plan.js';

export type ImageShape = Pick<ImagePlan, 'pixels' | 'pixelSize'>;
/** The members of a plan that determine an image's memory layout. */
type ImageAxes = Pick<ImagePlan, 'channels' | 'products' | 'pixels' | 'polarisations'>;

/**
 * The mean over channels with their weights, one channel out: the mean of all samples. Channels count equally where no
 * weights are given. Channels without data (NaN throughout) are left out.
 */
export function averageChannels(image: ImageCPML, plan: ImageAxes, weights?: WeightsCP): ImageCPML {
  const { channels, products, pixels } = plan;
  imageCPML(image, channels, products, pixels);
  if (weights) weightsCP(weights, channels, products);
  const size = products * pixels * pixels;
  const mean = new Float64Array(size);
  for (let at = 0; at < size; at++) {
    const product = Math.floor(at / (pixels * pixels));
    let sum = 0;
    let present = 0;
    for (let c = 0; c < channels; c++) {
      const value = image[c * size + at];
      if (Number.isNaN(value)) continue;
      const weight = weights?.[c * products + product] ?? 1;
      sum += weight * value;
      present += weight;
    }
    mean[at] = present > 0 ? sum / present : NaN;
  }
  return imageCPML(mean, 1, products, pixels);
}

/** A view of one channel's product: 0 XX, 1 YY, 2 Re XY, 3 Im XY. */
export function planeOf(image: ImageCPML, plan: ImageAxes, channel: number, product: number): PlaneML {
  const { products, pixels } = plan;
  const size = pixels * pixels;
  const channels = image.length / (products * size);
  wholeNumber('image', 'channel', channel, 0, channels - 1);
  wholeNumber('image', 'product', product, 0, products - 1);
  const first = (channel * products + product) * size;
  return planeML(image.subarray(first, first + size), pixels);
}

/**
 * Stokes I = (XX + YY)/2 of one channel; with one polarisation XX replaces it, and a single polarisation with data
 * replaces both.
 */
export function stokesI(image: ImageCPML, plan: ImageAxes, channel: number): PlaneML {
  const x = planeOf(image, plan, channel, 0);
  if (plan.polarisations === 1) return planeML(x.slice(), plan.pixels);
  const y = planeOf(image, plan, channel, 1);
  if (isEmpty(x) !== isEmpty(y)) return planeML((isEmpty(x) ? y : x).slice(), plan.pixels);
  return planeML(
    x.map((value, at) => (value + y[at]) / 2),
    plan.pixels,
  );
}

const isEmpty = (plane: PlaneML): boolean => plane.every(Number.isNaN);

/** The polarisation with data, where the other one was lost in every channel. */
export function loneHand(image: ImageCPML, plan: ImageAxes): 0 | 1 | undefined {
  if (plan.polarisations === 1) return undefined;
  const channels = image.length / (plan.products * plan.pixels ** 2);
  const [x, y] = [0, 1].map((hand) =>
    Array.from({ length: channels }, (_, c) => planeOf(image, plan, c, hand)).every(isEmpty),
  );
  return x === y ? undefined : x ? 1 : 0;
}

/** An image of one product, in every channel. */
export function productAlone(image: ImageCPML, plan: ImageAxes, product: number): ImageCPML {
  const size = plan.pixels ** 2;
  const channels = image.length / (plan.products * size);
  const alone = new Float64Array(channels * size);
  for (let c = 0; c < channels; c++) alone.set(planeOf(image, plan, c, product), c * size);
  return imageCPML(alone, channels, 1, plan.pixels);
}

/** A direction's place in the image, in direction cosines; undefined behind the tangent plane. */
export function placeOf(
  plan: Pick<ImagePlan, 'axes'>,
  direction: Vector3,
): { l: number; m: number } | undefined {
  const { x: l, y: m, z: n } = cosinesAlong(plan.axes, direction);
  return n > 0 ? { l, m } : undefined;
}

export interface MeasuredSource {
  readonly l: number;
  readonly m: number;
  /** Distance from the expected place. */
  readonly errorPixels: number;
  /** Brightness at the top of the fitted parabola. */
  readonly peak: number;
}

/** The brightest spot within a radius of an expected place, to a fraction of a pixel by parabolas through it. */
export function measureSource(
  plane: PlaneML,
  plan: ImageShape,
  expected: { readonly l: number; readonly m: number },
  searchRadiusPixels: number,
): MeasuredSource {
  const { pixels, pixelSize } = plan;
  planeML(plane, pixels);
  const columnExpected = expected.l / pixelSize + pixels / 2;
  const rowExpected = expected.m / pixelSize + pixels / 2;
  let best = -1;
  for (let row = 1; row < pixels - 1; row++) {
    for (let column = 1; column < pixels - 1; column++) {
      if (Math.hypot(row - rowExpected, column - columnExpected) > searchRadiusPixels) continue;
      const at = row * pixels + column;
      if (!Number.isNaN(plane[at]) && (best < 0 || plane[at] > plane[best])) best = at;
    }
  }
  if (best < 0) {
    refuse(
      'image',
      `no pixel is shown within ${searchRadiusPixels} pixels of l = ${expected.l}, m = ${expected.m}`,
      'measure sources above the horizon and inside the field',
    );
  }
  const alongL = vertex(plane[best - 1], plane[best], plane[best + 1]);
  const alongM = vertex(plane[best - pixels], plane[best], plane[best + pixels]);
  const column = (best % pixels) + alongL.offset;
  const row = Math.floor(best / pixels) + alongM.offset;
  return {
    l: pixelCosine(plan, column),
    m: pixelCosine(plan, row),
    errorPixels: Math.hypot(column - columnExpected, row - rowExpected),
    peak: plane[best] + alongL.rise + alongM.rise,
  };
}

/** Top of the parabola through three neighbours; the middle pixel where it is not the highest, or at an edge. */
function vertex(before: number, middle: number, after: number): { offset: number; rise: number } {
  const curvature = before - 2 * middle + after;
  const slope = (after - before) / 2;
  if (!(before <= middle && after <= middle && curvature < 0)) return { offset: 0, rise: 0 };
  return { offset: -slope / curvature, rise: -(slope * slope) / (2 * curvature) };
}
