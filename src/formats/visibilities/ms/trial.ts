/**
 * A set is opened first in a small process of its own (casacore/try-set.cpp), which may take so much memory as the set's size
 * allows: over a damaged one casacore asks for gigabytes, or falls, and takes whoever opened it along.
 */
import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CorellaError } from '../../../core/errors.js';

/** Far more than a sound one needs: OVRO-LWA's of 2.5 MB and one of ours of 76 MB are opened within 8 MB. */
const BASE_BYTES = 128 * 2 ** 20;
/** Tables become strings, arrays and buckets in memory. */
const BYTES_PER_BYTE = 4;

export async function tryOpening(trial: string, path: string, column: string): Promise<void> {
  const most = BASE_BYTES + BYTES_PER_BYTE * (await bytesUnder(path));
  const said = await new Promise<string | undefined>((resolve) => {
    execFile(trial, [path, column, String(most)], (error, _stdout, stderr) => {
      if (!error) resolve(undefined);
      else resolve(error.code === 1 ? stderr : `it falls over it: ${error.signal ?? error.message}`);
    });
  });
  if (said !== undefined) throw refusal(path, said);
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
