/** The library names fields; whoever types a command reads its flags. The one place where that is done. */
import type { Command } from 'commander';
import { CorellaError } from '../../core/errors.js';
import { reworded, type Line } from '../../messages/index.js';
import { inFlagsOf } from '../../observation/flags.js';

let words = (text: string): string => text;

/** From here on texts are in flags of this command. */
export const useFlagsOf = (command: Command): void => {
  words = inFlagsOf(command);
};

/** A line of a result, or a message, in flags. */
export const inFlags = <One extends Line>(line: One): One => reworded(line, words) as One;

/** The same error, of the same class, in flags. */
export function errorInFlags(error: unknown): unknown {
  if (!(error instanceof CorellaError)) return error;
  const [where, what] = [words(error.where), words(error.what)];
  const fix = error.fix === undefined ? undefined : words(error.fix);
  const { message } = new CorellaError({ where, what, fix });
  return Object.assign(error, { where, what, message }, fix === undefined ? {} : { fix });
}
