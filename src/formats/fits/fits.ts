/** FITS headers: 80-character cards in blocks of 2880 bytes, written in fixed format and read leniently. */
import { refuse } from '../../core/errors.js';
import type { InputFile } from '../io/input.js';

export const FITS_BLOCK_BYTES = 2880;
const CARD = 80;
const END = 'END'.padEnd(CARD);

export const paddedBytes = (sizeBytes: number): number =>
  Math.ceil(sizeBytes / FITS_BLOCK_BYTES) * FITS_BLOCK_BYTES;

/** FITS allows printable ASCII only: accents are dropped, dashes and similar characters replaced. */
export const toAscii = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[^ -~]/g, '?');

function keyed(keyword: string, value: string, comment: string): string {
  if (!/^[A-Z0-9_-]{1,8}$/.test(keyword)) throw new Error(`'${keyword}' is not a FITS keyword`);
  const card = `${keyword.padEnd(8)}= ${value}`;
  const noted = comment === '' ? card : `${card} / ${toAscii(comment)}`;
  return noted.slice(0, CARD).padEnd(CARD);
}

export const logicalCard = (keyword: string, value: boolean, comment = ''): string =>
  keyed(keyword, (value ? 'T' : 'F').padStart(20), comment);

export function integerCard(keyword: string, value: number, comment = ''): string {
  if (!Number.isSafeInteger(value)) throw new Error(`${keyword} = ${value} is not a whole number`);
  return keyed(keyword, String(value).padStart(20), comment);
}

/** Enough digits to recover the same double; extends past column 30 if it needs more than 20. */
export function realCard(keyword: string, value: number, comment = ''): string {
  if (!Number.isFinite(value)) throw new Error(`${keyword} = ${value} cannot be written in FITS`);
  const shortest = String(value).toUpperCase();
  const exponentAt = shortest.indexOf('E');
  const mantissa = exponentAt < 0 ? shortest : shortest.slice(0, exponentAt);
  const pointed = mantissa.includes('.') ? mantissa : `${mantissa}.0`;
  return keyed(keyword, (pointed + shortest.slice(mantissa.length)).padStart(20), comment);
}

/** One card, or several joined by CONTINUE if the text is long. */
export function textCards(keyword: string, value: string, comment = ''): string[] {
  const quoted = toAscii(value).replaceAll("'", "''");
  if (quoted.length <= 68) return [keyed(keyword, `'${quoted.padEnd(8)}'`, comment)];
  const pieces: string[] = [];
  for (let at = 0; at < quoted.length;) {
    let end = Math.min(quoted.length, at + 67);
    // Never between the two halves of a doubled quote.
    const quotes = /'*$/.exec(quoted.slice(at, end))?.[0].length ?? 0;
    if (quotes % 2 === 1) end--;
    pieces.push(quoted.slice(at, end));
    at = end;
  }
  return pieces.map((piece, k) => {
    const text = `'${piece}${k < pieces.length - 1 ? '&' : ''}'`;
    return k === 0 ? keyed(keyword, text, '') : `CONTINUE  ${text}`.padEnd(CARD);
  });
}

/** HISTORY or COMMENT, wrapped at words if possible. */
export function remarkCards(keyword: 'HISTORY' | 'COMMENT', text: string): string[] {
  const cards: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    let rest = toAscii(line.replaceAll('\t', ' '));
    do {
      const space = rest.length > 72 ? rest.lastIndexOf(' ', 72) : -1;
      const cut = rest.length <= 72 ? rest.length : space > 20 ? space : 72;
      cards.push(`${keyword.padEnd(8)}${rest.slice(0, cut)}`.padEnd(CARD));
      rest = rest.slice(cut).replace(/^ /, '');
    } while (rest.length > 0);
  }
  return cards;
}

/** With blank cards before END, if it takes the place of a header of `sizeBytes`. */
export function headerBytes(cards: readonly string[], sizeBytes = 0): Uint8Array {
  const blank = ' '.repeat(Math.max(0, sizeBytes - FITS_BLOCK_BYTES - CARD * cards.length));
  const text = [...cards, blank, END].join('');
  return new TextEncoder().encode(text.padEnd(paddedBytes(text.length)));
}

