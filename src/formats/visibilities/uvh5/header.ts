/** The Header of a UVH5 file, checked and in our terms. */
import { baselineCount } from '../../../core/axes.js';
import { refuse } from '../../../core/errors.js';
import { fromJulianDate, secondsBetween, type Instant } from '../../../core/instant.js';
import type { Site, Station, Telescope } from '../../../telescope/telescope.js';
import { ecefToEnu } from '../../../telescope/earth.js';
import { checkedSite } from '../../../telescope/site.js';
import type { UnusedAntenna, VisibilityHeader, KeywordValue } from '../../format.js';
import {
  exchangeLines,
  orientationHere,
  orientationOf,
  rowsPerTime,
  splitTable,
  turnedToEast,
  unitsOf,
} from '../header-facts.js';
import { severalTargetsLine } from '../targets.js';
import { centreOf, optionalText, targetsOf, type Centre } from './centre.js';
import {
  codesInOurOrder,
  codesOf,
  polarisationsOf,
  refuseTwice,
  storedProducts,
  type StoredProduct,
} from '../../io/gather.js';
import type { Hdf5File } from '../../hdf5/read.js';
import { telescopeOf } from './telescope.js';

/** One time, and the rows that hold it. */
export interface TimeSlot {
  readonly middle: Instant;
  /** The longest of its rows'. */
  readonly durationS: number;
  /** [first, end) of contiguous rows. */
  readonly runs: { first: number; end: number }[];
}

export interface Uvh5Header extends Omit<Centre, 'assumed'> {
  readonly version: string;
  readonly rows: number;
  readonly telescope: Telescope;
  /** The station of each antenna number in the data. */
  readonly stationOf: ReadonlyMap<number, number>;
  readonly ant1: Float64Array;
  readonly ant2: Float64Array;
  readonly slots: readonly TimeSlot[];
  /** Of every row. */
  readonly integrationS: Float64Array;
  readonly assumed: readonly string[];
  /** Several, none selected. */
  readonly targets?: string;
  /** Ascending; `place` is the index in the file. */
  readonly channels: readonly { readonly frequencyHz: number; readonly place: number }[];
  readonly channelWidthHz: number;
  readonly products: readonly StoredProduct[];
  readonly polarisations: 1 | 2;
  readonly facts: Pick<
    VisibilityHeader,
    | 'units'
    | 'xOrientation'
    | 'feedFrame'
    | 'instrument'
    | 'unusedAntennas'
    | 'extraKeywords'
    | 'rows'
    | 'products'
    | 'fringes'
  >;
  readonly history: readonly string[];
  /** 'sum' if integers are whole sums over samples, as we write them; else means. */
  readonly values: 'mean' | 'sum';
  readonly details: Readonly<Record<string, unknown>>;
}

const count = (file: Hdf5File, name: string): number => {
  const value = file.number(`Header/${name}`);
  if (!Number.isSafeInteger(value) || value < 1 || value > 2 ** 31) {
    refuse(file.path, `its Header says ${name} = ${value}`, 'it is damaged: copy it again');
  }
  return value;
};

function column(file: Hdf5File, name: string, length: number): Float64Array {
  const values = file.numbers(`Header/${name}`);
  if (values.length !== length) {
    refuse(
      file.path,
      `Header/${name} holds ${values.length} values where ${length} belong`,
      'it is damaged: copy it again',
    );
  }
  const odd = values.findIndex((value) => !Number.isFinite(value));
  if (odd >= 0)
    refuse(file.path, `Header/${name} holds ${values[odd]} at place ${odd}`, 'it is damaged: copy it again');
  return values;
}

