/**
 * Component lists as written by WSClean and BBS (makesourcedb): a line that names the columns, then one component per
 * line, points and Gaussians, polarised or not, with any number of spectral terms.
 */
import { refuse } from '../../core/errors.js';
import { checkedStokes } from '../source.js';
import type { Component } from './brightest.js';
import { fluxOf } from './spectrum.js';

interface Format {
  readonly line: number;
  /** In lower case, with the column's value for lines that leave it empty. */
  readonly columns: readonly { readonly name: string; readonly otherwise?: string }[];
}

/** "Format = Name, Type, …", or "# (Name, Type, …) = format". */
const FORMS = [/^#?\s*format\s*=\s*(.+)$/i, /^#\s*\((.+)\)\s*=\s*format\s*$/i];

/** Commas outside of [ ] and quotes. */
export const splitLine = (line: string): string[] =>
  (line.match(/(?:\[[^\]]*\]|'[^']*'|"[^"]*"|[^,])+|(?<=,)(?=,|$)|^(?=,)/g) ?? []).map((part) => part.trim());

/** The line that names the columns must be among these. */
const MOST_LINES_BEFORE = 1000;

export const isComponentList = (text: string): boolean =>
  text.split(/\r?\n/, MOST_LINES_BEFORE).some((line) => FORMS.some((form) => form.test(line.trim())));

function formatOf(lines: readonly string[], path: string): Format {
  for (const [line, text] of lines.entries()) {
    const found = FORMS.map((form) => form.exec(text.trim())?.[1]).find((one) => one !== undefined);
    if (found === undefined) continue;
    const columns = splitLine(found).map((word) => {
      const [name, value] = word.split('=').map((part) => part.trim()) as [string, string?];
      const otherwise = value?.replaceAll(/['"]/g, '');
      return { name: name.toLowerCase(), ...(otherwise === undefined ? {} : { otherwise }) };
    });
    const lacks = ['ra', 'dec', 'i'].find((name) => !columns.some((column) => column.name === name));
    if (lacks !== undefined)
      refuse(
        `${path}, line ${line + 1}`,
        `has no column '${lacks}'`,
        'a list needs Name, Type, Ra, Dec and I',
      );
    return { line, columns };
  }
  return refuse(
    path,
    'has no line that says its columns',
    'begin it with Format = Name, Type, Ra, Dec, I, …',
  );
}

export function* parseComponentList(text: string, path: string): Generator<Component> {
  const format = formatOf(text.split(/\r?\n/, MOST_LINES_BEFORE), path);
  const places = new Map(format.columns.map(({ name }, at) => [name, at]));
  let n = -1;
  for (const line of linesOf(text)) {
    n++;
    if (n <= format.line || line.trim() === '' || line.trim().startsWith('#')) continue;
    const where = `${path}, line ${n + 1}`;
    const words = splitLine(line);
    const word = (name: string): string => {
      const at = places.get(name);
      if (at === undefined) return '';
      const own = words.at(at) ?? '';
      return own === '' ? (format.columns[at].otherwise ?? '') : own;
    };
    // A patch has a position and no component of its own.
    if (word('name') === '' && word('type') === '') continue;
    yield componentOf(word, where);
  }
}

/** One by one: the array of a million lines is larger than the text. */
export function* linesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end < 0 ? text.length : end);
    yield line.endsWith('\r') ? line.slice(0, -1) : line;
    at = end < 0 ? text.length : end + 1;
  }
}

function componentOf(word: (name: string) => string, where: string): Component {
  const number = (name: string, otherwise: number): number => {
    const text = word(name).replaceAll(/['"]/g, '');
    const value = text === '' ? otherwise : Number(text);
    return Number.isFinite(value) ? value : refuse(where, `its ${name} is '${text}'`, 'give a number');
  };
  const type = word('type').toUpperCase();
  if (type !== 'POINT' && type !== 'GAUSSIAN' && type !== '')
    refuse(where, `is a ${type}`, 'points and Gaussians are what we know');
  const terms = word('spectralindex')
    .replaceAll(/[[\]'"]/g, '')
    .split(',')
    .filter((part) => part.trim() !== '')
    .map(Number);
  if (!terms.every(Number.isFinite))
    refuse(where, `its SpectralIndex is '${word('spectralindex')}'`, 'write numbers, like [-0.7, 0.1]');
  const referenceHz = number('referencefrequency', 0);
  if (terms.some((term) => term !== 0) && !(referenceHz > 0))
    refuse(
      where,
      'has spectral terms and no ReferenceFrequency',
      'give it in Hz, in the line or by the format',
    );
  const fluxJy = number('i', 0);
  const part = (name: string): number => (fluxJy === 0 ? 0 : number(name, 0) / fluxJy);
  const position = { raDeg: rightAscension(word('ra'), where), decDeg: declination(word('dec'), where) };
  const majorDeg = number('majoraxis', 0) / 3600;
  const minorDeg = number('minoraxis', 0) / 3600;
  const source = {
    name: word('name') || 'component',
    position: () => position,
    fluxJy: fluxOf({
      fluxJy,
      terms,
      referenceHz: referenceHz > 0 ? referenceHz : 1e8,
      kind: /^false$/i.test(word('logarithmicsi')) ? 'ordinary' : 'logarithmic',
    }),
    stokes: checkedStokes(where, { q: part('q'), u: part('u'), v: part('v') }),
    ...(type === 'GAUSSIAN' &&
      majorDeg > 0 && { shape: { majorDeg, minorDeg, positionAngleDeg: number('orientation', 0) } }),
  };
  return { source, fluxJy };
}

/** 12:34:56.7, 12h34m56.7s, or degrees with "deg"; from -12 to 0 h in models of BBS. */
export function rightAscension(text: string, where: string): number {
  const degrees = /^([+-]?[\d.]+)\s*deg$/i.exec(text);
  const parts = /^([+-]?)(\d{1,2})[:h](\d{1,2})[:m]([\d.]+)s?$/i.exec(text);
  const raDeg = degrees
    ? Number(degrees[1])
    : parts
      ? (Number(parts[2]) + Number(parts[3]) / 60 + Number(parts[4]) / 3600) * (parts[1] === '-' ? -15 : 15)
      : Number.NaN;
  if (Number.isFinite(raDeg)) return ((raDeg % 360) + 360) % 360;
  return refuse(where, `its Ra is '${text}'`, 'write 12:34:56.7 or 188.7deg');
}

/**
 * -26.42.11.5 as in BBS, +031.39.42.012 as in DP3's tools, -26:42:11.5, -26d42m11.5s, or degrees with or without "deg".
 */
export function declination(text: string, where: string): number {
  const decDeg = degreesOf(text);
  return Math.abs(decDeg) <= 90
    ? decDeg
    : refuse(where, `its Dec is '${text}'`, 'write -26.42.11.5, -26:42:11.5 or -26.7deg, to 90 degrees');
}

function degreesOf(text: string): number {
  const degrees = /^([+-]?[\d.]+)\s*deg$/i.exec(text);
  if (degrees) return Number(degrees[1]);
  const parts = /^([+-]?)(\d{1,3})[.:d](\d{1,2})[.:m]([\d.]+)s?$/i.exec(text);
  if (!parts) return Number.NaN;
  const size = Number(parts[2]) + Number(parts[3]) / 60 + Number(parts[4]) / 3600;
  return parts[1] === '-' ? -size : size;
}
