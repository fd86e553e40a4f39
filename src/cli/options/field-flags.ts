/** Errors outside the command line name fields of an observation; here they are translated to the command's flags. */
import { CorellaError } from '../../core/errors.js';
import { fieldsOf } from '../../fields/index.js';
import { observation } from '../../observation/index.js';
import { productFields, productNames } from '../../products/index.js';

const fieldNames = (): string[] =>
  [
    ...fieldsOf(observation).map(({ path }) => path),
    ...productNames.flatMap((name) =>
      fieldsOf(productFields[name], ['products', name]).map(({ path }) => path),
    ),
  ]
    .map((path) => path.join('.'))
    // A name that another begins with comes after it.
    .sort((x, y) => y.length - x.length);

const escaped = (name: string): string => name.replaceAll('.', '\\.');

/** The text with flags in place of fields; those of one word, like "telescope", are words of any sentence. */
function translated(text: string, flagOf: (field: string) => string | undefined): string {
  const names = fieldNames().filter((name) => name.includes('.') && flagOf(name) !== undefined);
  if (names.length === 0) return text;
  const pattern = new RegExp(`(?<![\\w.-])(?:${names.map(escaped).join('|')})(?![\\w-]|\\.\\w)`, 'g');
  return text.replace(pattern, (name) => flagOf(name) ?? name);
}

/** Does the work; its errors name flags where the command has one for the field. */
export async function namingFlags<Result>(
  flagOf: (field: string) => string | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CorellaError)) throw error;
    throw inFlags(error, flagOf);
  }
}

function inFlags(error: CorellaError, flagOf: (field: string) => string | undefined): CorellaError {
  const { where, what, fix } = error;
  const words = {
    where: flagOf(where) ?? translated(where, flagOf),
    what: translated(what, flagOf),
    ...(fix !== undefined && { fix: translated(fix, flagOf) }),
  };
  if (words.where === where && words.what === what && words.fix === fix) return error;
  return new CorellaError(words, { cause: error.cause ?? error });
}

/** The same of a line for people. */
export const lineWithFlags = (line: string, flagOf: (field: string) => string | undefined): string =>
  translated(line, flagOf);
