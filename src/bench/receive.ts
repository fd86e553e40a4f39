/**
 * Packets per second by a loopback socket, one sender: the packets placed in blocks, over the time until all sent
 * packets are counted. The peer is the same ring in TypeScript on Node's socket; the ceiling is the sender without a
 * reader. Sender and receiver share the machine, and on loopback the sender pays for most of a packet's processing.
 */
import { setTimeout } from 'node:timers/promises';
import { chips } from '../packets/chips.js';
import type { StreamPlan } from '../packets/packet-format.js';
import { packetFormatNamed } from '../packets/registry.js';
import { openArrivals, openNativeSender, planRing, type Arrivals } from '../receive/index.js';
import type { Closers } from '../core/closing.js';
import type { BenchCase, KernelBench, PreparedCase } from './bench.js';
import type { Contestant } from './measure.js';

interface Size {
  readonly channels: number;
  readonly unit: 'packets/s' | 'Gb/s';
  /** Datagrams joined by the kernel on the way, or single. */
  readonly coalesce: 'on' | 'off';
}

/** LWA-SV's own packets of 4240 bytes, and a quarter of that size. */
const sizes: readonly Size[] = [
  { channels: 132, unit: 'Gb/s', coalesce: 'off' },
  { channels: 132, unit: 'Gb/s', coalesce: 'on' },
  { channels: 33, unit: 'packets/s', coalesce: 'off' },
  { channels: 33, unit: 'packets/s', coalesce: 'on' },
];

const BOARDS = 16;
const SLOTS = 1000;
/** Spectra sent at a time: as many as fit the socket's buffer, which Node cannot enlarge beyond the system's limit. */
const burstSlots = { native: 256, typescript: 32 } as const;
const BUFFER_BYTES = 2 ** 26;
/** For the socket that must drop all packets. */
const LEAST_BUFFER_BYTES = 4096;

export const receiveBench: KernelBench = {
  kernel: 'receive',
  cases: (backend) =>
    backend.kind !== 'cpu' || process.platform !== 'linux'
      ? []
      : sizes.map((size): BenchCase => {
          const stream = streamOf(size);
          const bytes = stream.cellBytes + 16;
          return {
            parameters: { format: 'chips', bytes, coalesce: size.coalesce },
            unit: size.unit,
            scale: size.unit === 'Gb/s' ? 1e9 / (8 * bytes) : 1,
            secondsPerTurn: 0.2,
            prepare: (closers) => prepare(stream, size, closers),
          };
        }),
};

const streamOf = ({ channels }: Size): StreamPlan =>
  chips.plan({ boards: Array.from({ length: BOARDS }, (_, n) => n + 1), channels, firstChannel: 1000 });

async function prepare(stream: StreamPlan, size: Size, closers: Closers): Promise<PreparedCase> {
  const [ours, peer] = [
    await contestant(stream, size, 'native', closers),
    await contestant(stream, size, 'typescript', closers),
  ];
  return {
    ours,
    peer: { ...peer, name: "the ring in TypeScript on Node's socket" },
    ceiling: { ...(await sendingAlone(stream, size, closers)), title: 'the sender alone' },
  };
}

/** [slot][board] of packets that continue those sent before. */
function burstMaker(stream: StreamPlan, slots: number): { readonly each: number; next(): Uint8Array } {
  const encode = packetFormatNamed(stream.format);
  const payload = new Uint8Array(stream.cellBytes).fill(0x12);
  const each = stream.cellBytes + 16;
  const burst = new Uint8Array(slots * BOARDS * each);
  for (let sender = 0; sender < BOARDS; sender++) {
    const packet = encode.encode({ tick: 0n, sender, fragment: 0 }, payload, stream);
    for (let slot = 0; slot < slots; slot++) burst.set(packet, (slot * BOARDS + sender) * each);
  }
  const view = new DataView(burst.buffer);
  let tick = 0;
  return {
    each,
    next: () => {
      for (let slot = 0; slot < slots; slot++) {
        for (let sender = 0; sender < BOARDS; sender++) {
          view.setBigUint64((slot * BOARDS + sender) * each + 8, BigInt(tick + slot + 1));
        }
      }
      tick += slots;
      return burst;
    },
  };
}

/** A ring that receives, and a sender to it. */
async function openBoth(
  stream: StreamPlan,
  { coalesce }: Size,
  by: 'native' | 'typescript',
  receiveBufferBytes: number,
  closers: Closers,
): Promise<{ readonly arrivals: Arrivals; readonly sender: ReturnType<typeof openNativeSender> }> {
  const plan = planRing(stream, { slotsPerBlock: SLOTS, blocks: 8, flushMs: 60_000 });
  const from = { listen: { address: '127.0.0.1', port: 0 }, receiveBufferBytes, coalesce };
  const arrivals = closers.keep(await openArrivals(plan, { by, from }));
  const to = { address: '127.0.0.1', port: arrivals.socket?.().port ?? 0 };
  return { arrivals, sender: closers.keep(openNativeSender({ to, offload: coalesce })) };
}

async function contestant(
  stream: StreamPlan,
  size: Size,
  by: 'native' | 'typescript',
  closers: Closers,
): Promise<Contestant> {
  const { arrivals, sender } = await openBoth(stream, size, by, BUFFER_BYTES, closers);
  void consume(arrivals);
  const slots = burstSlots[by];
  const burst = burstMaker(stream, slots);
  const accounted = (): number => arrivals.account().packets + (arrivals.socket?.().kernelDrops ?? 0);
  return {
    run: async () => {
      const before = arrivals.account().outcomes.placed;
      const goal = accounted() + slots * BOARDS;
      await sender.send(burst.next(), burst.each);
      while (accounted() < goal) await setTimeout(0);
      return arrivals.account().outcomes.placed - before;
    },
  };
}

/** Blocks are released at once: only the ring is measured. */
async function consume(arrivals: Arrivals): Promise<void> {
  for (let block = await arrivals.next(); block; block = await arrivals.next()) block.release();
}

/**
 * Sends to a socket like the contestant's own without a reader: the kernel drops nearly all. It must accept joined
 * datagrams if the contestant's does: for other sockets the kernel splits them, at the sender's cost, and the sender
 * alone would be slower than with a receiver.
 */
async function sendingAlone(stream: StreamPlan, size: Size, closers: Closers): Promise<Contestant> {
  const { arrivals, sender } = await openBoth(stream, size, 'native', LEAST_BUFFER_BYTES, closers);
  arrivals.stop();
  const burst = burstMaker(stream, burstSlots.native);
  return {
    run: async () => {
      await sender.send(burst.next(), burst.each);
      return burstSlots.native * BOARDS;
    },
  };
}
