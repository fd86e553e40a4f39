/** Where packets go: a capture, or a socket at the requested speed. */
import { createSocket, type Socket } from 'node:dgram';
import { isIPv4 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { refuse } from '../core/errors.js';
import type { Endpoint } from '../packets/addresses.js';
import { writeCapture } from '../packets/pcap-write.js';
import { buildFrame } from '../packets/udp.js';
import { openOutput } from '../formats/index.js';
import type { Outgoing } from './faults.js';

export interface Destination {
  put(packet: Outgoing): Promise<void> | void;
  finish(): Promise<void>;
  /** After a failure: no part of a capture remains. */
  abandon(): Promise<void>;
}

/** Captured with the times at which they would have been sent. */
export async function toCapture(path: string, startUnixNs: bigint): Promise<Destination> {
  const file = await openOutput(path);
  const capture = writeCapture(file);
  const frame = {
    source: { address: '10.0.0.1', port: 4015 },
    destination: { address: '10.0.0.2', port: 4015 },
  };
  return {
    put: ({ datagram, sinceS }) =>
      capture.append(startUnixNs + BigInt(Math.round(sinceS * 1e9)), buildFrame(frame, datagram)),
    finish: async () => {
      await capture.finish();
      await file.finish();
    },
    abandon: () => file.abandon(),
  };
}

/** Packets in flight: enough to keep the kernel busy, few enough for its back-pressure to work. */
const IN_FLIGHT = 128;
/** Shortest sleep: timers are no finer. */
const LEAST_SLEEP_S = 0.002;

interface SocketSettings {
  readonly to: Endpoint;
  /** Seconds of data per second; Infinity is as fast as possible. */
  readonly speed: number;
  /** Packets to a multicast group may pass several routers. */
  readonly interfaceAddress?: string;
  /** When the first packet is sent, by performance.now; by default at once. Called when that packet is ready. */
  readonly beginMs?: () => number;
}

export async function toSocket({
  to,
  speed,
  interfaceAddress,
  beginMs,
}: SocketSettings): Promise<Destination> {
  if (!isIPv4(to.address) && to.address !== 'localhost')
    refuse('--to', `'${to.address}' is no IPv4 address`, 'write it like 127.0.0.1:4015 or 239.1.2.3:4015');
  const socket: Socket = createSocket('udp4');
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.connect(to.port, to.address, resolve);
  });
  if (interfaceAddress !== undefined) socket.setMulticastInterface(interfaceAddress);
  socket.setSendBufferSize(2 ** 22);
  const state: { inFlight: number; failure?: Error; wake: () => void } = {
    inFlight: 0,
    wake: () => undefined,
  };
  // A connected socket reports a missing listener, which is not an error here.
  socket.on('error', () => undefined);
  let began: number | undefined;
  const done = (error: Error | null): void => {
    state.inFlight--;
    if (error && 'code' in error && error.code !== 'ECONNREFUSED') state.failure = error;
    state.wake();
  };
  const waitFor = async (most: number): Promise<void> => {
    while (state.inFlight > most) await new Promise<void>((resolve) => (state.wake = resolve));
  };
  return {
    put: async ({ datagram, sinceS }) => {
      if (state.failure) throw state.failure;
      began ??= beginMs?.() ?? performance.now();
      const aheadS = sinceS / speed - (performance.now() - began) / 1000;
      if (aheadS > LEAST_SLEEP_S) await sleep(1000 * aheadS);
      if (state.inFlight >= IN_FLIGHT) await waitFor(IN_FLIGHT / 2);
      state.inFlight++;
      socket.send(datagram, done);
    },
    finish: async () => {
      await waitFor(0);
      socket.close();
    },
    abandon: () => {
      socket.close();
      return Promise.resolve();
    },
  };
}
