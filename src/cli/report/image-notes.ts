/** What image says of a plane round the zenith. */
import { refuse } from '../../core/errors.js';
import { averageChannels, loneHand, stokesI } from '../../image/index.js';
import { handName } from '../../pipeline/products.js';
import type { SkyImage } from '../../pipeline/sky-image.js';

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

export const loneHandNote = (hand: 0 | 1, feeds: 'linear' | 'circular' = 'linear'): string =>
  `the plane is ${handName(feeds, hand)}: of the other hand nothing is left, and Stokes I takes both`;
