/** The AIPS AN table: antenna positions in the axes that other software expects, and back. */
import { refuse } from '../../../core/errors.js';
import type { Instant } from '../../../core/instant.js';
import { dot, scale, type Vector3 } from '../../../core/vector.js';
import { DEGREES_PER_DAY, earthAtMidnight } from '../../../sky/earth/sidereal.js';
import {
  mounts,
  type Mount,
  type RecordingDefaults,
  type Site,
  type Station,
  type Telescope,
} from '../../../telescope/telescope.js';
import { ecefToEnu, ecefToSite, enuToEcef, siteToEcef, turnAboutAxis } from '../../../telescope/earth.js';
import { integerCard, realCard, textCards, toAscii, type FitsUnit } from '../../fits/fits.js';
import { checkedSite } from '../../../telescope/site.js';
import { readTable, tableBytes, type FitsTable } from '../../fits/table.js';
import type { UnusedAntenna, VisibilityHeader } from '../../format.js';
import type { InputFile } from '../../io/input.js';
import { antennaTableOf, type NumberedStation } from '../header-facts.js';

const HIGHEST_GROUND_M = 10_000;

/** AIPS's mount codes; an aperture array is 6. */
const mountCodes = { altaz: 0, equatorial: 1, fixed: 6 } as const;

/** From their codes, if all antennas have the same; 7 is pyuvdata's code for antennas fixed to the ground. */
function mountOf(table: FitsTable): Mount | undefined {
  const codes = table.has('MNTSTA') ? [...new Set(table.numbers('MNTSTA', 1).map(([code]) => code))] : [];
  const byCode: Readonly<Record<number, Mount>> = { 0: 'altaz', 1: 'equatorial', 6: 'fixed', 7: 'fixed' };
  return codes.length === 1 ? byCode[codes[0]] : undefined;
}

/**
 * STABXYZ holds offsets from ARRAYX, ARRAYY, ARRAYZ in the frame whose x axis points to the local meridian: ECEF
 * rotated about the Earth's axis by minus the longitude, as in AIPS, pyuvdata and cotter.
 */