type CardValue = string | number | boolean;

/** The cards of a header, by keyword. A missing card, or one of another type, is refused by name on request. */
export interface FitsHeader {
  readonly where: string;
  has(keyword: string): boolean;
  text(keyword: string, otherwise?: string): string;
  real(keyword: string, otherwise?: number): number;
  whole(keyword: string, least: number, most: number): number;
  logical(keyword: string): boolean;
  /** Lines of HISTORY, and of COMMENT. */
  readonly remarks: readonly string[];
  readonly comments: readonly string[];
  readonly values: ReadonlyMap<string, CardValue>;
}

/** `cards`: the header's text without END. */
export function parseHeader(cards: readonly string[], where: string): FitsHeader {
  const values = new Map<string, CardValue>();
  const remarks: string[] = [];
  const comments: string[] = [];
  let continued: string | undefined;
  for (const card of cards) {
    const keyword = card.slice(0, 8).trimEnd();
    if (keyword === 'HISTORY') remarks.push(card.slice(8).trimEnd());
    if (keyword === 'COMMENT') comments.push(card.slice(8).trimEnd());
    if (keyword === 'CONTINUE' && continued !== undefined) {
      const before = values.get(continued);
      const more = parseValue(card.slice(8));
      if (typeof before === 'string' && typeof more === 'string') {
        values.set(continued, before.replace(/&$/, '') + more);
      }
      continue;
    }
    continued = undefined;
    if (card.slice(8, 10) !== '= ' || keyword === '') continue;
    const value = parseValue(card.slice(10));
    // The first card of a keyword counts, as in most readers.
    if (value === undefined || values.has(keyword)) continue;
    values.set(keyword, value);
    if (typeof value === 'string' && value.endsWith('&')) continued = keyword;
  }
  return headerOf(values, { remarks, comments }, where);
}

/** An invalid value is kept as text: an unused card must not make the file unreadable. */
function parseValue(field: string): CardValue | undefined {
  const text = /^\s*'((?:[^']|'')*)'(?=[\s/]|$)/.exec(field);
  if (text) return text[1].replaceAll("''", "'").trimEnd();
  // A string without closing quote, or with a single quote inside.
  const open = /^\s*'(.*?)'?\s*$/.exec(field);
  if (open) return open[1].replaceAll("''", "'").trimEnd();
  const bare = field.split('/', 1)[0].trim();
  if (bare === '') return undefined;
  if (bare === 'T' || bare === 'F') return bare === 'T';
  // FITS allows D for a double's exponent; NaN or INF, which some programs write, counts as absent.
  const number = Number(bare.replace(/[dD]/, 'E'));
  if (Number.isFinite(number)) return number;
  return /^[+-]?(nan|inf)/i.test(bare) ? undefined : bare;
}

function headerOf(
  values: Map<string, CardValue>,
  lines: Pick<FitsHeader, 'remarks' | 'comments'>,
  where: string,
): FitsHeader {
  const missing = (keyword: string): never =>
    refuse(where, `card ${keyword} is missing`, 'the file is damaged or of another kind');
  const wrong = (keyword: string, kind: string): never =>
    refuse(
      where,
      `card ${keyword} = ${JSON.stringify(values.get(keyword))} is not ${kind}`,
      'the file is damaged or of another kind',
    );
  const real = (keyword: string, otherwise?: number): number => {
    const value = values.get(keyword) ?? otherwise ?? missing(keyword);
    return typeof value === 'number' ? value : wrong(keyword, 'a number');
  };
  return {
    where,
    values,
    ...lines,
    has: (keyword) => values.has(keyword),
    text: (keyword, otherwise) => {
      const value = values.get(keyword) ?? otherwise ?? missing(keyword);
      return typeof value === 'string' ? value : wrong(keyword, 'text');
    },
    real,
    whole: (keyword, least, most) => {
      const value = real(keyword);
      if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
      return wrong(keyword, `a whole number from ${least} to ${most}`);
    },
    logical: (keyword) => {
      const value = values.get(keyword) ?? missing(keyword);
      return typeof value === 'boolean' ? value : wrong(keyword, 'T or F');
    },
  };
}

