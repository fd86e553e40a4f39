/** corella devices: what this machine offers, and which backend `auto` would take. */
import type { Command } from 'commander';
import { describeDevices, explainAuto } from '../backend/select.js';
import { judge, networkFacts, telescopeRates } from '../receive/index.js';
import { addCommonOptions, addExamples, type CommonOptions } from './options/command.js';
import { networkLines } from './report/network-lines.js';
import { openTerminal } from './report/terminal.js';

export function registerDevices(program: Command): void {
  const command = program
    .command('devices')
    .option('--network', 'what the network could receive instead: interfaces, buffers, telescopes')
    .action((options: CommonOptions & { readonly network?: true }) => {
      if (options.network) {
        const network = networkFacts();
        const telescopes = telescopeRates.map((rate) => judge(network, rate));
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
    });
  addCommonOptions(command);
  addExamples(command, [
    ['devices', 'one line for each backend; the arrow marks what auto takes'],
    ['devices --json', 'the same for machines'],
    ['devices --network', 'interfaces, buffers, and what stands against receiving some telescopes'],
  ]);
}