export function antennaTable(
  telescope: Telescope,
  facts: Pick<VisibilityHeader, 'feeds' | 'unusedAntennas' | 'xOrientation' | 'feedFrame'> & {
    readonly start: Instant;
    readonly referenceFrequencyHz: number;
  },
): Uint8Array {
  const { site, recording, band } = telescope;
  const stations = antennaTableOf(telescope.stations, facts.unusedAntennas);
  const shift = numberShift(telescope.stations, facts.unusedAntennas);
  // The centre of an Earth-wide telescope is far below the ground, where readers expect no site: positions are then
  // absolute, as in other programs' files of such telescopes.
  const isDeep = Math.abs(site.heightM) > HIGHEST_GROUND_M;
  const centre = siteToEcef(site);
  const array = isDeep ? { x: 0, y: 0, z: 0 } : centre;
  const earth = earthAtMidnight(facts.start);
  const each = <T>(make: (station: NumberedStation, s: number) => T): T[] => stations.map(make);
  const names = each((station) => toAscii(station.name));
  const nameWidth = Math.max(8, ...names.map((name) => name.length));
  const letters = { linear: 'XY', circular: 'RL' }[facts.feeds ?? 'linear'];
  const isAngleKnown = facts.xOrientation !== 'unknown' || telescope.feedAngleDeg !== undefined;
  const xAngleDeg = isAngleKnown ? (telescope.feedAngleDeg ?? 90) : 0;
  const mountCode = telescope.mount === undefined ? 0 : mountCodes[telescope.mount];
  const columns = [
    { name: 'ANNAME', form: `${nameWidth}A`, rows: names },
    {
      name: 'STABXYZ',
      form: '3D',
      unit: 'METERS',
      rows: each(({ eastM, northM, upM }) => {
        const ecef = enuToEcef({ x: eastM, y: northM, z: upM }, site);
        if (isDeep) return [ecef.x + centre.x, ecef.y + centre.y, ecef.z + centre.z];
        const { x, y, z } = turnAboutAxis(ecef, -site.longitudeDeg);
        return [x, y, z];
      }),
    },
    { name: 'NOSTA', form: '1J', rows: each(({ number }) => [number + shift]) },
    { name: 'MNTSTA', form: '1J', rows: each(() => [mountCode]) },
    { name: 'STAXOF', form: '1E', unit: 'METERS', rows: each(() => [0]) },
    { name: 'POLTYA', form: '1A', rows: each(() => letters[0]) },
    // X is east–west, 90° from north through east, unless unknown.
    { name: 'POLAA', form: '1E', unit: 'DEGREES', rows: each(() => [xAngleDeg]) },
    { name: 'POLTYB', form: '1A', rows: each(() => letters[1]) },
    { name: 'POLAB', form: '1E', unit: 'DEGREES', rows: each(() => [isAngleKnown ? xAngleDeg - 90 : 0]) },
    ...(stations.some(({ diameterM }) => diameterM !== undefined)
      ? [{ name: 'DIAMETER', form: '1D', unit: 'METERS', rows: each(({ diameterM }) => [diameterM ?? 0]) }]
      : []),
  ];
  return tableBytes('AIPS AN', columns, [
    realCard('ARRAYX', array.x),
    realCard('ARRAYY', array.y),
    realCard('ARRAYZ', array.z),
    realCard('GSTIA0', earth.siderealDeg, 'degrees at 0h on RDATE'),
    realCard('DEGPDY', DEGREES_PER_DAY),
    realCard('FREQ', facts.referenceFrequencyHz),
    ...textCards('RDATE', earth.date),
    realCard('POLARX', earth.poleXArcsec, 'arcsec'),
    realCard('POLARY', earth.poleYArcsec, 'arcsec'),
    realCard('UT1UTC', earth.ut1MinusUtcS, 's'),
    realCard('DATUTC', 0),
    ...textCards('TIMSYS', 'UTC'),
    ...textCards('ARRNAM', telescope.name),
    ...textCards('XYZHAND', 'RIGHT'),
    ...textCards('FRAME', 'ITRF'),
    integerCard('NUMORB', 0),
    integerCard('NO_IF', 1),
    integerCard('NOPCAL', 0),
    ...textCards('POLTYPE', ''),
    integerCard('FREQID', 1),
    // Telescope facts besides antenna positions; other software ignores them.
    ...textCards('TELTITLE', telescope.title),
    ...(telescope.stations.some(({ number }) => number !== undefined)
      ? [integerCard('ANTSHIFT', shift, 'added to the numbers of antennas')]
      : []),
    realCard('BANDLOW', band.lowHz),
    realCard('BANDHIGH', band.highHz),
    realCard('RECFREQ', recording.centreFrequencyHz),
    realCard('RECRATE', recording.sampleRateHz),
    integerCard('RECCHAN', recording.channels),
    integerCard('RECBITS', recording.bits),
    realCard('BEAMEXP', telescope.beamExponent),
    ...(telescope.mount ? textCards('MOUNT', telescope.mount, 'how feeds are held') : []),
    ...(telescope.feedAngleDeg === undefined ? [] : [realCard('FEEDANG', telescope.feedAngleDeg, 'deg')]),
    ...(facts.feedFrame ? textCards('POLFRAME', facts.feedFrame, 'frame of products') : []),
    realCard('SITELAT', site.latitudeDeg),
    realCard('SITELON', site.longitudeDeg),
    realCard('SITEHGT', site.heightM),
  ]);
}

/** UVFITS counts from 1: numbers that start at 0 are all shifted by one. */
export const numberShift = (stations: readonly Station[], unused?: readonly UnusedAntenna[]): 0 | 1 =>
  antennaTableOf(stations, unused).some(({ number }) => number < 1) ? 1 : 0;

