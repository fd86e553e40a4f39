/** The response of an image to a source of flux 1: the joint beams of all stations in the image. */
import type { Vector3 } from '../../core/vector.js';
import { towardsOf, type ElementBeam, type Voltages } from './element-beam.js';

/** Per unit of flux in XX, YY and XY. */
export interface ImagePowers {
  readonly xx: number;
  readonly yy: number;
  readonly xyRe: number;
  readonly xyIm: number;
}

/** How stations were combined, if they differ. */
export interface Gathering {
  /**
   * Equal weights, or each station by its own beam: then its gridding kernel is its own (image/station-patterns.ts).
   */
  readonly weighting: 'alike' | 'own';
  /** Whether autocorrelations are included. */
  readonly autos: 'include' | 'leave-out';
  /** Whether an input is in the image at a channel. All are by default. */
  readonly takesPart?: (channel: number, station: number, polarisation: 0 | 1) => boolean;
}

export const PAIRS: Gathering = { weighting: 'alike', autos: 'leave-out' };

interface Complex {
  readonly re: number;
  readonly im: number;
}
/** x·conj(y) */
const conjugated = (x: Complex, y: Complex): Complex => ({
  re: x.re * y.re + x.im * y.im,
  im: x.im * y.re - x.re * y.im,
});
const ofX = ([re, , im = 0]: Voltages): Complex => ({ re, im });
const ofY = ([, re, , im = 0]: Voltages): Complex => ({ re, im });

/** Far below the power of any image; keeps weights finite where no station receives anything. */
const LEAST_MEAN_POWER = 1e-6;

/**
 * The weight of each kind of station in a direction, so that stations add in phase and more sensitive ones count more:
 * the conjugate of the mean of X and Y, over the rms of all stations there. The common factor is divided out at
 * the end. Weights are therefore smooth down to the horizon, and 1 if all stations are the same.
 */
export function ownWeights(
  voltages: readonly Voltages[],
  counts: readonly number[],
): { readonly re: number; readonly im: number }[] {
  let [power, stations] = [0, 0];
  voltages.forEach(([x, y, xIm = 0, yIm = 0], k) => {
    power += (counts[k] * (x * x + xIm * xIm + y * y + yIm * yIm)) / 2;
    stations += counts[k];
  });
  const mean = Math.sqrt(power / stations + LEAST_MEAN_POWER);
  return voltages.map(([x, y, xIm = 0, yIm = 0]) => ({
    re: (x + y) / 2 / mean,
    im: -(xIm + yIm) / 2 / mean,
  }));
}

/** ofStation : [s], which of `count` kinds a station is. */
export interface StationKinds {
  readonly ofStation: readonly number[];
  readonly count: number;
}

/** Stations with the same beam are one kind; one kind if all share a beam. */
export function kindsOf(
  beam: ElementBeam,
  stations: number,
): StationKinds & { readonly beams: readonly ElementBeam[] } {
  const { perStation } = beam;
  if (!perStation) return { ofStation: new Array<number>(stations).fill(0), count: 1, beams: [beam] };
  const beams = [...new Set(perStation)];
  return { ofStation: perStation.map((one) => beams.indexOf(one)), count: beams.length, beams };
}

/**
 * The mean over pairs with their image weights. weights : [kind of i][kind of j] of XX and YY; of XY, where X is i's.
 * An image has pairs in both orders, so XX and YY are real.
 */
export function powersOfPairs(
  voltages: readonly Voltages[],
  weights: Float64Array,
  into: { xx: number; yy: number; xyRe: number; xyIm: number },
): void {
  if (weights.length === 1) {
    // All stations the same, by far the most frequent case: without allocation.
    const [weight, [x, y, xIm = 0, yIm = 0]] = [weights[0], voltages[0]];
    into.xx += weight * (x * x + xIm * xIm);
    into.yy += weight * (y * y + yIm * yIm);
    into.xyRe += weight * (x * y + xIm * yIm);
    into.xyIm += weight * (xIm * y - x * yIm);
    return;
  }
  for (let at = 0; at < weights.length; at++) {
    const weight = weights[at];
    if (weight === 0) continue;
    const [a, b] = [voltages[Math.floor(at / voltages.length)], voltages[at % voltages.length]];
    const xy = conjugated(ofX(a), ofY(b));
    into.xx += weight * conjugated(ofX(a), ofX(b)).re;
    into.yy += weight * conjugated(ofY(a), ofY(b)).re;
    into.xyRe += weight * xy.re;
    into.xyIm += weight * xy.im;
  }
}

