/** Temporary folders for tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];
const make = (name: string): string => mkdtempSync(join(tmpdir(), `corella-${name}-`));
const remove = (folder: string): void => {
  rmSync(folder, { recursive: true, force: true });
};

/** A new, empty folder, removed when the process ends, whatever the outcome of its tests. */
export function temporaryFolder(name: string): string {
  if (folders.length === 0)
    process.once('exit', () => {
      folders.forEach(remove);
    });
  const folder = make(name);
  folders.push(folder);
  return folder;
}

/** A temporary folder for one piece of work, removed when that is done. */
export async function inTemporaryFolder<T>(name: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = make(name);
  try {
    return await work(folder);
  } finally {
    remove(folder);
  }
}
