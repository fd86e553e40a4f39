/** Common parts of all submissions: options of the farm, and writing jobs to a queue or into files. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { refuse } from '../../core/errors.js';
import type { Message } from '../../messages/index.js';
import {
  connectQueue,
  createLedger,
  putJobs,
  requireStore,
  writeSafely,
  type FarmPlan,
  type Ledger,
} from '../../farm/index.js';
import type { CommonOptions } from '../options/command.js';
import type { Terminal } from '../report/terminal.js';
import { accessOf } from './access-options.js';
import { again, field, timeS, whole, withForm, words } from '../../fields/index.js';
import type { Options } from '../options/own.js';
import { access, patience, root } from '../options/shared.js';

const group = 'The farm';
const changes = 'never';

/** The options of every submission. */
export const farmFields = z.strictObject({
  farm: field(words('the name of a folder'), {
    flag: '--farm <folder>',
    group,
    changes,
    otherwise: 'the name of the output with .farm',
    help: 'folder for the plan, the results and the ledger',
  }),
  jobTime: field(timeS, {
    flag: '--job-time <time>',
    group,
    changes,
    unit: 's',
    range: { above: 0 },
    help: 'length of a job',
    otherwise: '256 MiB of the recording',
  }),
  jobChannels: field(whole, {
    flag: '--job-channels <number>',
    group,
    changes,
    range: { least: 1 },
    help: 'most channels of a job',
    otherwise: 'results below 64 MiB',
  }),
  root: field(words('a folder'), { ...root, group }),
  verify: field(
    withForm(
      z
        .string()
        .regex(/^\s*1\/[1-9]\d{0,5}\s*$/)
        .transform((text) => Number(text.split('/')[1])),
      { words: 'a part of all jobs, like 1/10' },
    ),
    {
      flag: '--verify <1/N>',
      group,
      changes,
      help: 'one job in N is done by two workers, and counts when they agree; a worker that differs is reported',
    },
  ),
  patience: again(patience, { group }),
  ...access,
});
export type FarmOptions = Options<typeof farmFields> & CommonOptions;

export async function submit(
  plan: FarmPlan,
  folder: string,
  options: FarmOptions,
  terminal: Terminal,
  notes: readonly Message[],
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

/** Writes all jobs by number: Slurm counts from 0 to the last, and a job that has its result prints so and ends. */
async function writeJobs({ folder, jobs }: Ledger): Promise<void> {
  await mkdir(join(folder, 'jobs'), { recursive: true });
  for (const [n, job] of jobs.entries())
    await writeSafely(join(folder, 'jobs', `${n}.json`), JSON.stringify(job));
}
