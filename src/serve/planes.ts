/** From an image with many channels to the display: Stokes I over the band, spectra at positions, colour range. */
import type { ImagePlan } from '../image/index.js';
import type { SkyImage } from '../stages/index.js';
import type { ColourRange } from './messages.js';

type Axes = Pick<ImagePlan, 'channels' | 'products' | 'pixels'>;

/** Sums for a plane of Stokes I: for each hand, XX and YY or XX alone, the weighted sums over channels. */
export interface HandSums {
  /** sums : [hand][m][l]; NaN for blank pixels. */
  readonly sums: Float64Array;
  /** weights : [hand]; 0 if no channel has data. */
  readonly weights: Float64Array;
}

/** Channel by channel, so that an image with many channels is read once. */
export function handSums(
  image: SkyImage['image'],
  { channels, products, pixels }: Axes,
  weights?: SkyImage['weights'],
): HandSums {
  const size = pixels * pixels;
  const hands = products > 1 ? 2 : 1;
  const sums = new Float64Array(hands * size);
  const present = new Float64Array(hands);
  // Blank pixels are NaN in every channel; a channel without data is NaN in every pixel.
  const middle = (pixels / 2) * pixels + pixels / 2;
  for (let c = 0; c < channels; c++)
    for (let hand = 0; hand < hands; hand++) {
      const from = (c * products + hand) * size;
      if (Number.isNaN(image[from + middle])) continue;
      const weight = weights?.[c * products + hand] ?? 1;
      present[hand] += weight;
      for (let at = 0; at < size; at++) sums[hand * size + at] += weight * image[from + at];
    }
  return { sums, weights: present };
}

/**
 * plane : [m][l], (XX + YY)/2 or XX alone, from the weighted means over channels as in averageChannels; NaN for blank
 * pixels.
 */
export function stokesOf({ sums, weights }: HandSums): Float32Array {
  const size = sums.length / weights.length;
  const plane = new Float32Array(size);
  const [x, y] = [weights[0], weights[weights.length - 1]];
  const other = (weights.length - 1) * size;
  for (let at = 0; at < size; at++)
    plane[at] = x > 0 && y > 0 ? (sums[at] / x + sums[other + at] / y) / 2 : NaN;
  return plane;
}

export const stokesPlane = (
  image: SkyImage['image'],
  axes: Axes,
  weights?: SkyImage['weights'],
): Float32Array => stokesOf(handSums(image, axes, weights));

/** Stokes I of each channel at the pixel nearest to a position; null without data. */
export function spectrumAt(
  image: SkyImage['image'],
  { channels, products, pixels, pixelSize }: Axes & Pick<ImagePlan, 'pixelSize'>,
  l: number,
  m: number,
): (number | null)[] {
  const [row, column] = [Math.round(m / pixelSize + pixels / 2), Math.round(l / pixelSize + pixels / 2)];
  if (row < 0 || column < 0 || row >= pixels || column >= pixels) return [];
  const at = row * pixels + column;
  return Array.from({ length: channels }, (_, c) => {
    const x = c * products * pixels * pixels + at;
    const value = (image[x] + image[products > 1 ? x + pixels * pixels : x]) / 2;
    return Number.isFinite(value) ? value : null;
  });
}

/** A sample of this many pixels suffices for the range: sorting a large image takes longer than drawing it. */
const SAMPLED = 8192;
const [LOW, HIGH] = [0.02, 0.9995];

/** The colour range, as in our pictures (draw/stretch.ts): from the faint end of the noise to the brightest sources. */
export function colourRange(plane: Float32Array): ColourRange {
  const stride = Math.max(1, Math.floor(plane.length / SAMPLED));
  const some: number[] = [];
  let peak = -Infinity;
  for (let at = 0; at < plane.length; at++) {
    const value = plane[at];
    if (value > peak) peak = value;
    if (at % stride === 0 && Number.isFinite(value)) some.push(value);
  }
  const sorted = Float32Array.from(some).sort();
  if (sorted.length === 0) return { low: 0, high: 1, peak: 0 };
  const pick = (share: number): number => sorted[Math.round(share * (sorted.length - 1))];
  const [low, high] = [pick(LOW), pick(HIGH)];
  // A source that covers few pixels still extends the range.
  const top = peak - low <= 4 * (high - low) ? peak : high;
  return top > low ? { low, high: top, peak } : { low: low - 1, high: low + 1, peak };
}
