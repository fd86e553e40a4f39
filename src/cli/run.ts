/** corella run: runs an observation file with all its products at once. */
import type { Command } from 'commander';
import { noteUnknownOrientation } from './options/eop-option.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { field, words } from '../fields/index.js';
import { addFields, type Options } from './options/own.js';
import { computing, overwrite, plan } from './options/shared.js';
import { whenRun } from './options/command.js';

const runOptions = z.strictObject({
  into: field(words('the name of a folder'), {
    flag: '--into <folder>',
    changes: 'never',
    otherwise: 'this one',
    help: 'folder that the products go into',
  }),
  plan,
  overwrite,
  ...computing,
});
export type RunOptions = Options<typeof runOptions>;

export function registerRun(program: Command): void {
  const command = program
    .command('run')
    .argument('<observation>', 'what to observe; docs/observation.md has an example');
  noteUnknownOrientation(addFields(command, runOptions)).action(
    whenRun(async () => (await import('./actions/run.js')).run),
  );
  addHelp(command, {
    examples: [
      ['run observation.yaml', 'make everything that the file asks for'],
      ['run observation.yaml --into tonight', 'the same, into a folder'],
      ['run observation.yaml --plan', 'the observation with its defaults'],
    ],
  });
}
