/** corella check: checks before an observation that everything is present and fits, and what it will write. */
import type { Command } from 'commander';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { addFields } from './options/own.js';
import { common } from './options/shared.js';
import { whenRun } from './options/command.js';

export const checkOptions = z.strictObject(common);

export function registerCheck(program: Command): void {
  const command = program.command('check').argument('<observation>', 'the observation file');
  addFields(command, checkOptions).action(whenRun(async () => (await import('./actions/check.js')).check));
  addHelp(command, {
    examples: [
      ['check observation.yaml', 'the plan, its warnings, expected sizes and free disk'],
      ['check observation.yaml --json', 'the same for programs'],
      ['run observation.yaml', 'then make it'],
    ],
  });
}
