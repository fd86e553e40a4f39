/** What corella devices does, loaded when it runs. */
import { describeDevices, explainAuto } from '../../backend/select.js';
import { checkNetwork, networkFacts, telescopeRates } from '../../receive/index.js';
import type { DevicesOptions } from '../devices.js';
import { networkLines } from '../report/network-lines.js';
import { openTerminal } from '../report/terminal.js';

export function run(options: DevicesOptions): void {
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
  openTerminal(options).result({ devices, auto: explainAuto(devices) }, [...lines, '', explainAuto(devices)]);
}
