/**
 * PSRFITS in search mode (.sf): a binary table, SUBINT, with a row for about each second. Values are DATA·DAT_SCL +
 * DAT_OFFS; a channel without data in a row has DAT_WTS 0.
 */
import { truncate } from 'node:fs/promises';
import { refuse } from '../../core/errors.js';
import { unixFromMjd } from '../../core/clock/epochs.js';
import { addSeconds, formatInstant, instant, julianDate } from '../../core/instant.js';
import { SECONDS_PER_DAY } from '../../core/units.js';
import { siteToEcef } from '../../telescope/earth.js';
import {
  headerBytes,
  integerCard,
  logicalCard,
  paddedBytes,
  readUnit,
  realCard,
  textCards,
  unitsFrom,
  type FitsHeader,
  type FitsUnit,
} from '../fits/fits.js';
import { columnPlaces, type ColumnPlace } from '../fits/table.js';
import { withInput, type InputFile } from '../io/input.js';
import { openOutput } from '../io/output.js';
import {
  arrayOf,
  checkRange,
  checkValues,
  type Appended,
  type Filterbank,
  type FilterbankWriter,
  type WrittenBits,
} from './file.js';
import type { FilterbankBits, FilterbankHeader } from './header.js';

/** Per row: about a second, and at most this many values and bytes. */
const [MOST_VALUES, MOST_ROW_BYTES, ROW_S] = [4096, 2 ** 24, 1];

const letters = { 8: 'B', 16: 'I', 32: 'E' } as const;

/** Position of a card that is rewritten as rows are added. */
const cardAt = (start: number, cards: readonly string[], name: string): number =>
  start + 80 * cards.findIndex((card) => card.startsWith(name.padEnd(8)));

interface Layout {
  /** Values per row. */
  readonly rowValues: number;
  readonly rowBytes: number;
  /** Bytes from the start of the row. */
  readonly dataAt: number;
  readonly cards: readonly string[];
}

function layoutOf({
  channels,
  planes,
  bits,
  valueS,
  firstChannelHz,
  channelStepHz,
}: FilterbankHeader): Layout {
  const numbers = channels * planes;
  const eachBytes = (numbers * bits) / 8;
  const values = Math.min(MOST_VALUES, ROW_S / valueS, MOST_ROW_BYTES / eachBytes);
  const rowValues = 2 ** Math.max(0, Math.floor(Math.log2(values)));
  const columns: readonly (readonly [name: string, form: string, unit: string])[] = [
    ['TSUBINT', '1D', 's'],
    ['OFFS_SUB', '1D', 's'],
    ['RA_SUB', '1D', 'deg'],
    ['DEC_SUB', '1D', 'deg'],
    ['TEL_AZ', '1E', 'deg'],
    ['TEL_ZEN', '1E', 'deg'],
    ['DAT_FREQ', `${channels}D`, 'MHz'],
    ['DAT_WTS', `${channels}E`, ''],
    ['DAT_OFFS', `${numbers}E`, ''],
    ['DAT_SCL', `${numbers}E`, ''],
    ['DATA', `${numbers * rowValues}${letters[bits as WrittenBits]}`, ''],
  ];
  const dataAt = 40 + channels * (8 + 4) + numbers * 8;
  const rowBytes = dataAt + eachBytes * rowValues;
  const cards = [
    ...textCards('XTENSION', 'BINTABLE'),
    integerCard('BITPIX', 8),
    integerCard('NAXIS', 2),
    integerCard('NAXIS1', rowBytes),
    integerCard('NAXIS2', 0),
    integerCard('PCOUNT', 0),
    integerCard('GCOUNT', 1),
    integerCard('TFIELDS', columns.length),
    ...columns.flatMap(([name, form, unit], n) => [
      ...textCards(`TTYPE${n + 1}`, name),
      ...textCards(`TFORM${n + 1}`, form),
      ...(unit === '' ? [] : textCards(`TUNIT${n + 1}`, unit)),
    ]),
    ...textCards(`TDIM${columns.length}`, `(${channels},${planes},${rowValues})`),
    ...textCards('EXTNAME', 'SUBINT'),
    ...textCards('INT_TYPE', 'TIME'),
    ...textCards('INT_UNIT', 'SEC'),
    ...textCards('SCALE', 'RefFlux'),
    integerCard('NPOL', planes),
    ...textCards('POL_TYPE', { 1: 'INTEN', 2: 'AABB', 4: 'IQUV' }[planes] ?? 'INTEN', 'I is (XX + YY)/2'),
    realCard('TBIN', valueS, '[s] of a value'),
    integerCard('NBIN', 1),
    integerCard('NBITS', bits),
    realCard('ZERO_OFF', 0),
    integerCard('SIGNINT', bits === 8 ? 0 : 1),
    integerCard('NSUBOFFS', 0),
    integerCard('NCHAN', channels),
    integerCard('NCHNOFFS', 0),
    realCard('CHAN_BW', channelStepHz / 1e6, '[MHz]'),
    realCard('REFFREQ', (firstChannelHz + (channelStepHz * (channels - 1)) / 2) / 1e6, '[MHz]'),
    realCard('DM', 0),
    realCard('RM', 0),
    integerCard('NSBLK', rowValues, 'values of a row'),
    integerCard('NSTOT', 0, 'values in all; the rest of the last row is empty'),
  ];
  return { rowValues, rowBytes, dataAt, cards };
}

