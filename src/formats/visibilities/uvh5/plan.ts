/** All items of a UVH5 file of ours, before the first visibility. */
import { baselineCount } from '../../../core/axes.js';
import { RADIANS_PER_DEGREE } from '../../../core/units.js';
import type { Instant } from '../../../core/instant.js';
import { DEGREES_PER_DAY, earthAtMidnight, type EarthAtMidnight } from '../../../sky/earth/sidereal.js';
import type { Telescope } from '../../../telescope/telescope.js';
import { enuToEcef } from '../../../telescope/earth.js';
import { writtenProducts } from '../pass-through.js';
import { antennaTableOf } from '../header-facts.js';
import type { VisibilityHeader } from '../../format.js';
import { real, reals, text, texts, truth, whole, wholes } from '../../hdf5/items.js';
import { bytesOf } from '../../io/interleave.js';
import type { Changing, Fixed, GroupPlan, Growing } from '../../hdf5/write.js';
import { typeSizeBytes, type Hdf5Type } from '../../hdf5/types.js';

export interface Uvh5Options {
  /**
   * `complex64`, `complex128`: means over samples, fringes stopped at the header's phase centre. `int32`: whole sums,
   * bit for bit from the correlator, so fringes run. `whole128`: the same in doubles, for sums beyond 2³¹.
   */
  readonly values: 'complex64' | 'complex128' | 'int32' | 'whole128';
}

/** Whether values are whole sums from the correlator. */
export const isWhole = ({ values }: Uvh5Options): boolean => values === 'int32' || values === 'whole128';

/** Whole sums cannot be phased, and a copy of a drift scan keeps running fringes. */
export const isRunning = ({ fringes }: Pick<VisibilityHeader, 'fringes'>, options: Uvh5Options): boolean =>
  isWhole(options) || fringes === 'running';

const storedAs = {
  complex64: 'complex64',
  complex128: 'complex128',
  int32: 'complex-int32',
  whole128: 'complex128',
} satisfies Record<Uvh5Options['values'], Hdf5Type>;

/** pyuvdata's names. */
export const mountWords = { altaz: 'alt-az', equatorial: 'equatorial', fixed: 'fixed' } as const;

/** The telescope items of UVH5 and CalH5. */
export function telescopeItems(
  { name, site, stations, mount }: Telescope,
  facts: Pick<VisibilityHeader, 'instrument' | 'unusedAntennas' | 'xOrientation'> = {},
): Record<string, Fixed> {
  const table = antennaTableOf(stations, facts.unusedAntennas);
  const positions = table.flatMap(({ eastM, northM, upM }) => {
    const ecef = enuToEcef({ x: eastM, y: northM, z: upM }, site);
    return [ecef.x, ecef.y, ecef.z];
  });
  return {
    latitude: real(site.latitudeDeg),
    longitude: real(site.longitudeDeg),
    altitude: real(site.heightM),
    telescope_frame: text('itrs'),
    telescope_name: text(name),
    instrument: text(facts.instrument ?? name),
    Nants_data: whole(stations.length),
    Nants_telescope: whole(table.length),
    antenna_names: texts(table.map((station) => station.name)),
    antenna_numbers: wholes(table.map(({ number }) => number)),
    antenna_positions: reals(positions, [table.length, 3]),
    ...(table.some(({ diameterM }) => diameterM !== undefined) && {
      antenna_diameters: reals(table.map(({ diameterM }) => diameterM ?? 0)),
    }),
    ...(mount && { mount_type: texts(table.map(() => mountWords[mount])) }),
    ...(facts.xOrientation === 'unknown' ? {} : { x_orientation: text('east') }),
  };
}

/** Earth orientation at midnight before the first integration. */
function earthItems(first: GrowingTimes['first']): Record<string, Changing | Fixed> {
  const earth = (of: (at: EarthAtMidnight) => Uint8Array, type: Hdf5Type): Changing => ({
    kind: 'changing',
    type,
    bytes: () => {
      const moment = first();
      return moment ? of(earthAtMidnight(moment)) : new Uint8Array(typeSizeBytes(type));
    },
  });
  return {
    timesys: text('UTC'),
    rdate: earth(({ date }) => new TextEncoder().encode(date), { textBytes: 10 }),
    gst0: earth(({ siderealDeg }) => bytesOf(Float64Array.of(siderealDeg)), 'float64'),
    dut1: earth(({ ut1MinusUtcS }) => bytesOf(Float64Array.of(ut1MinusUtcS)), 'float64'),
    earth_omega: real(DEGREES_PER_DAY),
  };
}

/** Large integrations are split into equal chunks of whole rows, each below this size. */
const MOST_CHUNK_BYTES = 2 ** 24;

function chunkRowsFor(rows: number, rowBytes: number): number {
  const most = Math.max(1, Math.floor(MOST_CHUNK_BYTES / rowBytes));
  for (let parts = Math.ceil(rows / most); parts < rows; parts++) if (rows % parts === 0) return rows / parts;
  return 1;
}

