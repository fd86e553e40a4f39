/**
 * corella farm collect: adds results to the ledger, and once complete, writes the file that one process would have
 * written.
 */
import type { Command } from 'commander';
import { addHelp } from '../startup/help.js';
import { z } from 'zod';
import { variant } from '../../fields/index.js';
import { addFields, type Options } from '../options/own.js';
import * as shared from '../options/shared.js';
import { whenRun } from '../options/command.js';

const collectOptions = z.strictObject({
  out: variant(shared.out, { otherwise: 'as it was submitted' }),
  overwrite: shared.overwrite,
  timeout: shared.timeout,
  ...shared.access,
  ...shared.computing,
});
/** By default, the choice made at submission. */
export type CollectOptions = Omit<Options<typeof collectOptions>, 'overwrite'> & {
  readonly overwrite?: boolean;
};

export function registerCollect(farm: Command): void {
  const command = farm
    .command('collect')
    .description(
      'Gathers results until all jobs are done, then writes what was asked for, as one process would have.',
    )
    .argument('<folder>', 'what farm submit made');
  addFields(command, collectOptions).action(
    whenRun(async () => (await import('../actions/farm-collect.js')).run),
  );
  addHelp(command, {
    common: ['--server', '--out', '--timeout', '--backend', '--overwrite'],
    examples: [
      [
        'farm collect run.uvh5.farm --server nats://head:4222',
        'gathers until all are there; may be killed and started again',
      ],
      ['farm collect run.uvh5.farm --server nats://head:4222 -o other.uvh5', 'under another name'],
      ['farm collect run.uvh5.farm', 'after Slurm: the results are there already'],
    ],
  });
}
