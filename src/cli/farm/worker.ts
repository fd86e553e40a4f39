/** corella worker: processes jobs from a queue one by one, or one job from a file. */
import type { Command } from 'commander';
import { addHelp } from '../startup/help.js';
import { z } from 'zod';
import { variant, field, inputPath, timeS, words } from '../../fields/index.js';
import { addFields, type Options } from '../options/own.js';
import * as shared from '../options/shared.js';
import { whenRun } from '../options/command.js';

const changes = 'never';
const workerOptions = z.strictObject({
  root: field(shared.repeated('a folder, or an address'), { ...shared.root, default: [] }),
  name: field(words('a name'), {
    flag: '--name <name>',
    changes,
    otherwise: 'the machine and the process',
    help: 'name of the worker where workers are listed',
  }),
  untilIdle: field(timeS, {
    flag: '--until-idle <time>',
    changes,
    unit: 's',
    range: { above: 0 },
    otherwise: 'never',
    help: 'end when no job has come for this long, or when no server has answered for as long and at least 10s',
  }),
  job: field(inputPath, {
    flag: '--job <path>',
    changes,
    help: 'do one job of a file that farm submit wrote; no server',
  }),
  out: variant(shared.out, { otherwise: 'of --job where farm collect looks' }),
  ...shared.access,
  ...shared.computing,
});
export type WorkerOptions = Options<typeof workerOptions>;

export function registerWorker(program: Command): void {
  const command = addFields(program.command('worker'), workerOptions).action(
    whenRun(async () => (await import('../actions/worker.js')).run),
  );
  addHelp(command, {
    common: ['--server', '--root', '--job', '--name', '--until-idle', '--backend', '--threads'],
    examples: [
      ['worker --server nats://head:4222 --root /data', 'on each machine; Ctrl-C ends it'],
      ['worker --server nats://head:4222 --root /data --threads 1 --name rack3-core5', 'one a core'],
      ['worker --server nats://head:4222 --root http://archive/data', 'recordings by HTTP, in ranges'],
      ['worker --job night.uvh5.farm/jobs/7.json --root /data', 'one job of a Slurm array'],
    ],
  });
}
