/** corella devices: the hardware of this machine, and which backend `auto` selects. */
import type { Command } from 'commander';
import { whenRun } from './options/command.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { field } from '../fields/index.js';
import { addFields, type Options } from './options/own.js';
import { common, given } from './options/shared.js';

const devicesOptions = z.strictObject({
  network: field(given, {
    flag: '--network',
    changes: 'never',
    help: 'show what the network can receive: interfaces, buffers, telescopes',
  }),
  ...common,
});

export type DevicesOptions = Options<typeof devicesOptions>;

export function registerDevices(program: Command): void {
  const command = addFields(program.command('devices'), devicesOptions).action(
    whenRun(async () => (await import('./actions/devices.js')).run),
  );
  addHelp(command, {
    examples: [
      ['devices', 'one line for each backend; the arrow marks what auto takes'],
      ['devices --json', 'the same for machines'],
      ['devices --network', 'interfaces, buffers, and what prevents receiving some telescopes'],
    ],
  });
}
