/** Output of `corella devices --network`. */
import { formatBytes } from '../../core/units.js';
import type { NetworkFacts, TelescopeVerdict } from '../../receive/index.js';

const told = <Value>(value: Value | undefined, text: (value: Value) => string): string =>
  value === undefined ? 'not told' : text(value);
const gigabits = (bitsPerS: number): string => `${(bitsPerS / 1e9).toFixed(1)} Gb/s`;

export function networkLines(facts: NetworkFacts, verdicts: readonly TelescopeVerdict[]): string[] {
  const most = told(facts.receiveBufferMostBytes, formatBytes);
  return [
    ...facts.interfaces.map(
      (one) =>
        `${one.name.padEnd(14)} ${one.addresses.join(', ') || 'no IPv4 address'}; MTU ${told(one.mtu, String)}; ` +
        `speed ${told(one.speedBitsPerS, gigabits)}; dropped ${told(one.dropped, String)}; ` +
        `reverse-path filter ${told(one.reversePathFilter, (value) => ['off', 'strict', 'loose'][value] ?? String(value))}`,
    ),
    '',
    `receive buffer ${most} at most (net.core.rmem_max)${facts.mayForce ? '; this user may force more' : ''}`,
    `backlog        ${told(facts.backlog, String)} packets (net.core.netdev_max_backlog)`,
    `groups         ${told(facts.groupsMost, String)} a socket (net.ipv4.igmp_max_memberships)`,
    `drops          ${told(facts.bufferErrors, String)} datagrams found a socket's buffer full since the machine is up`,
    '',
    ...verdicts.flatMap(({ name, part, datagramBytes, packetsPerS, bitsPerS, askedBufferBytes, against }) => [
      `${against.length === 0 ? '✓' : '✗'} ${name.padEnd(17)} ${part}: ${Math.round(packetsPerS)} packets of ` +
        `${datagramBytes} bytes a second, ${gigabits(bitsPerS)}; buffer ${formatBytes(askedBufferBytes)}`,
      ...against.map(({ what, fix }) => `    ${what}; ${fix}`),
    ]),
  ];
}