export interface Antennas {
  /** The antenna number of each station in the data. */
  readonly numbers: readonly number[];
  /** Listed without a position, at (0, 0, 0): casacore writes such a row for an unused number. */
  readonly placeless: readonly number[];
  readonly site: Site;
  readonly stations: readonly Station[];
  readonly arrayName: string;
  readonly timeSystem: string;
  /** TAI − UTC in the table, 0 if absent. */
  readonly taiMinusUtcS: number;
  readonly frame: string;
  /** 'offsets' from the array's centre in the meridian's frame, or 'absolute' ECEF. */
  readonly positions: 'offsets' | 'absolute';
  /** Of the first feed, degrees from north through east, if the table marks it as valid (HASFEED). */
  readonly feedsDeg: number | undefined;
  /** Mount, position angle of an X that is neither east nor north, and the frame of products. */
  readonly mount?: Mount;
  readonly feedAngleDeg?: number;
  readonly feedFrame?: 'feeds' | 'sky';
  /** Present if we wrote the table ourselves. */
  readonly own?: Pick<Telescope, 'title' | 'band' | 'recording' | 'beamExponent'>;
}

/** `turned`: as if it said XYZHAND LEFT. */
export async function readAntennas(file: InputFile, unit: FitsUnit, turned = false): Promise<Antennas> {
  const { header } = unit;
  const table = await readTable(file, unit);
  if (table.rowCount === 0) refuse(file.path, 'its antenna table is empty', 'export it again');
  const hand = turned || header.text('XYZHAND', 'RIGHT').toUpperCase() === 'LEFT' ? -1 : 1;
  const xyz = table.numbers('STABXYZ', 3).map(([x, y, z]): Vector3 => ({ x, y: hand * y, z }));
  const array: Vector3 = {
    x: header.real('ARRAYX', 0),
    y: header.real('ARRAYY', 0),
    z: header.real('ARRAYZ', 0),
  };
  // Without an array centre, positions are absolute; the Earth's centre is not an array centre.
  const centreless = dot(array, array) === 0;
  const isPlaced = xyz.map((at) => !centreless || dot(at, at) > 0);
  const placed = xyz.filter((_, row) => isPlaced[row]);
  if (placed.length === 0)
    refuse(file.path, 'all its antennas are at (0, 0, 0)', 'correct STABXYZ in its AN table');
  const mean = scale(
    placed.reduce((sum, at) => ({ x: sum.x + at.x, y: sum.y + at.y, z: sum.z + at.z })),
    1 / placed.length,
  );
  const far = [array, ...xyz].find((at) => !Number.isFinite(dot(at, at)) || dot(at, at) > 1e18);
  if (far) {
    refuse(
      file.path,
      `an antenna is at (${far.x}, ${far.y}, ${far.z}) m`,
      'correct STABXYZ and ARRAYX, ARRAYY, ARRAYZ in its AN table',
    );
  }
  const absolute = centreless || dot(mean, mean) > 5e6 ** 2;
  const site = siteOf(centreless ? mean : array, unit);
  const centre = siteToEcef(site);
  const enu = xyz.map((at) =>
    absolute
      ? ecefToEnu({ x: at.x - centre.x, y: at.y - centre.y, z: at.z - centre.z }, site)
      : ecefToEnu(turnAboutAxis(at, site.longitudeDeg), site),
  );
  const numbers = table.numbers('NOSTA', 1).map(([number]) => number);
  if (new Set(numbers).size !== numbers.length) {
    refuse(file.path, 'its antenna table lists a number twice', 'correct NOSTA in its AN table');
  }
  const names = table.has('ANNAME') ? table.texts('ANNAME') : numbers.map(String);
  const diameters = table.has('DIAMETER') ? table.numbers('DIAMETER', 1).map(([diameter]) => diameter) : [];
  const own = ownFacts(unit);
  // Our files state the shift if their numbers are not a plain count.
  const shift = header.real('ANTSHIFT', 0);
  const numbered = own.own === undefined || header.has('ANTSHIFT');
  const stations = enu.map(({ x, y, z }, s): Station => {
    const diameterM = diameters.at(s) ?? 0;
    return {
      name: names[s] === '' ? String(numbers[s]) : names[s],
      eastM: x,
      northM: y,
      upM: z,
      ...(numbered && { number: numbers[s] - shift }),
      ...(diameterM > 0 && { diameterM }),
    };
  });
  return {
    numbers: numbers.filter((_, row) => isPlaced[row]),
    placeless: numbers.filter((_, row) => !isPlaced[row]),
    site,
    stations: stations.filter((_, row) => isPlaced[row]),
    arrayName: header.text('ARRNAM', ''),
    timeSystem: header.text('TIMSYS', header.text('TIMESYS', '')).trim().toUpperCase(),
    taiMinusUtcS: header.real('IATUTC', 0),
    frame: header.text('FRAME', ''),
    positions: absolute ? 'absolute' : 'offsets',
    ...own,
    ...feedFacts(unit, table, own.own !== undefined),
  };
}

