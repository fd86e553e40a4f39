/**
 * Orbital elements as published: two-line elements (with or without a name line) and CCSDS Orbit Mean Elements Messages
 * as JSON, CSV, KVN or XML. Damaged elements are refused, because wrong digits give a wrong orbit.
 */
import { refuse } from '../../core/errors.js';
import { instant, parseInstant, type Instant } from '../../core/instant.js';
import { SECONDS_PER_DAY } from '../../core/units.js';

export interface ElementSet {
  readonly name: string;
  /** Catalogue number, without leading zeros; letters encode numbers above 99999. */
  readonly number: string;
  readonly epoch: Instant;
  readonly elements:
    | { readonly kind: 'lines'; readonly one: string; readonly two: string }
    | { readonly kind: 'omm'; readonly record: Readonly<Record<string, string>> };
}

/** `path` is for errors. */
export function parseElements(whole: string, path: string): ElementSet[] {
  // Some editors begin a file with a byte-order mark.
  const text = whole.replace(/^\uFEFF/, '');
  const sets = /^\s*[[{]/.test(text)
    ? fromRecords(jsonRecords(text, path), path)
    : /^\s*</.test(text)
      ? fromRecords(xmlRecords(text), path)
      : /^\s*CCSDS_OMM_VERS\s*=/m.test(text)
        ? fromRecords(kvnRecords(text), path)
        : /^[^\n]*\bOBJECT_NAME\b[^\n]*,/.test(text)
          ? fromRecords(csvRecords(text), path)
          : fromLines(text, path);
  return sets.length > 0
    ? sets
    : refuse(
        path,
        'holds no orbital elements',
        'give two-line elements (TLE), or OMM as JSON, CSV, KVN or XML',
      );
}

const LINE = 69;

/** Lines of the people who keep such lists. */
const COMMENT = /^\s*(?:#|;|%|\/\/)/;

/** The last digit: the sum of all digits before it, a minus counting as one, modulo 10. */
export const checksum = (line: string): number =>
  Array.from(line.slice(0, LINE - 1)).reduce(
    (sum, one) => sum + (one === '-' ? 1 : /\d/.test(one) ? Number(one) : 0),
    0,
  ) % 10;

function fromLines(text: string, path: string): ElementSet[] {
  const lines = text
    .split(/\r?\n/)
    .map((line, k) => ({ line: line.trimEnd(), number: k + 1 }))
    .filter(({ line }) => line !== '' && !COMMENT.test(line));
  const sets: ElementSet[] = [];
  let name = '';
  for (let k = 0; k < lines.length; k++) {
    const { line, number: at } = lines[k];
    const where = `${path}, line ${at}`;
    if (!/^1 [ \dA-Z]{5}/.test(line)) {
      // Two names in a row, or a second line without its first, mean that elements are missing.
      if (name !== '' || /^2 [ \dA-Z]{5} /.test(line))
        refuse(
          where,
          'is not the first line of two-line elements',
          'the file is damaged, or of another kind',
        );
      name = line.replace(/^0 /, '').trim();
      continue;
    }
    const { line: next, number: nextAt } = lines.at(k + 1) ?? { line: '', number: at + 1 };
    for (const [n, one, where] of [
      [1, line, `${path}, line ${at}`],
      [2, next, `${path}, line ${nextAt}`],
    ] as const) {
      if (one.length !== LINE || !one.startsWith(`${n} `))
        refuse(where, `is no line ${n} of two-line elements`, 'it is damaged');
      if (String(checksum(one)) !== one[LINE - 1])
        refuse(where, 'its checksum is wrong', 'it is damaged: fetch it again');
    }
    if (line.slice(2, 7) !== next.slice(2, 7))
      refuse(where, 'its two lines are of different satellites', 'the file is damaged');
    const number = line
      .slice(2, 7)
      .trim()
      .replace(/^0+(?=.)/, '');
    sets.push({
      name: name === '' ? number : name,
      number,
      epoch: epochOfLine(line, where),
      elements: { kind: 'lines', one: line, two: next },
    });
    name = '';
    k++;
  }
  return sets;
}

/** YYDDD.DDDDDDDD: years from 57 are 19YY. */
function epochOfLine(line: string, where: string): Instant {
  const [, year, day, fraction] = /^(\d\d)([ \d]{3})(\.\d*)$/.exec(line.slice(18, 32).trim()) ?? [];
  if (!(Number(day) >= 1 && Number(day) <= 366)) refuse(where, 'has no epoch', 'it is damaged');
  const first = Date.UTC(Number(year) + (Number(year) < 57 ? 2000 : 1900), 0, 1) / 1000;
  return instant(first + (Number(day) - 1) * SECONDS_PER_DAY, Number(fraction) * SECONDS_PER_DAY);
}

type OmmRecord = Readonly<Record<string, string>>;

const NEEDED = [
  'NORAD_CAT_ID',
  'EPOCH',
  'MEAN_MOTION',
  'ECCENTRICITY',
  'INCLINATION',
  'RA_OF_ASC_NODE',
  'ARG_OF_PERICENTER',
  'MEAN_ANOMALY',
  'BSTAR',
];
/** Elements of another theory, frame or time scale would give wrong positions. */
const FIXED: Readonly<Record<string, RegExp>> = {
  MEAN_ELEMENT_THEORY: /^SGP\/?4$|^SGP4$/i,
  REF_FRAME: /^TEME/i,
  TIME_SYSTEM: /^UTC$/i,
  CENTER_NAME: /^EARTH$/i,
  EPHEMERIS_TYPE: /^[02]$/,
};

const fromRecords = (records: readonly OmmRecord[], path: string): ElementSet[] =>
  records.map((record, k) => {
    const where = `${path}, orbit ${k + 1}`;
    const missing = NEEDED.find((key) => (record[key] ?? '') === '');
    if (missing !== undefined)
      refuse(where, `has no ${missing}`, 'it is damaged, or no Orbit Mean Elements Message');
    for (const [key, form] of Object.entries(FIXED))
      if ((record[key] ?? '') !== '' && !form.test(record[key]))
        refuse(where, `its ${key} is ${record[key]}`, 'give mean elements of SGP4');
    const number = record.NORAD_CAT_ID.replace(/^0+(?=.)/, '');
    const { OBJECT_NAME = '' } = record;
    const name = OBJECT_NAME.trim();
    return {
      name: name === '' ? number : name,
      number,
      epoch: parseInstant(record.EPOCH, where),
      elements: { kind: 'omm', record: { ...record, NORAD_CAT_ID: number } },
    };
  });

function jsonRecords(text: string, path: string): OmmRecord[] {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    return refuse(path, 'is not JSON', 'it is damaged');
  }
  return (Array.isArray(found) ? found : [found]).map((one: unknown) =>
    typeof one === 'object' && one !== null
      ? Object.fromEntries(
          Object.entries(one)
            .filter(([, value]) => ['string', 'number'].includes(typeof value))
            .map(([key, value]) => [key, String(value)]),
        )
      : {},
  );
}

const csvRecords = (text: string): OmmRecord[] => {
  const [head, ...rows] = text
    .split(/\r?\n/)
    .filter((row) => row.trim() !== '')
    .map((row) => row.split(',').map((cell) => cell.trim().replace(/^"(.*)"$/, '$1')));
  return rows.map((row) => Object.fromEntries(head.map((key, k) => [key, row.at(k) ?? ''])));
};

/** Units in brackets are those of the standard. */
const kvnRecords = (text: string): OmmRecord[] =>
  text
    .split(/^\s*CCSDS_OMM_VERS\s*=.*$/m)
    .slice(1)
    .map((part) =>
      Object.fromEntries(
        [...part.matchAll(/^\s*([A-Z_]+)\s*=\s*(.*?)\s*(?:\[[^\]]*\])?\s*$/gm)].map(([, key, value]) => [
          key,
          value,
        ]),
      ),
    );

const xmlRecords = (text: string): OmmRecord[] =>
  [...text.matchAll(/<omm\b[^]*?<\/omm>/gi)].map(([part]) =>
    Object.fromEntries(
      [...part.matchAll(/<([A-Z_]+)(?:\s[^>]*)?>\s*([^<]*?)\s*<\/\1>/g)].map(([, key, value]) => [
        key,
        value.replaceAll('&amp;', '&').replaceAll('&lt;', '<').replaceAll('&gt;', '>'),
      ]),
    ),
  );