export function readUvh5Header(file: Hdf5File, target?: string): Uvh5Header {
  const { path } = file;
  if (!file.has('Header') || !file.has('Data'))
    refuse(path, 'is HDF5 but has no Header and Data', 'it is not UVH5');
  const version = optionalText(file, 'version') ?? '0.x';
  const rows = count(file, 'Nblts');
  const channelCount = count(file, 'Nfreqs');
  const ant1 = column(file, 'ant_1_array', rows);
  const ant2 = column(file, 'ant_2_array', rows);
  const site = checkedSite(path, {
    latitudeDeg: column(file, 'latitude', 1)[0],
    longitudeDeg: column(file, 'longitude', 1)[0],
    heightM: column(file, 'altitude', 1)[0],
  });
  const frequencies = column(file, 'freq_array', channelCount);
  const widths = file.numbers('Header/channel_width');
  const channels = Array.from(frequencies, (frequencyHz, place) => ({ frequencyHz, place })).sort(
    (x, y) => x.frequencyHz - y.frequencyHz,
  );
  if (!(channels[0].frequencyHz > 0))
    refuse(path, `its lowest channel is at ${channels[0].frequencyHz} Hz`, 'it is damaged');
  // A descending band has negative widths; an ascending one has no negative widths.
  const falls = channelCount > 1 && frequencies[1] < frequencies[0];
  if (!(falls ? widths[0] !== 0 : widths[0] > 0))
    refuse(path, `Header/channel_width is ${widths[0]} Hz`, 'correct it: above 0 where frequencies rise');
  const channelWidthHz = Math.abs(widths[0]);
  const other = widths.findIndex((width) => !(Math.abs(Math.abs(width) / channelWidthHz - 1) < 1e-6));
  const orientation = file.has('Header/x_orientation')
    ? orientationOf(optionalText(file, 'x_orientation'))
    : orientationOfFeeds(file);
  const { products, polarisations, codes: alone } = productsOf(file, orientation);
  const targets = targetsOf(file, rows, target);
  const { slots, integrationS, overlap } = slotsOf(file, ant1, ant2, targets.isRead);
  const { stationOf, stations, unused, antennaCount } = antennasOf(file, site, ant1, ant2);
  const codes =
    polarisations === 1
      ? alone
      : codesInOurOrder(
          path,
          products,
          Array.from(ant1, (one, row) => [stationOf.get(one) ?? 0, stationOf.get(ant2[row]) ?? 0] as const),
        );
  const span = { first: slots[0].middle, last: slots[slots.length - 1].middle };
  const { assumed: moving = [], ...centre } = centreOf(file, site, span, targets);
  const telescope = telescopeOf({ file, site, stations, polarisations, channels, channelWidthHz });
  return {
    version,
    rows,
    telescope,
    stationOf,
    ant1,
    ant2,
    slots,
    integrationS,
    assumed: [
      ...moving,
      ...exchangeLines(products, orientation),
      ...(overlap
        ? [
            'by its integration_time pairs overlap with times that they are missing at: each time is read by itself',
          ]
        : []),
      ...(other < 0
        ? []
        : [`its channel_width is ${widths[other]} Hz at place ${other}: that of the first is used for all`]),
      ...(targets.several === undefined ? [] : [severalTargetsLine(targets.several)]),
    ],
    targets: targets.several,
    channels,
    channelWidthHz,
    products,
    polarisations,
    ...centre,
    facts: {
      ...factsOf(file, telescope, { orientation, unused, slots, codes }),
      ...(ant1.every((_, row) => !targets.isRead(row) || !centre.phased(row)) && { fringes: 'running' }),
    },
    history: (optionalText(file, 'history') ?? '').split('\n').filter((line) => line.trim() !== ''),
    values: optionalText(file, 'extra_keywords/corella_values') === 'sum' ? 'sum' : 'mean',
    details: {
      version,
      telescope: optionalText(file, 'telescope_name'),
      instrument: optionalText(file, 'instrument'),
      antennas: antennaCount,
      antennasInData: stations.length,
      rows,
      times: slots.length,
      products: products.map(({ label }) => label),
      xOrientation: optionalText(file, 'x_orientation') ?? 'unspecified: east is assumed',
      units: optionalText(file, 'vis_units') ?? 'unspecified',
      firstJulianDate: file.numbers('Header/time_array')[0],
      phased: centre.phased(0),
      firstAntennas: [ant1[0], ant2[0]],
    },
  };
}

