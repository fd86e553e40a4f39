/** Gains in pyuvdata's terms (UVCal), from CalH5 and CalFITS: antennas × channels × times × Jones terms. */
import { gainsCA } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { fromJulianDate, type Instant } from '../../core/instant.js';
import { inverseMatrix } from '../../core/jones.js';
import { storedProducts } from '../io/gather.js';
import { EXCHANGED, orientationOf } from '../visibilities/header-facts.js';
import { inOrderOfTime, type CrossHandFacts, type GainsAt, type GainsFile } from './gains.js';

/** The recorded polarisation, and the sky's. */
interface Term {
  readonly p: number;
  readonly q: number;
}

interface UvCal {
  readonly path: string;
  readonly names: readonly string[];
  readonly numbers: ArrayLike<number>;
  /** Numbers of the antennas with gains. */
  readonly solvedAntennas: ArrayLike<number>;
  readonly frequenciesHz: Float64Array;
  readonly times: readonly Instant[];
  /** Jones terms in AIPS's codes. */
  readonly codes: ArrayLike<number>;
  readonly convention: string;
  readonly xOrientation: string;
  readonly referenceName: string;
  /** How X and Y got a common phase reference, if the file is ours and states it. */
  readonly crossHand?: CrossHandFacts['how'];
  /** For one of the solved antennas. values : [channel][time][term][re, im], flagged : [channel][time][term] */
  antenna(row: number): { readonly values: Float64Array; readonly flagged: ArrayLike<number> };
}

/** The gains in our conventions. */
export function gainsOfUvCal(
  cal: UvCal,
): Omit<GainsFile, 'telescope' | 'sources' | 'history' | 'dataUnits' | 'element'> {
  const { path, names, frequenciesHz, times, convention } = cal;
  if (convention !== 'divide' && convention !== 'multiply')
    refuse(path, `its gain convention is '${convention}'`, 'it must be divide or multiply');
  if (names.length !== cal.numbers.length || new Set(Array.from(cal.codes)).size !== cal.codes.length)
    refuse(path, 'contradicts itself', 'it is damaged');
  const places = placesOf(cal);
  // Y alone is the second of two polarisations, as in visibilities.
  const polarisations = places.length === 1 && places[0].p === 0 ? 1 : 2;
  const inputs = names.length * polarisations;
  const channels = frequenciesHz.length;
  const isFull = places.length === 4;
  const series = times.map((time) => {
    const gains = new Float64Array(2 * channels * inputs).fill(Number.NaN);
    return {
      time,
      gains,
      leakage: isFull ? gains.slice() : undefined,
      solved: new Uint8Array(channels * inputs),
    };
  });
  const numbers = Array.from(cal.numbers);
  for (let row = 0; row < cal.solvedAntennas.length; row++) {
    const number = cal.solvedAntennas[row];
    const station = numbers.indexOf(number);
    if (station < 0) refuse(path, `antenna ${number} is not in antenna_numbers`, 'it is damaged');
    const { values, flagged } = cal.antenna(row);
    for (let c = 0; c < channels; c++)
      series.forEach((one, t) => {
        const from = (c * series.length + t) * places.length;
        const at = c * inputs + station * polarisations;
        if (one.leakage) {
          const matrix = matrixOf(places, values, flagged, from, convention);
          if (!matrix) return;
          one.gains.set([...matrix.subarray(0, 2), ...matrix.subarray(6, 8)], 2 * at);
          one.leakage.set(matrix.subarray(2, 6), 2 * at);
          one.solved.fill(1, at, at + 2);
          return;
        }
        places.forEach(({ p }, q) => {
          const [re, im] = values.subarray(2 * (from + q), 2 * (from + q) + 2);
          const size = re * re + im * im;
          if (flagged[from + q] !== 0 || !(size > 0) || !Number.isFinite(size)) return;
          one.solved[at + p] = 1;
          // The file stores conj(g), or the conjugate of its inverse: conj(1/γ) = γ/|γ|².
          one.gains.set(convention === 'divide' ? [re, 0 - im] : [re / size, im / size], 2 * (at + p));
        });
      });
  }
  const referenceStation = Math.max(0, names.indexOf(cal.referenceName));
  const [first, ...later] = inOrderOfTime(
    series.map(({ time, gains, leakage, solved }): GainsAt => ({
      time,
      gains: gainsCA(gains, channels, inputs),
      ...(leakage && { leakage: gainsCA(leakage, channels, inputs) }),
      solved,
      solutions: [],
      // The phase itself is included in the Y gains.
      ...(cal.crossHand &&
        polarisations === 2 && {
          crossHand: { how: cal.crossHand, phaseRad: crossPhases(gains, channels, referenceStation) },
        }),
    })),
    path,
  );
  return {
    stations: names,
    polarisations,
    ...(isExchanged(cal) && { assumed: [EXCHANGED] }),
    frequenciesHz,
    referenceStation,
    ...first,
    ...(later.length > 0 && { later }),
  };
}

/** X is east here; right and left do not depend on X's direction. */
const isExchanged = ({ codes, xOrientation }: UvCal): boolean =>
  orientationOf(xOrientation) === 'north' && Array.from(codes).some((code) => code <= -5);

function placesOf(cal: UvCal): readonly Term[] {
  const { path, codes } = cal;
  return Array.from(codes, (code): Term => {
    // The response of X (R) to Y (L) has the code of XY (RL).
    const term = storedProducts[code];
    if (!term || (term.p1 !== term.p2 && codes.length !== 4))
      return refuse(
        path,
        `holds the Jones term ${code}`,
        'give the terms of X and Y, or R and L, alone, or all four',
      );
    const { p1: p, p2: q } = term;
    return isExchanged(cal) && code <= -5 ? { p: 1 - p, q: 1 - q } : { p, q };
  });
}

/** A station's matrix, rows recorded; none if a term is flagged or the matrix is singular. */
function matrixOf(
  places: readonly Term[],
  values: ArrayLike<number>,
  flagged: ArrayLike<number>,
  from: number,
  convention: 'divide' | 'multiply',
): Float64Array | undefined {
  const matrix = new Float64Array(8);
  for (const [k, { p, q }] of places.entries()) {
    if (flagged[from + k] !== 0) return undefined;
    // The file stores conjugates.
    matrix[4 * p + 2 * q] = values[2 * (from + k)];
    matrix[4 * p + 2 * q + 1] = 0 - values[2 * (from + k) + 1];
  }
  const inverse = matrix.every(Number.isFinite) ? inverseMatrix(matrix) : undefined;
  return inverse && (convention === 'divide' ? matrix : inverse);
}

/** ψ of each channel from the reference, whose X and Y were real before they got a common phase; 0 if unsolved. */
function crossPhases(gains: Float64Array, channels: number, reference: number): Float64Array {
  const inputs = gains.length / 2 / channels;
  return Float64Array.from({ length: channels }, (_, c) => {
    const [xRe, xIm, yRe, yIm] = gains.subarray(2 * (c * inputs + 2 * reference));
    return Math.atan2(yIm * xRe - yRe * xIm, yRe * xRe + yIm * xIm) || 0;
  });
}

/** A time from its Julian Date. */
export function timeOfJulianDate(path: string, days: number): Instant {
  if (!(days > 2_400_000 && days < 2_500_000))
    refuse(path, `its time is Julian Date ${days}`, 'it is damaged');
  const midnight = Math.floor(days - 0.5) + 0.5;
  return fromJulianDate(midnight, days - midnight);
}
