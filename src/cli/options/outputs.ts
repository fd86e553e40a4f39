/** Checks of a command's outputs before the work starts. */
import { readFile, readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import { namesIn, sameFile } from '../../formats/index.js';

export interface OutputOptions {
  readonly overwrite?: boolean;
}

/** The default name of a result: its first input's name, in the current folder, with another ending. */
export function namedAfter(input: string, ending: string): string {
  const file = basename(namesIn(input)[0].replace(/[?#].*$/, ''));
  const stem =
    file
      .replace(/\.[^.]*$/, '')
      .replaceAll(/[*?]/g, '')
      .replace(/[._-]+$/, '') || 'corella';
  // FITS may also hold visibilities.
  return stem + ending === file ? `${stem}-result${ending}` : stem + ending;
}

/** The last file of a demo: it marks a folder as a demo's own. */
const DEMO_MARK = 'summary.json';

/**
 * A folder for many products: new, empty, or of an earlier demo with the same options; any other might hold files to
 * keep.
 */
export async function checkDemoFolder(
  folder: string,
  asked: object,
  { overwrite }: OutputOptions,
): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  if (overwrite === true || names.length === 0) return;
  if (!names.includes(DEMO_MARK))
    refuse(
      folder,
      `holds ${names.length === 1 ? names[0] : `${names.length} other things`} already`,
      'name another folder with --out, or give --overwrite',
      'file.exists',
    );
  const { options } = await readFile(join(folder, DEMO_MARK), 'utf8')
    .then((text) => JSON.parse(text) as { readonly options?: object })
    .catch(() => ({ options: undefined }));
  if (!isDeepStrictEqual(options, JSON.parse(JSON.stringify(asked))))
    refuse(
      folder,
      'holds the demo of other options',
      'name another folder with --out, or replace it with --overwrite',
      'file.exists',
    );
}

/** Options of all commands that name an output, and the argument that does. */
const WRITTEN: readonly string[] = [
  'out',
  'output',
  'flagsOut',
  'equaliserOut',
  'delaysOut',
  'picture',
  'spectrum',
  'uv',
  'antennas',
  'truth',
];
/** Other options whose value may be a file; --bits float is not one. */
const MAY_NAME_A_FILE = /<[^>]*(?:path|file|place|capture|list|beam)|^--telescope/;
const WRITTEN_ARGUMENT = 'to';
const READ = 'what is read';

/** Refuses one file named twice: a result would replace an input or another result. */
export async function refuseNamedTwice(command: Command): Promise<void> {
  const options = command.options.flatMap((option) => {
    const name = option.attributeName();
    const isWritten = WRITTEN.includes(name);
    if (!isWritten && !(command.getOptionValueSource(name) === 'cli' && MAY_NAME_A_FILE.test(option.flags)))
      return [];
    const value: unknown = command.getOptionValue(name);
    return typeof value === 'string' ? [{ what: option.long ?? name, path: value, isWritten }] : [];
  });
  const words = command.registeredArguments.flatMap((argument, k) => {
    const isWritten = argument.name() === WRITTEN_ARGUMENT;
    const what = isWritten ? 'the result' : READ;
    return [command.processedArgs[k] as unknown]
      .flat()
      .filter((value) => typeof value === 'string')
      .flatMap((value) => (isWritten ? [value] : [value, ...value.split(',')]))
      .map((path) => ({ what, path, isWritten }));
  });
  const named = [...options, ...words];
  for (const result of named.filter(({ isWritten }) => isWritten))
    for (const other of named)
      if (other !== result && (await isOne(result.path, other.path)))
        refuse(
          result.path,
          other.what === READ
            ? 'is the very file that is read'
            : `is named as ${result.what} and as ${other.what}`,
          'give the result another name',
        );
}

/** By name if the file does not exist, else by identity; the two files of a SigMF recording are one. */
const isOne = async (x: string, y: string): Promise<boolean> => {
  const [a, b] = [x, y].map((path) => resolve(path).replace(/\.sigmf(?:-meta|-data)$/i, '.sigmf'));
  return a === b || sameFile(x, y);
};

export function checkPngName(option: string, path: string): void {
  if (!/\.png$/i.test(path)) refuse(option, `'${path}' does not end in .png`, 'pictures are written as PNG');
}
