/** Wide images over the beam: its mean over the time the data took, since the sky turns through it. */
import { addSeconds } from '../../core/instant.js';
import type { ElementBeam } from '../../sky/beams/element-beam.js';
import { skyFrame, type SkyPosition } from '../../sky/frame.js';
import type { Telescope } from '../../telescope/telescope.js';
import { correctForBeam, type Look } from '../brightness.js';
import type { WideSkyImage } from './image.js';

/** A moment every so long, at most so many. */
const EVERY_S = 300;
const MOST_LOOKS = 16;

/** The image alone: what CLEAN left beside it stays apparent. */
export function correctedWide(
  sky: WideSkyImage,
  beam: ElementBeam,
  { site }: Telescope,
  followed: SkyPosition,
): WideSkyImage {
  const { start, durationS, centre, pixels, products, frequenciesHz } = sky;
  const count = Math.min(MOST_LOOKS, Math.max(1, Math.ceil(durationS / EVERY_S)));
  const looks = Array.from({ length: count }, (_, k): Look => {
    const frame = skyFrame(site, addSeconds(start, ((k + 0.5) / count) * durationS));
    return { axes: frame.tangentAxes(centre), followedEnu: frame.directionEnu(followed) };
  });
  const on = { pixels: pixels.pixels, pixelCosine: pixels.pixelCosine, products, frequenciesHz, looks };
  return { ...sky, image: correctForBeam(sky.image, on, beam) };
}
