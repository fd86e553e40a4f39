/**
 * Replaces names of fields, used by the library, by flags in the messages of a command. The only place that does this.
 */
import type { Command } from 'commander';
import { CorellaError } from '../../core/errors.js';
import { reworded, type Line } from '../../messages/index.js';
import { inFlagsOf } from '../../observation/flags.js';

let words = (text: string): string => text;

/** Sets the command whose flags appear in texts from now on. */
export const useFlagsOf = (command: Command): void => {
  words = inFlagsOf(command);
};

/** A line of a result, or a message, with flags. */
export const inFlags = <One extends Line>(line: One): One => reworded(line, words) as One;

/** The same error, of the same class, with flags. */
export function errorInFlags(error: unknown): unknown {
  if (!(error instanceof CorellaError)) return error;
  const [where, what] = [words(error.where), words(error.what)];
  const fix = error.fix === undefined ? undefined : words(error.fix);
  const { message } = new CorellaError({ where, what, fix });
  return Object.assign(error, { where, what, message }, fix === undefined ? {} : { fix });
}
