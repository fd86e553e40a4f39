/** corella recover: completes or removes the partial files of a killed run. */
import type { Command } from 'commander';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { field } from '../fields/index.js';
import { addFields, type Options } from './options/own.js';
import { common, given, overwrite } from './options/shared.js';
import { whenRun } from './options/command.js';

const recoverOptions = z.strictObject({
  remove: field(given, {
    flag: '--remove',
    changes: 'never',
    help: 'remove what is left instead',
  }),
  overwrite,
  ...common,
});
export type RecoverOptions = Options<typeof recoverOptions>;

export function registerRecover(program: Command): void {
  const command = program
    .command('recover')
    .argument('<path>', 'the file that was being written, or a folder: everything that was left in it');
  addFields(command, recoverOptions).action(whenRun(async () => (await import('./actions/recover.js')).run));
  addHelp(command, {
    examples: [
      ['recover visibilities.uvfits', 'after a power cut or kill -9 while it was written'],
      ['recover .', 'everything in this folder'],
      ['recover visibilities.uvfits --remove', 'no longer needed'],
    ],
  });
}
