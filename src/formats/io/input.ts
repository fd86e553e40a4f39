/** Opens and reads files, with our own error messages. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { open, readlink, realpath, stat, type FileHandle } from 'node:fs/promises';
import { extname, sep } from 'node:path';
import { closingAfter, preparing } from '../../core/closing.js';
import { CorellaError, refuse } from '../../core/errors.js';
import { meantBeside } from '../../core/spelling.js';
import { formatBytes } from '../../core/units.js';
import { nowReading } from './being-read.js';
import { errorCode } from './output.js';
import { isRemote, isUnder, openRemote, type InputFile } from './remote.js';

export type { InputFile };

/** A system error, in our own words. */
export function cannotRead(path: string, error: unknown, whenMissing = 'check the name'): never {
  if (error instanceof CorellaError) throw error;
  const known: Partial<Record<string, [string, string]>> = {
    ENOENT: ['there is no such file', whenMissing],
    ENOTDIR: ['there is no such file', whenMissing],
    EACCES: ['it may not be read', 'change its permissions'],
    EPERM: ['it may not be read', 'change its permissions'],
    EISDIR: ['it is a folder', 'name a file inside it'],
    ELOOP: ['it is one of links that lead in a circle', 'name the file itself'],
    ENAMETOOLONG: ['its name is longer than the file system allows', 'check the name'],
  };
  const [what, fix] = known[errorCode(error)] ?? [`it cannot be read (${String(error)})`, 'check the disk'];
  throw new CorellaError({ where: path, what, fix }, { cause: error });
}

/** Folders outside which no file is opened, links resolved; undefined: no limit. */
let confinedTo: readonly string[] | undefined;

/**
 * From now on this process opens files only in these folders or under these addresses, also through links: for a worker
 * that gets its paths from another machine. Returns a function that lifts the limit.
 */
export async function confineReading(folders: readonly string[]): Promise<() => void> {
  confinedTo = await Promise.all(
    folders.map(async (folder) =>
      isRemote(folder) ? folder : realpath(folder).catch((error: unknown) => cannotRead(folder, error)),
    ),
  );
  return () => {
    confinedTo = undefined;
  };
}

/** If reading is confined, also allows this folder until released. */
export async function allowReading(folder: string): Promise<() => void> {
  if (!confinedTo) return () => undefined;
  const real = await realpath(folder);
  confinedTo = [...confinedTo, real];
  return () => {
    confinedTo = confinedTo?.filter((one) => one !== real);
  };
}

async function refuseOutside(path: string, folders: readonly string[]): Promise<void> {
  const isInside = isRemote(path)
    ? isUnder(path, folders.filter(isRemote))
    : await liesIn(
        path,
        folders.filter((folder) => !isRemote(folder)),
      );
  if (!isInside)
    refuse(
      path,
      `is outside ${folders.join(', ')}, where this process may read`,
      'put it there, or start the worker with another --root',
    );
}

async function liesIn(path: string, folders: readonly string[]): Promise<boolean> {
  const real = await realpath(path).catch((error: unknown) => cannotRead(path, error));
  return folders.some((folder) => real.startsWith(folder.endsWith(sep) ? folder : folder + sep));
}

/** Which files on disk are opened: a recording may consist of several, and only its reader knows them. */
const noting = new AsyncLocalStorage<Set<string>>();

/** The result of `open`, and the paths it opened, each once, in order. */
export async function notingFiles<Opened>(
  open: () => Promise<Opened>,
): Promise<{ readonly opened: Opened; readonly paths: readonly string[] }> {
  const paths = new Set<string>();
  const opened = await noting.run(paths, open);
  return { opened, paths: [...paths] };
}

/** `whenMissing` is the advice if neither the file nor one of the same kind with a similar name exists. */
export async function openInput(path: string, whenMissing?: string): Promise<InputFile> {
  if (confinedTo) await refuseOutside(path, confinedTo);
  if (isRemote(path)) return openRemote(path);
  const found = await stat(path, { bigint: true }).catch(async (error: unknown) => {
    const target = await readlink(path).catch(() => undefined);
    if (target !== undefined && errorCode(error) === 'ENOENT')
      refuse(
        path,
        `is a link to ${target}, which is not there`,
        'put the file back there, or name it itself',
        'file.not-found',
      );
    return cannotRead(
      path,
      error,
      (await meantBeside(path, whenMissing === undefined ? '' : extname(path))) ?? whenMissing,
    );
  });
  if (found.isDirectory()) refuse(path, 'it is a folder', 'name a file inside it', 'file.unreadable');
  if (!found.isFile()) refuse(path, 'it is not a plain file', 'name a file on a disk', 'file.unreadable');
  const handle: FileHandle = await open(path, 'r').catch((error: unknown) => cannotRead(path, error));
  const sizeBytes = Number(found.size);
  const readToTheEnd = nowReading(found);
  noting.getStore()?.add(path);
  let closed = false;
  return {
    path,
    sizeBytes,
    readExactly: async (target, position) => {
      let done = 0;
      while (done < target.length) {
        const { bytesRead } = await handle
          .read(target, done, target.length - done, position + done)
          .catch((error: unknown) => cannotRead(path, error));
        if (bytesRead === 0) {
          refuse(
            path,
            `the file ends ${formatBytes(target.length - done)} too early (at byte ${position + done})`,
            'it was cut short: copy it again',
          );
        }
        done += bytesRead;
      }
    },
    close: async () => {
      if (closed) return;
      closed = true;
      readToTheEnd();
      await handle.close();
    },
  };
}

/** Opens the file for `use`, and closes it if `use` fails. */
export const openOn = <Opened>(path: string, use: (file: InputFile) => Promise<Opened>): Promise<Opened> =>
  preparing(async (closers) => use(closers.keep(await openInput(path))));

/** Opens the file for `use`, and closes it afterwards. */
export const withInput = <Result>(
  path: string,
  use: (file: InputFile) => Promise<Result> | Result,
  whenMissing?: string,
): Promise<Result> => closingAfter(async (closers) => use(closers.keep(await openInput(path, whenMissing))));

/** The first bytes of a file, or all of a shorter one. */
export async function headOf(file: InputFile, mostBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const head = new Uint8Array(Math.min(mostBytes, file.sizeBytes));
  await file.readExactly(head, 0);
  return head;
}

const MOST_TEXT_BYTES = 256 * 2 ** 20;

/** A whole text file; fails if it is larger than any header. */
export const readText = (path: string, whenMissing?: string): Promise<string> =>
  withInput(
    path,
    async (file) => {
      if (file.sizeBytes > MOST_TEXT_BYTES)
        refuse(
          path,
          `holds ${formatBytes(file.sizeBytes)}, too much for a text header`,
          'check that it is the right file',
        );
      return new TextDecoder('utf-8').decode(await headOf(file, file.sizeBytes));
    },
    whenMissing,
  );

/** External JSON is `unknown` until a schema has checked it. */
export async function readJson(path: string, whenMissing?: string): Promise<unknown> {
  const text = await readText(path, whenMissing);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return refuse(
      path,
      `is not valid JSON (${reason})`,
      'it was damaged or cut short: copy it again or correct it',
      'file.damaged',
    );
  }
}

/** A damaged header may ask for more than the memory: reported as such, not as an internal error. */
export async function withinMemory<Opened>(path: string, open: () => Promise<Opened>): Promise<Opened> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CorellaError(
      {
        where: path,
        what: 'promises more than memory can hold',
        fix: 'its header is damaged: copy it again',
        code: 'file.damaged',
      },
      { cause: error },
    );
  }
}
