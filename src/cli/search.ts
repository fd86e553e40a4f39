/** corella search: searches a filterbank for single dispersed pulses. */
import type { Command } from 'commander';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { variant, field, real, timeS } from '../fields/index.js';
import { addFields, type Options } from './options/own.js';
import { common, out, overwrite, picture } from './options/shared.js';
import { whenRun } from './options/command.js';

const changes = 'never';
const searchOptions = z.strictObject({
  lowDm: field(real, {
    flag: '--low-dm <number>',
    changes,
    default: 0,
    help: 'lowest dispersion measure in pc/cm³',
  }),
  highDm: field(real, {
    flag: '--high-dm <number>',
    changes,
    default: 100,
    help: 'highest dispersion measure',
  }),
  dmStep: field(real, {
    flag: '--dm-step <number>',
    changes,
    otherwise: 'one value of delay across the band',
    help: 'step between dispersion measures',
  }),
  widest: field(timeS, {
    flag: '--widest <time>',
    changes,
    unit: 's',
    range: { above: 0 },
    otherwise: '100ms',
    help: 'longest pulse',
  }),
  snr: field(real, {
    flag: '--snr <number>',
    changes,
    default: 7,
    help: 'candidates from this signal-to-noise ratio on',
  }),
  out: variant(out, { otherwise: 'none; candidates as CSV' }),
  picture,
  overwrite,
  ...common,
});
export type SearchFlags = Options<typeof searchOptions>;

export function registerSearch(program: Command): void {
  const command = program.command('search').argument('<filterbank>', 'a beam, .fil or .sf');
  addFields(command, searchOptions).action(whenRun(async () => (await import('./actions/search.js')).run));
  addHelp(command, {
    examples: [
      ['search psr.fil', 'pulses up to DM 100, listed'],
      ['search psr.fil --high-dm 500 -o candidates.csv --picture candidates.png', 'pulses up to DM 500'],
      ['search psr.fil --low-dm 20 --high-dm 30 --snr 6', 'weaker pulses near a known DM'],
    ],
  });
}
