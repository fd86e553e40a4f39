/** The files that commands are measured with, each made when it is first asked for, in a folder that is removed. */
import { copyFile, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Closers } from '../../core/closing.js';
import { measureCommand } from './measured.js';

/** Of one size: dual-polarisation stations; the recording is a short one, so many times. */
export interface FileSize {
  readonly name: 'start' | 'small' | 'large';
  readonly stations: number;
  readonly channels: number;
  readonly integrations: number;
  readonly repeats: number;
}

/** A short recording at the 1.6 MHz of its telescope. */
const SHORT_MS = 6.4;
const SHORT_SAMPLES = 10_240;

export const fileSizes = {
  start: { name: 'start', stations: 4, channels: 8, integrations: 2, repeats: 1 },
  /** 524 MB, and 5.3 million values of visibilities. */
  small: { name: 'small', stations: 64, channels: 64, integrations: 10, repeats: 200 },
  /** 2.1 GB, and 53 million values. */
  large: { name: 'large', stations: 64, channels: 64, integrations: 100, repeats: 800 },
} as const satisfies Record<FileSize['name'], FileSize>;

export const samplesOf = ({ repeats }: FileSize): number => SHORT_SAMPLES * repeats;

export const valuesOf = ({ stations, channels, integrations }: FileSize): number =>
  4 * integrations * channels * ((stations * (stations + 1)) / 2);

/** An integration that divides the recording into so many. */
export const integrationOf = ({ repeats }: FileSize, integrations: number): string =>
  `${(SHORT_MS * repeats) / integrations}ms`;

export interface BenchFiles {
  /** A name in the folder for what a command writes. */
  out(name: string): string;
  recording(size: FileSize): Promise<string>;
  visibilities(size: FileSize): Promise<string>;
  /** The same, converted. */
  measurementSet(size: FileSize): Promise<string>;
  gains(size: FileSize): Promise<string>;
}

/** `corella` is how this program is started. */
export async function openFiles(corella: readonly string[], closers: Closers): Promise<BenchFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'corella-bench-'));
  closers.keep({ close: () => rm(folder, { recursive: true, force: true }) });
  const out = (name: string): string => join(folder, name);
  const made = new Map<string, Promise<string>>();
  const once = (name: string, make: (path: string) => Promise<unknown>): Promise<string> => {
    const path = out(name);
    const making = made.get(name) ?? make(path).then(() => path);
    made.set(name, making);
    return making;
  };
  const run = (...words: readonly string[]): Promise<unknown> => measureCommand([...corella, ...words]);
  const files: BenchFiles = {
    out,
    recording: (size) => once(`${size.name}.sigmf-meta`, (path) => record(run, size, path)),
    visibilities: (size) =>
      once(`${size.name}.uvh5`, async (path) => {
        const each = integrationOf(size, size.integrations);
        const recording = await files.recording(size);
        return run(
          'correlate',
          recording,
          '-o',
          path,
          '--channels',
          `${size.channels}`,
          '--integration',
          each,
        );
      }),
    measurementSet: (size) =>
      once(`${size.name}.ms`, async (path) => run('convert', await files.visibilities(size), path)),
    gains: (size) =>
      once(`${size.name}-gains.json`, async (path) =>
        run('calibrate', await files.visibilities(size), '-o', path, '--min-baseline', '0'),
      ),
  };
  return files;
}

/** Simulates a short recording and repeats its samples, which a file of SigMF allows without its hash. */
async function record(
  run: (...words: readonly string[]) => Promise<unknown>,
  { stations, repeats }: FileSize,
  path: string,
): Promise<void> {
  const short = path.replace(/\.sigmf-meta$/, '-short.sigmf-meta');
  await run('simulate', '-o', short, '--stations', `${stations}`, '--duration', `${SHORT_MS}ms`);
  const [from, to] = [short, path].map((meta) => meta.replace(/meta$/, 'data'));
  const text = await readFile(short, 'utf8');
  await writeFile(path, text.replace(/"core:sha512": "[0-9a-f]+",\s*/, ''));
  if (repeats === 1) return copyFile(from, to);
  const samples = await readFile(from);
  const file = await open(to, 'w');
  try {
    for (let n = 0; n < repeats; n++) await file.write(samples);
  } finally {
    await file.close();
  }
}
