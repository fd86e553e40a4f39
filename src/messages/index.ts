/**
 * Entry point of `messages`: all messages to the user beside the result, in one table. Codes are stable. The code that
 * detects a fact makes the message, the terminal prints its text, and --json prints code, severity and data too.
 */
import { calibrateMessages } from './calibrate.js';
import { dataMessages } from './data.js';
import type { Declared, Severity } from './declare.js';
import { errorMessages } from './errors.js';
import { imageMessages } from './image.js';

export { jsonDocuments, type JsonField } from './documents.js';

const table = { ...calibrateMessages, ...imageMessages, ...dataMessages };

type Code = keyof typeof table;
type DataOf<Name extends Code> = Parameters<(typeof table)[Name]['text']>[0];

export interface Message {
  readonly code: Code;
  readonly severity: Severity;
  readonly data: object;
  readonly text: string;
}

/** A line of text: of a result, or a message. */
export type Line = string | Message;

export function message<Name extends Code>(
  code: Name,
  ...[data]: keyof DataOf<Name> extends never ? [] : [data: DataOf<Name>]
): Message {
  const { severity, text } = table[code] as unknown as Entry;
  return { code, severity, data: data ?? {}, text: text(data ?? {}) };
}

interface OrbitsUsed {
  readonly paths: readonly string[];
  readonly satellites: number;
  readonly leastAgeDays: number;
  readonly mostAgeDays: number;
  readonly old: readonly string[];
  readonly leftOut: readonly string[];
}

/** On orbital elements that were used; none if none were. */
export function orbitMessages(used: OrbitsUsed | undefined): Message[] {
  if (!used) return [];
  const { satellites, leastAgeDays, mostAgeDays, paths, old, leftOut } = used;
  return [
    ...(satellites > 0 ? [message('sky.orbits-used', { satellites, leastAgeDays, mostAgeDays, paths })] : []),
    ...(old.length > 0 ? [message('sky.orbits-old', { satellites: old })] : []),
    ...(leftOut.length > 0 ? [message('sky.orbits-left-out', { satellites: leftOut })] : []),
  ];
}

export const isMessage = (line: Line): line is Message => typeof line !== 'string';
export const textOf = (line: Line): string => (isMessage(line) ? line.text : line);
export const messagesIn = (lines: readonly Line[]): Message[] => lines.filter(isMessage);
/** The same line in other words. */
export const reworded = (line: Line, words: (text: string) => string): Line =>
  isMessage(line) ? { ...line, text: words(line.text) } : words(line);

/** As printed on a terminal: a warning has its code, for corella help. */
export const shown = (line: Line): string =>
  isMessage(line) && line.severity !== 'note'
    ? `${line.severity}: ${line.text} [${line.code}]`
    : textOf(line);

type Entry = Omit<Declared<object>, 'data'> & Pick<Explained, 'data'>;

export interface Explained {
  /** A message beside a result, or an error that ends a command. */
  readonly kind: 'message' | 'error';
  readonly code: string;
  readonly severity: Severity;
  readonly data: Readonly<Record<string, string>>;
  readonly help: string;
}

const ERROR_DATA = {
  where: 'the file, option or field',
  what: 'what is wrong',
  fix: 'how to fix it, where known',
};

/** Every code, for corella help, completion and docs/json.md. */
export const explained: readonly Explained[] = [
  ...Object.entries(table as unknown as Readonly<Record<string, Entry>>).map(
    ([code, { severity, data, help }]): Explained => ({ kind: 'message', code, severity, data, help }),
  ),
  ...Object.entries(errorMessages).map(([code, help]): Explained => ({
    kind: 'error',
    code,
    severity: 'error',
    data: ERROR_DATA,
    help,
  })),
];
