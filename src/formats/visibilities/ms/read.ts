/**
 * Opens a Measurement Set. A row of the pair (1, 2) holds S = V·e^(−2πi f w/c) beside its own uvw, as in UVFITS. Sets
 * differ in the direction of uvw: r₁ − r₂, and V is V₁₂, as casacore makes them from UVFITS; or r₂ − r₁, and V is the
 * conjugate, as some correlators write them. The antenna positions decide which.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { baselineCount } from '../../../core/axes.js';
import type { Integration } from '../../../core/blocks.js';
import { closes, preparing } from '../../../core/closing.js';
import { refuse } from '../../../core/errors.js';
import { DEGREES_PER_RADIAN, SPEED_OF_LIGHT_M_PER_S } from '../../../core/units.js';
import type { Vector3 } from '../../../core/vector.js';
import type { SkyPosition } from '../../../sky/frame.js';
import { ecefToEnu, ecefToSite, siteToEcef } from '../../../telescope/earth.js';
import type { Site, Station, Telescope } from '../../../telescope/telescope.js';
import type { OpenOptions, VisibilityFile, VisibilityHeader } from '../../format.js';
import {
  codesInOurOrder,
  codesOf,
  feedsOf,
  gather,
  polarisationsOf,
  refuseTwice,
  storedProducts,
  type StoredProduct,
  noFaults,
  type Gathering,
} from '../../io/gather.js';
import { recordingSeen } from '../pass-through.js';
import {
  exchangeLines,
  orientationHere,
  rowsPerTime,
  splitTable,
  turnedRaDeg,
  turnedToEast,
  unitsOf,
} from '../header-facts.js';
import { chooseTarget, severalTargetsLine, type Target } from '../targets.js';
import { checkUvw, placesInUse } from '../uvw-fit.js';
import { mountOfSet, orientationOfSet } from './feeds.js';
import { checkFrames, clockOf, frameOfField } from './frames.js';
import { openCasacore, type Casacore } from './library.js';
import { readOwnWords, type OwnWords } from './own-words.js';
import { readRows, rowsOfField, slotsOf, startOf, type Rows } from './rows.js';

/** casacore's codes of products: RR, RL, LR, LL from 5 and XX, XY, YX, YY from 9. */
export const casacoreCodes = { 5: -1, 6: -3, 7: -4, 8: -2, 9: -5, 10: -7, 11: -8, 12: -6 } as const;

const MOST_ROWS = 2 ** 31;

/** The default column of visibilities. */
const DATA = 'DATA';

export const openMs = (path: string, options: OpenOptions = {}): Promise<VisibilityFile> =>
  preparing(async (closers) => {
    // Rows of such a set differ in shape, which casacore would call damage.
    refuseAveraged(
      path,
      BDA_TABLES.filter((name) => existsSync(join(path, name))),
    );
    const casacore = await openCasacore(path);
    const handle = await casacore.open(path, options.column ?? DATA);
    const close = closes(() => {
      casacore.call('ms_close', path, handle);
    });
    closers.keep({ close });
    return opened(casacore, handle, path, options, close);
  });

