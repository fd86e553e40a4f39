/** A Node UDP socket. */
import { createSocket, type Socket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { refuse } from '../core/errors.js';
import type { Listening } from './listen.js';

/** A bound socket, joined to its multicast group. */
export async function openSocket(listening: Listening): Promise<Socket> {
  const { address, port, group, interfaceAddress, receiveBufferBytes } = listening;
  // Every socket gets a copy of a multicast datagram. A unicast datagram would go only to the last socket bound.
  const socket = createSocket({ type: 'udp4', reuseAddr: group });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(port, address, () => {
      socket.off('error', reject);
      resolve();
    });
  }).catch((error: unknown) => {
    socket.close();
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
      refuse(
        'listen',
        `${address}:${port} is in use by another program`,
        'another corella live may be running; several receivers need a multicast group',
        'network.unavailable',
      );
    refuse(
      'listen',
      `${address}:${port} cannot be bound (${reasonOf(error)})`,
      'check source.listen',
      'network.unavailable',
    );
  });
  try {
    if (group) socket.addMembership(address, interfaceAddress);
    socket.setRecvBufferSize(receiveBufferBytes);
  } catch (error) {
    socket.close();
    refuse(
      'listen',
      `${address} cannot be joined on ${interfaceAddress} (${reasonOf(error)})`,
      'name the interface that the group comes by: source.interface',
    );
  }
  return socket;
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Linux counts drops per socket: the local port is in hexadecimal, the count is in the last column. */
export function kernelDropsAt(port: number): number | undefined {
  try {
    const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
    return readFileSync('/proc/net/udp', 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((words) => words[1]?.endsWith(end))
      .reduce((sum, words) => sum + Number(words.at(-1)), 0);
  } catch {
    return undefined;
  }
}
