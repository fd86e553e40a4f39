/**
 * The native ring from TypeScript: the same rules as reference.ts, in C++ (ring.h). JavaScript owns the memory, one
 * piece per block on whole pages, so that it can be page-locked for a GPU; native code gets the addresses.
 */
import koffi from 'koffi';
import { numberOf } from '../../core/clock/rational.js';
import { refuse } from '../../core/errors.js';
import { roundUp } from '../../core/round-up.js';
import { emptyPresence, type Presence } from '../../core/presence/presence.js';
import { alignedMemory } from '../../backend/aligned-memory.js';
import type { Address } from '../../backend/c-arguments.js';
import {
  callApart,
  errorBuffer,
  requireNative,
  settle,
  type NativeLibrary,
} from '../../backend/cpu/library.js';
import { planListening, type ListenSettings } from '../listen.js';
import { blockBytesOf, activePackets, type RingPlan } from '../plan.js';
import {
  senderOutcomes,
  outcomes,
  type ArrivedBlock,
  type FedRing,
  type SenderCounts,
  type Outcome,
  type RingAccount,
} from '../ring.js';
import { planNumbers } from './parser.js';
import type { NativeSocket } from './socket.js';

const PAGE_BYTES = 4096;
/** Packets, bytes, blocks, skipped blocks, missing packet slots, resyncs, refused resyncs; then outcomes. */
const TOTALS = 7;
/** Outcomes, missing packet slots, newest tick, packets of another clock (duplicate source ID). */
const SENDER_NUMBERS = outcomes.length + 3;
const NEVER = -(2n ** 63n);

interface BlockMemory {
  readonly cells: Uint8Array;
  readonly address: bigint;
  readonly presence: Presence;
}

/** A block's memory, on its own whole pages. */
export interface RingMemory {
  readonly address: bigint;
  readonly bytes: Uint8Array;
}

interface ListeningFacts {
  readonly receiveBufferBytes: number;
  readonly coalesced: boolean;
  /** Datagrams of a surveyed socket that were never read: still waiting, or dropped because its buffer was full. */
  readonly discarded: number;
}

interface NativeRing extends FedRing {
  /** Every block's memory, for page-locking. */
  readonly memory: readonly RingMemory[];
  /** Receives on its own thread from now on; only that thread may call `feed` and `flush`. The ring owns the socket. */
  listen(socket: NativeSocket, settings: ListenSettings): ListeningFacts;
  /** Receives one byte per block; request it before listening. */
  wakeDescriptor(): number;
  /** Ends the thread, which delivers the open blocks. */
  stop(): void;
  /** Whether no more blocks will come; check it when `take` returned none. */
  ended(): boolean;
  /** Throws if the thread ended by itself. */
  checkTrouble(): void;
  /** CPU nanoseconds of the thread; datagrams dropped by the kernel, where reported. */
  threadFacts(): { readonly cpuNs: number; readonly kernelDrops: number | undefined };
}

function pagesFor(sizeBytes: number, garbage: number): RingMemory & { readonly cells: Uint8Array } {
  const pagesBytes = roundUp(sizeBytes, PAGE_BYTES);
  const { address, bytes } = alignedMemory(pagesBytes, PAGE_BYTES);
  if (garbage !== 0) bytes.fill(garbage);
  return { bytes, cells: bytes.subarray(0, sizeBytes), address };
}

const bindings = (bind: NativeLibrary['function']) => ({
  open: bind(
    `int32_t corella_ring_open(char *error, const int64_t *plan /*[7]*/, const int64_t *numbers,
      const int64_t *sources, const int64_t *settings /*[6]*/, double tickRateHz,
      const int64_t *cells, const int64_t *presence, _Out_ void **ring)`,
  ),
  close: bind('int32_t corella_ring_close(char *error, void *ring)'),
  feed: bind(
    `int32_t corella_ring_feed(char *error, void *ring, const uint8_t *datagram /*[bytes]*/, int64_t bytes,
      int64_t unixNs, int32_t *outcome /*[1]*/)`,
  ),
  flush: bind('int32_t corella_ring_flush(char *error, void *ring)'),
  take: bind(
    `int32_t corella_ring_take(char *error, void *ring, int64_t *block /*[7]*/, int32_t *state /*[1]*/)`,
  ),
  release: bind('int32_t corella_ring_release(char *error, void *ring, int64_t index)'),
  account: bind(
    `int32_t corella_ring_account(char *error, void *ring, int64_t *totals, int64_t *senders,
      int64_t *facts /*[3]*/)`,
  ),
  listen: bind(`int32_t corella_ring_listen(char *error, void *ring, const int64_t *asked /*[5]*/,
    int64_t *given /*[3]*/)`),
  stop: bind('int32_t corella_ring_stop(char *error, void *ring)'),
  wake: bind(`int32_t corella_ring_wake(char *error, void *ring, int32_t *descriptor /*[1]*/)`),
  trouble: bind('int32_t corella_ring_trouble(char *error, void *ring)'),
});

