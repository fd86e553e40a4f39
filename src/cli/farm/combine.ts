/** corella farm combine: joins parts of the band, correlated on separate machines, into one file. */
import type { Command } from 'commander';
import { useEop } from '../options/eop-option.js';
import { addHelp } from '../startup/help.js';
import { z } from 'zod';
import { variant } from '../../fields/index.js';
import { visibilities } from '../../products/index.js';
import { addFields, type Options } from '../options/own.js';
import * as shared from '../options/shared.js';
import { whenRun } from '../options/command.js';

const combineOptions = z.strictObject({
  out: variant(shared.out, { default: 'all.uvh5' }),
  values: variant(visibilities.shape.values, { default: 'means' }),
  overwrite: shared.overwrite,
  ...shared.common,
  eop: shared.eop,
});
export type CombineOptions = Options<typeof combineOptions>;

export function registerCombine(farm: Command): void {
  const command = farm
    .command('combine')
    .description('Joins visibilities of several parts of the band, of the same time, into one file.')
    .argument('<files...>', 'what each machine wrote; of a night in several files a list, a.uvh5,b.uvh5');
  useEop(addFields(command, combineOptions)).action(
    whenRun(async () => (await import('../actions/farm-combine.js')).run),
  );
  addHelp(command, {
    common: ['--out', '--values', '--overwrite'],
    examples: [
      ['farm combine run-*.uvh5 -o run.uvh5', 'every part in this folder'],
      ['farm combine low.uvh5 high.uvh5 --values sums', 'whole numbers, bit for bit'],
      ['farm combine low.uvh5 high.uvh5 -o all.uvh5', 'two halves of the band, then corella image all.uvh5'],
    ],
  });
}