/** 12:34:56.7891; rounded first, so that 60 s never appears. */
function colons(value: number, digits: number): string {
  const units = Math.round(Math.abs(value) * 3600 * 10 ** digits);
  const perSecond = 10 ** digits;
  const two = (one: number): string => String(one).padStart(2, '0');
  const seconds = ((units % (60 * perSecond)) / perSecond).toFixed(digits).padStart(3 + digits, '0');
  const minutes = Math.floor(units / (60 * perSecond)) % 60;
  return `${two(Math.floor(units / (3600 * perSecond)))}:${two(minutes)}:${seconds}`;
}

function primaryCards(header: FilterbankHeader): string[] {
  const { start, channels, channelStepHz, firstChannelHz, telescope, position } = header;
  const ra = colons(((position?.raDeg ?? 0) % 360) / 15, 4);
  const dec = `${(position?.decDeg ?? 0) < 0 ? '-' : '+'}${colons(position?.decDeg ?? 0, 3)}`;
  const { x, y, z } = telescope ? siteToEcef(telescope.site) : { x: 0, y: 0, z: 0 };
  return [
    logicalCard('SIMPLE', true),
    integerCard('BITPIX', 8),
    integerCard('NAXIS', 0),
    logicalCard('EXTEND', true),
    ...textCards('HDRVER', '6.1'),
    ...textCards('FITSTYPE', 'PSRFITS'),
    ...textCards('OBS_MODE', 'SEARCH'),
    ...textCards('TELESCOP', telescope?.name ?? 'unknown'),
    ...textCards('OBSERVER', ''),
    ...textCards('PROJID', ''),
    realCard('ANT_X', x, '[m]'),
    realCard('ANT_Y', y, '[m]'),
    realCard('ANT_Z', z, '[m]'),
    ...textCards('FRONTEND', ''),
    ...textCards('BACKEND', 'Corella'),
    ...textCards('FD_POLN', 'LIN'),
    // Readers such as sigpyproc refuse files without these.
    integerCard('FD_HAND', -1, 'X east, Y north'),
    realCard('FD_SANG', 45, '[deg]'),
    realCard('FD_XYPH', 0, '[deg]'),
    ...textCards('FD_MODE', 'FA'),
    realCard('FA_REQ', 0, '[deg]'),
    integerCard('BE_PHASE', 0, 'unknown'),
    integerCard('BE_DCC', 0),
    realCard('BE_DELAY', 0, '[s]'),
    realCard('TCYCLE', 0, '[s]'),
    ...textCards('BECONFIG', ''),
    integerCard('NRCVR', Math.min(2, header.planes)),
    integerCard('IBEAM', header.beam ?? 1),
    integerCard('NBEAM', header.beams ?? 1),
    ...textCards('DATE-OBS', formatInstant(start, 3).replace(/Z$/, ''), 'UTC'),
    realCard('OBSFREQ', (firstChannelHz + (channelStepHz * (channels - 1)) / 2) / 1e6, '[MHz] centre'),
    realCard('OBSBW', (channelStepHz * channels) / 1e6, '[MHz]'),
    integerCard('OBSNCHAN', channels),
    realCard('CHAN_DM', 0),
    ...textCards('SRC_NAME', header.sourceName ?? 'unknown'),
    ...textCards('COORD_MD', 'J2000'),
    realCard('EQUINOX', 2000),
    ...textCards('RA', ra),
    ...textCards('DEC', dec),
    ...textCards('STT_CRD1', ra),
    ...textCards('STT_CRD2', dec),
    ...textCards('CAL_MODE', 'OFF'),
    realCard('BMAJ', 0, 'unknown'),
    realCard('BMIN', 0, 'unknown'),
    realCard('BPA', 0),
    ...textCards('TRK_MODE', header.pointingAt ? 'TRACK' : 'DRIFT'),
    integerCard('STT_IMJD', julianDate(start).midnightJd - 2_400_000.5, 'UTC, topocentric'),
    integerCard('STT_SMJD', start.unixSeconds % SECONDS_PER_DAY, '[s]'),
    realCard('STT_OFFS', start.fraction, '[s]'),
    ...(header.rawDataFile === undefined ? [] : textCards('RAWFILE', header.rawDataFile.slice(0, 60))),
  ];
}

