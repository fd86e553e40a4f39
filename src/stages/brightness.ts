/** Converts apparent brightness, the sky times the element beam, to the brightness of the sky. */
import { imageCPML, type ImageCPML } from '../core/axes.js';
import type { Vector3 } from '../core/vector.js';
import type { ImageGeometry } from '../image/index.js';
import { towardsOf, type ElementBeam } from '../sky/beams/element-beam.js';
import { hasElements } from '../sky/beams/mixed.js';
import { powersOf, powersOfPairs, type Gathering, type ImagePowers } from '../sky/beams/powers.js';
import { beamOfTelescope } from '../sky/beams/registry.js';
import type { SkyPosition, TangentAxes } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import { alongAxes } from './geometry.js';
import type { Calibrated, Response, SkyImage, StokesFrame } from './sky-image.js';

/** Below this power relative to the peak, errors of the beam model dominate: pixels get no value. */
const LEAST_BEAM_POWER = 1e-3;

/** What brightness means in an image; `beam` is the beam that multiplies it, or did, where known. */
export interface Brightness {
  readonly kind: 'apparent' | 'beam-corrected';
  readonly beam?: Pick<ElementBeam, 'name' | 'title'>;
}

const ownBeams = {
  name: 'stations of their own',
  title: 'the mean over pairs, as the telescope describes each',
};

/** For images without beam correction. */
export function apparent(telescope: Telescope): Brightness {
  if (hasElements(telescope)) return { kind: 'apparent', beam: ownBeams };
  const beam = beamOfTelescope(telescope);
  return { kind: 'apparent', beam };
}

/** For data in this frame: the response is known of feeds as they are. */
export const responseOf = ({ kind }: StokesFrame): Response => (kind === 'feeds' ? 'divided' : 'kept');

/** Dipoles fixed to the ground, without a stated beam. */
export const areBare = (telescope: Telescope): boolean =>
  telescope.mount === 'fixed' && telescope.beamExponent === 0 && !hasElements(telescope);

/** Where an image is on the sky at one moment, and how much of its data is of that moment. */
interface WeighedAxes {
  readonly axes: TangentAxes;
  readonly weight: number;
}

/**
 * Divides all planes by the mean power of X and Y of bare dipoles, (1 + sin²(altitude))/2, the mean over the moments of
 * the data, in place. image : [plane][m][l]. Every image of them passes here, or has its whole Jones matrix undone
 * (stokes.ts).
 */
export function divideByProjection(
  image: Float64Array,
  { pixels, pixelCosine }: { readonly pixels: number; readonly pixelCosine: number },
  looks: readonly WeighedAxes[],
): void {
  const size = pixels * pixels;
  const total = looks.reduce((sum, { weight }) => sum + weight, 0);
  // The mean of (l·l_z + m·m_z + n·n_z)², whatever the number of moments.
  const mean = { ll: 0, mm: 0, nn: 0, lm: 0, ln: 0, mn: 0 };
  for (const { axes, weight } of looks) {
    const [l, m, n, part] = [axes.l.z, axes.m.z, axes.n.z, weight / total];
    mean.ll += part * l * l;
    mean.mm += part * m * m;
    mean.nn += part * n * n;
    mean.lm += 2 * part * l * m;
    mean.ln += 2 * part * l * n;
    mean.mn += 2 * part * m * n;
  }
  const powers = new Float64Array(size);
  for (let at = 0; at < size; at++) {
    const l = ((at % pixels) - pixels / 2) * pixelCosine;
    const m = (Math.floor(at / pixels) - pixels / 2) * pixelCosine;
    const nn = Math.max(0, 1 - l * l - m * m);
    const n = Math.sqrt(nn);
    const squared =
      mean.ll * l * l + mean.mm * m * m + mean.nn * nn + mean.lm * l * m + mean.ln * l * n + mean.mn * m * n;
    powers[at] = (1 + squared) / 2;
  }
  for (let first = 0; first < image.length; first += size)
    for (let at = 0; at < size; at++) image[first + at] /= powers[at];
}

/** For the image of one moment, in place. */
export function divideResponse(
  { image, plan }: Pick<SkyImage, 'image' | 'plan'>,
  telescope: Telescope,
): void {
  if (areBare(telescope))
    divideByProjection(image, { pixels: plan.pixels, pixelCosine: plan.pixelSize }, [
      { axes: plan.axes, weight: 1 },
    ]);
}

/** Of an image without beam correction. */
const projectionHistory =
  'brightness is divided by the mean power of X and Y of bare dipoles, (1 + sin(altitude)^2)/2: no beam of theirs is stated';

/** For headers, line by line. */
export function brightnessHistory(
  { kind, beam }: Brightness,
  telescope: Telescope,
  response: Response,
): string[] {
  if (kind === 'apparent' && response === 'divided' && areBare(telescope)) return [projectionHistory];
  const words = beam ? `${beam.name}: ${beam.title}` : 'unknown';
  return kind === 'apparent'
    ? [`brightness is apparent, times the element's beam (${words})`]
    : [
        `brightness is the sky's: divided by the element's beam (${words})`,
        `no value where the beam's power is below ${LEAST_BEAM_POWER} of its peak`,
      ];
}

/** How an image is placed on the sky at one moment, and where the telescope points then. */
interface Look {
  readonly axes: TangentAxes;
  readonly followedEnu: Vector3;
}

/** What a plane shows of a source of flux 1 in a direction from its centre. */
export type PowersAt = (l: number, m: number, n: number) => ImagePowers;

