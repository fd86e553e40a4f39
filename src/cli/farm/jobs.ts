/** What every submission has in common: options of the farm, jobs onto a queue or into files. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import {
  connectQueue,
  createLedger,
  putJobs,
  requireStore,
  writeSafely,
  type FarmPlan,
  type Ledger,
} from '../../farm/index.js';
import { parseCount, type CommonOptions } from '../options/command.js';
import { parseFolder } from '../options/outputs.js';
import { duration } from '../options/quantity.js';
import type { Terminal } from '../report/terminal.js';
import { accessOf, addAccessOptions, type AccessOptions } from './access-options.js';

export interface FarmOptions extends AccessOptions, CommonOptions {
  readonly farm?: string;
  readonly jobTime?: number;
  readonly jobChannels?: number;
  readonly root?: string;
  readonly verify?: number;
  readonly patience: number;
}

/** A worker that nobody hears of for so long has lost its job. */
export const USUAL_PATIENCE_S = 30;

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
      'workers find the recording under their own --root as it is under this one here',
    )
    .option(
      '--verify <1/N>',
      'one job in N is done by two workers, and counts when they agree; a worker that differs is reported',
      parseVerify,
    );
  addPatienceOption(command);
  return addAccessOptions(command, 'none: jobs become files, for Slurm and the like');
}

export function parseVerify(text: string): number {
  const [, number] = /^1\/(\d{1,6})$/.exec(text.trim()) ?? [];
  const every = Number(number);
  return every >= 1 ? every : refuse('--verify', `'${text}' is no part of all jobs`, 'write it like 1/10');
}

export async function submit(
  plan: FarmPlan,
  folder: string,
  options: FarmOptions,
  terminal: Terminal,
  notes: readonly string[],
): Promise<void> {
  const access = await accessOf(options);
  if (plan.verify !== undefined && !access)
    refuse('--verify', 'compares workers of a queue, and no server is named', 'give --server too');
  const queue = access && (await connectQueue(access, 'corella submit'));
  try {
    if (queue) await requireStore(queue, access);
    const ledger = await createLedger(folder, plan);
    const again = await ledger.forgive();
    const missing = ledger.missing();
    if (queue)
      await putJobs(queue, plan, ledger.waiting(), {
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
