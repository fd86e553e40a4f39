/**
 * FITS-IDI, the format of VLBI correlators and the LWA's software. A table UV_DATA holds a row for each pair and time,
 * treated here as a UVFITS group whose parameters are columns; signs and uvw are those of UVFITS.
 */
import { refuse } from '../../core/errors.js';
import { readUnit, type FitsHeader, type FitsUnit } from '../fits/fits.js';
import { columnPlaces, readTable, type ColumnPlace } from '../fits/table.js';
import type { Format, OpenOptions, VisibilityFile } from '../format.js';
import type { InputFile } from '../io/input.js';
import { readAntennas } from './uvfits/antennas.js';
import type { Band } from './uvfits/bands.js';
import { openTaken, readTables, visibilitiesOf } from './uvfits/groups.js';
import { planMatrix, type MatrixLayout, type UvfitsLayout } from './uvfits/layout.js';
import {
  antennasOf,
  indexTarget,
  readGroups,
  sumDays,
  type GroupReader,
  type GroupValues,
} from './uvfits/rows.js';

export const fitsidi: Format = {
  name: 'fitsidi',
  title: 'FITS-IDI',
  extensions: ['.idifits', '.fitsidi'],
  kinds: [{ title: 'FITS-IDI', holds: 'visibilities', reads: ['uvw', 'target'] }],
  // The header is that of random groups, but without their axes: the visibilities are in a table.
  recognise: (_path, head) => {
    const text = new TextDecoder('latin1').decode(head.subarray(0, 2880));
    return /^SIMPLE {2}= +T.*NAXIS {3}= +[01] .*GROUPS {2}= +T/s.test(text);
  },
  open: (path, options = {}) => openTaken(path, (file) => openIdi(file, options)),
};

async function openIdi(
  file: InputFile,
  { target, telescope: places, uvw }: OpenOptions,
): Promise<VisibilityFile> {
  const { path } = file;
  const primary = (await readUnit(file, 0)) ?? refuse(path, 'the file is empty', 'copy it again');
  const tables = await readTables(file, primary);
  const table = (name: string): FitsUnit =>
    tables.get(name)?.[0] ?? refuse(path, `has no table ${name}`, 'export it with one, or copy it again');
  const unit = table('UV_DATA');
  if (tables.get('UV_DATA')?.length !== 1)
    refuse(path, 'has several tables UV_DATA', 'export it with one, or one file for each');
  const missingBytes = unit.dataStart + unit.dataBytes - file.sizeBytes;
  if (missingBytes > 0)
    refuse(path, `truncated: ${missingBytes} bytes of UV_DATA are missing`, 'copy it again');
  const antennas = await readAntennas(file, table('ARRAY_GEOMETRY'));
  const columns = columnPlaces(unit.header, unit.header.where);
  const matrix = planMatrix(unit.header, 'MAXIS', await bandOffsets(file, table('FREQUENCY'), unit.header));
  const sources = await readSources(file, table('SOURCE'));
  const layout = planRows(unit, columns, matrix);
  const reader = rowReader(columns, unit.header.where);
  const { index, several } = await indexTarget(file, layout, reader, target, (id) => sources.get(id)?.name);
  const [first] = index.sources;
  const source =
    sources.get(first) ?? refuse(path, `row 0 is of source ${first}, which its SOURCE table lacks`);
  return visibilitiesOf({
    file,
    format: 'fitsidi',
    telescopeName: primary.header.text(
      'TELESCOP',
      antennas.arrayName === '' ? 'unknown' : antennas.arrayName,
    ),
    layout,
    antennas,
    reader,
    index,
    targets: several,
    places,
    uvw,
    phaseCentre: source.position,
    object: source.name,
    history: primary.header.remarks,
    facts: { xOrientation: 'unknown' },
    details: {
      correlator: primary.header.text('CORRELAT', ''),
      dateObs: primary.header.text('DATE-OBS', ''),
      observation: unit.header.text('OBSCODE', ''),
      rows: layout.groupCount,
      products: layout.products.map(({ label }) => label),
      weights: layout.weighted ? 'in the file' : 'none: every value has weight 1',
      antennaNumbers: antennas.numbers,
      antennaPositions: antennas.positions,
      frame: antennas.frame,
      timeSystem: antennas.timeSystem === '' ? 'unspecified: UTC is assumed' : antennas.timeSystem,
      sources: index.sources.map((id) => sources.get(id)?.name ?? String(id)),
      longestDelayS: index.longestDelayS,
      firstRow: await rowFacts(file, layout, reader),
    },
  });
}