/** If the process is killed, all rows remain except the unfinished one; `repairPsrfits` repairs the file. */
export async function createPsrfits(path: string, header: FilterbankHeader): Promise<FilterbankWriter> {
  const { channels, planes, valueS, start } = header;
  const kind = arrayOf(path, header);
  const bits = header.bits as WrittenBits;
  const layout = layoutOf(header);
  const { rowValues, rowBytes, dataAt } = layout;
  const numbers = channels * planes;
  const primary = headerBytes(primaryCards(header));
  const file = await openOutput(path);
  await file.write(primary);
  await file.write(headerBytes(layout.cards));
  const row = new Uint8Array(rowBytes);
  const view = new DataView(row.buffer);
  const received = new Uint8Array(channels);
  let [rows, inRow] = [0, 0];
  let levels: Appended['levels'];

  const endRow = async (): Promise<void> => {
    const middleS = (rows + 0.5) * rowValues * valueS;
    const { position, azimuthDeg, zenithAngleDeg } =
      header.pointingAt?.(addSeconds(start, middleS)) ?? header;
    const doubles = [rowValues * valueS, middleS, position?.raDeg ?? 0, position?.decDeg ?? 0];
    for (const [n, one] of doubles.entries()) view.setFloat64(8 * n, one);
    view.setFloat32(32, azimuthDeg ?? 0);
    view.setFloat32(36, zenithAngleDeg ?? 0);
    for (let c = 0; c < channels; c++) {
      view.setFloat64(40 + 8 * c, (header.firstChannelHz + c * header.channelStepHz) / 1e6);
      view.setFloat32(40 + 8 * channels + 4 * c, received[c]);
    }
    const offsets = 40 + 12 * channels;
    for (let n = 0; n < numbers; n++) {
      // stored = value·scale + offset; 16 bits are signed here.
      const scale = levels?.scale[n] ?? 1;
      const zero = (bits === 16 ? 2 ** 15 : 0) - (levels?.offset[n] ?? 0);
      view.setFloat32(offsets + 4 * n, scale === 0 ? 0 : zero / scale);
      view.setFloat32(offsets + 4 * (numbers + n), scale === 0 ? 0 : 1 / scale);
    }
    await file.write(row);
    rows++;
    await note(rows * rowValues);
    if (rows === 1) file.worthKeeping();
    row.fill(0, dataAt);
    received.fill(0);
    inRow = 0;
  };
  /** Updates the number of rows and values. */
  const note = async (values: number): Promise<void> => {
    for (const [name, card] of [
      ['NAXIS2', integerCard('NAXIS2', rows)],
      ['NSTOT', integerCard('NSTOT', values, 'values in all; the rest of the last row is empty')],
    ])
      await file.writeAt(cardAt(primary.length, layout.cards, name), new TextEncoder().encode(card));
  };
  const end = async (): Promise<number> => {
    const values = rows * rowValues + inRow;
    if (inRow > 0) await endRow();
    await note(values);
    await file.resize(paddedBytes(file.sizeBytes));
    await file.finish();
    return values;
  };
  return {
    append: async (given, about = {}) => {
      checkValues(path, header, kind, given);
      levels = about.levels ?? levels;
      for (let t = 0; t < given.length / numbers; t++) {
        const to = dataAt + (inRow * numbers * bits) / 8;
        for (let n = 0; n < numbers; n++) {
          const value = given[t * numbers + n];
          if (bits === 8) row[to + n] = value;
          else if (bits === 16) view.setInt16(to + 2 * n, value - 2 ** 15);
          else view.setFloat32(to + 4 * n, value);
          if (!about.counts || about.counts[t * numbers + n] > 0) received[n % channels] = 1;
        }
        if (++inRow === rowValues) await endRow();
      }
    },
    finish: async () => {
      await end();
    },
    keep: async () => {
      if (rows + inRow > 0) return end();
      await file.abandon();
      return 0;
    },
    abandon: () => file.abandon(),
  };
}

