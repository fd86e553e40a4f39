/** Fits gains from a file to the data at hand, or reports why they do not fit. */
import { present } from '../../core/present.js';
import { gainsCA } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import type { Instant } from '../../core/instant.js';
import { formatHz, SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { message, type Message } from '../../messages/index.js';
import type { CrossHandLack, DataUnits, GainsFile } from '../../formats/index.js';
import type { Telescope } from '../../telescope/telescope.js';
import type { Calibrated, CalibratedAt, CalibratedFully } from '../sky-image.js';
import { gainsAtMoment } from './over-time.js';

/** Channels in which no input has a gain. */
export function channelsWithoutGains({ solved }: Calibrated, channels: number): number[] {
  const inputs = solved.length / channels;
  return Array.from({ length: channels }, (_, c) => c).filter((c) =>
    solved.subarray(c * inputs, (c + 1) * inputs).every((mark) => mark === 0),
  );
}

/** Whether X and Y have one phase reference in every channel that has gains: only then are cross hands valid. */
export function crossHandsKnown({ solved, crossHands }: Calibrated): boolean {
  if (!crossHands) return false;
  const inputs = solved.length / crossHands.length;
  return crossHands.every(
    (known, c) => known === 1 || !solved.subarray(c * inputs, (c + 1) * inputs).includes(1),
  );
}

/** The place of each of the data's stations in the file, by name: files of gains may list a whole telescope. */
function placesByName(file: GainsFile, path: string, { name, stations }: Telescope): readonly number[] {
  const names = stations.map((station) => station.name);
  if (names.length === file.stations.length && names.every((one, s) => one === file.stations[s]))
    return names.map((_, s) => s);
  const isAlone = (one: string, among: readonly string[]): boolean =>
    among.indexOf(one) === among.lastIndexOf(one) && among.includes(one);
  const without = names.filter((one) => !isAlone(one, file.stations) || !isAlone(one, names));
  if (without.length > 0)
    refuse(
      path,
      `is for ${file.stations.length} stations of ${file.telescope}, not these ${names.length} of ${name}: it has not, or not once, ${without.slice(0, 5).join(', ')}${without.length > 5 ? ` and ${without.length - 5} more` : ''}`,
      'calibrate this data',
    );
  return names.map((one) => file.stations.indexOf(one));
}

/**
 * Gains of the nearest channel, for each of ours; refused where ours is in none of theirs, half a channel to either
 * side. Where the file has several times, those at `moment`; the first ones by default.
 */
export function matchGains(
  file: GainsFile,
  path: string,
  telescope: Telescope,
  frequenciesHz: Float64Array,
  moment?: Instant,
): CalibratedFully {
  const first = [file, ...(file.later ?? [])].find(({ solved: known }) => known.includes(1)) ?? file;
  const at = gainsAtMoment(file, moment ?? first.time);
  const places = placesByName(file, path, telescope);
  if (file.polarisations !== telescope.polarisations) {
    refuse(
      path,
      `is for ${file.polarisations} polarisations, the data have ${telescope.polarisations}`,
      'calibrate this data',
    );
  }
  const theirs = file.frequenciesHz;
  // The width of a single channel is unknown; its gains are used within a hundredth of its frequency.
  const farthestHz = theirs.length > 1 ? 0.5001 * leastStepHz(theirs) : 0.01 * theirs[0];
  const each = file.polarisations;
  const inputs = places.length * each;
  const theirInputs = file.stations.length * each;
  const gains = new Float64Array(2 * frequenciesHz.length * inputs);
  const leakage = at.leakage && new Float64Array(gains.length);
  const solved = new Uint8Array(frequenciesHz.length * inputs);
  const crossHands = new Uint8Array(frequenciesHz.length);
  frequenciesHz.forEach((frequencyHz, c) => {
    const nearest = nearestTo(theirs, frequencyHz);
    if (Math.abs(theirs[nearest] - frequencyHz) > farthestHz) {
      refuse(
        path,
        `has no gains near ${formatHz(frequencyHz)}; they span ${formatHz(theirs[0])} to ${formatHz(theirs[theirs.length - 1])}`,
        'calibrate this band',
      );
    }
    places.forEach((place, s) => {
      const [from, to] = [nearest * theirInputs + place * each, c * inputs + s * each];
      gains.set(at.gains.subarray(2 * from, 2 * (from + each)), 2 * to);
      if (at.leakage) leakage?.set(at.leakage.subarray(2 * from, 2 * (from + each)), 2 * to);
      solved.set(at.solved.subarray(from, from + each), to);
    });
    crossHands[c] = at.crossHands[nearest];
  });
  return {
    gains: gainsCA(gains, frequenciesHz.length, inputs),
    solved,
    crossHands,
    ...(leakage && { leakage: gainsCA(leakage, frequenciesHz.length, inputs) }),
  };
}

/** Gains for an observation: of all times, with the state of the cross hands over all of them. */
interface FittedGains {
  readonly calibrated: Calibrated | CalibratedAt;
  readonly crossHands?: CrossHandLack;
  /** Channels in which no input has a gain. */
  readonly channelsWithout: number;
}

/** `crossHand: known`: X and Y have one phase reference, whatever is in the file. */
export function fittedGains(
  file: GainsFile,
  path: string,
  telescope: Telescope,
  frequenciesHz: Float64Array,
  { who, crossHand }: { readonly who: string; readonly crossHand?: 'known' },
): FittedGains {
  const over = gainsOverTime(file, path, telescope, frequenciesHz, who);
  const isKnown =
    crossHand === 'known' ||
    [file, ...(file.later ?? [])].every(({ time }) =>
      crossHandsKnown(matchGains(file, path, telescope, frequenciesHz, time)),
    );
  const first = matchGains(file, path, telescope, frequenciesHz);
  return {
    calibrated: over,
    channelsWithout: channelsWithoutGains(first, frequenciesHz.length).length,
    ...(!isKnown && { crossHands: 'unknown' }),
  };
}

/** Gains of all times, for code that takes one gain per input: those of a moment, where the file has several times. */
export function gainsOverTime(
  file: GainsFile,
  path: string,
  telescope: Telescope,
  frequenciesHz: Float64Array,
  who: string,
): Calibrated | CalibratedAt {
  // Products of samples are written in Jy where there are gains.
  if (file.fluxScale === 'relative')
    refuse(
      path,
      `holds relative gains, which do not bring data to Jy, and ${who} writes Jy`,
      'correlate, and image or apply them to the visibilities: those are in counts',
    );
  const first = matchGains(file, path, telescope, frequenciesHz);
  for (const { leakage } of [file, ...(file.later ?? [])])
    if (leakage) refuseLeakage({ ...first, leakage }, path, who);
  return file.later?.length ? (moment) => matchGains(file, path, telescope, frequenciesHz, moment) : first;
}

const nearestTo = (theirs: Float64Array, frequencyHz: number): number =>
  theirs.reduce(
    (best, other, k) => (Math.abs(other - frequencyHz) < Math.abs(theirs[best] - frequencyHz) ? k : best),
    0,
  );

const leastStepHz = (frequenciesHz: Float64Array): number =>
  frequenciesHz
    .subarray(1)
    .reduce((least, one, k) => Math.min(least, Math.abs(one - frequenciesHz[k])), Infinity);

/** What the gains are checked against. */
export interface DataFacts {
  readonly units?: string;
  /** The name of the beam that an image of the data is divided by. */
  readonly dividedBy?: string;
}

/**
 * Gains bring the data they were solved from to Jy: other data come out in no unit, and data that are calibrated
 * already are spoilt. Returns what else about them does not fit these data.
 */
export function fitsData(
  file: GainsFile,
  path: string,
  data: DataFacts & { readonly telescope: Telescope; readonly frequenciesHz: Float64Array },
): Message[] {
  const units: DataUnits = data.units === 'Jy' ? 'Jy' : 'uncalibrated';
  if (file.dataUnits && file.dataUnits !== units)
    refuse(
      path,
      units === 'Jy'
        ? 'was solved from uncalibrated data, and these are in Jy: gains would be applied twice'
        : 'was solved from data in Jy, and these are not: what gains of theirs make of them is not in Jy',
      units === 'Jy' ? 'take these data without gains, or calibrate them again' : 'calibrate these data',
    );
  const offHz = data.frequenciesHz.reduce(
    (most, one) => Math.max(most, Math.abs(file.frequenciesHz[nearestTo(file.frequenciesHz, one)] - one)),
    0,
  );
  const turnDeg = (360 * offHz * LONG_CABLE_M) / SPEED_OF_LIGHT_M_PER_S;
  return present(
    ...(file.assumed ?? []).map((what) => message('data.assumed', { what: `${path}: ${what}` })),
    ![file, ...(file.later ?? [])].some(({ solved }) => solved.includes(1)) &&
      message('gains.all-unsolved', { path }),
    units === 'Jy' && !file.dataUnits && message('gains.origin-unknown', { path }),
    file.telescope !== data.telescope.name &&
      message('gains.other-telescope', {
        path,
        telescope: file.telescope,
        dataOf: data.telescope.name,
      }),
    file.element !== undefined &&
      data.dividedBy !== undefined &&
      file.element !== data.dividedBy &&
      message('gains.other-beam', { path, element: file.element, dividedBy: data.dividedBy }),
    turnDeg > LEAST_TURN_DEG &&
      message('gains.other-frequencies', { path, offHz, cableM: LONG_CABLE_M, phaseDeg: turnDeg }),
  );
}

/** The cable length that phases between channels are tested for. */
const LONG_CABLE_M = 100;
const LEAST_TURN_DEG = 1;

/** For code that takes one gain per input: leakage would stay in the data unnoticed. */
export function refuseLeakage({ leakage }: Calibrated, path: string, who: string): void {
  if (leakage)
    refuse(
      path,
      `holds matrices of full polarisation, and ${who} takes a gain for each input`,
      'correlate, and image the visibilities; or calibrate without products.gains.polarisation: full',
    );
}
