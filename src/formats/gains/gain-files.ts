/** Writes gains: JSON for our programs, and CalH5 beside it for pyuvdata. Both files appear, or neither. */
import { stat } from 'node:fs/promises';
import { closingAfter } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import { encodeCalH5, type CalH5Facts } from './calh5.js';
import { isCalFits, readCalFits } from './calfits.js';
import { readCalH5 } from './calh5-read.js';
import { encodeGains, readGains, type GainsFile } from './gains.js';
import { isHdf5, openHdf5 } from '../hdf5/read.js';
import { headOf, withInput } from '../io/input.js';
import { openOutputSet } from '../io/output.js';
import { tartGainsIn } from '../tart/tart.js';

/** "gains.json" and "gains.calh5". */
export function gainPaths(path: string): readonly [json: string, calh5: string] {
  if (!/\.json$/i.test(path))
    refuse(path, 'is no name for JSON', 'end it in .json: CalH5 takes the same name beside it');
  return [path, path.replace(/\.json$/i, '.calh5')];
}

/** Returns the written paths. */
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

/** 'marked' JSON begins with a marker for gains; 'json' may be anything. */
type GainForm = 'marked' | 'json' | 'calh5' | 'calfits';

/** The cards that identify a FITS file's content are among its first. */
const HEAD_BYTES = 4 * 2880;

async function gainForm(path: string): Promise<GainForm | undefined> {
  const head = await withInput(path, (file) => headOf(file, HEAD_BYTES), 'make gains with corella calibrate');
  const text = new TextDecoder('latin1').decode(head);
  if (/^\s*\{\s*"format":\s*"corella-gains"/.test(text)) return 'marked';
  if (/^\s*\{/.test(text)) return 'json';
  if (isCalFits(text)) return 'calfits';
  if (!isHdf5(head)) return undefined;
  return closingAfter(async (closers) =>
    closers.keep(await openHdf5(path)).has('Header/cal_type') ? 'calh5' : undefined,
  );
}

/** Whether this is certainly a file of gains, for callers that accept any kind; missing files are refused elsewhere. */
export async function holdsGains(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) return false;
  const form = await gainForm(path);
  return form === 'marked' || form === 'calh5' || form === 'calfits';
}

async function readForm(path: string): Promise<GainsFile> {
  const form = await gainForm(path);
  if (form === 'calh5') return readCalH5(path);
  if (form === 'calfits') return readCalFits(path);
  if (form === 'marked') return readGains(path);
  const own = await tartGainsIn(path);
  if (own) return own;
  if (form === 'json') return readGains(path);
  return refuse(
    path,
    'holds no gains: it is neither JSON, CalH5 nor CalFITS',
    'make gains with corella calibrate',
  );
}

/** Gains in any form, identified by content. */
export async function readGainFile(path: string): Promise<GainsFile> {
  const file = await readForm(path);
  for (const { gains, leakage, solved } of [file, ...(file.later ?? [])])
    for (const [n, isSolved] of solved.entries()) {
      if (isSolved === 0) continue;
      // Of crossed dipoles all may be leakage.
      checkSize(path, file, n, gains.subarray(2 * n, 2 * n + 2), leakage ? 0 : LEAST_GAIN);
      if (leakage) checkSize(path, file, n, leakage.subarray(2 * n, 2 * n + 2), 0);
    }
  return file;
}

/** Outside these the product of four gains, by which data are divided, may overflow; no receiver comes near them. */
const [LEAST_GAIN, MOST_GAIN] = [1e-60, 1e60];

/** For input and channel n : [c][a]. */
function checkSize(
  path: string,
  { frequenciesHz, solved }: GainsFile,
  n: number,
  [re, im]: Float64Array,
  least: number,
): void {
  const size = Math.hypot(re, im);
  if (size >= least && size <= MOST_GAIN) return;
  const inputs = solved.length / frequenciesHz.length;
  refuse(
    path,
    `the gain of input ${n % inputs} in channel ${Math.floor(n / inputs)} is ${size}: no receiver has one like it`,
    'make gains with corella calibrate',
  );
}
