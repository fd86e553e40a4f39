/** Gains from CalH5, of ours or of pyuvdata's users: one time, a gain for each channel. */
import { gainsCA } from '../../core/axes.js';
import { closingAfter } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import { fromJulianDate } from '../../core/instant.js';
import { inverseMatrix } from '../../core/jones.js';
import { CROSS_HAND, DATA_UNITS, ELEMENT } from './calh5.js';
import { allDataUnits, crossHandHows, type GainsFile } from './gains.js';
import { openHdf5, type Hdf5File } from '../hdf5/read.js';

/** In AIPS's manner: X or R with itself, Y or L with itself; then what X (R) hears of Y (L), and the other way. */
const termOf: Readonly<Partial<Record<number, Term>>> = {
  ...{ [-5]: { p: 0, q: 0 }, [-6]: { p: 1, q: 1 }, [-7]: { p: 0, q: 1 }, [-8]: { p: 1, q: 0 } },
  ...{ [-1]: { p: 0, q: 0 }, [-2]: { p: 1, q: 1 }, [-3]: { p: 0, q: 1 }, [-4]: { p: 1, q: 0 } },
};
/** What is recorded, and what of the sky it is. */
interface Term {
  readonly p: number;
  readonly q: number;
}

export const readCalH5 = (path: string): Promise<GainsFile> =>
  closingAfter(async (closers) => gainsOf(closers.keep(await openHdf5(path))));

const wordOf = (file: Hdf5File, name: string, otherwise?: string): string =>
  otherwise !== undefined && !file.has(`Header/${name}`)
    ? otherwise
    : file.text(`Header/${name}`).replace(/\0+$/, '').trim();

function gainsOf(file: Hdf5File): GainsFile {
  const { path } = file;
  if (wordOf(file, 'cal_type') !== 'gain' || file.number('Header/wide_band') !== 0) {
    refuse(
      path,
      'holds delays or gains of whole bands',
      'give gains of each channel (cal_type gain, not wide_band)',
    );
  }
  const convention = wordOf(file, 'gain_convention');
  if (convention !== 'divide' && convention !== 'multiply')
    refuse(path, `its gain_convention is '${convention}'`, 'it must be divide or multiply');
  const names = file.texts('Header/antenna_names').map((name) => name.replace(/\0+$/, ''));
  const numbers = file.numbers('Header/antenna_numbers');
  const solvedAntennas = file.numbers('Header/ant_array');
  const frequenciesHz = file.numbers('Header/freq_array');
  const codes = file.numbers('Header/jones_array');
  const data = file.dataset('Data/gains');
  const flags = file.dataset('Data/flags');
  const shape = [solvedAntennas.length, frequenciesHz.length, 1, codes.length];
  for (const [name, found] of [
    ['gains', data.shape],
    ['flags', flags.shape],
  ] as const) {
    if (found.length !== 4 || found.some((length, axis) => length !== shape[axis]))
      refuse(
        path,
        `Data/${name} is [${found.join('][')}] where [${shape.join('][')}] belongs`,
        'give gains of one time: antennas, channels, that time, polarisations',
      );
  }
  if (data.parts !== 2 || names.length !== numbers.length || new Set(codes).size !== codes.length)
    refuse(path, 'contradicts itself', 'it is damaged');
  const northern = /^n/i.test(wordOf(file, 'x_orientation', 'east'));
  const isFull = codes.length === 4;
  const places = Array.from(codes, (code): Term => {
    const term = termOf[code];
    if (!term || (term.p !== term.q && !isFull))
      return refuse(
        path,
        `holds the Jones term ${code}`,
        'give the terms of X and Y, or R and L, alone, or all four',
      );
    // X is east in the house; right and left are the same whichever way it lies.
    return northern && code <= -5 ? { p: 1 - term.p, q: 1 - term.q } : term;
  });
  // Y alone is the second of two, as in visibilities.
  const polarisations = places.length === 1 && places[0].p === 0 ? 1 : 2;
  const inputs = names.length * polarisations;
  const gains = new Float64Array(2 * frequenciesHz.length * inputs).fill(Number.NaN);
  const leakage = isFull ? gains.slice() : undefined;
  const solved = new Uint8Array(frequenciesHz.length * inputs);
  solvedAntennas.forEach((number, row) => {
    const station = numbers.indexOf(number);
    if (station < 0) refuse(path, `antenna ${number} is not in antenna_numbers`, 'it is damaged');
    const values = data.rows(row, 1);
    const flagged = flags.rows(row, 1);
    for (let c = 0; c < frequenciesHz.length; c++) {
      if (leakage) {
        const from = c * codes.length;
        const matrix = matrixOf(places, values, flagged, from, convention);
        const at = c * inputs + station * 2;
        if (!matrix) continue;
        gains.set([...matrix.subarray(0, 2), ...matrix.subarray(6, 8)], 2 * at);
        leakage.set(matrix.subarray(2, 6), 2 * at);
        solved.fill(1, at, at + 2);
        continue;
      }
      places.forEach(({ p }, q) => {
        const from = c * codes.length + q;
        const [re, im] = values.subarray(2 * from, 2 * from + 2);
        const size = re * re + im * im;
        if (flagged[from] !== 0 || !(size > 0) || !Number.isFinite(size)) return;
        const at = c * inputs + station * polarisations + p;
        solved[at] = 1;
        // The file keeps conj(g), or the conjugate of its inverse: conj(1/γ) = γ/|γ|².
        gains.set(convention === 'divide' ? [re, 0 - im] : [re / size, im / size], 2 * at);
      });
    }
  });
  const word = wordOf(file, `extra_keywords/${CROSS_HAND}`, '');
  const referenceStation = Math.max(0, names.indexOf(wordOf(file, 'ref_antenna_name', '')));
  const how = crossHandHows.find((one) => one === word && one !== 'unknown');
  return {
    telescope: wordOf(file, 'telescope_name'),
    stations: names,
    polarisations,
    frequenciesHz,
    time: timeOf(file),
    referenceStation,
    gains: gainsCA(gains, frequenciesHz.length, inputs),
    ...(leakage && { leakage: gainsCA(leakage, frequenciesHz.length, inputs) }),
    solved,
    solutions: [],
    ...factsOf(file),
    // The angle itself is in the gains of Y.
    ...(how &&
      polarisations === 2 && {
        crossHand: { how, phaseRad: crossPhases(gains, frequenciesHz.length, referenceStation) },
      }),
    sources: wordOf(file, 'sky_catalog', '').split(/, */).filter(Boolean),
    history: wordOf(file, 'history', '').split('\n').filter(Boolean),
  };
}

