/** corella farm: work spread over machines. */
import type { Command } from 'commander';
import { registerCollect } from './collect.js';
import { registerStatus } from './status.js';
import { registerSubmit } from './submit.js';

export function registerFarm(program: Command): void {
  const farm = program
    .command('farm')
    .description('recordings on many machines: submit jobs, see how far they are, collect the results');
  registerSubmit(farm);
  registerStatus(farm);
  registerCollect(farm);
}
