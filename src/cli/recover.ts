/** corella recover: completes or removes the partial files of a killed run. */
import type { Command } from 'commander';
import { formatBytes } from '../core/units.js';
import { recover, type Recovered } from '../formats/index.js';
import { openTerminal } from './report/terminal.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { field } from '../fields/index.js';
import { addFields, type Options } from './options/own.js';
import { common, given, overwrite } from './options/shared.js';

const recoverOptions = z.strictObject({
  remove: field(given, {
    flag: '--remove',
    changes: 'never',
    help: 'remove what is left instead',
  }),
  overwrite,
  ...common,
});
type RecoverOptions = Options<typeof recoverOptions>;

export function registerRecover(program: Command): void {
  const command = program
    .command('recover')
    .argument('<path>', 'the file that was being written, or a folder: everything that was left in it');
  addFields(command, recoverOptions).action(run);
  addHelp(command, {
    examples: [
      ['recover visibilities.uvfits', 'after a power cut or kill -9 while it was written'],
      ['recover .', 'everything in this folder'],
      ['recover visibilities.uvfits --remove', 'not wanted any more'],
    ],
  });
}

async function run(path: string, { remove, overwrite, ...options }: RecoverOptions): Promise<void> {
  const terminal = openTerminal(options);
  const done = await recover(path, { remove, overwrite });
  terminal.result(
    {
      recovered: done.map(({ path: to, from, integrations, outcome }) => ({
        path: to,
        from,
        integrations,
        outcome,
      })),
    },
    done.length === 0 ? [`${path}: no killed run left anything here; nothing to do`] : done.map(lineOf),
  );
}

function lineOf({ path, from, sizeBytes, integrations, outcome }: Recovered): string {
  const size = formatBytes(sizeBytes);
  const what = /\.(?:fil|sf)$/i.test(path) ? 'value' : /\.json$/i.test(path) ? 'description' : 'integration';
  const count = `${integrations} ${what}${integrations === 1 ? '' : 's'}`;
  switch (outcome) {
    case 'recovered':
      return `${path}: ${count} recovered`;
    case 'whole already':
      return `${path}: ${count}, whole`;
    case 'nothing was finished':
      return `${from}: no integration was finished; corella recover ${from} --remove takes its ${size} away`;
    case 'removed':
      return `${from}: removed, ${size}`;
    case 'no visibilities':
      return `${from}: only visibilities and beams can be recovered; corella recover ${from} --remove takes its ${size} away`;
  }
}
