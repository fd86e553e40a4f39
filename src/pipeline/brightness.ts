/** From apparent brightness, which is times the element's beam, to the sky's own. */
import { imageCPML, type ImageCPML } from '../core/axes.js';
import type { Vector3 } from '../core/vector.js';
import { towardsOf, type ElementBeam } from '../sky/beams/element-beam.js';
import { beamOfTelescope } from '../sky/beams/registry.js';
import type { TangentAxes } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';

/** Fainter than this, as power over its peak, a beam tells more of its own error than of the sky: no value there. */
export const LEAST_BEAM_POWER = 1e-3;

/** What brightness means in an image; `beam` is what it is, or was, multiplied by, where that is known. */
export interface Brightness {
  readonly kind: 'apparent' | 'beam-corrected';
  readonly beam?: Pick<ElementBeam, 'name' | 'title'>;
}

/** Of images that nobody corrected. */
export function apparent(telescope: Telescope): Brightness {
  const beam = beamOfTelescope(telescope);
  return { kind: 'apparent', ...(beam && { beam }) };
}

/** For headers, line by line. */
export function brightnessHistory({ kind, beam }: Brightness): string[] {
  const words = beam ? `${beam.name}: ${beam.title}` : 'unknown';
  return kind === 'apparent'
    ? [`brightness is apparent, times the element's beam (${words})`]
    : [
        `brightness is the sky's: divided by the element's beam (${words})`,
        `no value where the beam's power is below ${LEAST_BEAM_POWER} of its peak`,
      ];
}

/** How an image lies on the sky at one moment, and where the telescope looks then. */
export interface Look {
  readonly axes: TangentAxes;
  readonly followedEnu: Vector3;
}

export interface ImageOnSky {
  readonly pixels: number;
  readonly pixelCosine: number;
  /** Of each plane of a channel. */
  readonly products: readonly ('XX' | 'YY' | 'Re XY' | 'Im XY' | 'I')[];
  readonly frequenciesHz: Float64Array;
  /** Moments whose mean beam is the image's. */
  readonly looks: readonly Look[];
}

/** The image over the beam, each channel at its own frequency. Stokes I alone is over the mean of X and Y. */
export function correctForBeam(image: ImageCPML, on: ImageOnSky, beam: ElementBeam): ImageCPML {
  const { pixels, pixelCosine, products, frequenciesHz, looks } = on;
  const size = pixels * pixels;
  const corrected = new Float64Array(image.length);
  const towards = looks.map(({ followedEnu }) => towardsOf(beam, followedEnu));
  for (let at = 0; at < size; at++) {
    const l = ((at % pixels) - pixels / 2) * pixelCosine;
    const m = (Math.floor(at / pixels) - pixels / 2) * pixelCosine;
    const n = Math.sqrt(Math.max(0, 1 - l * l - m * m));
    frequenciesHz.forEach((frequencyHz, c) => {
      let [xx, yy, xy] = [0, 0, 0];
      looks.forEach(({ axes }, k) => {
        const [x, y] = beam.voltage(frequencyHz, alongAxes(axes, l, m, n), towards[k]);
        xx += (x * x) / looks.length;
        yy += (y * y) / looks.length;
        xy += (x * y) / looks.length;
      });
      const powers = { XX: xx, YY: yy, 'Re XY': xy, 'Im XY': xy, I: (xx + yy) / 2 };
      products.forEach((product, p) => {
        const to = (c * products.length + p) * size + at;
        const power = powers[product];
        corrected[to] = Math.abs(power) >= LEAST_BEAM_POWER ? image[to] / power : Number.NaN;
      });
    });
  }
  return imageCPML(corrected, frequenciesHz.length, products.length, pixels);
}

const alongAxes = ({ l, m, n }: TangentAxes, a: number, b: number, c: number): Vector3 => ({
  x: a * l.x + b * m.x + c * n.x,
  y: a * l.y + b * m.y + c * n.y,
  z: a * l.z + b * m.z + c * n.z,
});
