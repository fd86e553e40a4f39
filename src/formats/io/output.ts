/**
 * Files appear complete or not at all: data is written under a temporary name in the same folder, and the file gets its
 * final name when finished. Unfinished files are removed when the process ends, unless a reader can already use them
 * (`worthKeeping`).
 */
import { existsSync, rmSync } from 'node:fs';
import {
  lstat,
  mkdir,
  open,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  statfs,
  type FileHandle,
} from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { beforeEnding } from '../../core/ending.js';
import { CorellaError, refuse } from '../../core/errors.js';
import { formatBytes } from '../../core/units.js';
import { isBeingRead } from './being-read.js';
import { writerOf } from './being-written.js';
import { onDisk } from './disk-wait.js';
import { temporaryName } from './partial-files.js';

export interface OutputFile {
  readonly path: string;
  /** Bytes appended so far. */
  readonly sizeBytes: number;
  /** Appends; resolves when the system has accepted the bytes, so that awaiting it is the back-pressure. */
  write(bytes: Uint8Array): Promise<void>;
  /** Overwrites earlier bytes, and may extend beyond the end. */
  writeAt(position: number, bytes: Uint8Array): Promise<void>;
  /** Truncates, or extends with zeros. */
  resize(sizeBytes: number): Promise<void>;
  /** The content so far is usable: if the process ends, the file stays under its temporary name. */
  worthKeeping(): void;
  /** Gets its final name now and continues to grow; `abandon` then leaves it there. */
  appear(): Promise<void>;
  finish(): Promise<void>;
  /** Removes the file; no effect after finish or on a second call. */
  abandon(): Promise<void>;
}

/** The two steps of finishing, for files that must appear together. */
interface PendingFile extends OutputFile {
  /** All bytes are on disk, still under the temporary name. */
  seal(): Promise<void>;
  publish(): Promise<void>;
}

const unfinished = new Set<string>();
let stopWatching = (): void => undefined;

function removeUnfinished(): void {
  for (const path of unfinished) rmSync(path, { force: true });
  unfinished.clear();
}

function remember(path: string): void {
  if (unfinished.size === 0) {
    process.on('exit', removeUnfinished);
    stopWatching = beforeEnding(removeUnfinished);
  }
  unfinished.add(path);
}

function forget(path: string): void {
  unfinished.delete(path);
  if (unfinished.size > 0) return;
  process.removeListener('exit', removeUnfinished);
  stopWatching();
}

export const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

const DISK_FULL = ['ENOSPC', 'EDQUOT'];

/** A system error, in our own words. */
function cannotWrite(path: string, error: unknown): never {
  if (error instanceof CorellaError) throw error;
  const folder = dirname(resolve(path));
  const known: Partial<Record<string, [string, string]>> = {
    ENOENT: existsSync(folder)
      ? [`the system makes no files in ${folder}`, 'name a place on a disk']
      : [`the folder ${folder} does not exist`, 'make it first, or name another place'],
    ENOTDIR: [`${folder} is not a folder`, 'name a folder that exists'],
    EACCES: [`the folder ${folder} may not be written`, 'change its permissions, or name another place'],
    EPERM: [`the folder ${folder} may not be written`, 'change its permissions, or name another place'],
    EROFS: [`the folder ${folder} is on a read-only disk`, 'name another place'],
    ENOSPC: [`the disk of ${folder} is full`, 'make room, or name another place'],
    EDQUOT: [`your quota on the disk of ${folder} is used up`, 'make room, or name another place'],
    ENAMETOOLONG: ['the name is too long for the file system', 'give a shorter one'],
    EISDIR: ['it is a folder', 'name a file inside it'],
  };
  const [what, fix] = known[errorCode(error)] ?? [String(error), 'name another place'];
  const code = DISK_FULL.includes(errorCode(error)) ? 'disk.full' : 'file.unwritable';
  throw new CorellaError({ where: path, what: `cannot be written: ${what}`, fix, code }, { cause: error });
}

/** The error code if another program truncated the file during writing. */
export const TRUNCATED = 'ETRUNCATED';

function refuseTruncated(path: string, size: number, takenBytes: number): never {
  throw new CorellaError(
    {
      where: path,
      what: `was truncated by another program while it was written: ${size} bytes are left of ${takenBytes}`,
      fix: 'write it again, and let no other program change it',
    },
    { cause: Object.assign(new Error('truncated'), { code: TRUNCATED }) },
  );
}

/** A Measurement Set is a folder; casacore stores a table's description in this file. */
export const isMeasurementSet = (path: string): boolean => existsSync(join(path, 'table.dat'));