/** For each channel: the powers of a beam, or of differing stations, in a direction. */
type PowersTo = (
  channel: number,
  frequencyHz: number,
  directionEnu: Vector3,
  followedEnu: Vector3,
) => ImagePowers;

export function powersOf(beam: ElementBeam, gathering: Gathering = PAIRS): PowersTo {
  const { perStation } = beam;
  if (perStation) return powersOfMany(perStation, gathering);
  return (_channel, frequencyHz, directionEnu, followedEnu) => {
    const voltages = beam.voltage(frequencyHz, directionEnu, towardsOf(beam, followedEnu));
    const [x, y] = [ofX(voltages), ofY(voltages)];
    const xy = conjugated(x, y);
    return { xx: conjugated(x, x).re, yy: conjugated(y, y).re, xyRe: xy.re, xyIm: xy.im };
  };
}

/** Number of stations of a kind with X in the image, with Y, and with both. */
interface Kind {
  readonly beam: ElementBeam;
  readonly hasX: number;
  readonly hasY: number;
  readonly hasBoth: number;
}

function powersOfMany(beams: readonly ElementBeam[], { weighting, autos, takesPart }: Gathering): PowersTo {
  // Weights are those of the whole array, whichever inputs take part.
  const all = [...new Set(beams)].map((beam) => beams.filter((one) => one === beam).length);
  const known = new Map<number, readonly Kind[]>();
  const kindsIn = (channel: number): readonly Kind[] => {
    const found = known.get(takesPart ? channel : 0);
    if (found) return found;
    const made = [...new Set(beams)].map((beam): Kind => {
      const own = [...beams.keys()].filter((s) => beams[s] === beam);
      const has = (s: number, p: 0 | 1): boolean => takesPart?.(channel, s, p) ?? true;
      return {
        beam,
        hasX: own.filter((s) => has(s, 0)).length,
        hasY: own.filter((s) => has(s, 1)).length,
        hasBoth: own.filter((s) => has(s, 0) && has(s, 1)).length,
      };
    });
    known.set(takesPart ? channel : 0, made);
    return made;
  };
  return (channel, frequencyHz, directionEnu, followedEnu) => {
    // Sums over stations of their voltages, and of their autocorrelations.
    const sum = { x: [0, 0], y: [0, 0], ownX: 0, ownY: 0, ownRe: 0, ownIm: 0 };
    let [countX, countY, countBoth] = [0, 0, 0];
    const kinds = kindsIn(channel);
    const received = kinds.map(({ beam }) =>
      beam.voltage(frequencyHz, directionEnu, towardsOf(beam, followedEnu)),
    );
    const weights = weighting === 'own' ? ownWeights(received, all) : received.map(() => ({ re: 1, im: 0 }));
    for (const [k, { hasX, hasY, hasBoth }] of kinds.entries()) {
      const [voltages, weight] = [received[k], weights[k]];
      const times = (v: Complex): Complex => ({
        re: v.re * weight.re - v.im * weight.im,
        im: v.re * weight.im + v.im * weight.re,
      });
      const [x, y] = [times(ofX(voltages)), times(ofY(voltages))];
      const xy = conjugated(x, y);
      sum.x[0] += hasX * x.re;
      sum.x[1] += hasX * x.im;
      sum.y[0] += hasY * y.re;
      sum.y[1] += hasY * y.im;
      sum.ownX += hasX * conjugated(x, x).re;
      sum.ownY += hasY * conjugated(y, y).re;
      sum.ownRe += hasBoth * xy.re;
      sum.ownIm += hasBoth * xy.im;
      countX += hasX;
      countY += hasY;
      countBoth += hasBoth;
    }
    const without = autos === 'leave-out' ? 1 : 0;
    const [x, y] = [sum.x, sum.y].map(([re, im]): Complex => ({ re, im }));
    const xy = conjugated(x, y);
    const pairsXy = countX * countY - without * countBoth;
    return {
      xx: (conjugated(x, x).re - without * sum.ownX) / (countX ** 2 - without * countX),
      yy: (conjugated(y, y).re - without * sum.ownY) / (countY ** 2 - without * countY),
      xyRe: (xy.re - without * sum.ownRe) / pairsXy,
      xyIm: (xy.im - without * sum.ownIm) / pairsXy,
    };
  };
}
