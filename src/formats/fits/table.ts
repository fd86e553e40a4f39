/** FITS binary tables, as far as antenna and source tables need them: A, L, I, J, E and D columns. */
import { refuse } from '../../core/errors.js';
import { paddedBytes, headerBytes, integerCard, textCards, type FitsHeader, type FitsUnit } from './fits.js';
import type { InputFile } from '../io/input.js';

interface WrittenColumn {
  readonly name: string;
  /** FITS's repeat and type: "3D", "1J", "8A". */
  readonly form: string;
  readonly unit?: string;
  /** One entry per row: a text, or `repeat` numbers. */
  readonly rows: readonly (string | readonly number[])[];
}

const elementBytes = { A: 1, L: 1, B: 1, I: 2, J: 4, K: 8, E: 4, D: 8 } as const;
type Letter = keyof typeof elementBytes;
/** In a DataView's words. */
const elements = {
  A: 'Uint8',
  L: 'Uint8',
  B: 'Uint8',
  I: 'Int16',
  J: 'Int32',
  E: 'Float32',
  D: 'Float64',
} as const satisfies Record<Exclude<Letter, 'K'>, string>;

interface Form {
  readonly repeat: number;
  readonly letter: Letter;
  readonly sizeBytes: number;
}

function parseForm(form: string, where: string): Form {
  const match = /^\s*(\d*)([A-Z])/.exec(form);
  const letter = match?.[2] ?? '';
  if (!match || !(letter in elementBytes)) {
    refuse(where, `a column of type '${form}' is not read here`, 'export the table without it');
  }
  const repeat = match[1] === '' ? 1 : Number(match[1]);
  return { repeat, letter: letter as Letter, sizeBytes: repeat * elementBytes[letter as Letter] };
}

/** A whole table unit: header, rows, padding. `cards` follow the column cards. */
export function tableBytes(
  name: string,
  columns: readonly WrittenColumn[],
  cards: readonly string[],
): Uint8Array {
  const forms = columns.map((column) => parseForm(column.form, name));
  const rowBytes = forms.reduce((sum, form) => sum + form.sizeBytes, 0);
  const rowCount = columns[0].rows.length;
  const data = new Uint8Array(paddedBytes(rowBytes * rowCount));
  const view = new DataView(data.buffer);
  for (let row = 0; row < rowCount; row++) {
    let at = row * rowBytes;
    columns.forEach((column, k) => {
      writeCell(view, at, forms[k], column.rows[row]);
      at += forms[k].sizeBytes;
    });
  }
  const header = headerBytes([
    ...textCards('XTENSION', 'BINTABLE'),
    integerCard('BITPIX', 8),
    integerCard('NAXIS', 2),
    integerCard('NAXIS1', rowBytes),
    integerCard('NAXIS2', rowCount),
    integerCard('PCOUNT', 0),
    integerCard('GCOUNT', 1),
    integerCard('TFIELDS', columns.length),
    ...textCards('EXTNAME', name),
    integerCard('EXTVER', 1),
    ...columns.flatMap((column, k) => [
      ...textCards(`TTYPE${k + 1}`, column.name),
      ...textCards(`TFORM${k + 1}`, column.form),
      ...(column.unit === undefined ? [] : textCards(`TUNIT${k + 1}`, column.unit)),
    ]),
    ...cards,
  ]);
  const bytes = new Uint8Array(header.length + data.length);
  bytes.set(header);
  bytes.set(data, header.length);
  return bytes;
}

function writeCell(view: DataView, at: number, form: Form, value: string | readonly number[]): void {
  if (typeof value === 'string') {
    // A zero ends a text shorter than its column; readers would take blanks as part of it.
    for (let n = 0; n < form.repeat; n++) view.setUint8(at + n, n < value.length ? value.charCodeAt(n) : 0);
    return;
  }
  const { letter, repeat } = form;
  for (let n = 0; n < repeat; n++) {
    const to = at + n * elementBytes[letter];
    if (letter === 'K') view.setBigInt64(to, BigInt(value[n]));
    else view[`set${elements[letter]}`](to, value[n]);
  }
}

