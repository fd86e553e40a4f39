/** corella farm status: progress of the jobs of a farm, and which workers process them. */
import type { Command } from 'commander';
import { addHelp } from '../startup/help.js';
import { z } from 'zod';
import { addFields } from '../options/own.js';
import { access, common } from '../options/shared.js';
import { whenRun } from '../options/command.js';

export const statusOptions = z.strictObject({ ...access, ...common });

export function registerStatus(farm: Command): void {
  const command = farm
    .command('status')
    .description('Shows how many jobs are done, waiting or failed, and which workers do them.')
    .argument('<folder>', 'what farm submit made');
  addFields(command, statusOptions).action(
    whenRun(async () => (await import('../actions/farm-status.js')).run),
  );
  addHelp(command, {
    common: ['--server', '--json'],
    examples: [
      ['farm status run.uvh5.farm --server nats://head:4222', 'jobs and workers'],
      ['farm status run.uvh5.farm', 'jobs of files: what has a result'],
      ['farm status run.uvh5.farm --server nats://head:4222 --json', 'the same for programs'],
    ],
  });
}
