/**
 * Blocks of the native ring. The receive thread sends a byte when a block is ready; Node polls that descriptor like any
 * socket, so this uses no pool thread and the event loop never blocks.
 */
import { Socket } from 'node:net';
import { refuse } from '../../core/errors.js';
import { Bell, surveyedBy, type Arrivals } from '../arrivals.js';
import type { RingPlan } from '../plan.js';
import type { ListenOrigin } from '../survey-socket.js';
import { openNativeRing, type RingMemory } from './native-ring.js';
import { NativeSocket } from './socket.js';

/** Called with the ring's memory before the socket is opened, so that slow preparation loses no packets. */
export type BeforeListening = (memory: readonly RingMemory[]) => Promise<void>;

/** With fewer free blocks, what can be left out is: the rest of the ring is for those that are under way. */
const FREE_SHARE = 0.25;

export async function arriveByNative(
  plan: RingPlan,
  settings: ListenOrigin,
  beforeListening: BeforeListening = () => Promise.resolve(),
): Promise<Arrivals> {
  const { socket: given } = settings;
  if (given?.by === 'node') throw new Error("a socket of Node's for the native ring");
  const ring = openNativeRing(plan);
  const bell = new Bell();
  const descriptor = ring.wakeDescriptor();
  if (descriptor < 0) {
    await ring.close();
    refuse('receive', 'no pair of sockets to wake by', 'raise the limit of open files: ulimit -n');
  }
  const wake = new Socket({ fd: descriptor, readable: true, writable: false });
  wake.on('data', bell.ring);
  wake.on('close', bell.ring);
  wake.on('error', bell.ring);
  const close = async (): Promise<void> => {
    ring.stop();
    await ring.close();
    wake.destroy();
    bell.ring();
  };
  let facts;
  let opened: NativeSocket | undefined;
  try {
    await beforeListening(ring.memory);
    opened = given ?? new NativeSocket(settings);
    facts = ring.listen(opened, settings);
  } catch (error) {
    await opened?.close();
    await close();
    throw error;
  }
  const { port } = opened;
  const { receiveBufferBytes, coalesced, discarded } = facts;
  const surveyed = given && surveyedBy(given, discarded);
  let leastFree = plan.blocks;
  let dropsAtStop: number | undefined;
  return {
    plan,
    description: `the native ring at ${settings.listen.address}:${port}${coalesced ? ', datagrams coalesced' : ''}`,
    next: async () => {
      for (;;) {
        const block = ring.take();
        if (block) {
          leastFree = Math.min(leastFree, ring.freeBlocks());
          return block;
        }
        if (ring.ended()) {
          ring.checkTrouble();
          return undefined;
        }
        await bell.rung();
      }
    },
    stop: () => {
      // The socket is not read after this: later drops do not count.
      dropsAtStop ??= ring.threadFacts().kernelDrops;
      ring.stop();
    },
    account: () => ring.account(),
    surveyed,
    socket: () => {
      const { cpuNs, kernelDrops } = ring.threadFacts();
      return { port, receiveBufferBytes, kernelDrops: dropsAtStop ?? kernelDrops, threadS: cpuNs / 1e9 };
    },
    fill: () => ({ blocks: plan.blocks, leastFree }),
    isBehind: () => ring.freeBlocks() < FREE_SHARE * plan.blocks,
    close,
  };
}
