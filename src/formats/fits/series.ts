/** A time series of images in one FITS file: RA, Dec, seconds since the first, and a table of starts and centres. */
import { truncate } from 'node:fs/promises';
import type { PlaneML } from '../../core/axes.js';
import {
  addSeconds,
  formatInstant,
  refuseLeapSecond,
  secondsBetween,
  type Instant,
} from '../../core/instant.js';
import type { SkyPosition } from '../../sky/frame.js';
import { openInput } from '../io/input.js';
import type { OutputFile } from '../io/output.js';
import {
  FITS_BLOCK_BYTES,
  headerBytes,
  integerCard,
  logicalCard,
  paddedBytes,
  readUnit,
  realCard,
  remarkCards,
  textCards,
} from './fits.js';
import { axis, beamCards, skyAxes, type FitsImage } from './image.js';
import { tableBytes } from './table.js';

interface SeriesPlane {
  readonly plane: PlaneML;
  readonly start: Instant;
  readonly durationS: number;
  /** Of its integrations together, where there are gaps between them. */
  readonly exposureS?: number;
  /** The sky position at the centre of this image. */
  readonly centre: SkyPosition;
}

/** For all images; one frequency and one Stokes parameter. */
export type FitsSeriesFacts = Pick<
  FitsImage,
  'pixels' | 'pixelSize' | 'beam' | 'telescope' | 'object' | 'unit' | 'history'
> & { readonly frequencyHz: number; readonly everyS: number };

/** A file of images that arrive one by one. */
export interface FitsSeriesWriter {
  /** After each image the file is whole, but for table TIMES. */
  add(plane: SeriesPlane): Promise<void>;
  /** Adds the table; the facts are those of the end, with as many cards as those of the beginning. */
  finish(facts: FitsSeriesFacts): Promise<void>;
  /** Makes the file whole after a failure, with its table where there is room for it. */
  keep(facts: FitsSeriesFacts): Promise<void>;
  readonly count: number;
}

/** Both take two cards: the header has the same length in the end. */
const UNFINISHED =
  'not finished: there is no table TIMES, CRVAL is of the first image, and times are wrong behind images left out';
const OWN_CENTRES = 'each image has a centre of its own: CRVAL is of the middle one, table TIMES has all';

type Row = Omit<SeriesPlane, 'plane'>;

/** The images of a file together. */
interface Reach {
  readonly count: number;
  readonly first: Row;
  readonly last: Row;
  readonly exposureS: number;
}

/** The caller opens the file and finishes it. */
export function fitsSeriesWriter(
  output: Pick<OutputFile, 'path' | 'writeAt' | 'resize'>,
  begun: FitsSeriesFacts,
): FitsSeriesWriter {
  const { pixels } = begun;
  const planeBytes = 4 * pixels * pixels;
  // With zeros for the rest of the last block.
  const bytes = new DataView(new ArrayBuffer(planeBytes + FITS_BLOCK_BYTES));
  const rows: Row[] = [];
  let reach: Reach | undefined;
  let headBytes = 0;
  const endOf = (count: number): number => headBytes + paddedBytes(planeBytes * count);
  const writeHeader = async (cards: readonly string[]): Promise<void> => {
    const header = headerBytes(cards, headBytes);
    if (headBytes > 0 && header.length > headBytes)
      throw new Error(`${output.path}: its header became longer`);
    headBytes = header.length;
    await output.writeAt(0, header);
  };
  const begin = (so: Reach): Promise<void> =>
    writeHeader(cardsOf({ ...begun, history: [...begun.history, UNFINISHED] }, so, so.first.centre));
  /** Ends the file after its last whole image. */
  const cut = async (): Promise<void> => {
    const dataEnd = headBytes + planeBytes * rows.length;
    await output.resize(endOf(rows.length));
    await output.writeAt(dataEnd, new Uint8Array(endOf(rows.length) - dataEnd));
  };
  const finish = async (facts: FitsSeriesFacts): Promise<void> => {
    if (!reach) throw new Error(`${output.path}: no image was added`);
    const { centre } = rows[Math.floor(rows.length / 2)];
    const moves = rows.some((row) => row.centre.raDeg !== centre.raDeg);
    const history = moves ? [...facts.history, OWN_CENTRES] : facts.history;
    await output.writeAt(endOf(rows.length), timesTable(rows));
    await writeHeader(cardsOf({ ...facts, history }, reach, centre));
  };
  return {
    get count() {
      return rows.length;
    },
    add: async ({ plane, ...row }) => {
      refuseLeapSecond(output.path, row.start, addSeconds(row.start, row.durationS / 2));
      const exposureS = (reach?.exposureS ?? 0) + exposureOf(row);
      const next = { count: rows.length + 1, first: reach?.first ?? row, last: row, exposureS };
      if (!reach) await begin(next);
      for (let m = 0; m < pixels; m++) {
        for (let column = 0; column < pixels; column++)
          bytes.setFloat32(4 * (m * pixels + column), plane[m * pixels + (pixels - 1 - column)]);
      }
      const from = headBytes + planeBytes * rows.length;
      await output.writeAt(from, new Uint8Array(bytes.buffer, 0, endOf(next.count) - from));
      if (reach) await begin(next);
      reach = next;
      rows.push(row);
    },
    finish,
    keep: async (facts) => {
      try {
        await cut();
        await finish(facts);
      } catch {
        // What follows the images that the header counts is not read.
        await cut().catch(() => undefined);
        if (reach) await begin(reach).catch(() => undefined);
      }
    },
  };
}

