/** corella devices: the hardware of this machine, and which backend `auto` selects. */
import type { Command } from 'commander';
import { describeDevices, explainAuto } from '../backend/select.js';
import { checkNetwork, networkFacts, telescopeRates } from '../receive/index.js';
import { networkLines } from './report/network-lines.js';
import { openTerminal } from './report/terminal.js';
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

export function registerDevices(program: Command): void {
  const command = addFields(program.command('devices'), devicesOptions).action(
    (options: Options<typeof devicesOptions>) => {
      if (options.network) {
        const network = networkFacts();
        const telescopes = telescopeRates.map((rate) => checkNetwork(network, rate));
        openTerminal(options).result({ network, telescopes }, networkLines(network, telescopes));
        return;
      }
      const devices = describeDevices();
      const lines = devices.map((device) =>
        device.present
          ? `${device.auto ? '➤' : '✓'} ${device.kind.padEnd(10)} ${device.description}`
          : `✗ ${device.kind.padEnd(10)} ${device.reason}; ${device.fix}`,
      );
      openTerminal(options).result({ devices, auto: explainAuto(devices) }, [
        ...lines,
        '',
        explainAuto(devices),
      ]);
    },
  );
  addHelp(command, {
    examples: [
      ['devices', 'one line for each backend; the arrow marks what auto takes'],
      ['devices --json', 'the same for machines'],
      ['devices --network', 'interfaces, buffers, and what prevents receiving some telescopes'],
    ],
  });
}
