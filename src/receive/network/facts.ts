/** The network settings of this machine from Linux's /sys and /proc; undefined where they are absent. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';

export interface InterfaceFacts {
  readonly name: string;
  readonly addresses: readonly string[];
  readonly mtu: number | undefined;
  readonly speedBitsPerS: number | undefined;
  /** Packets that the card or its driver dropped since it came up. */
  readonly dropped: number | undefined;
  /** 1 (strict) drops packets that arrive on an interface other than the one replies would use. */
  readonly reversePathFilter: number | undefined;
}

export interface NetworkFacts {
  readonly interfaces: readonly InterfaceFacts[];
  /** The largest buffer that a socket may request without CAP_NET_ADMIN. */
  readonly receiveBufferMostBytes: number | undefined;
  /** Packets that may wait between the card and the sockets. */
  readonly backlog: number | undefined;
  readonly groupsMost: number | undefined;
  /** Whether this process may force a larger receive buffer. */
  readonly mayForce: boolean;
  /** Datagrams dropped since boot because a socket's buffer was full, over all sockets. */
  readonly bufferErrors: number | undefined;
}

/** CAP_NET_ADMIN's bit in the capability mask. */
const NET_ADMIN = 12n;

/** `root` is the parent of /sys and /proc: tests use their own. */
export function networkFacts(root = '/', addresses = networkInterfaces()): NetworkFacts {
  const text = (...path: readonly string[]): string | undefined => {
    try {
      return readFileSync(join(root, ...path), 'utf8').trim();
    } catch {
      // Absent or unreadable: a card that is down has no speed.
      return undefined;
    }
  };
  const number = (...path: readonly string[]): number | undefined => {
    const value = Number(text(...path) ?? Number.NaN);
    return Number.isFinite(value) ? value : undefined;
  };
  const core = (name: string): number | undefined => number('proc/sys/net/core', name);
  const folder = join(root, 'sys/class/net');
  const names = existsSync(folder) ? readdirSync(folder).sort() : Object.keys(addresses);
  return {
    interfaces: names
      .filter((name) => (addresses[name] ?? []).length > 0)
      .map((name): InterfaceFacts => {
        const statistic = (what: string): number =>
          number('sys/class/net', name, 'statistics', what) ?? Number.NaN;
        const dropped = statistic('rx_dropped') + statistic('rx_missed_errors');
        const megabits = number('sys/class/net', name, 'speed');
        return {
          name,
          addresses: (addresses[name] ?? [])
            .filter(({ family }) => family === 'IPv4')
            .map(({ address }) => address),
          mtu: number('sys/class/net', name, 'mtu'),
          speedBitsPerS: megabits !== undefined && megabits > 0 ? megabits * 1e6 : undefined,
          dropped: Number.isNaN(dropped) ? undefined : dropped,
          reversePathFilter: number('proc/sys/net/ipv4/conf', name, 'rp_filter'),
        };
      }),
    receiveBufferMostBytes: core('rmem_max'),
    backlog: core('netdev_max_backlog'),
    groupsMost: number('proc/sys/net/ipv4/igmp_max_memberships'),
    mayForce: capable(text('proc/self/status')),
    bufferErrors: bufferErrors(text('proc/net/snmp')),
  };
}

function capable(status: string | undefined): boolean {
  const mask = /^CapEff:\s*([0-9a-f]+)$/m.exec(status ?? '')?.[1];
  return mask !== undefined && ((BigInt(`0x${mask}`) >> NET_ADMIN) & 1n) === 1n;
}

/** Two lines: names, then numbers. */
function bufferErrors(snmp: string | undefined): number | undefined {
  const lines = (snmp ?? '').split('\n').filter((line) => line.startsWith('Udp:'));
  if (lines.length < 2) return undefined;
  const [names, numbers] = lines.map((line) => line.split(/\s+/));
  const at = names.indexOf('RcvbufErrors');
  return at < 0 ? undefined : Number(numbers[at]);
}
