/** Files that another process is writing: an output never replaces one of them. Known on Linux alone. */
import { readdir, readFile, readlink, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** Access mode bits of open files: write only, or read and write. */
const WRITING = 3;

/** The number of the process that has the file, or a file in this folder, open for writing. */
export async function writerOf(path: string): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined;
  const place = await realpath(path).catch(() => undefined);
  if (place === undefined) return undefined;
  for (const pid of await names('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    // Those of other users cannot be listed.
    for (const fd of await names(`/proc/${pid}/fd`)) {
      const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
      if (target !== place && !target.startsWith(place + sep)) continue;
      const info = await readFile(join('/proc', pid, 'fdinfo', fd), 'latin1').catch(() => '');
      const flags = parseInt(/flags:\s*([0-7]+)/.exec(info)?.[1] ?? '0', 8);
      if ((flags & WRITING) !== 0) return Number(pid);
    }
  }
  return undefined;
}

const names = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);