/** Fails without the native library. `garbage` fills the memory, for tests; `onRelease`: memory was released. */
export function openNativeRing(
  plan: RingPlan,
  garbage = 0,
  onRelease: () => void = () => undefined,
): NativeRing {
  const native = bindings(requireNative('receive').function);
  const { stream, slotsPerBlock, blocks, window, skipTicks, flushMs } = plan;
  const senders = stream.senders.length;
  const pages = Array.from({ length: blocks }, () => pagesFor(blockBytesOf(plan), garbage));
  const memory = pages.map(({ cells, address }): BlockMemory => ({
    cells,
    address,
    presence: emptyPresence(senders, stream.fragments, slotsPerBlock),
  }));
  const error = errorBuffer();
  const call = (code: number): void => {
    settle('receive', code, error);
  };
  const handle: [bigint] = [0n];
  const settings = [slotsPerBlock, blocks, window, skipTicks, flushMs, activePackets(plan)].map(BigInt);
  call(
    native.open(
      error,
      ...planNumbers(stream),
      BigInt64Array.from(settings),
      stream.tickRateHz ? numberOf(stream.tickRateHz) : 0,
      BigInt64Array.from(memory, ({ address }) => address),
      BigInt64Array.from(memory, ({ presence }) => koffi.address(presence.bits)),
      handle,
    ),
  );
  let open: Address<'corella_ring'> | undefined = handle[0] as Address<'corella_ring'>;
  const ring = (): Address<'corella_ring'> => open ?? refuse('receive', 'the ring is closed');
  const block = new BigInt64Array(7);
  const state = new Int32Array(1);
  const outcome = new Int32Array(1);
  const totals = new BigInt64Array(TOTALS + outcomes.length);
  const senderNumbers = new BigInt64Array(senders * SENDER_NUMBERS);
  const facts = new BigInt64Array(3);
  /** The final counts, available after the ring is closed. */
  const account = (): void => {
    if (open !== undefined) call(native.account(error, open, totals, senderNumbers, facts));
  };
  const describe = (): ArrivedBlock => {
    const [index, startTick, session, epoch, skipped, missing, arrivedUnixNs] = block;
    let released = false;
    return {
      ...memory[Number(index)],
      startTick,
      epoch,
      arrivedUnixNs,
      session: Number(session),
      skippedBlocks: Number(skipped),
      missingCells: Number(missing),
      release: () => {
        if (released || open === undefined) return;
        released = true;
        call(native.release(error, open, index));
        onRelease();
      },
    };
  };
  return {
    plan,
    memory: pages,
    feed: (datagram, unixNs = 0n): Outcome => {
      call(native.feed(error, ring(), datagram, datagram.length, unixNs, outcome));
      return outcomes[outcome[0]];
    },
    flush: () => {
      call(native.flush(error, ring()));
    },
    take: () => {
      if (open === undefined) return undefined;
      call(native.take(error, open, block, state));
      return state[0] === 1 ? describe() : undefined;
    },
    ended: () => open === undefined || state[0] === -1,
    freeBlocks: () => {
      account();
      return Number(facts[0]);
    },
    account: () => {
      account();
      return accountOf(totals, senderNumbers, senders);
    },
    threadFacts: () => {
      account();
      return { cpuNs: Number(facts[1]), kernelDrops: facts[2] < 0n ? undefined : Number(facts[2]) };
    },
    listen: (socket, given) => {
      const got = new BigInt64Array(3);
      const isSurveyed = socket.firstNs !== undefined;
      socket.handOver((descriptor) => {
        const asked = [
          descriptor,
          planListening(given).receiveBufferBytes,
          given.coalesce === 'off' ? 0 : 1,
          isSurveyed ? 1 : 0,
          given.core ?? -1,
        ];
        call(native.listen(error, ring(), BigInt64Array.from(asked, BigInt), got));
      });
      return {
        receiveBufferBytes: Number(got[0]),
        coalesced: got[1] === 1n,
        discarded: Number(got[2]),
      };
    },
    wakeDescriptor: () => {
      call(native.wake(error, ring(), state));
      return state[0];
    },
    stop: () => {
      if (open !== undefined) call(native.stop(error, open));
    },
    checkTrouble: () => {
      if (open !== undefined) call(native.trouble(error, open));
    },
    close: async () => {
      if (open === undefined) return;
      account();
      const closing = open;
      open = undefined;
      // Waits for the receive thread on a pool thread.
      await callApart('receive', native.close, closing);
    },
  };
}

function accountOf(totals: BigInt64Array, senderNumbers: BigInt64Array, senders: number): RingAccount {
  const [packets, bytes, blocks, skippedBlocks, missingCells, resyncs, refusedResyncs] = [
    ...totals.subarray(0, TOTALS),
  ].map(Number);
  const named = <Name extends Outcome>(
    names: readonly Name[],
    numbers: BigInt64Array,
  ): Record<Name, number> =>
    Object.fromEntries(names.map((name) => [name, Number(numbers[outcomes.indexOf(name)])])) as Record<
      Name,
      number
    >;
  return {
    packets,
    bytes,
    blocks,
    skippedBlocks,
    missingCells,
    resyncs,
    refusedResyncs,
    outcomes: named(outcomes, totals.subarray(TOTALS)),
    senders: Array.from({ length: senders }, (_, sender): SenderCounts => {
      const numbers = senderNumbers.subarray(sender * SENDER_NUMBERS, (sender + 1) * SENDER_NUMBERS);
      const newest = numbers[outcomes.length + 1];
      return {
        outcomes: named(senderOutcomes, numbers),
        missingCells: Number(numbers[outcomes.length]),
        newestTick: newest === NEVER ? undefined : newest,
        duplicateIdPackets: Number(numbers[outcomes.length + 2]),
      };
    }),
  };
}
