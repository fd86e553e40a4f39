/** Output of `corella devices --network`. */
import { formatBytes } from '../../core/units.js';
import type { NetworkFacts, NetworkCheck } from '../../receive/index.js';

const known = <Value>(value: Value | undefined, text: (value: Value) => string): string =>
  value === undefined ? 'unknown' : text(value);
const gigabits = (bitsPerS: number): string => `${(bitsPerS / 1e9).toFixed(1)} Gb/s`;

export function networkLines(facts: NetworkFacts, telescopes: readonly NetworkCheck[]): string[] {
  const most = known(facts.receiveBufferMostBytes, formatBytes);
  return [
    ...facts.interfaces.map(
      (one) =>
        `${one.name.padEnd(14)} ${one.addresses.join(', ') || 'no IPv4 address'}; MTU ${known(one.mtu, String)}; ` +
        `speed ${known(one.speedBitsPerS, gigabits)}; dropped ${known(one.dropped, String)}; ` +
        `reverse-path filter ${known(one.reversePathFilter, (value) => ['off', 'strict', 'loose'][value] ?? String(value))}`,
    ),
    '',
    `receive buffer ${most} at most (net.core.rmem_max)${facts.mayForce ? '; this user may force more' : ''}`,
    `backlog        ${known(facts.backlog, String)} packets (net.core.netdev_max_backlog)`,
    `groups         ${known(facts.groupsMost, String)} a socket (net.ipv4.igmp_max_memberships)`,
    `drops          ${known(facts.bufferErrors, String)} datagrams found a socket's buffer full since the machine is up`,
    '',
    ...telescopes.flatMap(
      ({ name, part, datagramBytes, packetsPerS, bitsPerS, askedBufferBytes, against }) => [
        `${against.length === 0 ? '✓' : '✗'} ${name.padEnd(17)} ${part}: ${Math.round(packetsPerS)} packets of ` +
          `${datagramBytes} bytes a second, ${gigabits(bitsPerS)}; buffer ${formatBytes(askedBufferBytes)}`,
        ...against.map(({ what, fix }) => `    ${what}; ${fix}`),
      ],
    ),
  ];
}