/** What calibrate says of itself, where it was ours. */
function factsOf(file: Hdf5File): Pick<GainsFile, 'dataUnits' | 'element'> {
  const units = wordOf(file, `extra_keywords/${DATA_UNITS}`, '');
  const dataUnits = allDataUnits.find((one) => one === units);
  const element = wordOf(file, `extra_keywords/${ELEMENT}`, '');
  return { ...(dataUnits && { dataUnits }), ...(element !== '' && { element }) };
}

/** A station's matrix, rows recorded; nothing where a term is flagged, or it cannot be undone. */
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
    // The file keeps conjugates.
    matrix[4 * p + 2 * q] = values[2 * (from + k)];
    matrix[4 * p + 2 * q + 1] = 0 - values[2 * (from + k) + 1];
  }
  const inverse = matrix.every(Number.isFinite) ? inverseMatrix(matrix) : undefined;
  return inverse && (convention === 'divide' ? matrix : inverse);
}

/** ψ of each channel by the reference, whose X and Y were both real before they got one phase; 0 where it is unsolved. */
function crossPhases(gains: Float64Array, channels: number, reference: number): Float64Array {
  const inputs = gains.length / 2 / channels;
  return Float64Array.from({ length: channels }, (_, c) => {
    const [xRe, xIm, yRe, yIm] = gains.subarray(2 * (c * inputs + 2 * reference));
    return Math.atan2(yIm * xRe - yRe * xIm, yRe * xRe + yIm * xIm) || 0;
  });
}

/** The middle of what they were solved from. */
function timeOf(file: Hdf5File) {
  const days = file.has('Header/time_array')
    ? file.numbers('Header/time_array')[0]
    : file.numbers('Header/time_range').reduce((sum, value) => sum + value / 2, 0);
  if (!(days > 2_400_000 && days < 2_500_000))
    refuse(file.path, `its time is Julian Date ${days}`, 'it is damaged');
  const midnight = Math.floor(days - 0.5) + 0.5;
  return fromJulianDate(midnight, days - midnight);
}
