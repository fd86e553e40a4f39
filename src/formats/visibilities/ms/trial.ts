/**
 * A set is opened first in a small process of its own (casacore/try-set.cpp), which may take so much memory as the set's size
 * allows: over a damaged one casacore asks for gigabytes, or falls, and takes whoever opened it along.
 */
import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CorellaError, refuse } from '../../../core/errors.js';

/** Far more than a sound one needs: OVRO-LWA's of 2.5 MB and one of ours of 76 MB are opened within 8 MB. */
const BASE_BYTES = 128 * 2 ** 20;
/** Tables become strings, arrays and buckets in memory. */
const BYTES_PER_BYTE = 4;

/** What the process answers where the column asked for is not there. */
const NO_COLUMN = 3;

export async function tryOpening(trial: string, path: string, column: string): Promise<void> {
  const most = BASE_BYTES + BYTES_PER_BYTE * (await bytesUnder(path));
  const found = await new Promise<{ readonly said?: string; readonly columns?: string }>((resolve) => {
    execFile(trial, [path, column, String(most)], (error, stdout, stderr) => {
      if (!error) resolve({});
      else if (error.code === NO_COLUMN) resolve({ columns: stdout });
      else
        resolve({ said: error.code === 1 ? stderr : `it falls over it: ${error.signal ?? error.message}` });
    });
  });
  if (found.said !== undefined) throw refusal(path, found.said);
  if (found.columns === undefined) return;
  const there = found.columns.trim().split(/\s+/).filter(Boolean);
  refuse(
    path,
    `has no column ${column} of visibilities`,
    there.length === 0
      ? 'it has none at all: check what wrote it'
      : `choose source.column: ${there.join(' or ')}`,
  );
}

/** What casacore said, in one line. */
export const refusal = (path: string, said: string): CorellaError =>
  new CorellaError({
    where: path,
    what: `casacore refuses it (${said.split('\n')[0].slice(0, 200)})`,
    fix: 'it is damaged, or no Measurement Set: check it with CASA or taql',
  });

async function bytesUnder(folder: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(folder, { recursive: true }))
    bytes += (await stat(join(folder, name))).size;
  return bytes;
}
