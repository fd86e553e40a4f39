/** corella farm: work spread over machines. */
import type { Command } from 'commander';
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
}
