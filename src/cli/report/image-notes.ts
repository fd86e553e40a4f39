/** What image says of images round the zenith. */
import { refuse } from '../../core/errors.js';
import { DEGREES_PER_RADIAN } from '../../core/units.js';
import type { VisibilityHeader } from '../../formats/index.js';
import { averageChannels, loneHand, stationBeam, stokesI, type ImageField } from '../../image/index.js';
import { handName } from '../../pipeline/products.js';
import type { SkyImage } from '../../pipeline/sky-image.js';
import type { SkyFrame } from '../../sky/frame.js';

/** Its brightest pixel, and which hand it is of where the other has nothing; an image of nothing is refused. */
export function seenIn({ image, plan, weights }: SkyImage): {
  readonly peak: number;
  readonly hand: 0 | 1 | undefined;
} {
  const mean = averageChannels(image, plan, weights);
  const peak = stokesI(mean, plan, 0).reduce((most, value) => (value > most ? value : most), -Infinity);
  if (peak === -Infinity)
    refuse(
      'image',
      'nothing is left of the data: every parallel hand is flagged, missing or without gains',
      'look at the flags with corella inspect',
    );
  return { peak, hand: loneHand(mean, plan) };
}

/** Told above it. */
const MOST_LOSS = 0.2;
/** What more pixels are asked for. */
const LITTLE_LOSS = 0.1;

/**
 * What a source may lose that lies in the middle of four pixels, as a part of its flux: grids that just hold the array have
 * pixels as wide as its beam.
 */
export function betweenPixels({ plan }: SkyImage): number {
  const beam = stationBeam(plan);
  if (!beam) return 0;
  const pixelDeg = plan.pixelSize * DEGREES_PER_RADIAN;
  // A Gaussian of that width at half maximum, half a pixel off along both axes.
  return 1 - 2 ** (-((pixelDeg / beam.majorDeg) ** 2) - (pixelDeg / beam.minorDeg) ** 2);
}

export function coarseLines({ plan }: Pick<SkyImage, 'plan'>, loss: number): string[] {
  if (!(loss > MOST_LOSS)) return [];
  const more = Math.ceil((plan.pixels / 2) * Math.sqrt(Math.log(1 - loss) / Math.log(1 - LITTLE_LOSS))) * 2;
  return [
    `pixels are coarse for the beam: a source between them reads up to ${(100 * loss).toFixed(0)} % low, ` +
      `${100 * LITTLE_LOSS} % with ${more} pixels (--pixels), or in a narrower --field`,
  ];
}

export const loneHandNote = (hand: 0 | 1, feeds: 'linear' | 'circular' = 'linear'): string =>
  `the plane is ${handName(feeds, hand)}: of the other hand nothing is left, and Stokes I takes both`;

/** Fields lie round the zenith: what a telescope followed elsewhere may not be in them. */
export function outsideLines(
  { object, phaseCentre }: Pick<VisibilityHeader, 'object' | 'phaseCentre'>,
  frame: SkyFrame,
  field: ImageField,
): string[] {
  const { x, y, z } = frame.directionEnu(phaseCentre);
  const fromZenithDeg = Math.atan2(Math.hypot(x, y), z) * DEGREES_PER_RADIAN;
  if (fromZenithDeg <= (field.kind === 'field' ? field.widthDeg / 2 : 90)) return [];
  return [
    `the file's phase centre, ${object}, is ${fromZenithDeg.toFixed(1)}° from the zenith, ` +
      (fromZenithDeg > 90 ? 'below the horizon' : 'outside this field round the zenith'),
  ];
}
