/** A small MWA observation: its metafits, and files of either correlator, for the tests and the fuzzer. */
import { headerBytes, integerCard, logicalCard, paddedBytes, realCard, textCards } from '../fits/fits.js';
import { tableBytes } from '../fits/table.js';

export interface MwaTile {
  readonly eastM: number;
  readonly northM: number;
  readonly cable: string;
  readonly flag?: 0 | 1;
}

export interface MwaSample {
  readonly obsId: number;
  readonly tiles: readonly MwaTile[];
  /** The correlator's number for input a = tile · 2 + polarisation. */
  readonly inputOf: (a: number) => number;
  readonly coarseChannels: readonly number[];
  readonly fineKhz: number;
  readonly integrationS: number;
  /** V₁₂ of inputs a₁ and a₂ at fine channel c of an integration that starts at `unixS`. */
  readonly value: (a1: number, a2: number, c: number, unixS: number) => readonly [number, number];
  /** Further metafits cards, such as GEODEL. */
  readonly cards?: Readonly<Record<string, number>>;
}

/** A small array with permuted inputs that all differ: each x_a has a different amplitude and phase. */
export function smallMwa(tiles: number, more: Partial<MwaSample> = {}): MwaSample {
  const inputs = 2 * tiles;
  return {
    obsId: 1_061_315_448,
    tiles: Array.from({ length: tiles }, (_, s) => ({
      eastM: 13 * s - 40,
      northM: (s * s) % 97,
      cable: `EL_${(3.25 * s - 20).toFixed(2)}`,
      flag: s === 2 ? 1 : 0,
    })),
    // 7 is coprime to all numbers of inputs used here.
    inputOf: (a) => (7 * a + 3) % inputs,
    coarseChannels: [127, 128, 129, 130],
    fineKhz: 40,
    integrationS: 0.5,
    value: (a1, a2, c, unixS) => {
      const size = (1 + a1 / 8) * (1 + a2 / 8) + c;
      const phase = 0.9 * a1 - 0.9 * a2 + 0.01 * (a1 * a1 - a2 * a2) + 0.001 * (unixS % 1000) * (a1 - a2);
      return [Math.fround(size * Math.cos(phase)), a1 === a2 ? 0 : Math.fround(size * Math.sin(phase))];
    },
    ...more,
  };
}

export function encodeMetafits(sample: MwaSample): Uint8Array {
  const { tiles, coarseChannels } = sample;
  const primary = headerBytes([
    logicalCard('SIMPLE', true),
    integerCard('BITPIX', 8),
    integerCard('NAXIS', 0),
    logicalCard('EXTEND', true),
    integerCard('GPSTIME', sample.obsId),
    ...textCards('FILENAME', 'a field of tiles'),
    realCard('RA', 10),
    realCard('DEC', -27),
    realCard('RAPHASE', 15),
    realCard('DECPHASE', -30),
    realCard('AZIMUTH', 90),
    realCard('ALTITUDE', 60),
    ...textCards('MODE', 'HW_LFILES'),
    ...textCards('PROJECT', 'G0000'),
    ...textCards('CHANNELS', coarseChannels.join()),
    realCard('FINECHAN', sample.fineKhz),
    realCard('INTTIME', sample.integrationS),
    integerCard('NSCANS', 8),
    realCard('GOODTIME', 1_377_280_290.5),
    ...Object.entries(sample.cards ?? {}).map(([card, value]) => realCard(card, value)),
  ]);
  // As in the archive: sorted by the correlator's input number, Y before X on many tiles.
  const rows = Array.from({ length: 2 * tiles.length }, (_, a) => a).sort(
    (x, y) => sample.inputOf(x) - sample.inputOf(y),
  );
  const column = (name: string, form: string, of: (a: number) => string | number) => ({
    name,
    form,
    rows: rows.map((a) => {
      const value = of(a);
      return typeof value === 'string' ? value : [value];
    }),
  });
  const tile = (a: number): MwaTile => tiles[a >> 1];
  const table = tableBytes(
    'TILEDATA',
    [
      column('Input', 'I', sample.inputOf),
      column('Antenna', 'I', (a) => a >> 1),
      column('Tile', 'I', (a) => 11 + (a >> 1)),
      column('TileName', '8A', (a) => `Tile${11 + (a >> 1)}`),
      column('Pol', 'A', (a) => 'XY'[a % 2]),
      column('Flag', 'I', (a) => tile(a).flag ?? 0),
      column('Length', '14A', (a) => tile(a).cable),
      column('North', 'E', (a) => tile(a).northM),
      column('East', 'E', (a) => tile(a).eastM),
      column('Height', 'E', () => 377.827),
    ],
    [],
  );
  return Buffer.concat([primary, table]);
}