/** Finishing never replaces a folder, a device or pipe (/dev/null, /dev/stdout), nor a file that is being read. */
async function refuseUnlessFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) refuse(path, 'cannot be written: it is a folder', 'name a file inside it');
  if (found && !found.isFile()) {
    refuse(path, 'cannot be written: it is not a plain file', 'name a file on a disk');
  }
  if (await isBeingRead(path)) refuse(path, 'is the very file that is read', 'give the result another name');
}

/** As the system allows. */
const MOST_LINKS = 40;

/** The actual path for a requested name: links are followed and preserved; the file is created where they lead. */
export async function placeOf(path: string): Promise<string> {
  let place = path;
  for (let links = 0; links < MOST_LINKS; links++) {
    const found = await lstat(place).catch(() => undefined);
    if (found?.isSymbolicLink() !== true) return place;
    place = resolve(await realpath(dirname(place)), await readlink(place));
  }
  return refuse(path, 'cannot be written: it is one of links that lead in a circle', 'name a file');
}

/** Refuses a place where writing fails, before long work starts; tests it by writing. */
export async function checkOutput(path: string): Promise<void> {
  // A Measurement Set is replaced as a whole.
  if (!(/\.ms$/i.test(path) && isMeasurementSet(path))) await refuseUnlessFile(path);
  const writer = await writerOf(path);
  if (writer !== undefined)
    refuse(
      path,
      `is being written by another process, ${writer}`,
      'wait until it has ended, or give the result another name',
    );
  const trial = temporaryName(await placeOf(path));
  remember(trial);
  try {
    const handle = await open(trial, 'wx').catch((error: unknown) => cannotWrite(path, error));
    await handle.close();
    await rm(trial, { force: true });
  } finally {
    forget(trial);
  }
}

/** Free space on the disk of an output. */
export async function freeBytesFor(path: string): Promise<number> {
  const disk = await statfs(dirname(resolve(path))).catch((error: unknown) => cannotWrite(path, error));
  // Some file systems report zero for everything.
  return disk.blocks === 0 ? Infinity : disk.bavail * disk.bsize;
}

/** Refuses an output larger than the free disk space, if the size is known in advance. */
export async function checkRoom(path: string, sizeBytes: number): Promise<void> {
  const folder = dirname(resolve(path));
  const freeBytes = await freeBytesFor(path);
  // A replaced file stays until the new one is complete, so its space does not count as free.
  if (sizeBytes > freeBytes)
    refuse(
      path,
      `would take ${formatBytes(sizeBytes)}, and the disk of ${folder} has ${formatBytes(freeBytes)} left`,
      'make room, write less, or name another place',
    );
}