/** Our X is east; files whose X is north have their polarisations exchanged on reading. */
function productsOf(
  file: Hdf5File,
  orientation: VisibilityHeader['xOrientation'],
): { products: StoredProduct[]; polarisations: 1 | 2; codes: readonly number[] | undefined } {
  const { path } = file;
  const codes = column(file, 'polarization_array', count(file, 'Npols'));
  const products = Array.from(codes, (code) => {
    const product = storedProducts[code];
    if (!product) {
      refuse(
        path,
        `holds polarisation ${code}, no product of two antennas' own`,
        'export XX, YY, XY and YX (codes −5 to −8)',
      );
    }
    return turnedToEast(product, orientation);
  });
  refuseTwice(path, products);
  return { products, polarisations: polarisationsOf(products), codes: codesOf(products) };
}

/**
 * Groups rows by time; each row has its own integration time. If some pairs' integrations cover other times at which
 * they are missing, either baselines were averaged over different times, or the integration times are unreliable, as
 * often in AIPS files. Only the order of rows distinguishes the two.
 */
function slotsOf(
  file: Hdf5File,
  ant1: Float64Array,
  ant2: Float64Array,
  isRead: (row: number) => boolean,
): { readonly slots: readonly TimeSlot[]; readonly integrationS: Float64Array; readonly overlap: boolean } {
  const { path } = file;
  const rows = ant1.length;
  const times = column(file, 'time_array', rows);
  const integrationS = column(file, 'integration_time', rows);
  const slots = new Map<
    number,
    { middle: Instant; durationS: number; runs: TimeSlot['runs']; rows: number }
  >();
  const pairs = new Set<string>();
  let differ = false;
  for (let row = 0; row < rows; row++) {
    const days = times[row];
    if (!(days > 2_400_000 && days < 2_500_000))
      refuse(path, `row ${row} is at Julian Date ${days}`, 'it is damaged: copy it again');
    const durationS = integrationS[row];
    if (!(durationS > 0 && durationS < 1e6))
      refuse(path, `row ${row} lasts ${durationS} s`, 'it is damaged: copy it again');
    if (!isRead(row)) continue;
    let slot = slots.get(days);
    if (!slot) {
      const midnight = Math.floor(days - 0.5) + 0.5;
      slot = { middle: fromJulianDate(midnight, days - midnight), durationS, runs: [], rows: 0 };
      slots.set(days, slot);
    }
    if (Math.abs(durationS - slot.durationS) > 1e-3 * slot.durationS) differ = true;
    slot.durationS = Math.max(slot.durationS, durationS);
    slot.rows++;
    pairs.add(`${Math.min(ant1[row], ant2[row])} ${Math.max(ant1[row], ant2[row])}`);
    const last = slot.runs.at(-1);
    if (last?.end === row) last.end = row + 1;
    else slot.runs.push({ first: row, end: row + 1 });
  }
  const inOrder = [...slots].sort(([x], [y]) => x - y).map(([, slot]) => slot);
  const covers = (one: TimeSlot, two: TimeSlot | undefined): boolean =>
    two !== undefined && Math.abs(secondsBetween(one.middle, two.middle)) < 0.499 * one.durationS;
  const overlap =
    differ &&
    inOrder.some((slot) => slot.rows !== pairs.size) &&
    inOrder.some((slot, k) => covers(slot, inOrder.at(k + 1)) || (k > 0 && covers(slot, inOrder[k - 1])));
  if (overlap && optionalText(file, 'blt_order')?.trim() === 'bda') {
    refuse(
      path,
      'its baselines were averaged over different times (baseline-dependent averaging)',
      'bring them to one integration time first (pyuvdata: upsample_in_time)',
    );
  }
  return { slots: inOrder, integrationS, overlap };
}