/** Offset of each band from the reference frequency. */
async function bandOffsets(file: InputFile, unit: FitsUnit, data: FitsHeader): Promise<Band[]> {
  const table = await readTable(file, unit);
  const where = `${file.path}, table FREQUENCY`;
  const bands = data.whole('NO_BAND', 1, 4096);
  if (table.rowCount === 0) refuse(where, 'is empty', 'export it again');
  const [offsets, widths, sides] = ['BANDFREQ', 'CH_WIDTH', 'SIDEBAND'].map(
    (name) => table.numbers(name, bands)[0],
  );
  const widthHz = data.real('CHAN_BW');
  for (let band = 0; band < bands; band++) {
    if (!(sides[band] > 0)) refuse(where, `band ${band} is a lower sideband`, 'reverse it before exporting');
    // Single precision in the table, double in the card.
    if (!(Math.abs(widths[band] / widthHz - 1) < 1e-6))
      refuse(
        where,
        `channels of band ${band} are ${widths[band]} Hz wide, not ${widthHz}`,
        'export bands apart',
      );
  }
  return offsets.map((offsetHz) => ({ offsetHz }));
}

interface Source {
  readonly name: string;
  readonly position: { readonly raDeg: number; readonly decDeg: number };
}

async function readSources(file: InputFile, unit: FitsUnit): Promise<ReadonlyMap<number, Source>> {
  const table = await readTable(file, unit);
  const where = `${file.path}, table SOURCE`;
  const first = (name: string): number[] => table.numbers(name, 1).map(([value]) => value);
  const ids = first(table.has('SOURCE_ID') ? 'SOURCE_ID' : 'ID_NO.');
  const [ra, dec, names] = [first('RAEPO'), first('DECEPO'), table.texts('SOURCE')];
  const equinoxes = table.has('EQUINOX') ? table.texts('EQUINOX') : [];
  const odd = equinoxes.find((equinox) => equinox !== '' && !/^J?2000/.test(equinox));
  if (odd !== undefined) refuse(where, `gives places for the equinox ${odd}`, 'export it in J2000');
  return new Map(
    ids.map((id, row) => {
      if (!(Math.abs(ra[row]) <= 360 && Math.abs(dec[row]) <= 90))
        refuse(where, `row ${row} is at ${ra[row]}°, ${dec[row]}°`, 'it is damaged: copy it again');
      return [id, { name: names[row], position: { raDeg: ra[row], decDeg: dec[row] } }];
    }),
  );
}

type Columns = ReadonlyMap<string, ColumnPlace>;