/** Our files state it as text; the codes have no value for unknown. */
function feedFacts(
  { header }: FitsUnit,
  table: FitsTable,
  isOurs: boolean,
): Pick<Antennas, 'feedsDeg' | 'mount' | 'feedAngleDeg' | 'feedFrame'> {
  const word = header.text('MOUNT', '').trim();
  const mount = isOurs ? mounts.find((one) => one === word) : mountOf(table);
  const frame = header.text('POLFRAME', '').trim().toLowerCase();
  const feedsDeg = header.has('HASFEED') && header.logical('HASFEED') ? feedAngleDeg(table) : undefined;
  const angleDeg = header.has('FEEDANG') ? header.real('FEEDANG') : rotatedFeedDeg(table, feedsDeg);
  return {
    feedsDeg,
    ...(mount && { mount }),
    ...(angleDeg !== undefined && { feedAngleDeg: angleDeg }),
    ...((frame === 'feeds' || frame === 'sky') && { feedFrame: frame }),
  };
}

/** For feeds along neither north nor east, Y 90° before X. */
function rotatedFeedDeg(table: FitsTable, first: number | undefined): number | undefined {
  if (first === undefined || Math.abs(first - 90 * Math.round(first / 90)) < 1e-3) return undefined;
  const [second] = table.numbers('POLAB', 1)[0];
  return Math.abs(first - second - 90) < 1e-3 ? first : undefined;
}

/** The angle of the first feed; feeds that are not perpendicular, such as both at 0, were never measured. */
function feedAngleDeg(table: FitsTable): number | undefined {
  if (!table.has('POLAA') || !table.has('POLAB')) return undefined;
  const [first, second] = ['POLAA', 'POLAB'].map((name) => table.numbers(name, 1)[0][0]);
  return Math.abs(Math.abs(second - first) - 90) < 1e-3 ? first : undefined;
}

/** Exact if we wrote it, otherwise from the geocentric position. */
function siteOf(place: Vector3, { header }: FitsUnit): Site {
  if (!header.has('SITELAT')) return ecefToSite(place);
  return checkedSite(header.where, {
    latitudeDeg: header.real('SITELAT'),
    longitudeDeg: header.real('SITELON'),
    heightM: header.real('SITEHGT'),
  });
}

function ownFacts({ header }: FitsUnit): Pick<Antennas, 'own'> {
  if (!header.has('TELTITLE')) return {};
  const recording: RecordingDefaults = {
    centreFrequencyHz: header.real('RECFREQ'),
    sampleRateHz: header.real('RECRATE'),
    channels: header.whole('RECCHAN', 1, 2 ** 31),
    bits: header.whole('RECBITS', 4, 8) === 4 ? 4 : 8,
  };
  return {
    own: {
      title: header.text('TELTITLE'),
      band: { lowHz: header.real('BANDLOW'), highHz: header.real('BANDHIGH') },
      recording,
      beamExponent: header.real('BEAMEXP'),
    },
  };
}