/** Writes to an open file; the caller finishes it. */
export async function encodeFitsSeries(
  output: OutputFile,
  { planes, ...facts }: FitsSeriesFacts & { readonly planes: readonly SeriesPlane[] },
): Promise<void> {
  const writer = fitsSeriesWriter(output, facts);
  for (const plane of planes) await writer.add(plane);
  await writer.finish(facts);
}

const timesTable = (rows: readonly Row[]): Uint8Array =>
  tableBytes(
    'TIMES',
    [
      {
        name: 'START',
        form: '1D',
        unit: 's',
        rows: rows.map(({ start }) => [secondsBetween(rows[0].start, start)]),
      },
      { name: 'DURATION', form: '1D', unit: 's', rows: rows.map(({ durationS }) => [durationS]) },
      { name: 'EXPOSURE', form: '1D', unit: 's', rows: rows.map((row) => [exposureOf(row)]) },
      { name: 'RA', form: '1D', unit: 'deg', rows: rows.map(({ centre }) => [centre.raDeg]) },
      { name: 'DEC', form: '1D', unit: 'deg', rows: rows.map(({ centre }) => [centre.decDeg]) },
    ],
    [...textCards('DATE-OBS', formatInstant(rows[0].start, 6).replace('Z', ''), 'what START counts from')],
  );

const exposureOf = ({ durationS, exposureS = durationS }: Row): number => exposureS;

function cardsOf(
  facts: FitsSeriesFacts,
  { count, first, last, exposureS }: Reach,
  centre: SkyPosition,
): string[] {
  const { pixels } = facts;
  return [
    logicalCard('SIMPLE', true),
    integerCard('BITPIX', -32),
    integerCard('NAXIS', 3),
    integerCard('NAXIS1', pixels),
    integerCard('NAXIS2', pixels),
    integerCard('NAXIS3', count),
    logicalCard('EXTEND', true),
    ...skyAxes({ ...facts, centre }),
    ...axis(3, 'UTC', 0, facts.everyS, 1, 's'),
    ...textCards('RADESYS', 'ICRS'),
    realCard('EQUINOX', 2000),
    realCard('LONPOLE', 180),
    realCard('RESTFRQ', facts.frequencyHz, 'Hz'),
    ...textCards('BUNIT', facts.unit),
    ...beamCards(facts),
    ...textCards('TELESCOP', facts.telescope),
    ...textCards('OBJECT', facts.object),
    ...textCards('TIMESYS', 'UTC'),
    ...textCards('DATEREF', formatInstant(first.start, 6).replace('Z', ''), 'start of the first image'),
    ...textCards('DATE-OBS', formatInstant(first.start, 6).replace('Z', ''), 'start'),
    realCard('EXPTIME', exposureS, 's'),
    realCard('TELAPSE', secondsBetween(first.start, last.start) + last.durationS, 's'),
    ...textCards('ORIGIN', 'corella'),
    ...facts.history.flatMap((line) => remarkCards('HISTORY', line)),
  ];
}

/** The number of images of a series, begun or finished; 0 for another file. What follows its last image is cut off. */
export async function repairFitsSeries(path: string): Promise<number> {
  const file = await openInput(path);
  try {
    const unit = await readUnit(file, 0).catch(() => undefined);
    const { values } = unit?.header ?? {};
    const isOurs = values?.get('CTYPE3') === 'UTC' && values.get('ORIGIN') === 'corella';
    if (!unit || !isOurs || unit.end > file.sizeBytes) return 0;
    const next = await readUnit(file, unit.end).catch(() => undefined);
    const isWhole = next && next.end <= file.sizeBytes;
    if (!isWhole && unit.end < file.sizeBytes) await truncate(path, unit.end);
    return unit.header.whole('NAXIS3', 0, 2 ** 31);
  } finally {
    await file.close();
  }
}