function antennasOf(
  file: Hdf5File,
  site: Site,
  ant1: Float64Array,
  ant2: Float64Array,
): {
  stationOf: Map<number, number>;
  stations: readonly Station[];
  unused: readonly UnusedAntenna[];
  antennaCount: number;
} {
  const { path } = file;
  const antennaCount = count(file, 'Nants_telescope');
  const numbers = column(file, 'antenna_numbers', antennaCount);
  const names = file.texts('Header/antenna_names');
  const positions = column(file, 'antenna_positions', 3 * antennaCount);
  if (names.length !== antennaCount)
    refuse(path, `names ${names.length} of its ${antennaCount} antennas`, 'it is damaged');
  const used = new Set<number>([...ant1, ...ant2]);
  const known = new Set<number>(numbers);
  for (const number of used) {
    if (!known.has(number))
      refuse(path, `antenna ${number} is in the data but not in antenna_numbers`, 'it is damaged');
  }
  if (known.size !== antennaCount) refuse(path, 'antenna_numbers lists a number twice', 'it is damaged');
  const diameters = file.has('Header/antenna_diameters')
    ? column(file, 'antenna_diameters', antennaCount)
    : new Float64Array(antennaCount);
  const table = Array.from(numbers, (number, k): Station => {
    const enu = ecefToEnu({ x: positions[3 * k], y: positions[3 * k + 1], z: positions[3 * k + 2] }, site);
    return {
      // Some writers pad names to one length, with blanks or zeros.
      name: names[k].replace(/[\0 ]+$/, ''),
      eastM: enu.x,
      northM: enu.y,
      upM: enu.z,
      number,
      ...(diameters[k] > 0 && { diameterM: diameters[k] }),
    };
  });
  const { stations, unused } = splitTable(table, (row) => used.has(numbers[row]));
  const stationOf = new Map(stations.map(({ number = 0 }, s) => [number, s]));
  return { stationOf, stations, unused, antennaCount };
}

/** Metadata besides geometry and values. */
function factsOf(
  file: Hdf5File,
  telescope: Telescope,
  of: {
    readonly orientation: VisibilityHeader['xOrientation'];
    readonly unused: readonly UnusedAntenna[];
    readonly slots: readonly TimeSlot[];
    readonly codes: readonly number[] | undefined;
  },
): Uvh5Header['facts'] {
  const units = unitsOf(optionalText(file, 'vis_units'));
  const instrument = optionalText(file, 'instrument')?.trim() ?? '';
  const extraKeywords = keywordsIn(file);
  const frame = optionalText(file, 'extra_keywords/corella_feed_frame');
  const perTime = rowsPerTime(
    of.slots.map(({ runs }) => runs.reduce((sum, { first, end }) => sum + end - first, 0)),
  );
  return {
    units,
    xOrientation: of.orientation && orientationHere(of.orientation),
    ...((frame === 'feeds' || frame === 'sky') && { feedFrame: frame }),
    ...(instrument !== '' && instrument !== telescope.name && { instrument }),
    ...(of.unused.length > 0 && { unusedAntennas: of.unused }),
    ...(of.codes && { products: of.codes }),
    ...(Object.keys(extraKeywords).length > 0 && { extraKeywords }),
    ...((perTime.most !== baselineCount(telescope.stations.length) || perTime.times !== 'alike') && {
      rows: perTime,
    }),
  };
}

/** Memo 1.3 gives each feed's name and angle, π/2 being east; other angles have no name here. */
function orientationOfFeeds(file: Hdf5File): VisibilityHeader['xOrientation'] {
  if (!file.has('Header/feed_array') || !file.has('Header/feed_angle')) return 'unknown';
  const feeds = file.texts('Header/feed_array').map((name) => name.trim().toLowerCase());
  const angles = file.numbers('Header/feed_angle');
  const all = (name: string, angleRad: number): boolean =>
    feeds.every((feed, k) => feed !== name || Math.abs(angles[k] - angleRad) < 1e-5);
  if (angles.length !== feeds.length || !(feeds.includes('x') && feeds.includes('y'))) return 'unknown';
  if (all('x', Math.PI / 2) && all('y', 0)) return 'east';
  return all('x', 0) && all('y', Math.PI / 2) ? 'north' : 'unknown';
}

/** Scalars and texts of extra_keywords; our own keywords are handled elsewhere. */
function keywordsIn(file: Hdf5File): Record<string, KeywordValue> {
  const group = 'Header/extra_keywords';
  const keywords: Record<string, KeywordValue> = {};
  for (const name of file.has(group) ? file.keys(group) : []) {
    if (name.startsWith('corella_')) continue;
    const value = file.scalar(`${group}/${name}`);
    if (value !== undefined) keywords[name] = value;
  }
  return keywords;
}
