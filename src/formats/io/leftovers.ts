/** Temporary names of outputs: how they are made, and what a process that was killed left under them. */
import { randomBytes } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** `.NAME.PID-RANDOM.part` in the same folder: the name says whose it is and who writes it. */
export const temporaryName = (path: string): string =>
  join(dirname(path), `.${basename(path)}.${process.pid}-${randomBytes(6).toString('hex')}.part`);

const shape = /^\.(.+)\.(?:(\d+)-)?[0-9a-f]{12}\.part$/;

/** The name that a temporary one stands for, where it is one of ours. */
export function finalNameOf(path: string): string | undefined {
  const name = shape.exec(basename(path))?.[1];
  return name === undefined ? undefined : join(dirname(path), name);
}

export interface Leftover {
  readonly path: string;
  /** What it would have become. */
  readonly finalPath: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  /** Its process is there still, or another one with the same number. */
  readonly isBeingWritten: boolean;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Someone else's process: alive, and not ours to ask.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** What earlier runs left in a folder, the oldest first; with `of`, of that output alone. */
export async function findLeftovers(folder: string, of?: string): Promise<Leftover[]> {
  const found: Leftover[] = [];
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
