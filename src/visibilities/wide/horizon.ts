/** Pixels of a wide image that are always below the horizon. */
import type { Instant } from '../../core/instant.js';
import type { WidePlan } from '../../image/index.js';
import { skyFrame } from '../../sky/frame.js';
import type { PhaseCentre } from '../../sky/phase-centre.js';
import type { Telescope } from '../../telescope/telescope.js';
import { spread } from '../../stages/index.js';

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