/** For writers that are not ours: as if the disk were full, if it has less than this. */
export async function requireRoom(path: string, sizeBytes: number): Promise<void> {
  if ((await freeBytesFor(path)) < sizeBytes)
    cannotWrite(path, Object.assign(new Error('no room'), { code: 'ENOSPC' }));
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

async function openPending(path: string): Promise<PendingFile> {
  if (path === '') refuse('output', 'no file name was given', 'name the file to write');
  await refuseUnlessFile(path);
  const place = await placeOf(path);
  const temporary = temporaryName(place);
  remember(temporary);
  const handle = await open(temporary, 'wx').catch((error: unknown) => {
    forget(temporary);
    return cannotWrite(path, error);
  });
  let state: 'open' | 'sealed' | 'closed' = 'open';
  let hasAppeared = false;
  let sizeBytes = 0;
  /** Bytes accepted by the system: the file is never shorter unless another program truncates it. */
  let takenBytes = 0;

  /** Continuing would leave a gap of zeros in place of integrations. */
  const checkLength = async (): Promise<void> => {
    const { size } = await handle.stat().catch((error: unknown) => cannotWrite(path, error));
    if (size < takenBytes) refuseTruncated(path, size, takenBytes);
  };
  const put = async (bytes: Uint8Array, position: number): Promise<void> => {
    if (state !== 'open') throw new Error(`${path} was written to after it was finished or abandoned`);
    await checkLength();
    await onDisk(() => writeAll(handle, bytes, position)).catch((error: unknown) => cannotWrite(path, error));
    takenBytes = Math.max(takenBytes, position + bytes.length);
  };
  const abandon = async (): Promise<void> => {
    if (state === 'closed') return;
    if (state === 'open') await handle.close().catch(() => undefined);
    state = 'closed';
    if (hasAppeared) return;
    await rm(temporary, { force: true });
    forget(temporary);
  };
  const seal = async (): Promise<void> => {
    if (state !== 'open') throw new Error(`${path} was finished twice`);
    try {
      await onDisk(() => handle.sync());
      await checkLength();
      await handle.close();
      state = 'sealed';
    } catch (error) {
      await abandon();
      cannotWrite(path, error);
    }
  };
  const publish = async (): Promise<void> => {
    if (hasAppeared) {
      state = 'closed';
      return;
    }
    try {
      await refuseUnlessFile(path);
      await rename(temporary, place);
      state = 'closed';
      forget(temporary);
    } catch (error) {
      await abandon();
      cannotWrite(path, error);
    }
  };
  return {
    path,
    get sizeBytes() {
      return sizeBytes;
    },
    write: async (bytes) => {
      const position = sizeBytes;
      sizeBytes += bytes.length;
      await put(bytes, position);
    },
    writeAt: async (position, bytes) => {
      if (position < 0 || position > sizeBytes) {
        throw new Error(`${path}: byte ${position} is outside what was written`);
      }
      sizeBytes = Math.max(sizeBytes, position + bytes.length);
      await put(bytes, position);
    },
    resize: async (size) => {
      if (state !== 'open') throw new Error(`${path} was written to after it was finished or abandoned`);
      await checkLength();
      await handle.truncate(size).catch((error: unknown) => cannotWrite(path, error));
      sizeBytes = size;
      takenBytes = size;
    },
    worthKeeping: () => {
      forget(temporary);
    },
    appear: async () => {
      if (hasAppeared || state !== 'open') return;
      await refuseUnlessFile(path);
      await rename(temporary, place).catch((error: unknown) => cannotWrite(path, error));
      hasAppeared = true;
      forget(temporary);
    },
    seal,
    publish,
    finish: async () => {
      await seal();
      await publish();
    },
    abandon,
  };
}

export const openOutput = (path: string): Promise<OutputFile> => openPending(path);

/** Several files that belong together: all appear, in the given order, or none. */
interface OutputSet {
  readonly files: readonly OutputFile[];
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

export async function openOutputSet(paths: readonly string[]): Promise<OutputSet> {
  const files: PendingFile[] = [];
  const abandon = async (): Promise<void> => {
    for (const file of files) await file.abandon();
  };
  try {
    for (const path of paths) files.push(await openPending(path));
  } catch (error) {
    await abandon();
    throw error;
  }
  return {
    files,
    abandon,
    finish: async () => {
      const published: string[] = [];
      try {
        for (const file of files) await file.seal();
        for (const file of files) {
          await file.publish();
          published.push(file.path);
        }
      } catch (error) {
        await abandon();
        for (const path of published) await rm(path, { force: true });
        throw error;
      }
    },
  };
}

/** Writes a file, complete or not at all. */
export async function writeOutput(path: string, write: (file: OutputFile) => Promise<void>): Promise<void> {
  const file = await openOutput(path);
  try {
    await write(file);
    await file.finish();
  } catch (error) {
    await file.abandon();
    throw error;
  }
}

export const writeFileWhole = (path: string, contents: Uint8Array | string): Promise<void> =>
  writeOutput(path, (file) =>
    file.write(typeof contents === 'string' ? new TextEncoder().encode(contents) : contents),
  );

/** Creates the folder and its parents, for commands that fill one; keeps existing content. */
export async function makeFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return;
  if (found) refuse(path, 'cannot be made: a file of that name is in the way', 'name another folder');
  // One level at a time: Node's recursive mkdir never returns if the system keeps answering ENOENT.
  const above = dirname(resolve(path));
  if (above !== resolve(path)) await makeFolder(above);
  await mkdir(path).catch((error: unknown) => {
    const code = errorCode(error);
    if (code === 'EEXIST') return;
    const why: Partial<Record<string, string>> = {
      ENOENT: 'the system makes none there',
      EROFS: 'it is on a read-only disk',
      EACCES: `${above} may not be written`,
      EPERM: `${above} may not be written`,
      ENOTDIR: `${above} is not a folder`,
      ENOSPC: 'the disk is full',
      EDQUOT: 'your quota is used up',
      ENAMETOOLONG: 'the name is too long for the file system',
    };
    throw new CorellaError(
      {
        where: path,
        what: `the folder cannot be made: ${why[code] ?? String(error)}`,
        fix: 'name a place that may be written',
        code: DISK_FULL.includes(code) ? 'disk.full' : 'file.unwritable',
      },
      { cause: error },
    );
  });
}
