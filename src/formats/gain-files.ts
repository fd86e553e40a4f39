/** Gains to disk: JSON for us, and beside it CalH5 for pyuvdata. Both appear, or neither. */
import { refuse } from '../core/errors.js';
import { encodeCalH5, type CalH5Facts } from './calh5.js';
import { readCalH5 } from './calh5-read.js';
import { encodeGains, readGains, type GainsFile } from './gains.js';
import { isHdf5 } from './hdf5/read.js';
import { openInput } from './input.js';
import { openOutputSet } from './output.js';

/** "gains.json" and "gains.calh5". */
export function gainPaths(path: string): readonly [json: string, calh5: string] {
  if (!/\.json$/i.test(path))
    refuse(path, 'is no name for JSON', 'end it in .json: CalH5 takes the same name beside it');
  return [path, path.replace(/\.json$/i, '.calh5')];
}

/** The paths that were written. */
export async function writeGainFiles(
  path: string,
  gains: GainsFile,
  facts: CalH5Facts,
): Promise<readonly string[]> {
  const paths = gainPaths(path);
  const set = await openOutputSet(paths);
  try {
    const [json, calh5] = set.files;
    await json.write(encodeGains(gains));
    await encodeCalH5(calh5, gains, facts);
    await set.finish();
  } catch (error) {
    await set.abandon();
    throw error;
  }
  return paths;
}

/** Gains in either form, by what the file holds. */
export async function readGainFile(path: string): Promise<GainsFile> {
  const file = await openInput(path, 'make gains with corella calibrate');
  const head = new Uint8Array(Math.min(8, file.sizeBytes));
  try {
    await file.readExactly(head, 0);
  } finally {
    await file.close();
  }
  if (isHdf5(head)) return readCalH5(path);
  if (!/^\s*\{/.test(new TextDecoder().decode(head)))
    refuse(path, 'holds no gains: it is neither JSON nor CalH5', 'make gains with corella calibrate');
  return readGains(path);
}
