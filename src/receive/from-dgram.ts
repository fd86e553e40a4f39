/** Packets by a socket of Node's: for small arrays, and machines without the native library. */
import { createSocket, type Socket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { refuse } from '../core/errors.js';
import { Bell, type Arrivals } from './arrivals.js';
import type { OpenFedRing } from './from-capture.js';
import { planListening, type Listening, type ListenSettings } from './listen.js';
import type { RingPlan } from './plan.js';

/** A bound socket, joined to its group. */
export async function openSocket(listening: Listening): Promise<Socket> {
  const { address, port, group, interfaceAddress, receiveBufferBytes } = listening;
  // Of a group everyone gets a copy; of what is sent to one address the last to bind would get all, unheard by the first.
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
        `${address}:${port} is taken by another program`,
        'another corella live may be running; let senders send to a group where several shall hear them',
      );
    refuse('listen', `${address}:${port} cannot be bound (${reasonOf(error)})`, 'check --listen');
  });
  try {
    if (group) socket.addMembership(address, interfaceAddress);
    socket.setRecvBufferSize(receiveBufferBytes);
  } catch (error) {
    socket.close();
    refuse(
      'listen',
      `${address} cannot be joined on ${interfaceAddress} (${reasonOf(error)})`,
      'name the interface that the group comes by: --interface',
    );
  }
  return socket;
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export async function arriveByDgram(
  plan: RingPlan,
  settings: ListenSettings,
  open: OpenFedRing,
): Promise<Arrivals> {
  const bell = new Bell();
  const ring = open(plan, bell.ring);
  const socket = await openSocket(planListening(settings));
  const port = socket.address().port;
  let state: 'listening' | 'stopped' = 'listening';
  let quietSince = process.hrtime.bigint();
  socket.on('message', (datagram) => {
    quietSince = process.hrtime.bigint();
    ring.feed(datagram, BigInt(Date.now()) * 1_000_000n);
  });
  const stop = (): void => {
    if (state === 'stopped') return;
    state = 'stopped';
    clearInterval(silence);
    ring.flush();
    socket.close();
    bell.ring();
  };
  // A broken socket ends the stream; what came is handed on.
  socket.on('error', stop);
  const flushNs = BigInt(plan.flushMs) * 1_000_000n;
  const silence = setInterval(
    () => {
      if (process.hrtime.bigint() - quietSince < flushNs) return;
      quietSince = process.hrtime.bigint();
      ring.flush();
    },
    Math.max(10, plan.flushMs / 4),
  );
  // The kernel doubles what it is asked for, and says the double.
  let drops = kernelDropsAt(port);
  const given = socket.getRecvBufferSize() / (process.platform === 'linux' ? 2 : 1);
  return {
    plan,
    description: `Node's socket at ${settings.listen.address}:${port}`,
    next: async () => {
      for (;;) {
        const block = ring.take();
        if (block) return block;
        if (state === 'stopped') return undefined;
        await bell.heard();
      }
    },
    stop,
    account: () => ring.account(),
    socket: () => {
      if (state === 'listening') drops = kernelDropsAt(port);
      return { port, receiveBufferBytes: given, kernelDrops: drops };
    },
    close: async () => {
      stop();
      await ring.close();
    },
  };
}

/** Linux counts them by socket, with the local port in hexadecimal and the count in the last column. */
function kernelDropsAt(port: number): number | undefined {
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
