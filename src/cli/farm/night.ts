/** corella farm night: status of all machines of an observation, and commands to all or none of them. */
import type { Command } from 'commander';
import { addHelp } from '../startup/help.js';
import { z } from 'zod';
import { variant, field, inputPath, words } from '../../fields/index.js';
import { addFields, type Options } from '../options/own.js';
import { access, common, pageAddress } from '../options/shared.js';
import { whenRun } from '../options/command.js';

const changes = 'never';
const nightOptions = z.strictObject({
  steer: field(words('a command'), {
    flag: '--steer <command>',
    changes,
    help: 'steer all machines; flags, gains, integration, recording or stop, and what it takes: \'flags {"inputs":["stand17"],"flag":true}\'',
  }),
  machines: field(words('names of machines'), {
    flag: '--machines <list>',
    changes,
    otherwise: 'all that are found',
    help: 'machines that must answer',
  }),
  page: variant(pageAddress, { otherwise: 'none' }),
  pageTokenFile: field(inputPath, {
    flag: '--page-token-file <path>',
    changes,
    help: "token of the machines' pages; the file that each has as --token-file: steering needs it",
  }),
  ...access,
  ...common,
});
export type NightOptions = Omit<Options<typeof nightOptions>, 'page'> & { readonly page?: string | true };

export function registerNight(farm: Command): void {
  const command = farm
    .command('night')
    .description(
      'Shows the state of the machines of a live observation, steers them all together, or shows them on one page.',
    )
    .argument('[name]', 'as corella live --night has it', 'night');
  addFields(command, nightOptions).action(
    whenRun(async () => (await import('../actions/farm-night.js')).run),
  );
  addHelp(command, {
    common: ['--server', '--page', '--steer', '--machines', '--page-token-file'],
    examples: [
      ['farm night --server nats://head:4222', 'a row for each machine'],
      [
        'farm night --server nats://head:4222 --page-token-file token --steer \'integration {"seconds":5}\'',
        'all machines, from the same sample on, or none',
      ],
      ['farm night --server nats://head:4222 --page', 'the sky of all channels in a browser'],
    ],
  });
}