export const isPsrfits = (head: Uint8Array): boolean => {
  const text = new TextDecoder('latin1').decode(head);
  return text.startsWith('SIMPLE  =') && text.includes("FITSTYPE= 'PSRFITS");
};

/** The table of subintegrations. */
async function subints(file: InputFile, primary: FitsUnit): Promise<FitsUnit> {
  for await (const unit of unitsFrom(file, primary.end))
    if (unit.header.text('EXTNAME', '') === 'SUBINT') return unit;
  return refuse(file.path, 'has no table SUBINT', 'check where it came from');
}

const number = (header: FitsHeader, name: string, otherwise: number): number => {
  const value = header.values.get(name);
  return typeof value === 'number' ? value : otherwise;
};

const sexagesimalOf = (text: string): number | undefined => {
  const match = /^\s*([+-]?)(\d+):(\d+):([\d.]+)\s*$/.exec(text);
  if (!match) return undefined;
  const value = Number(match[2]) + Number(match[3]) / 60 + Number(match[4]) / 3600;
  return match[1] === '-' ? -value : value;
};

export async function openPsrfits(file: InputFile): Promise<Filterbank> {
  const { path } = file;
  const primary = await readUnit(file, 0);
  if (primary?.header.text('FITSTYPE', '') !== 'PSRFITS')
    return refuse(path, 'is no PSRFITS file', 'name a .sf');
  if (!/^SEA?RCH/.test(primary.header.text('OBS_MODE', '')))
    refuse(path, `holds '${primary.header.text('OBS_MODE', '')}'`, 'give a file in search mode');
  const unit = await subints(file, primary);
  const table = unit.header;
  const [channels, planes] = [table.whole('NCHAN', 1, 2 ** 24), table.whole('NPOL', 1, 16)];
  const rowValues = table.whole('NSBLK', 1, 2 ** 31);
  const bits = table.whole('NBITS', 1, 32);
  if (![1, 2, 4, 8, 16, 32].includes(bits)) refuse(path, `has values of ${bits} bits`, 'convert it');
  const rowBytes = table.whole('NAXIS1', 1, 2 ** 40);
  const held = Math.floor((file.sizeBytes - unit.dataStart) / rowBytes);
  const promised = table.whole('NAXIS2', 0, 2 ** 40);
  const rows = Math.min(promised, held);
  const columns = columnPlaces(table, path);
  const column = (name: string): ColumnPlace =>
    columns.get(name) ?? refuse(path, `has no column ${name}`, 'check where it came from');
  const data = column('DATA');
  const numbers = channels * planes;
  const eachBytes = (numbers * bits) / 8;
  if (data.sizeBytes !== eachBytes * rowValues || !Number.isInteger(eachBytes))
    refuse(path, `a row of ${data.sizeBytes} bytes is not ${rowValues} values`, 'the file is damaged');
  const order = [...columns.keys()].indexOf('DATA') + 1;
  const shape = table.text(`TDIM${order}`, '').replaceAll(/\s/g, '');
  // Axes of length 1 may be written or left out: many files of four polarisations begin with one bin.
  const lengths = (text: string): string =>
    (text.match(/\d+/g) ?? []).filter((one) => Number(one) !== 1).join();
  if (bits >= 8 && shape !== '' && lengths(shape) !== lengths(`${channels},${planes},${rowValues}`))
    refuse(path, `TDIM of its data is ${shape}`, `only (${channels},${planes},${rowValues}) is read`);
  /** Numbers of a column in a row; empty if the column is absent. */
  const numbersOf = async (name: string, at: number, least: number): Promise<Float64Array | undefined> => {
    const place = columns.get(name);
    if (!place) return undefined;
    if (place.repeat < least || (place.letter !== 'D' && place.letter !== 'E'))
      refuse(path, `column ${name} is '${place.repeat}${place.letter}'`, `${least} floats are read`);
    const bytes = new Uint8Array(place.sizeBytes);
    await file.readExactly(bytes, unit.dataStart + at * rowBytes + place.offset);
    const view = new DataView(bytes.buffer);
    return Float64Array.from({ length: place.repeat }, (_, n) =>
      place.letter === 'D' ? view.getFloat64(8 * n) : view.getFloat32(4 * n),
    );
  };
  const one = async (name: string, at: number): Promise<number | undefined> =>
    rows === 0 ? undefined : (await numbersOf(name, at, 1))?.[0];
  const valueS = table.real('TBIN');
  const [firstS, lastS] = [await one('OFFS_SUB', 0), await one('OFFS_SUB', rows - 1)];
  if (
    firstS !== undefined &&
    lastS !== undefined &&
    Math.abs(lastS - firstS - (rows - 1) * rowValues * valueS) > valueS / 2
  )
    refuse(path, 'rows are missing between its first and its last', 'fill them with its own software');
  const frequencies = rows === 0 ? undefined : await numbersOf('DAT_FREQ', 0, channels);
  const widthMhz = number(table, 'CHAN_BW', NaN);
  const first = frequencies?.[0] ?? NaN;
  const stepMhz =
    frequencies && channels > 1 ? (frequencies[channels - 1] - first) / (channels - 1) : widthMhz;
  const top = primary.header;
  const start = instant(unixFromMjd(top.real('STT_IMJD')) + top.real('STT_SMJD'), top.real('STT_OFFS'));
  const early = firstS === undefined ? 0 : firstS - (rowValues * valueS) / 2;
  const [ra, dec] = [sexagesimalOf(top.text('RA', '')), sexagesimalOf(top.text('DEC', ''))];
  const header: FilterbankHeader = {
    sourceName: top.text('SRC_NAME', 'unknown'),
    channels,
    planes,
    bits: bits as FilterbankBits,
    valueS,
    rawDataFile: top.has('RAWFILE') ? top.text('RAWFILE') : undefined,
    firstChannelHz: first * 1e6,
    channelStepHz: stepMhz * 1e6,
    // If rows were dropped at the start, the first one is later.
    start: Math.abs(early) > valueS / 2 ? addSeconds(start, early) : start,
    position: ra === undefined || dec === undefined ? undefined : { raDeg: 15 * ra, decDeg: dec },
    azimuthDeg: await one('TEL_AZ', 0),
    zenithAngleDeg: await one('TEL_ZEN', 0),
    beam: number(top, 'IBEAM', 1),
    beams: number(top, 'NBEAM', 1),
  };
  const total = number(table, 'NSTOT', 0);
  const values = total > (rows - 1) * rowValues && total <= rows * rowValues ? total : rows * rowValues;
  const end = unit.dataStart + rows * rowBytes;
  const whole = rows === promised && file.sizeBytes === paddedBytes(end);
  const [zero, isSigned] = [number(table, 'ZERO_OFF', 0), number(table, 'SIGNINT', 0) === 1];
  return {
    path,
    format: 'psrfits',
    header,
    values,
    leftOverBytes: whole ? 0 : file.sizeBytes - end,
    keywords: Object.fromEntries([...top.values, ...table.values]) as Filterbank['keywords'],
    read: async (from, count) => {
      checkRange(path, values, from, count);
      const made = new Float32Array(count * numbers);
      for (let t = 0; t < count;) {
        const at = Math.floor((from + t) / rowValues);
        const inRow = (from + t) % rowValues;
        const some = Math.min(count - t, rowValues - inRow);
        const bytes = new Uint8Array(some * eachBytes);
        await file.readExactly(bytes, unit.dataStart + at * rowBytes + data.offset + inRow * eachBytes);
        const raw = unpacked(bytes, bits, isSigned);
        const [scales, offsets, weights] = await Promise.all([
          numbersOf('DAT_SCL', at, numbers),
          numbersOf('DAT_OFFS', at, numbers),
          numbersOf('DAT_WTS', at, channels),
        ]);
        for (let n = 0; n < raw.length; n++) {
          const place = n % numbers;
          made[t * numbers + n] =
            weights?.[place % channels] === 0
              ? NaN
              : (raw[n] - zero) * (scales?.[place] ?? 1) + (offsets?.[place] ?? 0);
        }
        t += some;
      }
      return made;
    },
    close: () => file.close(),
  };
}