function opened(
  casacore: Casacore,
  handle: unknown,
  path: string,
  options: OpenOptions,
  close: () => Promise<void>,
): VisibilityFile {
  const shape = new Float64Array(6);
  casacore.call('ms_shape', path, handle, shape);
  const [rowCount, antennaCount, channels, productCount, , fieldCount] = shape;
  if (!(rowCount > 0 && rowCount < MOST_ROWS))
    refuse(path, `holds ${rowCount} rows`, 'it is empty or damaged');
  refuseAveraged(path, casacore.text(path, handle, 'averaging').split('\n').filter(Boolean));
  const clock = clockOf(path, casacore.text(path, handle, 'timeFrame'));
  const every = clock.toUtc(readRows(casacore, handle, path, { rowCount }));
  const positions = new Float64Array(3 * antennaCount);
  const diameters = new Float64Array(antennaCount);
  const frequencies = new Float64Array(channels);
  const widths = new Float64Array(channels);
  const correlations = new Int32Array(productCount);
  const directions = new Float64Array(2 * Math.max(1, fieldCount));
  casacore.call(
    'ms_tables',
    path,
    handle,
    positions,
    diameters,
    frequencies,
    widths,
    correlations,
    directions,
  );
  const lines = (what: 'antennas' | 'mounts' | 'fields' | 'fieldFrames' | 'columns' | 'feeds'): string[] =>
    casacore.text(path, handle, what).split('\n').slice(0, -1);
  // Tables may list fields without rows.
  const names = lines('fields');
  const present = [...new Set(every.fields)].map((id): Target => {
    if (!(id >= 0 && id < fieldCount))
      refuse(
        path,
        `row ${every.fields.indexOf(id)} is of field ${id}, which its FIELD table lacks`,
        'it is damaged',
      );
    return { id, name: names[id] };
  });
  const { only, several } = chooseTarget(path, present, options.target);
  const rows = only ? rowsOfField(every, only.id) : every;
  const { id: field, name: object } = only ?? present[0];
  const fieldFrame = frameOfField(path, { name: object, frame: lines('fieldFrames')[field] });
  const stored = Array.from(correlations, (type): StoredProduct => {
    const product =
      type in casacoreCodes ? storedProducts[casacoreCodes[type as keyof typeof casacoreCodes]] : undefined;
    return (
      product ?? refuse(path, `holds the product ${type} of casacore's`, 'RR to LL and XX to YY are read')
    );
  });
  refuseTwice(path, stored);
  const order = Array.from(frequencies, (frequencyHz, place) => ({ frequencyHz, place })).sort(
    (x, y) => x.frequencyHz - y.frequencyHz,
  );
  const table = {
    rows,
    positions,
    diameters,
    names: lines('antennas'),
    name: casacore.text(path, handle, 'telescope'),
    channels: order,
    channelWidthHz: Math.abs(widths[0]),
    polarisations: 2 as const,
  };
  const { telescope: seen, stationOf } = antennasOf(path, table);
  const observer = casacore.text(path, handle, 'observer').trim();
  const own = readOwnWords(casacore.text(path, handle, 'own'), seen);
  // Unused antennas use the same site as the others.
  const { unused } = antennasOf(path, own ? { ...table, site: own.telescope.site } : table);
  const feeds = feedsOf(stored);
  const byFeeds =
    own || feeds === 'circular'
      ? undefined
      : orientationOfSet(casacore.text(path, handle, 'pyuvdataOrientation'), lines('feeds'), {
          telescope: seen.name,
          mount: mountOfSet(lines('mounts')),
        });
  const xOrientation = own ? (own.xOrientation ?? 'east') : (byFeeds?.orientation ?? 'unknown');
  // Our sets always have X east, so only others' are converted.
  const products = stored.map((product) => turnedToEast(product, byFeeds?.orientation));
  const polarisations = polarisationsOf(products);
  const column = options.column ?? DATA;
  const units = unitsIn(column, casacore.text(path, handle, 'units'), own);
  const mount = own ? own.telescope.mount : mountOfSet(lines('mounts'));
  const telescope: Telescope = { ...(own?.telescope ?? seen), polarisations, ...(mount && { mount }) };
  const phaseCentre: SkyPosition = {
    raDeg: turnedRaDeg(directions[2 * field] * DEGREES_PER_RADIAN),
    decDeg: directions[2 * field + 1] * DEGREES_PER_RADIAN,
  };
  const slots = slotsOf(path, rows);
  const perTime = rowsPerTime(slots.map((slot) => slot.rows.length));
  const isAll = perTime.most === baselineCount(telescope.stations.length) && perTime.times === 'alike';
  const codes =
    polarisations === 1
      ? codesOf(products)
      : codesInOurOrder(
          path,
          products,
          Array.from(rows.antenna1, (one, row) => [stationOf[one], stationOf[rows.antenna2[row]]] as const),
        );
  const { sign, assumed: oddUvw } = checkUvw(path, placesInUse(telescope, options.telescope), {
    middle: slots[0].middle,
    stoppedAt: phaseCentre,
    uvw: options.uvw,
    rows: slots[0].rows
      .filter((row) => rows.fields[row] === field)
      .map((row) => {
        const [u, v, w] = rows.uvw.subarray(3 * row, 3 * row + 3);
        return { s1: stationOf[rows.antenna1[row]], s2: stationOf[rows.antenna2[row]], uvwM: [u, v, w] };
      }),
  });
  const weighs = isWeighted(casacore, handle, path, { places: rows.places, channels, productCount });
  const header: VisibilityHeader = {
    telescope,
    polarisations,
    feeds,
    frequenciesHz: Float64Array.from(order, ({ frequencyHz }) => frequencyHz),
    channelWidthHz: own?.channelWidthHz ?? Math.abs(widths[0]),
    phaseCentre,
    object,
    history: own?.history ?? [],
    xOrientation: orientationHere(xOrientation),
    units: units.units,
    feedFrame: own?.feedFrame,
    ...(own?.instrument !== undefined && { instrument: own.instrument }),
    extraKeywords: own?.extraKeywords,
    ...(!own && observer !== '' && { extraKeywords: { OBSERVER: observer } }),
    ...(unused.length > 0 && {
      unusedAntennas: unused.map((one) => {
        const number = own?.unusedNumbers?.[String(one.place)];
        return number === undefined ? one : { ...one, station: { ...one.station, number } };
      }),
    }),
    ...(codes && { products: codes }),
    ...(!isAll && { rows: perTime }),
  };
  const assumed = [
    ...clock.assumed,
    ...checkFrames(casacore, path, handle),
    ...fieldFrame.assumed,
    ...oddUvw,
    ...(several === undefined ? [] : [severalTargetsLine(several)]),
    ...(options.column === undefined ? otherColumns(lines('columns')) : []),
    ...units.assumed,
    ...(byFeeds?.assumed ?? []),
    ...exchangeLines(stored, byFeeds?.orientation),
    ...(weighs ? [] : ['its weights are all 0: every unflagged value has weight 1']),
  ];
  const isStopped = (only !== undefined || present.length === 1) && fieldFrame.place === 'unchanged';
  const faults = noFaults();
  return {
    kind: 'visibilities',
    path,
    format: 'ms',
    header,
    telescope,
    integrationCount: slots.length,
    durationsS: Float64Array.from(slots, ({ durationS }) => durationS),
    ...(assumed.length > 0 && { assumed }),
    targets: several,
    details: {
      column,
      rows: rowCount,
      antennas: antennaCount,
      fields: names,
      products: products.map(({ label }) => label),
      uvw: sign === 1 ? 'r1 - r2' : 'r2 - r1',
      firstTimeMjdS: rows.times[0],
    },
    faults,
    integrations: async function* (memory = 'own'): AsyncGenerator<Integration> {
      Object.assign(faults, noFaults());
      const read = (first: number, count: number, data: Float32Array, weights: Float32Array): void => {
        casacore.call(
          ...(['ms_values', path, handle, first, count] as const),
          ...[channels, productCount, data, weights],
        );
      };
      const add = rowAdder({ rows, order, productCount, stationOf, sign, weighs, read });
      let gathering: Gathering | undefined;
      for (const slot of slots) {
        await Promise.resolve();
        if (memory === 'reused') gathering?.clear();
        else gathering = undefined;
        gathering ??= gather({
          path,
          channels,
          stations: telescope.stations.length,
          polarisations: header.polarisations,
          products,
          values: 'mean',
          faults,
          ...(isStopped && { stoppedAt: phaseCentre }),
        });
        add(gathering, slot.rows);
        yield gathering.finish({ start: startOf(slot), durationS: slot.durationS });
      }
    },
    close,
  };
}

