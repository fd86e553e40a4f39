/** What every submission has in common: options of the farm, the work as jobs carry it, jobs onto a queue or into files. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { spectraSizeBytes, voltageSizeBytes } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import {
  connectQueue,
  createLedger,
  factsOf,
  marksOf,
  putJobs,
  requireStore,
  writeSafely,
  type FarmPlan,
  type Ledger,
  type Product,
  type Work as FarmWork,
} from '../../farm/index.js';
import {
  isRemote,
  notingFiles,
  openFile,
  remoteIdentities,
  type OpenFileOptions,
  type Recording,
} from '../../formats/index.js';
import type { ChannelSettings } from '../../pipeline/channels.js';
import { parseCount, type BackendOptions } from '../options/command.js';
import { parseFolder } from '../options/outputs.js';
import { duration } from '../options/quantity.js';
import type { Terminal } from '../report/terminal.js';
import { accessOf, addAccessOptions, type AccessOptions } from './access-options.js';

export interface FarmOptions extends AccessOptions {
  readonly farm?: string;
  readonly jobTime?: number;
  readonly jobChannels?: number;
  readonly root?: string;
  readonly patience: number;
  readonly eop?: string;
}

/** A worker that nobody hears of for so long has lost its job. */
export const USUAL_PATIENCE_S = 30;
/** About so much of a recording a job: seconds of work on most machines. */
const JOB_BYTES = 256 * 2 ** 20;

export const addPatienceOption = (command: Command): Command =>
  command.option(
    '--patience <time>',
    'a job of a worker that is silent for so long goes to another',
    duration('--patience'),
    USUAL_PATIENCE_S,
  );

export function addFarmOptions(command: Command): Command {
  command
    .optionsGroup('The farm:')
    .option(
      '--farm <folder>',
      'plan, results and ledger (default: the output’s name with .farm)',
      parseFolder,
    )
    .option(
      '--job-time <time>',
      'about so much of the recording a job (default: 256 MiB of it)',
      duration('--job-time'),
    )
    .option(
      '--job-channels <number>',
      'at most so many channels a job (default: results below 64 MiB)',
      parseCount,
    )
    .option(
      '--root <folder>',
      'workers find the recording under their own --root as it lies under this one here',
    );
  addPatienceOption(command);
  return addAccessOptions(command, 'none: jobs become files, for Slurm and the like');
}

export const eopOf = (options: { readonly eop?: string }): { readonly eop?: string } =>
  options.eop === undefined ? {} : { eop: resolve(options.eop) };

export function spectraPerJob(recording: Recording, rateHz: number, { jobTime }: FarmOptions): number {
  if (jobTime !== undefined) return Math.max(1, Math.round(jobTime * rateHz));
  const sampleBytes =
    recording.kind === 'voltages'
      ? recording.inputs * voltageSizeBytes(recording.type) * (recording.sampleRateHz / rateHz)
      : recording.inputs * recording.channels * spectraSizeBytes(recording.type);
  return Math.max(1, Math.round(JOB_BYTES / sampleBytes));
}

export async function workOf(
  command: FarmWork['command'],
  path: string,
  recording: Recording,
  told: {
    readonly open: OpenFileOptions;
    readonly options: BackendOptions & FarmOptions;
    readonly settings: ChannelSettings | undefined;
    readonly flags: Uint8Array;
    readonly times?: FarmWork['recording']['times'];
    readonly integration: Pick<FarmWork, 'align' | 'integrationS'>;
  },
): Promise<FarmWork> {
  const { open, options, settings, flags, times, integration } = told;
  const remote = remoteIdentities();
  // Opened once more, for the names of its files alone.
  const { opened, paths } = await notingFiles(() => openFile(path, open));
  await opened.close();
  const files = await marksOf(paths);
  return {
    command,
    recording: {
      path: sentPath(path, options.root),
      open: open as FarmWork['recording']['open'],
      facts: factsOf(recording),
      ...(times && { times }),
      ...(files.length > 0 && { files }),
      ...(remote.length > 0 && { remote: remote.map((one) => ({ ...one })) }),
    },
    ...(settings && { channels: listed(settings) }),
    ...integration,
    flaggedInputs: Array.from(flags.keys()).filter((a) => flags[a] === 1),
    backend: options.backend,
  };
}

/** As workers will open it: whole, or from their own roots. */
function sentPath(path: string, root: string | undefined): string {
  const parts = existsSync(path) ? [path] : path.split(',').map((part) => part.trim());
  const sent = parts.map((part) => {
    if (isRemote(part)) return part;
    if (root === undefined) return resolve(part);
    const under = relative(resolve(root), resolve(part));
    if (under.startsWith('..'))
      refuse('--root', `${part} does not lie under ${root}`, 'name a folder above it');
    return under;
  });
  if (root !== undefined && sent.length > 1)
    refuse(
      '--root',
      'is for one file, and several were named',
      'leave it out, and mount them alike everywhere',
    );
  return sent.join(',');
}

function listed(settings: ChannelSettings & { readonly level?: unknown }): NonNullable<FarmWork['channels']> {
  const { channels, taps, window, outputType, gain, passbandChannels, coefficients } = settings;
  return {
    ...{ channels, taps, outputType },
    ...(window && { window }),
    ...(gain === undefined ? {} : { gain }),
    ...(passbandChannels === undefined ? {} : { passbandChannels }),
    ...(coefficients && { coefficients: Array.from(coefficients) }),
  };
}

export async function submit(
  plan: FarmPlan<Product>,
  options: FarmOptions & { readonly out: string },
  terminal: Terminal,
  notes: readonly string[],
): Promise<void> {
  const folder = options.farm ?? `${options.out}.farm`;
  const access = await accessOf(options);
  const queue = access && (await connectQueue(access, 'corella submit'));
  try {
    if (queue) await requireStore(queue, access);
    const ledger = await createLedger(folder, plan);
    const again = await ledger.forgive();
    const missing = ledger.missing();
    if (queue)
      await putJobs(queue, plan, missing, {
        patienceS: options.patience,
        onTrouble: (line) => {
          terminal.say(line);
        },
      });
    else await writeJobs(ledger);
    const { jobs, done } = ledger;
    const where = access ? access.server : join(folder, 'jobs');
    terminal.result(
      {
        folder,
        plan: plan.id,
        version: plan.version,
        jobs: jobs.length,
        done: done.size,
        put: missing.length,
        again,
        where,
      },
      [
        `${folder}: ${jobs.length} job${jobs.length === 1 ? '' : 's'}, ${done.size} done already, ${missing.length} put to ${where}` +
          (again > 0 ? `, ${again} of them set aside before` : ''),
        ...notes,
        access
          ? `now: corella worker --server ${access.server} --root … on each machine; corella farm collect ${folder} --server ${access.server}`
          : `now: corella worker --job ${join(folder, 'jobs')}/N.json --root …, for N from 0 to ${jobs.length - 1}; then corella farm collect ${folder}`,
      ],
    );
  } finally {
    await queue?.close();
  }
}

/** All of them, by number: Slurm counts from 0 to the last, and one that has its result says so and ends. */
async function writeJobs({ folder, jobs }: Ledger): Promise<void> {
  await mkdir(join(folder, 'jobs'), { recursive: true });
  for (const [n, job] of jobs.entries())
    await writeSafely(join(folder, 'jobs', `${n}.json`), JSON.stringify(job));
}