/** Big-endian; below 8 bits the first value is in the highest bits. */
function unpacked(bytes: Uint8Array, bits: number, isSigned: boolean): ArrayLike<number> {
  const view = new DataView(bytes.buffer);
  if (bits === 32) return Float32Array.from({ length: bytes.length / 4 }, (_, n) => view.getFloat32(4 * n));
  if (bits === 16) return Float32Array.from({ length: bytes.length / 2 }, (_, n) => view.getInt16(2 * n));
  if (bits === 8) return isSigned ? new Int8Array(bytes.buffer) : bytes;
  const [each, mask] = [8 / bits, 2 ** bits - 1];
  return Float32Array.from(
    { length: bytes.length * each },
    (_, n) => (bytes[Math.floor(n / each)] >>> (bits * (each - 1 - (n % each)))) & mask,
  );
}

/** Repairs an unfinished file of ours; returns the number of values. */
export async function repairPsrfits(path: string): Promise<number> {
  const found = await withInput(path, async (file) => {
    const primary = await readUnit(file, 0);
    if (!primary) return undefined;
    const unit = await subints(file, primary);
    const rowBytes = unit.header.whole('NAXIS1', 1, 2 ** 40);
    const promised = unit.header.whole('NAXIS2', 0, 2 ** 40);
    const rows = Math.min(promised, Math.floor((file.sizeBytes - unit.dataStart) / rowBytes));
    if (rows < promised)
      refuse(
        path,
        `${promised} rows were written, and ${rows} are there`,
        'the disk lost some: copy it again',
      );
    return { rows, end: paddedBytes(unit.dataStart + rows * rowBytes) };
  });
  if (!found) return 0;
  // Drops the unfinished row, or pads with zeros to a whole block.
  await truncate(path, found.end);
  const { values } = await withInput(path, openPsrfits);
  return found.rows === 0 ? 0 : values;
}