/** Of DP3. */
const BDA_TABLES = ['BDA_TIME_AXIS', 'BDA_FACTORS', 'BDA_TIME_FACTOR'];

/** Rows are read some megabytes at a time. */
const CHUNK_VALUES = 2 ** 18;

interface RowValues {
  readonly rows: Rows;
  readonly order: readonly { readonly frequencyHz: number; readonly place: number }[];
  readonly productCount: number;
  readonly stationOf: ArrayLike<number>;
  /** Of uvw. */
  readonly sign: 1 | -1;
  readonly weighs: boolean;
  readonly read: (first: number, count: number, data: Float32Array, weights: Float32Array) => void;
}

/** Adds rows to an integration, unphased; those that follow each other in the set are read together. */
function rowAdder({
  rows,
  order,
  productCount,
  stationOf,
  sign,
  weighs,
  read,
}: RowValues): (gathering: Gathering, chosen: readonly number[]) => void {
  const perRow = order.length * productCount;
  const most = Math.max(1, Math.floor(CHUNK_VALUES / perRow));
  const data = new Float32Array(2 * most * perRow);
  const weights = new Float32Array(most * perRow);
  const frequenciesHz = Float64Array.from(order, ({ frequencyHz }) => frequencyHz);
  const places = Int32Array.from(order, ({ place }) => place);
  const unphased = new Float64Array(2 * perRow);
  const counts = new Float64Array(perRow);
  const add = (gathering: Gathering, row: number, start: number): void => {
    const [s1, s2] = [stationOf[rows.antenna1[row]], stationOf[rows.antenna2[row]]];
    const [u, v, w] = rows.uvw.subarray(3 * row, 3 * row + 3);
    gathering.row(s1, s2, { uvwM: [sign * u, sign * v, sign * w], integrationS: rows.intervals[row] });
    for (let c = 0, to = 0; c < places.length; c++) {
      const phase = (2 * Math.PI * frequenciesHz[c] * w) / SPEED_OF_LIGHT_M_PER_S;
      const cos = Math.cos(phase);
      const sin = Math.sin(phase);
      const from = start + places[c] * productCount;
      for (let at = from; at < from + productCount; at++, to++) {
        const re = data[2 * at];
        const im = data[2 * at + 1];
        unphased[2 * to] = re * cos - im * sin;
        unphased[2 * to + 1] = sign * (im * cos + re * sin);
        const stored = weights[at];
        counts[to] = weighs ? stored : Object.is(stored, -0) || stored < 0 ? -1 : 1;
      }
    }
    gathering.fill(unphased, counts);
  };
  return (gathering, chosen) => {
    for (let first = 0, count = 1; first < chosen.length; first += count, count = 1) {
      const place = rows.places[chosen[first]];
      while (
        count < most &&
        first + count < chosen.length &&
        rows.places[chosen[first + count]] === place + count
      )
        count++;
      read(place, count, data, weights);
      for (let k = 0; k < count; k++) add(gathering, chosen[first + k], k * perRow);
    }
  };
}