export interface MwaPiece {
  readonly channels: number;
  /** Unix seconds at which each integration starts. */
  readonly times: readonly number[];
  /** gpubox: integers with this BSCALE, as the telescope stored them in some years, instead of floats. */
  readonly bscale?: number;
  /** MWAX: the weight of a product of two inputs. */
  readonly weight?: (a1: number, a2: number) => number;
}

const timeCards = (unixS: number): string[] => [
  integerCard('TIME', Math.floor(unixS)),
  integerCard('MILLITIM', Math.round(1000 * (unixS - Math.floor(unixS)))),
];

function imageUnit(values: readonly number[], width: number, unixS: number, bscale?: number): Buffer {
  const header = headerBytes([
    ...textCards('XTENSION', 'IMAGE'),
    integerCard('BITPIX', bscale === undefined ? -32 : 32),
    ...(bscale === undefined ? [] : [realCard('BSCALE', bscale)]),
    integerCard('NAXIS', 2),
    integerCard('NAXIS1', width),
    integerCard('NAXIS2', values.length / width),
    integerCard('PCOUNT', 0),
    integerCard('GCOUNT', 1),
    ...timeCards(unixS),
  ]);
  const data = Buffer.alloc(paddedBytes(4 * values.length));
  values.forEach((value, k) => {
    if (bscale === undefined) data.writeFloatBE(value, 4 * k);
    else data.writeInt32BE(Math.round(value / bscale), 4 * k);
  });
  return Buffer.concat([header, data]);
}

const primaryUnit = (sample: MwaSample, first: number, cards: readonly string[]): Uint8Array =>
  headerBytes([
    logicalCard('SIMPLE', true),
    integerCard('BITPIX', -32),
    integerCard('NAXIS', 0),
    logicalCard('EXTEND', true),
    ...timeCards(first),
    integerCard('OBSID', sample.obsId),
    ...cards,
  ]);

/** The fine filterbank's boards deliver as output o their input 16·(o mod 4) + ⌊o/4⌋. */
export function encodeGpubox(sample: MwaSample, piece: MwaPiece): Uint8Array {
  const inputs = 2 * sample.tiles.length;
  const numbered = new Map(Array.from({ length: inputs }, (_, a) => [sample.inputOf(a), a]));
  const arrivesAt = Array.from({ length: inputs }, (_, output) => {
    const onBoard = output & 63;
    return numbered.get(output - onBoard + 16 * (onBoard & 3) + (onBoard >> 2)) ?? Number.NaN;
  });
  const units = piece.times.map((unixS) => {
    const values: number[] = [];
    for (let c = 0; c < piece.channels; c++) {
      for (let i = 0; i < inputs; i += 2) {
        for (let j = 0; j <= i; j += 2) {
          for (const [p, q] of [
            [0, 0],
            [0, 1],
            [1, 0],
            [1, 1],
          ])
            // prettier-ignore
            values.push(...sample.value(arrivesAt[i + p], arrivesAt[j + q], c, unixS));
        }
      }
    }
    return imageUnit(values, values.length / piece.channels, unixS, piece.bscale);
  });
  return Buffer.concat([primaryUnit(sample, piece.times[0], []), ...units]);
}

export function encodeMwax(sample: MwaSample, piece: MwaPiece): Uint8Array {
  const tiles = sample.tiles.length;
  const pairs = Array.from({ length: tiles }, (_, one) =>
    Array.from({ length: tiles - one }, (_unused, k) => [2 * one, 2 * (one + k)] as const),
  ).flat();
  const products = [[0, 0], [0, 1], [1, 0], [1, 1]]; // prettier-ignore
  const units = piece.times.flatMap((unixS) => {
    const values = pairs.flatMap(([x, y]) =>
      Array.from({ length: piece.channels }, (_, c) =>
        products.flatMap(([p, q]) => sample.value(x + p, y + q, c, unixS)),
      ).flat(),
    );
    const weights = pairs.flatMap(([x, y]) => products.map(([p, q]) => piece.weight?.(x + p, y + q) ?? 1));
    return [imageUnit(values, 8 * piece.channels, unixS), imageUnit(weights, 4, unixS)];
  });
  return Buffer.concat([primaryUnit(sample, piece.times[0], [integerCard('CORR_VER', 2)]), ...units]);
}
