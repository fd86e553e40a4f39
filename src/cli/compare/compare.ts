/** corella compare: whether two products hold the same data, ignoring their history. */
import type { Command } from 'commander';
import { addHelp } from '../startup/help.js';
import { z } from 'zod';
import { field, real } from '../../fields/index.js';
import { addFields, type Options } from '../options/own.js';
import { common } from '../options/shared.js';
import { whenRun } from '../options/command.js';

const compareOptions = z.strictObject({
  tolerance: field(real, {
    flag: '--tolerance <part>',
    changes: 'never',
    range: { least: 0, most: 1 },
    default: 0,
    help: 'values may differ by this part of the largest value, like 1e-6; in images of the peak',
  }),
  ...common,
});
export type CompareFlags = Options<typeof compareOptions>;

export function registerCompare(program: Command): void {
  const command = program
    .command('compare')
    .argument('<a>', 'visibilities, a recording, a FITS image, gains or a PNG picture')
    .argument('<b>', 'another of the same kind');
  addFields(command, compareOptions).action(whenRun(async () => (await import('../actions/compare.js')).run));
  addHelp(command, {
    examples: [
      [
        'compare live.uvh5 batch.uvh5',
        'the same, bit for bit? Exit code 0: yes, 1: no, 2: cannot be compared',
      ],
      ['compare cpu.fits cuda.fits --tolerance 1e-5', 'images of two backends, within rounding'],
      [
        'compare run.uvh5 run.uvfits --tolerance 1e-6',
        'in two formats: header cards of their own are left out',
      ],
    ],
  });
}
