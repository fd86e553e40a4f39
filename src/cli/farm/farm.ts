/** corella farm: work distributed over machines. */
import type { Command } from 'commander';
import { addHelp } from '../startup/help.js';
import { registerCollect } from './collect.js';
import { registerCombine } from './combine.js';
import { registerNight } from './night.js';
import { registerStatus } from './status.js';
import { registerSubmit } from './submit.js';

export function registerFarm(program: Command): void {
  const farm = program.command('farm');
  registerSubmit(farm);
  registerStatus(farm);
  registerCollect(farm);
  registerCombine(farm);
  registerNight(farm);
  addHelp(farm, {
    examples: [
      [
        'farm submit correlate /data/run.sigmf-meta -o run.uvh5 --server nats://head:4222',
        'jobs onto a queue',
      ],
      ['worker --server nats://head:4222 --root /data', 'on each machine'],
      ['farm collect run.uvh5.farm --server nats://head:4222', 'their results, as one file'],
    ],
  });
}
