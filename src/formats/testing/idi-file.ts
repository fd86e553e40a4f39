/** A small FITS-IDI file of three antennas, for the tests and the fuzzer. */
import { parseInstant } from '../../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { dot } from '../../core/vector.js';
import { skyFrame } from '../../sky/frame.js';
import { ecefToEnu, ecefToSite } from '../../telescope/earth.js';
import { headerBytes, integerCard, logicalCard, realCard, textCards } from '../fits/fits.js';
import { tableBytes } from '../fits/table.js';

export interface IdiRow {
  readonly antenna1: number;
  readonly antenna2: number;
  readonly uvwS: readonly [number, number, number];
  /** Days since midnight, at the middle of the row. */
  readonly timeDays: number;
  readonly source: number;
}

export interface IdiSample {
  readonly rows: readonly IdiRow[];
  readonly bandOffsetsHz: readonly number[];
  readonly channels: number;
  readonly firstCode: number;
  readonly products: number;
  readonly value: (row: IdiRow, band: number, channel: number, product: number) => readonly [number, number];
  readonly weights: 'by band' | 'by channel' | 'none';
  readonly weight: (row: IdiRow, band: number, channel: number, product: number) => number;
  readonly sideband?: 1 | -1;
  readonly timeSystem?: 'UTC' | 'IAT';
  /** Number of UV_DATA tables. */
  readonly copies?: number;
}

export const IDI_REFERENCE_HZ = 1.6e9;
const IDI_CHANNEL_HZ = 500_000;
const IDI_INTEGRATION_S = 2;

const places = [[4_033_947, 486_990, 4_900_431], [3_828_445, 445_223, 5_064_921], [3_822_626, -154_105, 5_086_486]] as const; // prettier-ignore
const centre = { raDeg: 299.9, decDeg: 20.8 };

/** (r₁ − r₂)/c at the first time; over two seconds they change by a hundred metres. */
function uvwOf(antenna1: number, antenna2: number): [number, number, number] {
  const [x, y, z] = places[0].map((_, axis) => places[antenna1 - 1][axis] - places[antenna2 - 1][axis]);
  const site = ecefToSite({ x: places[0][0], y: places[0][1], z: places[0][2] });
  const { l, m, n } = skyFrame(site, parseInstant('2014-06-16T06:00:00Z')).tangentAxes(centre);
  const apart = ecefToEnu({ x, y, z }, site);
  return [dot(l, apart), dot(m, apart), dot(n, apart)].map((one) => one / SPEED_OF_LIGHT_M_PER_S) as [
    number,
    number,
    number,
  ];
}

/** Two times and all pairs of three antennas, circular feeds, two bands; every value differs. */
export function smallIdi(more: Partial<IdiSample> = {}): IdiSample {
  const pairs = [[1, 1], [1, 2], [1, 3], [2, 2], [2, 3], [3, 3]]; // prettier-ignore
  return {
    rows: [0.25, 0.25 + IDI_INTEGRATION_S / 86_400].flatMap((timeDays) =>
      pairs.map(([antenna1, antenna2]): IdiRow => ({
        antenna1,
        antenna2,
        uvwS: uvwOf(antenna1, antenna2),
        timeDays,
        source: 7,
      })),
    ),
    bandOffsetsHz: [0, 8e6],
    channels: 2,
    firstCode: -1,
    products: 2,
    value: ({ antenna1, antenna2, timeDays }, band, channel, product) => [
      antenna1 * 10 + antenna2 + band / 8,
      antenna1 === antenna2 ? 0 : channel + product / 4 + (timeDays > 0.25 ? 100 : 0),
    ],
    weights: 'by band',
    weight: () => 1,
    ...more,
  };
}

