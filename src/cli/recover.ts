/** corella recover: what a run that was killed left behind, made whole or removed. */
import { access, readdir, readFile, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { refuse } from '../core/errors.js';
import { formatBytes } from '../core/units.js';
import {
  finalNameOf,
  findLeftovers,
  formats,
  mendFilterbank,
  visibilityFormatFor,
  type Leftover,
} from '../formats/index.js';
import { openVisibilities } from './open.js';
import type { OutputOptions } from './options/outputs.js';
import { openTerminal } from './report/terminal.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { field } from '../fields/index.js';
import { addFields, type Options } from './options/own.js';
import { common, given, overwrite } from './options/shared.js';

const recoverOptions = z.strictObject({
  remove: field(given, {
    ...{ flag: '--remove', changes: 'never', help: 'remove what is left instead' },
  }),
  ...{ overwrite, ...common },
});
type RecoverOptions = Options<typeof recoverOptions>;

export function registerRecover(program: Command): void {
  const command = program
    .command('recover')
    .argument('<path>', 'the file that was being written, or a folder: everything that was left in it');
  addFields(command, recoverOptions).action(run);
  addHelp(command, {
    examples: [
      ['recover visibilities.uvfits', 'after a power cut or kill -9 while it was written'],
      ['recover .', 'everything in this folder'],
      ['recover visibilities.uvfits --remove', 'not wanted any more'],
    ],
  });
}

interface Recovered {
  readonly path: string;
  readonly from: string;
  readonly integrations: number;
  readonly outcome: 'recovered' | 'whole already' | 'nothing was finished' | 'removed' | 'no visibilities';
}

async function run(path: string, options: RecoverOptions): Promise<void> {
  const terminal = openTerminal(options);
  const left = await leftoversOf(path);
  const busy = left.find(({ isBeingWritten }) => isBeingWritten);
  if (busy) refuse(busy.path, 'is still being written', 'stop that run first');
  const done: Recovered[] = [];
  if (options.remove === true) {
    for (const one of left) {
      await rm(one.path);
      done.push({ path: one.finalPath, from: one.path, integrations: 0, outcome: 'removed' });
    }
  } else {
    const found = await recoverAll(left, options);
    const isDone = found.some(({ outcome }) => outcome === 'recovered');
    if (!isDone && (await isPlainOutput(path))) done.push(await mendInPlace(path));
    done.push(...found);
  }
  if (done.length === 0 && !(await isThere(path)))
    refuse(
      path,
      'is not there, and no killed run left anything of it',
      'name the file that was being written, or its folder',
    );
  terminal.result(
    { recovered: done },
    done.length === 0
      ? [`${path}: no killed run left anything here; nothing to do`]
      : done.map((one) => lineOf(one, left)),
  );
}

/** Of a folder, of an output, or the leftover itself. */
async function leftoversOf(path: string): Promise<Leftover[]> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true) return findLeftovers(path);
  const final = finalNameOf(path);
  const all = await findLeftovers(dirname(path), final ?? path);
  return final === undefined ? all : all.filter((one) => one.path === path || one.path === `./${path}`);
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Those in which something was finished take their names, if no two want the same. */
async function recoverAll(left: readonly Leftover[], { overwrite }: OutputOptions): Promise<Recovered[]> {
  const found: Recovered[] = [];
  for (const { path: from, finalPath: path } of left) {
    const isKnown = isGrowing(path);
    const integrations = isKnown ? await mended(path, from) : 0;
    const outcome = isKnown ? 'nothing was finished' : 'no visibilities';
    found.push({ path, from, integrations, outcome: integrations > 0 ? 'recovered' : outcome });
  }
  const whole = found.filter(({ outcome }) => outcome === 'recovered');
  for (const { path, from } of whole) {
    const rivals = whole.filter((other) => other.path === path);
    if (rivals.length > 1)
      refuse(
        path,
        `${rivals.length} killed runs left something of it: ${rivals.map((rival) => rival.from).join(', ')}`,
        'name one of these, or remove the others',
      );
    if (overwrite !== true && (await isThere(path)))
      refuse(
        path,
        'is there already',
        `move it away, or say --overwrite; what is left is ${from}`,
        'file.exists',
      );
  }
  for (const { path, from } of whole) await rename(from, path);
  return found;
}

/** By its name: a file of a kind that is whole after each integration. */
const isGrowing = (path: string): boolean =>
  isOfBeams(path) ||
  formats.some(
    ({ grows, extensions }) =>
      grows === true && extensions.some((extension) => path.toLowerCase().endsWith(extension)),
  );

/** Beams, and the description beside them. */
const isOfBeams = (path: string): boolean => /\.(?:fil|sf|fil\.json|sf\.json)$/i.test(path);

/** How many integrations or values a file holds, made whole. */
async function mended(path: string, from: string): Promise<number> {
  if (!isOfBeams(path)) return visibilityFormatFor(path).mend(from);
  if (/\.(?:fil|sf)$/i.test(path)) return mendFilterbank(from);
  // It is written at once: whole, or empty.
  const text = await readFile(from, 'utf8');
  return text.endsWith('}\n') ? 1 : 0;
}

/** A file under its own name, which `live` lets grow. */
const isPlainOutput = async (path: string): Promise<boolean> =>
  isGrowing(path) && (await stat(path).catch(() => undefined))?.isFile() === true;

async function mendInPlace(path: string): Promise<Recovered> {
  const writer = await writerOf(path);
  if (writer !== undefined) refuse(path, `is open in process ${writer}`, 'stop that run first');
  const integrations = await mended(path, path);
  // Nothing was found: a file whose writing ended before its header, or something else altogether, is refused by its reader.
  if (integrations === 0 && !isOfBeams(path)) await (await openVisibilities(path)).close();
  return { path, from: path, integrations, outcome: 'whole already' };
}

/** The process that has a file open, where the system tells (Linux, one's own processes). */
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

function lineOf({ path, from, integrations, outcome }: Recovered, left: readonly Leftover[]): string {
  const size = formatBytes(left.find((one) => one.path === from)?.sizeBytes ?? 0);
  const what = /\.(?:fil|sf)$/i.test(path) ? 'value' : /\.json$/i.test(path) ? 'description' : 'integration';
  const count = `${integrations} ${what}${integrations === 1 ? '' : 's'}`;
  switch (outcome) {
    case 'recovered':
      return `${path}: ${count} recovered`;
    case 'whole already':
      return `${path}: ${count}, whole`;
    case 'nothing was finished':
      return `${from}: no integration was finished; corella recover ${from} --remove takes its ${size} away`;
    case 'removed':
      return `${from}: removed, ${size}`;
    case 'no visibilities':
      return `${from}: only visibilities and beams can be recovered; corella recover ${from} --remove takes its ${size} away`;
  }
}
