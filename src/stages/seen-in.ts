/** Measures an image of the sky: its peak, and the loss by its pixels. */
import { refuse } from '../core/errors.js';
import { DEGREES_PER_RADIAN } from '../core/units.js';
import { averageChannels, loneHand, stationBeam, stokesI, type ImageGeometry } from '../image/index.js';
import type { SkyImage } from './sky-image.js';

/** Its brightest pixel, and its polarisation where the other has no data; an image without data is refused. */
export function seenIn({ image, plan, weights }: SkyImage): {
  readonly peak: number;
  readonly hand: 0 | 1 | undefined;
} {
  const mean = averageChannels(image, plan, weights);
  const peak = stokesI(mean, plan, 0).reduce((most, value) => (value > most ? value : most), -Infinity);
  if (peak === -Infinity)
    refuse(
      'image',
      'no data are left: every parallel hand is flagged, missing or without gains',
      'look at the flags with corella inspect',
    );
  return { peak, hand: loneHand(mean, plan) };
}

/** Pixels, and the stations whose beam they sample. */
export type CoarsePlan = Pick<ImageGeometry, 'pixels' | 'pixelSize' | 'stationsM' | 'axes' | 'frequenciesHz'>;

/**
 * The loss of a source in the middle of four pixels, as a fraction of the flux: grids that just hold the array have
 * pixels as wide as its beam.
 */
export function betweenPixels({ plan }: { readonly plan: CoarsePlan }): number {
  const beam = stationBeam(plan);
  if (!beam) return 0;
  const pixelDeg = plan.pixelSize * DEGREES_PER_RADIAN;
  // A Gaussian of that width at half maximum, half a pixel off along both axes.
  return 1 - 2 ** (-((pixelDeg / beam.majorDeg) ** 2) - (pixelDeg / beam.minorDeg) ** 2);
}
