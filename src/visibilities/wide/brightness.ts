/** Wide images divided by the beam: its weighted mean over the instants, frequencies and pairs of the image. */
import type { ImageCPML } from '../../core/axes.js';
import type { ElementBeam } from '../../sky/beams/element-beam.js';
import { kindsOf } from '../../sky/beams/powers.js';
import { skyFrame, type SkyPosition } from '../../sky/frame.js';
import type { Telescope } from '../../telescope/telescope.js';
import {
  areBare,
  correctForBeam,
  divideByProjection,
  meanPowers,
  type PowersAt,
  type SharedLook,
  type Share,
} from '../../stages/index.js';
import type { WideSkyImage } from './image.js';

/** Only the image: CLEAN's other outputs keep apparent flux. */
export function correctedWide(
  sky: WideSkyImage,
  beam: ElementBeam,
  { site, stations }: Telescope,
  followed: SkyPosition,
): WideSkyImage {
  const { centreAt, pixels, products, shares } = sky;
  if (!shares) throw new Error('the weights of the image were not counted');
  const { beams } = kindsOf(beam, stations.length);
  const lookOf = ({ moment, frequencyHz, weights }: Share): SharedLook => {
    const frame = skyFrame(site, moment);
    const followedEnu = frame.directionEnu(followed);
    return { axes: frame.tangentAxes(centreAt(frame)), followedEnu, frequencyHz, weights };
  };
  const made = shares.map((own): PowersAt => meanPowers(own.map(lookOf), beams));
  const channels = shares.length / products.length;
  const powers = Array.from({ length: channels }, (_, c) =>
    made.slice(c * products.length, (c + 1) * products.length),
  );
  const on = { pixels: pixels.pixels, pixelCosine: pixels.pixelCosine, products, powers };
  return { ...sky, image: correctForBeam(sky.image, on) };
}

/**
 * I, or the only product, of bare dipoles without their response: its mean over the data, for each channel. With a beam
 * that is divided out of the image, only CLEAN's other outputs.
 */
export function withoutResponse(
  sky: WideSkyImage,
  telescope: Telescope,
  beam: ElementBeam | undefined,
): WideSkyImage {
  if (!areBare(telescope)) return sky;
  const { shares, pixels, centreAt, cleaned } = sky;
  if (!shares) throw new Error('the weights of the image were not counted');
  const size = pixels.pixels ** 2;
  const looks = shares.map((own) =>
    own.map(({ moment, weights }) => {
      const frame = skyFrame(telescope.site, moment);
      return {
        axes: frame.tangentAxes(centreAt(frame)),
        weight: weights.reduce((sum, weight) => sum + weight, 0),
      };
    }),
  );
  const divided = (image: ImageCPML): ImageCPML => {
    const made = image.slice() as ImageCPML;
    looks.forEach((own, c) => {
      divideByProjection(made.subarray(c * size, (c + 1) * size), pixels, own);
    });
    return made;
  };
  return {
    ...sky,
    ...(!beam && { image: divided(sky.image) }),
    ...(cleaned && {
      cleaned: {
        ...cleaned,
        dirty: divided(cleaned.dirty),
        model: divided(cleaned.model),
        residual: divided(cleaned.residual),
      },
    }),
  };
}
