/** Pixels of a wide image without values: always below the horizon, or in the sky that is flagged. */
import type { Instant } from '../../core/instant.js';
import type { WidePlan } from '../../image/index.js';
import { cosinesAlong, skyFrame, type SkyFrame, type TangentAxes } from '../../sky/frame.js';
import type { PhaseCentre } from '../../sky/phase-centre.js';
import type { Telescope } from '../../telescope/telescope.js';
import { discPixels, spread } from '../../stages/index.js';
import type { SkyDisc } from '../../sky/discs.js';

/** Limit on the instants to test, evenly spread: a quarter of an hour apart over a day. */
const MOST_MOMENTS = 96;

/** hidden : [m][l], 1 if a pixel is below the horizon whenever there are data; undefined if there is none. */
export function hiddenPixels(
  { pixels, pixelCosine }: Pick<WidePlan, 'pixels' | 'pixelCosine'>,
  centre: PhaseCentre,
  { site }: Telescope,
  { moments }: { readonly moments: readonly Instant[] },
): Uint8Array | undefined {
  const ups = spread(moments, MOST_MOMENTS).map((moment) => {
    const frame = skyFrame(site, moment);
    const { l, m, n } = frame.tangentAxes(centre.position(frame));
    return [l.z, m.z, n.z] as const;
  });
  const hidden = new Uint8Array(pixels * pixels);
  let count = 0;
  for (let at = 0; at < hidden.length; at++) {
    const l = ((at % pixels) - pixels / 2) * pixelCosine;
    const m = (Math.floor(at / pixels) - pixels / 2) * pixelCosine;
    const n = Math.sqrt(Math.max(0, 1 - l * l - m * m));
    if (l * l + m * m <= 1 && ups.some(([x, y, z]) => l * x + m * y + n * z > 0)) continue;
    hidden[at] = 1;
    count++;
  }
  return count > 0 ? hidden : undefined;
}

/** flagged : [m][l], 1 inside a disc at any moment of the data, relative to the image's centre then. */
export const flaggedPixels = (
  { pixels, pixelCosine }: Pick<WidePlan, 'pixels' | 'pixelCosine'>,
  centre: PhaseCentre,
  { telescope: { site }, discs = [] }: { readonly telescope: Telescope; readonly discs?: readonly SkyDisc[] },
  { start, durationS }: { readonly start: Instant; readonly durationS: number },
): Uint8Array | undefined => {
  let axesOf: { readonly frame: SkyFrame; readonly axes: TangentAxes } | undefined;
  return discPixels(discs, {
    ...{ site, start, durationS, pixels, pixelCosine },
    cosinesOf: (position, frame) => {
      if (axesOf?.frame !== frame) axesOf = { frame, axes: frame.tangentAxes(centre.position(frame)) };
      return cosinesAlong(axesOf.axes, frame.directionEnu(position));
    },
  });
};
