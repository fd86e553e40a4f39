/** corella telescope: asks for the site and the antenna positions, and writes a telescope's description. */
import type { Command } from 'commander';
import { z } from 'zod';
import { variant } from '../fields/index.js';
import { addFields, type Options } from './options/own.js';
import { common, out, overwrite } from './options/shared.js';
import { addHelp } from './startup/help.js';
import { whenRun } from './options/command.js';

const telescopeOptions = z.strictObject({
  out: variant(out, { default: 'telescope.json' }),
  overwrite,
  ...common,
});
export type TelescopeOptions = Options<typeof telescopeOptions>;

export function registerTelescope(program: Command): void {
  const command = addFields(program.command('telescope'), telescopeOptions).action(
    whenRun(async () => (await import('./actions/telescope.js')).run),
  );
  addHelp(command, {
    examples: [
      ['telescope -o roof.json', 'asks, and writes roof.json and roof.csv'],
      ['telescope -o roof.json < answers.txt', 'the answers from a file, one a line'],
      ['telescope -o roof.json --overwrite', 'once more, in place of what is there'],
    ],
  });
}