/** DP3 averages short baselines for longer, each row over its own time and channels. */
function refuseAveraged(path: string, tables: readonly string[]): void {
  if (tables.length > 0)
    refuse(
      path,
      `holds baseline-dependent averaging (${tables.join(', ')})`,
      'expand it with DP3 first (steps=[bdaexpander])',
    );
}

/** Calibration programs keep their results beside the original data, and a reader may want either. */
function otherColumns(columns: readonly string[]): readonly string[] {
  const others = columns.filter((name) => name !== DATA);
  return others.length === 0
    ? []
    : [`it has ${others.join(' and ')} beside ${DATA}, which is read; source.column takes another`];
}

/**
 * Our own keyword describes DATA, and is trusted. Other programs mark uncalibrated DATA as Jy, so Jy is trusted only in
 * columns made by calibration; any other unit was set on purpose.
 */
function unitsIn(
  column: string,
  said: string,
  own: OwnWords | undefined,
): { readonly units?: string; readonly assumed: readonly string[] } {
  if (column === DATA && own) return { units: own.units, assumed: [] };
  const units = unitsOf(said);
  if (units === undefined) return { assumed: [] };
  return column === DATA && units === 'Jy'
    ? {
        assumed: [
          `its ${DATA} is marked Jy, as some programs mark uncalibrated data: treated as unspecified`,
        ],
      }
    : { units, assumed: [] };
}