/** Rows as groups of 32-bit words; weights per channel, per band and product, or per band. */
function planRows({ header, dataStart }: FitsUnit, columns: Columns, matrix: MatrixLayout): UvfitsLayout {
  const { where } = header;
  const flux = columns.get('FLUX') ?? refuse(where, 'has no column FLUX', 'it is damaged: copy it again');
  const rowBytes = header.whole('NAXIS1', 4, 2 ** 31);
  const [bands, channels, stokes] = ['NO_BAND', 'NO_CHAN', 'NO_STKD'].map((card) =>
    header.whole(card, 1, 2 ** 24),
  );
  const parts = matrix.weighted ? 3 : 2;
  const { products } = matrix;
  const shapely =
    matrix.elements === parts * bands * channels * stokes &&
    matrix.partStride === 1 &&
    matrix.channels.length === bands * channels &&
    products.length === stokes &&
    products.every(({ offset }, k) => offset === parts * k);
  if (!shapely || flux.letter !== 'E' || flux.repeat !== matrix.elements) {
    refuse(
      where,
      `its visibilities are ${flux.repeat}${flux.letter}, not ${bands} × ${channels} × ${stokes} × ${parts} floats`,
      'it is damaged, or ordered in a way not read here',
    );
  }
  if (rowBytes % 4 !== 0 || flux.offset % 4 !== 0)
    refuse(where, `rows of ${rowBytes} bytes are no whole words`, 'export it without columns of odd types');
  const dataOffset = flux.offset / 4;
  const base = {
    groupCount: header.whole('NAXIS2', 0, 2 ** 40),
    groupElements: rowBytes / 4,
    dataStart,
    parameters: [],
    dataOffset,
    phaseCentre: { raDeg: 0, decDeg: 0 },
  };
  const weight = columns.get('WEIGHT');
  if (matrix.weighted || weight === undefined) return { ...matrix, ...base, weightStart: dataOffset + 2 };
  const pick = {
    [bands * channels * stokes]: { perChannel: stokes, perBand: 0, perProduct: 1 },
    [bands * stokes]: { perChannel: 0, perBand: stokes, perProduct: 1 },
  }[weight.repeat] as { perChannel: number; perBand: number; perProduct: number } | undefined;
  if (pick === undefined || weight.letter !== 'E' || weight.offset % 4 !== 0)
    refuse(where, `${weight.repeat}${weight.letter} weights fit no ${bands} × ${stokes}`, 'it is damaged');
  return {
    ...matrix,
    ...base,
    weighted: true,
    weightStart: weight.offset / 4,
    channels: matrix.channels.map((channel) => {
      const place = channel.offset / (parts * stokes);
      const band = Math.floor(place / channels);
      return { ...channel, weightOffset: place * pick.perChannel + band * pick.perBand };
    }),
    products: products.map((product, k) => ({ ...product, weightOffset: k * pick.perProduct })),
  };
}

/** Reads columns from a row's words, already in this machine's byte order. */
function rowReader(columns: Columns, where: string): GroupReader {
  const words = new DataView(new ArrayBuffer(8));
  const read = (name: string | undefined): ((group: GroupValues) => number) | undefined => {
    const column = name === undefined ? undefined : columns.get(name);
    if (name === undefined || column === undefined) return undefined;
    const at = column.offset / 4;
    if (!Number.isInteger(at) || !['E', 'D', 'J'].includes(column.letter))
      refuse(where, `column ${name} is of type ${column.letter}`, 'it is damaged: copy it again');
    if (column.letter === 'E') return (group) => group[at];
    return (group) => {
      const whole = new Int32Array(group.buffer, group.byteOffset + 4 * at, column.letter === 'D' ? 2 : 1);
      if (column.letter === 'J') return whole[0];
      words.setInt32(0, whole[0]);
      words.setInt32(4, whole[1]);
      return words.getFloat64(0);
    };
  };
  const needed = (name: string | undefined, title: string): ((group: GroupValues) => number) =>
    read(name) ?? refuse(where, `has no column ${title}`, 'it is damaged: copy it again');
  // UU, UU--, UU---SIN: all in seconds.
  const axis = (letters: string): ((group: GroupValues) => number) =>
    needed(
      [...columns.keys()].find((name) => name.startsWith(letters)),
      letters,
    );
  const [uu, vv, ww] = ['UU', 'VV', 'WW'].map(axis);
  const [date, time, baseline] = ['DATE', 'TIME', 'BASELINE'].map((name) => needed(name, name));
  const source = read('SOURCE') ?? read('SOURCE_ID');
  const [inttim, array, setup] = ['INTTIM', 'ARRAY', 'FREQID'].map(read);
  return {
    antennas: (group) => antennasOf(baseline(group)),
    uvwS: (group) => [uu(group), vv(group), ww(group)],
    julian: (group) => sumDays([date(group), time(group)]),
    integrationS: (group) => inttim?.(group),
    subarray: (group) => array?.(group) ?? 1,
    frequencySetup: (group) => setup?.(group) ?? 1,
    source: (group) => source?.(group) ?? 1,
    baselineForm: 'BASELINE',
  };
}

/** The first row as in the file. */
async function rowFacts(file: InputFile, layout: UvfitsLayout, reader: GroupReader): Promise<object> {
  for await (const { values } of readGroups(file, layout, { firstGroup: 0, groups: 1 })) {
    return {
      antennas: reader.antennas(values),
      uvwS: reader.uvwS(values),
      firstVisibilities: Array.from(values.subarray(layout.dataOffset, layout.dataOffset + 4)),
    };
  }
  return {};
}
