/** WSClean as a peer: the same rows as a Measurement Set, and the gridding time that it reports. */
import { execFile } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Closers } from '../core/closing.js';
import { DEGREES_PER_RADIAN } from '../core/units.js';
import type { WideRows } from '../image/index.js';
import type { Contestant } from './measure.js';
import { pixelCosineOf, type WideField } from './wide-field.js';

const helper = fileURLToPath(new URL('../../scripts/wsclean.py', import.meta.url));
const call = promisify(execFile);
/** Debian's Python has casacore. */
const PYTHON = '/usr/bin/python3';

/** Undefined if WSClean, or the software for Measurement Sets, is not installed. */
export async function openWsclean(
  field: WideField,
  rows: WideRows,
  threads: number,
  closers: Closers,
): Promise<(Contestant & { readonly name: string }) | undefined> {
  try {
    await call('which', ['wsclean']);
    await call(PYTHON, ['-c', 'import casacore']);
  } catch {
    return undefined;
  }
  const folder = await mkdtemp(join(tmpdir(), 'corella-bench-'));
  closers.keep({ close: () => rm(folder, { recursive: true, force: true }) });
  const raw = join(folder, 'rows');
  const ms = join(folder, 'rows.ms');
  await writeRows(raw, rows);
  await call(PYTHON, [helper, 'rows', raw, ms]);
  const scaleDeg = pixelCosineOf(field) * DEGREES_PER_RADIAN;
  const words = [
    '-name',
    join(folder, 'peer'),
    '-size',
    field.pixels,
    field.pixels,
    '-scale',
    `${scaleDeg}deg`,
    '-niter',
    0,
    '-pol',
    'xx',
    '-weight',
    'natural',
    '-use-wgridder',
    '-wgridder-accuracy',
    field.accuracy,
    '-no-small-inversion',
    '-no-reorder',
    '-no-dirty',
    '-log-time',
    '-j',
    threads,
    '-temp-dir',
    folder,
    ms,
  ].map(String);
  return {
    name: 'WSClean, -use-wgridder -no-small-inversion',
    run: async () => {
      // Debian's wsclean refuses to run with OpenBLAS's own threads.
      const env = { ...process.env, OPENBLAS_NUM_THREADS: '1' };
      const { stdout } = await call('wsclean', words, { env, maxBuffer: 2 ** 26 });
      const seconds = secondsOf(stdout, /Gridded visibility count/) - secondsOf(stdout, /Gridding \d+ rows/);
      return { work: rows.weights.length, seconds };
    },
  };
}

/** Time of the matching log line: gridding, planes and transforms, without reading. */
function secondsOf(log: string, what: RegExp): number {
  const line = log.split('\n').find((one) => what.test(one)) ?? '';
  const match = /(\d+):(\d+):([\d.]+)/.exec(line);
  if (!match) throw new Error(`WSClean did not say when it was at ${what.source}:\n${log.slice(-2000)}`);
  return 3600 * Number(match[1]) + 60 * Number(match[2]) + Number(match[3]);
}

async function writeRows(
  path: string,
  { uvwM, frequenciesHz, visibilities, weights }: WideRows,
): Promise<void> {
  const file = await open(path, 'w');
  try {
    const channels = frequenciesHz.length;
    const parts = [
      BigInt64Array.of(BigInt(weights.length / channels), BigInt(channels)),
      frequenciesHz,
      uvwM,
      visibilities ?? new Float32Array(),
    ];
    for (const { buffer, byteOffset, byteLength } of parts)
      await file.write(new Uint8Array(buffer, byteOffset, byteLength));
  } finally {
    await file.close();
  }
}
