/** corella sample: a small simulated recording, or products of one, for the examples of each documentation page. */
import type { Command } from 'commander';
import { samples } from './sample/recipes.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { variant, field } from '../fields/index.js';
import { addFields, type Options } from './options/own.js';
import { common, given, outFolder, overwrite } from './options/shared.js';
import { whenRun } from './options/command.js';

const sampleOptions = z.strictObject({
  list: field(given, {
    flag: '--list',
    changes: 'never',
    help: 'list the samples, and which page uses each',
  }),
  out: variant(outFolder, { default: '.' }),
  overwrite,
  ...common,
});
export type SampleOptions = Options<typeof sampleOptions>;

export function registerSample(program: Command): void {
  const command = program
    .command('sample')
    .argument('[name]', `one of ${samples.map(({ name }) => name).join(', ')}`);
  addFields(command, sampleOptions).action(whenRun(async () => (await import('./actions/sample.js')).run));
  addHelp(command, {
    examples: [
      ['sample --list', 'what there is'],
      ['sample station', 'raw voltages of a small station, here'],
      ['sample dishes -o tracking', 'eight dishes over 2 km, into a folder'],
    ],
  });
}