interface ImageOnSky {
  readonly pixels: number;
  readonly pixelCosine: number;
  /** Of each plane of a channel. */
  readonly products: readonly ('XX' | 'YY' | 'Re XY' | 'Im XY' | 'I')[];
  /** powers : [c][product] */
  readonly powers: readonly (readonly PowersAt[])[];
}

/** Divides the image by the beam, plane by plane. Stokes I alone is divided by the mean of X and Y. */
export function correctForBeam(image: ImageCPML, on: ImageOnSky): ImageCPML {
  const { pixels, pixelCosine, products, powers } = on;
  const size = pixels * pixels;
  const corrected = new Float64Array(image.length);
  const [atRe, atIm] = [products.indexOf('Re XY'), products.indexOf('Im XY')];
  const over = (value: number, power: number): number =>
    Math.abs(power) >= LEAST_BEAM_POWER ? value / power : Number.NaN;
  for (let at = 0; at < size; at++) {
    const l = ((at % pixels) - pixels / 2) * pixelCosine;
    const m = (Math.floor(at / pixels) - pixels / 2) * pixelCosine;
    const n = Math.sqrt(Math.max(0, 1 - l * l - m * m));
    powers.forEach((ofChannel, c) => {
      const place = (p: number): number => (c * products.length + p) * size + at;
      let found: { readonly by: PowersAt; readonly powers: ImagePowers } | undefined;
      products.forEach((product, p) => {
        if (p === atIm) return;
        // Planes made from the same share have the same beam.
        if (found?.by !== ofChannel[p]) found = { by: ofChannel[p], powers: ofChannel[p](l, m, n) };
        const { xx, yy, xyRe, xyIm } = found.powers;
        const value = image[place(p)];
        if (product === 'XX') corrected[place(p)] = over(value, xx);
        else if (product === 'YY') corrected[place(p)] = over(value, yy);
        else if (product === 'I') corrected[place(p)] = over(value, (xx + yy) / 2);
        else if (atIm >= 0) {
          // (Re + i·Im)/(x·conj(y)): beams may rotate the phase of XY.
          const [power, im] = [xyRe ** 2 + xyIm ** 2, image[place(atIm)]];
          const isSeen = Math.sqrt(power) >= LEAST_BEAM_POWER;
          corrected[place(atRe)] = isSeen ? (value * xyRe + im * xyIm) / power : Number.NaN;
          corrected[place(atIm)] = isSeen ? (im * xyRe - value * xyIm) / power : Number.NaN;
        }
      });
    });
  }
  return imageCPML(corrected, powers.length, products.length, pixels);
}

/** Part of a plane: its sky geometry, its frequency, and the weights of pairs by the kinds of their stations. */
export interface SharedLook extends Look {
  readonly frequencyHz: number;
  /** weights : [kind of i][kind of j] */
  readonly weights: Float64Array;
}

/** The mean over the parts of a plane, by weight. */
export function meanPowers(looks: readonly SharedLook[], kinds: readonly ElementBeam[]): PowersAt {
  const total = looks.reduce((sum, { weights }) => weights.reduce((a, b) => a + b, sum), 0);
  return (l, m, n) => {
    const sum = { xx: 0, yy: 0, xyRe: 0, xyIm: 0 };
    for (const { axes, followedEnu, frequencyHz, weights } of looks) {
      const direction = alongAxes(axes, l, m, n);
      const voltages = kinds.map((beam) =>
        beam.voltage(frequencyHz, direction, towardsOf(beam, followedEnu)),
      );
      powersOfPairs(voltages, weights, sum);
    }
    return { xx: sum.xx / total, yy: sum.yy / total, xyRe: sum.xyRe / total, xyIm: sum.xyIm / total };
  };
}

interface GatheredImage {
  /** The place that tracking beams point at. */
  readonly followed: SkyPosition;
  readonly autos: 'include' | 'leave-out';
  /** All inputs that have gains are used. */
  readonly calibrated?: Calibrated;
}

/** An image of voltages divided by its beam. */
export function correctedSky<Sky extends SkyImage>(
  sky: Sky,
  beam: ElementBeam,
  gathered: GatheredImage,
): Sky {
  const { plan, frame } = sky;
  const products = plan.polarisations === 1 ? (['XX'] as const) : (['XX', 'YY', 'Re XY', 'Im XY'] as const);
  const look = { axes: plan.axes, followedEnu: frame.directionEnu(gathered.followed) };
  const powersIn = ofInputs(plan, beam, look, gathered);
  const powers = Array.from(plan.frequenciesHz, (frequencyHz, c) => {
    const own = powersIn(c, frequencyHz);
    return products.map(() => own);
  });
  const on = { pixels: plan.pixels, pixelCosine: plan.pixelSize, products, powers };
  return { ...sky, image: correctForBeam(sky.image, on) };
}

/** Of a channel: all pairs of inputs, with the weights of the plan. */
function ofInputs(
  { patterns, stations, polarisations }: ImageGeometry,
  beam: ElementBeam,
  { axes, followedEnu }: Look,
  { autos, calibrated }: GatheredImage,
): (channel: number, frequencyHz: number) => PowersAt {
  const inputs = stations * polarisations;
  const gathering: Gathering = {
    weighting: patterns ? 'own' : 'alike',
    autos,
    ...(calibrated && {
      takesPart: (c, s, p) =>
        calibrated.solved[c * inputs + s * polarisations + Math.min(p, polarisations - 1)] === 1,
    }),
  };
  const powersTo = powersOf(beam, gathering);
  return (c, frequencyHz) => (l, m, n) => powersTo(c, frequencyHz, alongAxes(axes, l, m, n), followedEnu);
}