/** A number of a column, big-endian. */
export const numberAt = (view: DataView, at: number, letter: Letter): number =>
  letter === 'K' ? Number(view.getBigInt64(at)) : view[`get${elements[letter]}`](at);

export interface FitsTable {
  readonly rowCount: number;
  has(name: string): boolean;
  /** One text per row. */
  texts(name: string): string[];
  /** `repeat` numbers per row; at least `least` of them. */
  numbers(name: string, least: number): number[][];
}

const MOST_TABLE_BYTES = 2 ** 28;

/** Position of a column in each row. */
export interface ColumnPlace extends Form {
  /** Bytes from the start of the row. */
  readonly offset: number;
}

/** By name in upper case. */
export function columnPlaces(header: FitsHeader, where: string): ReadonlyMap<string, ColumnPlace> {
  const rowBytes = header.whole('NAXIS1', 0, MOST_TABLE_BYTES);
  const columns = new Map<string, ColumnPlace>();
  let offset = 0;
  const fields = header.whole('TFIELDS', 0, 999);
  for (let k = 1; k <= fields; k++) {
    const text = header.text(`TFORM${k}`);
    // A column without elements (0D, 0P…) occupies no bytes, whatever its type.
    if (/^\s*0/.test(text)) continue;
    const form = parseForm(text, where);
    columns.set(header.text(`TTYPE${k}`, `column ${k}`).trim().toUpperCase(), { ...form, offset });
    offset += form.sizeBytes;
  }
  if (offset > rowBytes) {
    refuse(
      where,
      `its columns take ${offset} bytes of rows of ${rowBytes}`,
      'the file is damaged: copy it again',
    );
  }
  return columns;
}

/** `A3DTABLE` is AIPS's name for binary tables before FITS had them: the same bytes. */
export const isBinaryTable = (header: FitsHeader): boolean =>
  ['BINTABLE', 'A3DTABLE'].includes(header.text('XTENSION', ''));

export async function readTable(file: InputFile, unit: FitsUnit): Promise<FitsTable> {
  const { header } = unit;
  const where = `${file.path}, table ${header.text('EXTNAME', '?')}`;
  if (!isBinaryTable(header)) refuse(where, 'is not a binary table', 'export it as one');
  const rowBytes = header.whole('NAXIS1', 0, MOST_TABLE_BYTES);
  const rowCount = header.whole('NAXIS2', 0, MOST_TABLE_BYTES);
  if (rowBytes * rowCount > MOST_TABLE_BYTES)
    refuse(where, `${rowCount} rows of ${rowBytes} bytes are too many`);
  const bytes = new Uint8Array(rowBytes * rowCount);
  await file.readExactly(bytes, unit.dataStart);
  const view = new DataView(bytes.buffer);
  const columns = columnPlaces(header, where);
  const column = (name: string): ColumnPlace =>
    columns.get(name) ?? refuse(where, `column ${name} is missing`, 'the file is damaged or of another kind');
  return {
    rowCount,
    has: (name) => columns.has(name),
    texts: (name) => {
      const { offset: at, repeat } = column(name);
      const decoder = new TextDecoder('latin1');
      return Array.from({ length: rowCount }, (_, row) =>
        decoder
          .decode(bytes.subarray(row * rowBytes + at, row * rowBytes + at + repeat))
          .replace(/\0[^]*$/, '')
          .trim(),
      );
    },
    numbers: (name, least) => {
      const { offset: at, repeat, letter } = column(name);
      if (repeat < least || letter === 'A')
        refuse(where, `column ${name} holds fewer than ${least} numbers a row`);
      return Array.from({ length: rowCount }, (_, row) =>
        Array.from({ length: repeat }, (_unused, n) =>
          numberAt(view, row * rowBytes + at + n * elementBytes[letter], letter),
        ),
      );
    },
  };
}