export interface FitsUnit {
  readonly header: FitsHeader;
  /** Start of the data, and its length according to the header (without padding). */
  readonly dataStart: number;
  readonly dataBytes: number;
  /** Start of the next unit. */
  readonly end: number;
}

const MOST_HEADER_BLOCKS = 2000;

/** Reads the header at `position`; undefined at the end of the file. */
export async function readUnit(file: InputFile, position: number): Promise<FitsUnit | undefined> {
  if (position >= file.sizeBytes) return undefined;
  const where = position === 0 ? file.path : `${file.path}, extension at byte ${position}`;
  const block = new Uint8Array(FITS_BLOCK_BYTES);
  const cards: string[] = [];
  const decoder = new TextDecoder('latin1');
  for (let blocks = 0; blocks < MOST_HEADER_BLOCKS; blocks++) {
    await file.readExactly(block, position + blocks * FITS_BLOCK_BYTES);
    const text = decoder.decode(block);
    if (blocks === 0 && !/^(SIMPLE {2}|XTENSION)=/.test(text)) {
      // Bytes after the last unit are ignored; at the start there must be a header.
      if (position > 0) return undefined;
      refuse(where, 'is not a FITS file', 'check where it came from');
    }
    for (let at = 0; at < FITS_BLOCK_BYTES; at += CARD) {
      const card = text.slice(at, at + CARD);
      if (card.trimEnd() === 'END') {
        const header = parseHeader(cards, where);
        const dataStart = position + (blocks + 1) * FITS_BLOCK_BYTES;
        const dataBytes = dataBytesOf(header);
        return { header, dataStart, dataBytes, end: dataStart + paddedBytes(dataBytes) };
      }
      cards.push(card);
    }
  }
  return refuse(where, 'its header has no END card', 'the file is damaged: copy it again');
}

/** The units from a position on, to the end of the file. */
export async function* unitsFrom(file: InputFile, position: number): AsyncGenerator<FitsUnit> {
  for (let unit = await readUnit(file, position); unit; unit = await readUnit(file, unit.end)) yield unit;
}

/** |BITPIX|/8 · GCOUNT · (PCOUNT + Π NAXISn), without NAXIS1 = 0 for random groups. */
function dataBytesOf(header: FitsHeader): number {
  const bitpix = header.real('BITPIX');
  if (![8, 16, 32, 64, -32, -64].includes(bitpix)) {
    refuse(header.where, `card BITPIX = ${bitpix} is no FITS type`, 'the file is damaged: copy it again');
  }
  const axes = header.whole('NAXIS', 0, 999);
  if (axes === 0) return 0;
  const groups = header.has('GROUPS') && header.logical('GROUPS');
  let elements = 1;
  for (let n = groups ? 2 : 1; n <= axes; n++) elements *= header.whole(`NAXIS${n}`, 0, 2 ** 40);
  const parameters = header.has('PCOUNT') ? header.whole('PCOUNT', 0, 2 ** 31) : 0;
  const count = header.has('GCOUNT') ? header.whole('GCOUNT', 0, 2 ** 40) : 1;
  return (Math.abs(bitpix) / 8) * count * (parameters + elements);
}

/** In steps: the largest deviation of a channel, which allows for rounded frequencies. */
const MOST_OFF = 0.1;

/** A FITS frequency axis has only a first value and a step: unevenly spaced channels would be misplaced. */
export function refuseUneven(path: string, frequenciesHz: Float64Array, fix: string): void {
  const last = frequenciesHz.length - 1;
  if (last < 1) return;
  const stepHz = (frequenciesHz[last] - frequenciesHz[0]) / last;
  frequenciesHz.forEach((frequencyHz, c) => {
    if (!(Math.abs(frequencyHz - frequenciesHz[0] - c * stepHz) <= MOST_OFF * Math.abs(stepHz)))
      refuse(path, `channel ${c} is not evenly spaced from the others`, fix);
  });
}
