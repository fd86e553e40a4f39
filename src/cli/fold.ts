/** corella fold: folds a filterbank at the period of a pulsar. */
import type { Command } from 'commander';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { field, inputPath, real, timeS, whole } from '../fields/index.js';
import { addFields, type Options } from './options/own.js';
import { common, overwrite, picture } from './options/shared.js';
import { whenRun } from './options/command.js';

const changes = 'never';
const count = { changes, range: { least: 1 } } as const;
const foldOptions = z.strictObject({
  period: field(timeS, {
    flag: '--period <time>',
    changes,
    unit: 's',
    range: { above: 0 },
    help: 'period of the pulsar as the telescope sees it, like 714.5ms',
  }),
  dm: field(real, { flag: '--dm <number>', changes, help: 'dispersion measure in pc/cm³' }),
  parameters: field(inputPath, {
    flag: '--parameters <path>',
    changes,
    help: 'F0 (or P0), F1, DM and PEPOCH from a file instead; no barycentre, no orbits',
  }),
  bins: field(whole, { flag: '--bins <number>', ...count, default: 64, help: 'bins of the profile' }),
  subIntegrations: field(whole, {
    flag: '--sub-integrations <number>',
    ...count,
    default: 32,
    help: 'parts in time',
  }),
  subBands: field(whole, {
    flag: '--sub-bands <number>',
    ...count,
    default: 16,
    help: 'parts in frequency',
  }),
  picture,
  overwrite,
  ...common,
});
export type FoldFlags = Options<typeof foldOptions>;

export function registerFold(program: Command): void {
  const command = program.command('fold').argument('<filterbank>', 'a beam, .fil or .sf');
  addFields(command, foldOptions).action(whenRun(async () => (await import('./actions/fold.js')).run));
  addHelp(command, {
    common: ['--period', '--dm', '--parameters', '--bins', '--picture', '--overwrite', '--json'],
    examples: [
      ['fold psr.fil --period 714.5ms --dm 26.8 --picture psr.png', 'the profile of B0329+54'],
      ['fold psr.fil --parameters psr.par --picture psr.png', 'period, DM and epoch from a file'],
      ['fold psr.fil --parameters psr.par --json', 'the numbers, for machines'],
    ],
  });
}
