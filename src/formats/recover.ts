/** Repairs or removes the partial files of a killed run. */
import { readdir, readFile, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { refuse } from '../core/errors.js';
import { repairFilterbank } from './filterbank/filterbank.js';
import { repairFitsSeries } from './fits/series.js';
import { isThere } from './io/outputs.js';
import { findPartialFiles, finalNameOf, type PartialFile } from './io/partial-files.js';
import { formats, openFile, visibilityFormatFor } from './registry.js';

/** The result for one file. */
export interface Recovered {
  readonly path: string;
  readonly from: string;
  /** Size of the partial file. */
  readonly sizeBytes: number;
  readonly integrations: number;
  readonly outcome: 'recovered' | 'whole already' | 'nothing was finished' | 'removed' | 'no visibilities';
}

/** Repaired or removed; empty if no killed run left files. */
export async function recover(
  path: string,
  { remove = false, overwrite = false }: { readonly remove?: boolean; readonly overwrite?: boolean } = {},
): Promise<readonly Recovered[]> {
  const left = await partialFilesOf(path);
  const busy = left.find(({ isBeingWritten }) => isBeingWritten);
  if (busy) refuse(busy.path, 'is still being written', 'stop that run first');
  const done: Recovered[] = [];
  if (remove) {
    for (const { path: from, finalPath, sizeBytes } of left) {
      await rm(from);
      done.push({ path: finalPath, from, sizeBytes, integrations: 0, outcome: 'removed' });
    }
  } else {
    const found = await recoverAll(left, overwrite);
    const isDone = found.some(({ outcome }) => outcome === 'recovered');
    const inPlace = !isDone && (await isPlainOutput(path)) ? await repairInPlace(path) : undefined;
    if (inPlace) done.push(inPlace);
    done.push(...found);
  }
  if (done.length === 0 && !(await isThere(path)))
    refuse(
      path,
      'is not there, and no killed run left anything of it',
      'name the file that was being written, or its folder',
    );
  return done;
}

/** In a folder, of an output, or the partial file itself. */
async function partialFilesOf(path: string): Promise<PartialFile[]> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true) return findPartialFiles(path);
  const final = finalNameOf(path);
  const all = await findPartialFiles(dirname(path), final ?? path);
  return final === undefined ? all : all.filter((one) => one.path === path || one.path === `./${path}`);
}

/** Files with finished content get their final names, if no two want the same. */
async function recoverAll(left: readonly PartialFile[], overwrite: boolean): Promise<Recovered[]> {
  const found: Recovered[] = [];
  for (const { path: from, finalPath: path, sizeBytes } of left) {
    const isKnown = isGrowing(path);
    const integrations = isKnown ? await repaired(path, from) : 0;
    const outcome = isKnown ? 'nothing was finished' : 'no visibilities';
    found.push({ path, from, sizeBytes, integrations, outcome: integrations > 0 ? 'recovered' : outcome });
  }
  const whole = found.filter(({ outcome }) => outcome === 'recovered');
  for (const { path, from } of whole) {
    const others = whole.filter((other) => other.path === path);
    if (others.length > 1)
      refuse(
        path,
        `${others.length} killed runs left something of it: ${others.map((other) => other.from).join(', ')}`,
        'name one of these, or remove the others',
      );
    if (!overwrite && (await isThere(path)))
      refuse(
        path,
        'is there already',
        `move it away, or give overwrite: true; what is left is ${from}`,
        'file.exists',
      );
  }
  for (const { path, from } of whole) await rename(from, path);
  return found;
}

/** By file name: a kind of file that is complete after each integration. */
const isGrowing = (path: string): boolean =>
  isOfBeams(path) ||
  isOfImages(path) ||
  formats.some(
    ({ grows, extensions }) =>
      grows === true && extensions.some((extension) => path.toLowerCase().endsWith(extension)),
  );

/** Beams, and the description beside them. */
const isOfBeams = (path: string): boolean => /\.(?:fil|sf|fil\.json|sf\.json)$/i.test(path);

const isOfImages = (path: string): boolean => /\.fits?$/i.test(path);

/** The number of integrations, values or images in the repaired file. */
async function repaired(path: string, from: string): Promise<number> {
  if (isOfImages(path)) return repairFitsSeries(from);
  if (!isOfBeams(path)) return visibilityFormatFor(path).repair(from);
  if (/\.(?:fil|sf)$/i.test(path)) return repairFilterbank(from);
  // It is written at once: complete, or empty.
  const text = await readFile(from, 'utf8');
  return text.endsWith('}\n') ? 1 : 0;
}

/** A file under its final name, which `live` lets grow. */
const isPlainOutput = async (path: string): Promise<boolean> =>
  isGrowing(path) && (await stat(path).catch(() => undefined))?.isFile() === true;

async function repairInPlace(path: string): Promise<Recovered | undefined> {
  const writer = await writerOf(path);
  if (writer !== undefined) refuse(path, `is open in process ${writer}`, 'stop that run first');
  const integrations = await repaired(path, path);
  // An image, or visibilities of others.
  if (integrations === 0 && isOfImages(path)) return undefined;
  // No content found: the reader refuses a file without a complete header, or of another kind.
  if (integrations === 0 && !isOfBeams(path)) await (await openFile(path)).close();
  return { path, from: path, sizeBytes: 0, integrations, outcome: 'whole already' };
}

/** The process that has a file open, if known (Linux, processes of the same user). */
async function writerOf(path: string): Promise<string | undefined> {
  const wanted = await realpath(path);
  const processes = await readdir('/proc').catch((): string[] => []);
  for (const pid of processes.filter((name) => /^\d+$/.test(name) && name !== String(process.pid))) {
    for (const descriptor of await readdir(`/proc/${pid}/fd`).catch((): string[] => [])) {
      const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
      if (target === wanted) return pid;
    }
  }
  return undefined;
}
