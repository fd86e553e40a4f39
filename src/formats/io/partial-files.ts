/** Temporary names of outputs: how they are made, and the partial files that a killed process left. */
import { randomBytes } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** `.NAME.PID-RANDOM.part` in the same folder: contains the final name and the writing process. */
export const temporaryName = (path: string): string =>
  join(dirname(path), `.${basename(path)}.${process.pid}-${randomBytes(6).toString('hex')}.part`);

const shape = /^\.(.+)\.(?:(\d+)-)?[0-9a-f]{12}\.part$/;

/** The final name of a temporary one; undefined if it is not ours. */
export function finalNameOf(path: string): string | undefined {
  const name = shape.exec(basename(path))?.[1];
  return name === undefined ? undefined : join(dirname(path), name);
}

export interface PartialFile {
  readonly path: string;
  /** The final path. */
  readonly finalPath: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  /** Its process, or another with the same number, still runs. */
  readonly isBeingWritten: boolean;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user: alive, but it may not be signalled.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** The partial files of earlier runs in a folder, oldest first; with `of`, only those of that output. */
export async function findPartialFiles(folder: string, of?: string): Promise<PartialFile[]> {
  const found: PartialFile[] = [];
  for (const entry of await readdir(folder).catch((): string[] => [])) {
    const parts = shape.exec(entry);
    if (!parts || (of !== undefined && parts[1] !== basename(of))) continue;
    const path = join(folder, entry);
    const facts = await stat(path).catch(() => undefined);
    if (facts?.isFile() !== true) continue;
    found.push({
      path,
      finalPath: join(folder, parts[1]),
      sizeBytes: facts.size,
      modifiedMs: facts.mtimeMs,
      isBeingWritten: parts[2] !== String(process.pid) && isAlive(Number(parts[2])),
    });
  }
  return found.sort((x, y) => x.modifiedMs - y.modifiedMs);
}