/** casacore has no weight of −0: if all are zero they were never set. A dead first station gives many rows of zeros. */
function isWeighted(
  casacore: Casacore,
  handle: unknown,
  path: string,
  of: { readonly places: Int32Array; readonly channels: number; readonly productCount: number },
): boolean {
  const { places, channels, productCount } = of;
  const data = new Float32Array(2 * channels * productCount);
  const weights = new Float32Array(channels * productCount);
  for (const row of places) {
    casacore.call('ms_values', path, handle, row, 1, channels, productCount, data, weights);
    if (weights.some((weight) => weight !== 0)) return true;
  }
  return false;
}

function antennasOf(
  path: string,
  of: {
    readonly rows: Rows;
    readonly positions: Float64Array;
    readonly diameters: Float64Array;
    readonly names: readonly string[];
    readonly name: string;
    readonly channels: readonly { readonly frequencyHz: number }[];
    readonly channelWidthHz: number;
    readonly polarisations: 2;
    /** The mean of the antennas in use, unless known. */
    readonly site?: Site;
  },
) {
  const { rows, positions, diameters, names } = of;
  const used = new Set<number>([...rows.antenna1, ...rows.antenna2]);
  const beyond = [...used].find((antenna) => antenna < 0 || antenna >= diameters.length);
  if (beyond !== undefined)
    refuse(path, `antenna ${beyond} is in no row of its ANTENNA table`, 'it is damaged');
  if ([...used].every((k) => positions.subarray(3 * k, 3 * k + 3).every((part) => part === 0)))
    refuse(path, 'all its antennas are at (0, 0, 0)', 'correct POSITION in its ANTENNA table');
  const place = (k: number): Vector3 => ({
    x: positions[3 * k],
    y: positions[3 * k + 1],
    z: positions[3 * k + 2],
  });
  const sum = [...used].reduce(
    (at, k) => {
      const { x, y, z } = place(k);
      return { x: at.x + x, y: at.y + y, z: at.z + z };
    },
    { x: 0, y: 0, z: 0 },
  );
  const site = of.site ?? ecefToSite({ x: sum.x / used.size, y: sum.y / used.size, z: sum.z / used.size });
  const centre = siteToEcef(site);
  const table = Array.from(diameters, (diameterM, k): Station => {
    const { x, y, z } = place(k);
    const enu = ecefToEnu({ x: x - centre.x, y: y - centre.y, z: z - centre.z }, site);
    return {
      name: names[k]?.trim() === '' ? String(k) : names[k].trim(),
      eastM: enu.x,
      northM: enu.y,
      upM: enu.z,
      number: k,
      ...(diameterM > 0 && { diameterM }),
    };
  });
  const { stations, unused } = splitTable(table, (row) => used.has(row));
  const stationOf = new Int32Array(diameters.length).fill(-1);
  stations.forEach(({ number = 0 }, s) => (stationOf[number] = s));
  const telescope: Telescope = {
    name: of.name === '' ? 'unknown' : of.name,
    title: of.name,
    site,
    stations,
    polarisations: of.polarisations,
    ...recordingSeen(of.channels, of.channelWidthHz),
  };
  return { telescope, unused, stationOf };
}
