/** From apparent brightness, which is times the element's beam, to the sky's own. */
import { imageCPML, type ImageCPML } from '../core/axes.js';
import type { Vector3 } from '../core/vector.js';
import type { ElementBeam } from '../sky/beams/element-beam.js';
import { powersOf, type Gathering } from '../sky/beams/powers.js';
import { hasElements } from '../sky/beams/mixed.js';
import { beamOfTelescope } from '../sky/beams/registry.js';
import type { SkyPosition, TangentAxes } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import type { SkyImage } from './sky-image.js';

/** Fainter than this, as power over its peak, a beam tells more of its own error than of the sky: no value there. */
export const LEAST_BEAM_POWER = 1e-3;

/** What brightness means in an image; `beam` is what it is, or was, multiplied by, where that is known. */
export interface Brightness {
  readonly kind: 'apparent' | 'beam-corrected';
  readonly beam?: Pick<ElementBeam, 'name' | 'title'>;
}

const ownBeams = {
  name: 'stations of their own',
  title: 'the mean over pairs, as the telescope describes each',
};

/** Of images that nobody corrected. */
export function apparent(telescope: Telescope): Brightness {
  if (hasElements(telescope)) return { kind: 'apparent', beam: ownBeams };
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
  /** Where stations differ; pairs alike in weight unless told. */
  readonly gathering?: Gathering;
}

/** The image over the beam, each channel at its own frequency. Stokes I alone is over the mean of X and Y. */
export function correctForBeam(image: ImageCPML, on: ImageOnSky, beam: ElementBeam): ImageCPML {
  const { pixels, pixelCosine, products, frequenciesHz, looks, gathering } = on;
  const size = pixels * pixels;
  const corrected = new Float64Array(image.length);
  const powersTo = powersOf(beam, gathering);
  const [atRe, atIm] = [products.indexOf('Re XY'), products.indexOf('Im XY')];
  for (let at = 0; at < size; at++) {
    const l = ((at % pixels) - pixels / 2) * pixelCosine;
    const m = (Math.floor(at / pixels) - pixels / 2) * pixelCosine;
    const n = Math.sqrt(Math.max(0, 1 - l * l - m * m));
    frequenciesHz.forEach((frequencyHz, c) => {
      let [xx, yy, xyRe, xyIm] = [0, 0, 0, 0];
      for (const { axes, followedEnu } of looks) {
        const powers = powersTo(c, frequencyHz, alongAxes(axes, l, m, n), followedEnu);
        xx += powers.xx / looks.length;
        yy += powers.yy / looks.length;
        xyRe += powers.xyRe / looks.length;
        xyIm += powers.xyIm / looks.length;
      }
      const over = (value: number, power: number): number =>
        Math.abs(power) >= LEAST_BEAM_POWER ? value / power : Number.NaN;
      const place = (p: number): number => (c * products.length + p) * size + at;
      products.forEach((product, p) => {
        const value = image[place(p)];
        if (product === 'XX') corrected[place(p)] = over(value, xx);
        else if (product === 'YY') corrected[place(p)] = over(value, yy);
        else if (product === 'I') corrected[place(p)] = over(value, (xx + yy) / 2);
      });
      // (Re + i·Im)/(x·conj(y)): beams may turn XY.
      const power = xyRe ** 2 + xyIm ** 2;
      const isSeen = Math.sqrt(power) >= LEAST_BEAM_POWER;
      const [re, im] = [atRe, atIm].map((p) => (p < 0 ? 0 : image[place(p)]));
      if (atRe >= 0) corrected[place(atRe)] = isSeen ? (re * xyRe + im * xyIm) / power : Number.NaN;
      if (atIm >= 0) corrected[place(atIm)] = isSeen ? (im * xyRe - re * xyIm) / power : Number.NaN;
    });
  }
  return imageCPML(corrected, frequenciesHz.length, products.length, pixels);
}

export interface GatheredImage {
  /** What beams that follow a place were pointed at. */
  readonly followed: SkyPosition;
  readonly autos: 'include' | 'leave-out';
  /** solved : [c][a], which inputs had gains; all unless given. */
  readonly solved?: Uint8Array;
}

/** An image round the zenith over its beam, as its stations took part in it. */
export function correctedSky<Sky extends SkyImage>(
  sky: Sky,
  beam: ElementBeam,
  { followed, autos, solved }: GatheredImage,
): Sky {
  const { plan, frame } = sky;
  const { polarisations, stations } = plan;
  const inputOf = (s: number, p: number): number => s * polarisations + Math.min(p, polarisations - 1);
  const gathering: Gathering = {
    ...{ weighting: plan.patterns ? 'own' : 'alike', autos },
    ...(solved && { takesPart: (c, s, p) => solved[c * stations * polarisations + inputOf(s, p)] === 1 }),
  };
  const on = {
    ...{ pixels: plan.pixels, pixelCosine: plan.pixelSize, frequenciesHz: plan.frequenciesHz, gathering },
    products: polarisations === 1 ? (['XX'] as const) : (['XX', 'YY', 'Re XY', 'Im XY'] as const),
    looks: [{ axes: plan.axes, followedEnu: frame.directionEnu(followed) }],
  };
  return { ...sky, image: correctForBeam(sky.image, on, beam) };
}

const alongAxes = ({ l, m, n }: TangentAxes, a: number, b: number, c: number): Vector3 => ({
  x: a * l.x + b * m.x + c * n.x,
  y: a * l.y + b * m.y + c * n.y,
  z: a * l.z + b * m.z + c * n.z,
});