/** Keywords from other programs, each with its type. */
const keywordItems = (keywords: VisibilityHeader['extraKeywords'] = {}): Record<string, Fixed> =>
  Object.fromEntries(
    Object.entries(keywords).map(([name, value]) => [
      // A slash would create a group.
      name.replaceAll('/', '_'),
      typeof value === 'string'
        ? text(value)
        : typeof value === 'boolean'
          ? truth(value ? 'yes' : 'no')
          : Number.isSafeInteger(value)
            ? whole(value)
            : real(value),
    ]),
  );

/** Values known only from the integrations. */
interface GrowingTimes {
  readonly count: () => number;
  /** Total rows, and number of different pairs. */
  readonly rows: () => number;
  readonly pairs: () => number;
  readonly first: () => Instant | undefined;
}

export function planUvh5(header: VisibilityHeader, options: Uvh5Options, times: GrowingTimes): GroupPlan {
  const { telescope, frequenciesHz, phaseCentre } = header;
  const rows = header.rows?.most ?? baselineCount(telescope.stations.length);
  const channels = frequenciesHz.length;
  const written = writtenProducts(header);
  const products = written.length;
  const changing = (value: () => number): Changing => ({
    kind: 'changing',
    type: 'int64',
    bytes: () => bytesOf(BigInt64Array.of(BigInt(value()))),
  });
  const regular: Changing = {
    kind: 'changing',
    type: 'boolean',
    bytes: () => Uint8Array.of(times.rows() === times.count() * times.pairs() ? 1 : 0),
  };
  const growing = (type: Hdf5Type, rowDims: readonly number[] = []): Growing => ({
    kind: 'growing',
    type,
    rowDims,
    chunkRows: chunkRowsFor(rows, typeSizeBytes(type) * rowDims.reduce((x, y) => x * y, 1)),
  });
  const running = isRunning(header, options);
  const centre: GroupPlan = {
    kind: 'group',
    items: {
      cat_name: text(running ? 'zenith' : header.object),
      cat_type: text(running ? 'unprojected' : 'sidereal'),
      cat_lon: real(running ? 0 : phaseCentre.raDeg * RADIANS_PER_DEGREE),
      cat_lat: real(running ? Math.PI / 2 : phaseCentre.decDeg * RADIANS_PER_DEGREE),
      cat_frame: text(running ? 'altaz' : 'icrs'),
      ...(running ? {} : { cat_epoch: real(2000) }),
    },
  };
  return {
    kind: 'group',
    items: {
      Header: {
        kind: 'group',
        items: {
          version: text('1.2'),
          ...telescopeItems(telescope, header),
          object_name: text(header.object),
          history: text(header.history.join('\n')),
          Nbls: changing(times.pairs),
          Nblts: changing(times.rows),
          Ntimes: changing(times.count),
          Nfreqs: whole(channels),
          Npols: whole(products),
          Nspws: whole(1),
          Nphase: whole(1),
          ...earthItems(times.first),
          spw_array: wholes([0]),
          flex_spw: truth('no'),
          flex_spw_id_array: wholes(new Array<number>(channels).fill(0)),
          freq_array: reals([...frequenciesHz]),
          channel_width: reals(new Array<number>(channels).fill(header.channelWidthHz)),
          polarization_array: wholes(written.map(({ code }) => code)),
          vis_units: text(header.units ?? 'uncalib'),
          blt_order: text('time, baseline'),
          blts_are_rectangular: regular,
          time_axis_faster_than_bls: truth('no'),
          phase_center_catalog: { kind: 'group', items: { 0: centre } },
          ant_1_array: growing('int64'),
          ant_2_array: growing('int64'),
          time_array: growing('float64'),
          integration_time: growing('float64'),
          lst_array: growing('float64'),
          uvw_array: growing('float64', [3]),
          phase_center_app_ra: growing('float64'),
          phase_center_app_dec: growing('float64'),
          phase_center_frame_pa: growing('float64'),
          phase_center_id_array: growing('int64'),
          extra_keywords: {
            kind: 'group',
            items: {
              corella_telescope: text(JSON.stringify(telescope)),
              ...(header.feedFrame && { corella_feed_frame: text(header.feedFrame) }),
              corella_values: text(isWhole(options) ? 'sum' : 'mean'),
              ...keywordItems(header.extraKeywords),
            },
          },
        },
      },
      Data: {
        kind: 'group',
        items: {
          visdata: growing(storedAs[options.values], [channels, products]),
          flags: growing('boolean', [channels, products]),
          // Above 2²⁴ samples single precision would round the counts.
          nsamples: growing(options.values === 'whole128' ? 'float64' : 'float32', [channels, products]),
        },
      },
    },
  };
}
