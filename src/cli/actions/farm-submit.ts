/** What corella farm submit does, loaded when it runs: jobs on a queue or as files. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Backend } from '../../backend/backend.js';
import { openBackend } from '../../backend/select.js';
import { refuse } from '../../core/errors.js';
import { version } from '../../core/program/version.js';
import {
  connectQueue,
  createLedger,
  planFarm,
  putJobs,
  requireStore,
  writeSafely,
  type FarmPlan,
  type Ledger,
  type Submitted,
} from '../../farm/index.js';
import { checkOutputs } from '../../formats/index.js';
import { message, type Message } from '../../messages/index.js';
import { skyModelsOf, type Observation } from '../../observation/index.js';
import { productNames, type ImageFacts, type VisibilityFacts } from '../../products/index.js';
import { assumedMessages, directErrorLines } from '../../products/report/index.js';
import { accessOf } from '../farm/access-options.js';
import type { FarmOptions } from '../farm/jobs.js';
import { reportSkyModels } from '../options/sky-options.js';
import { openTerminal, type Terminal } from '../report/terminal.js';

export async function run(observation: Observation, options: FarmOptions): Promise<void> {
  const terminal = openTerminal(options);
  const [first] = observation.products;
  const key = productNames.find((name) => name in first) ?? 'visibilities';
  const folder = options.farm ?? `${String((first as Readonly<Record<string, unknown>>)[key])}.farm`;
  if (observation.front?.equaliser === 'measured') await mkdir(folder, { recursive: true });
  for (const model of skyModelsOf(observation)) await reportSkyModels(model, options);
  const { backend: choice = 'auto', threads } = observation.machine ?? {};
  let opened: Backend | undefined;
  try {
    const submitted = await planFarm(observation, {
      version: version(),
      backend: choice,
      jobS: options.jobTime,
      jobChannels: options.jobChannels,
      root: options.root,
      verify: options.verify,
      equaliserPath: join(folder, 'equaliser.json'),
      openBackend: async () =>
        (opened ??= await openBackend(choice, threads === undefined ? {} : { threads })),
    });
    const paths = submitted.planned.products.flatMap((product) => product.paths);
    const [from] = [observation.source.recording ?? []].flat();
    await checkOutputs({ paths, from, overwrite: observation.overwrite });
    await submit(submitted.plan, folder, options, terminal, notesOf(submitted));
  } finally {
    await opened?.close();
  }
}

function notesOf({ planned }: Submitted): Message[] {
  return [
    ...assumedMessages(planned.observed.recording.assumed),
    ...planned.warnings,
    ...planned.products.flatMap(({ name, facts }) => {
      if (name === 'images') {
        const { predictedError } = facts() as ImageFacts;
        return predictedError === undefined ? [] : directErrorLines(predictedError);
      }
      if (name !== 'visibilities') return [];
      const { shortenedToS } = (facts() as VisibilityFacts).integration;
      return shortenedToS === undefined
        ? []
        : [message('visibilities.integration-shortened', { integrationS: shortenedToS })];
    }),
  ];
}

async function submit(
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
        timeoutS: options.timeout,
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