export function encodeIdi(sample: IdiSample): Uint8Array {
  const { rows, bandOffsetsHz, channels, products } = sample;
  const bands = bandOffsetsHz.length;
  const common = [
    integerCard('NO_STKD', products),
    integerCard('STK_1', sample.firstCode),
    integerCard('NO_BAND', bands),
    integerCard('NO_CHAN', channels),
    realCard('REF_FREQ', IDI_REFERENCE_HZ),
    realCard('CHAN_BW', IDI_CHANNEL_HZ),
    realCard('REF_PIXL', 1),
    ...textCards('RDATE', '2014-06-16'),
  ];
  const each = <T>(of: (band: number) => T): T[] => bandOffsetsHz.map((_, band) => of(band));
  const cells = (
    row: IdiRow,
    of: (row: IdiRow, b: number, c: number, p: number) => readonly number[],
  ): number[] =>
    each((b) =>
      Array.from({ length: channels }, (_, c) =>
        Array.from({ length: products }, (_unused, p) => of(row, b, c, p)),
      ),
    ).flat(3);
  const weights = {
    none: [],
    'by channel': rows.map((row) => cells(row, (...of) => [sample.weight(...of)])),
    'by band': rows.map((row) =>
      each((b) => Array.from({ length: products }, (_, p) => sample.weight(row, b, 0, p))).flat(),
    ),
  }[sample.weights];
  const column = (name: string, form: string, of: (row: IdiRow) => number) => ({
    name,
    form,
    rows: rows.map((row) => [of(row)]),
  });
  const axis = (n: number, name: string, length: number, value: number, step: number): string[] => [
    integerCard(`MAXIS${n}`, length),
    ...textCards(`CTYPE${n}`, name),
    realCard(`CDELT${n}`, step),
    realCard(`CRPIX${n}`, 1),
    realCard(`CRVAL${n}`, value),
  ];
  const data = tableBytes(
    'UV_DATA',
    [
      column('UU--', 'E', ({ uvwS }) => uvwS[0]),
      column('VV--', 'E', ({ uvwS }) => uvwS[1]),
      column('WW--', 'E', ({ uvwS }) => uvwS[2]),
      column('DATE', 'D', () => 2_456_824.5),
      column('TIME', 'D', ({ timeDays }) => timeDays),
      column('BASELINE', 'J', ({ antenna1, antenna2 }) => 256 * antenna1 + antenna2),
      column('SOURCE_ID', 'J', ({ source }) => source),
      column('FREQID', 'J', () => 1),
      column('INTTIM', 'E', () => IDI_INTEGRATION_S),
      ...(sample.weights === 'none'
        ? []
        : [{ name: 'WEIGHT', form: `${weights[0].length}E`, rows: weights }]),
      {
        name: 'FLUX',
        form: `${2 * bands * channels * products}E`,
        rows: rows.map((row) => cells(row, sample.value)),
      },
    ],
    [
      ...common,
      ...textCards('OBSCODE', 'small'),
      integerCard('MAXIS', 6),
      ...axis(1, 'COMPLEX', 2, 1, 1),
      ...axis(2, 'STOKES', products, sample.firstCode, -1),
      ...axis(3, 'FREQ', channels, IDI_REFERENCE_HZ, IDI_CHANNEL_HZ),
      ...axis(4, 'BAND', bands, 1, 1),
      ...axis(5, 'RA', 1, 0, 1),
      ...axis(6, 'DEC', 1, 0, 1),
    ],
  );
  return Buffer.concat([
    headerBytes([
      logicalCard('SIMPLE', true),
      integerCard('BITPIX', 8),
      integerCard('NAXIS', 0),
      logicalCard('EXTEND', true),
      logicalCard('GROUPS', true),
      integerCard('GCOUNT', 0),
      integerCard('PCOUNT', 0),
      ...textCards('TELESCOP', 'EVN'),
      ...textCards('CORRELAT', 'DIFX'),
    ]),
    tableBytes(
      'ARRAY_GEOMETRY',
      [
        { name: 'ANNAME', form: '8A', rows: ['EF', 'WB', 'JB'] },
        { name: 'STABXYZ', form: '3D', rows: places },
        { name: 'NOSTA', form: '1J', rows: [[1], [2], [3]] },
      ],
      [
        ...common,
        realCard('ARRAYX', 0),
        realCard('ARRAYY', 0),
        realCard('ARRAYZ', 0),
        ...textCards('TIMSYS', sample.timeSystem ?? 'UTC'),
        realCard('IATUTC', 35),
        ...textCards('FRAME', 'GEOCENTRIC'),
      ],
    ), // prettier-ignore
    tableBytes(
      'FREQUENCY',
      [
        { name: 'FREQID', form: '1J', rows: [[1]] },
        { name: 'BANDFREQ', form: `${bands}D`, rows: [bandOffsetsHz] },
        { name: 'CH_WIDTH', form: `${bands}E`, rows: [each(() => IDI_CHANNEL_HZ)] },
        { name: 'SIDEBAND', form: `${bands}J`, rows: [each(() => sample.sideband ?? 1)] },
      ],
      common,
    ),
    tableBytes(
      'SOURCE',
      [
        { name: 'SOURCE_ID', form: '1J', rows: [[7], [9]] },
        { name: 'SOURCE', form: '16A', rows: ['B1957+20', 'J1957+2041'] },
        { name: 'RAEPO', form: '1D', rows: [[299.9], [299.4]] },
        { name: 'DECEPO', form: '1D', rows: [[20.8], [20.7]] },
        { name: 'EQUINOX', form: '8A', rows: ['J2000', 'J2000'] },
      ],
      common,
    ),
    ...Array.from({ length: sample.copies ?? 1 }, () => data),
  ]);
}
