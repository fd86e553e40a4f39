/**
 * Datagrams sent by native threads (send.cpp), off the event loop: as they are, or packed once and paced, where the
 * threads set the clock fields of the headers. Linux.
 */
import { availableParallelism } from 'node:os';
import type { Closable } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import { NULL } from '../../backend/c-arguments.js';
import { call, callApart, loadNative, requireNative } from '../../backend/cpu/library.js';
import type { Endpoint } from '../../packets/addresses.js';
import type { StreamPlan } from '../../packets/packet-format.js';
import { packetFormatNamed } from '../../packets/registry.js';
import { readField } from '../../packets/tick-fields.js';

interface NativeSenderOptions {
  readonly to: Endpoint;
  /** Address of the interface for multicast datagrams; by default the system chooses. */
  readonly interface?: string;
  readonly sendBufferBytes?: number;
  /** Hop limit of multicast datagrams. */
  readonly hops?: number;
  /** Many datagrams per call all the way to the network card; on by default. */
  readonly offload?: 'on' | 'off';
}

/** Sockets connected to the destination; closed when the last call has ended. */
function openSockets(options: NativeSenderOptions, count: number) {
  const library = requireNative('send');
  if (process.platform !== 'linux') refuse('send', 'the native sender runs on Linux alone');
  const open = library.function(
    `int32_t corella_sender_open(char *error, const char *address, const char *interface,
      const int64_t *asked /*[3]*/, int32_t *descriptor /*[1]*/)`,
  );
  const close = library.function('int32_t corella_sender_close(char *error, int32_t descriptor)');
  const { to, sendBufferBytes = 2 ** 23, hops = 4 } = options;
  const asked = BigInt64Array.from([to.port, sendBufferBytes, hops], BigInt);
  const descriptors: number[] = [];
  const closeAll = (): void => {
    for (const descriptor of descriptors) call('send', close, descriptor);
  };
  try {
    const one = new Int32Array(1);
    while (descriptors.length < count) {
      call('send', open, to.address, options.interface ?? '0.0.0.0', asked, one);
      descriptors.push(one[0]);
    }
  } catch (fault) {
    closeAll();
    throw fault;
  }
  let state: 'open' | 'closed' = 'open';
  let underWay: Promise<unknown> = Promise.resolve();
  return {
    library,
    descriptors: Int32Array.from(descriptors),
    offload: options.offload === 'off' ? 0 : 1,
    run: async (start: () => Promise<void>): Promise<void> => {
      if (state === 'closed') refuse('send', 'the sender is closed');
      const sending = start();
      underWay = sending.catch(() => undefined);
      await sending;
    },
    close: async (): Promise<void> => {
      if (state === 'closed') return;
      state = 'closed';
      await underWay;
      closeAll();
    },
  };
}

interface NativeSender extends Closable {
  /** datagrams : [count][each]. Do not change them until this has settled. */
  send(datagrams: Uint8Array, each: number): Promise<void>;
}

/** For benchmarks, and for datagrams of any kind. */
export function openNativeSender(options: NativeSenderOptions): NativeSender {
  const { library, descriptors, offload, run, close } = openSockets(options, 1);
  const send = library.function(
    `int32_t corella_sender_send(char *error, int32_t descriptor,
      const uint8_t *datagrams /*[each * count]*/, int64_t each, int64_t count, int32_t offload)`,
  );
  return {
    send: (datagrams, each) =>
      run(() => {
        const count = datagrams.length / each;
        if (!Number.isInteger(count)) refuse('send', `${datagrams.length} bytes are no datagrams of ${each}`);
        return callApart('send', send, descriptors[0], datagrams, each, count, offload);
      }),
    close,
  };
}

/** Slots of packets, ready to send except for their times. */
export interface PackedSlots {
  readonly slots: number;
  /** datagrams : [slot][sender][fragment][bytes] */
  readonly datagrams: Uint8Array;
  /** left : [slot][sender][fragment], 1 where the recording has a gap and nothing is sent. */
  readonly left?: Uint8Array;
}

interface PacedTurn {
  readonly packed: PackedSlots;
  readonly fromSlot: number;
  readonly toSlot: number;
  /** Tick of the first of these slots, before truncation to the clock's bits. */
  readonly firstTick: bigint;
  /** When the first of these slots is due, by process.hrtime. */
  readonly startNs: bigint;
  /** From one slot to the next; 0: as fast as possible. */
  readonly slotNs: number;
}

export interface PacedSender extends Closable {
  readonly sockets: number;
  /** Do not change the arrays until this has settled. */
  send(turn: PacedTurn): Promise<{ readonly sent: number; readonly behindNs: number }>;
}

interface PacedSenderOptions extends NativeSenderOptions {
  readonly plan: StreamPlan;
  /** The epoch in the packets. */
  readonly session?: bigint;
  /** Threads, each with its own socket; by default as many as the rate needs. */
  readonly sockets?: number;
  /** Requested packets per second. */
  readonly packetRate: number;
}

/** What one thread sends with ample margin. */
const PACKETS_A_THREAD = 100_000;

/** Whether this machine supports it. */
export const canPace = (): boolean => process.platform === 'linux' && !('what' in loadNative());

/** A packet of tick 0 for each source and fragment; all have the same length. */
export function packetsOfTickZero(plan: StreamPlan, session: bigint | undefined): Uint8Array[] {
  const format = packetFormatNamed(plan.format);
  const payload = new Uint8Array(plan.cellBytes);
  return plan.sources.flatMap((_, sender) =>
    Array.from({ length: plan.fragments }, (_one, fragment) =>
      format.encode({ tick: 0n, sender, fragment, session }, payload, plan),
    ),
  );
}

function socketsFor({ sockets, packetRate, plan }: PacedSenderOptions): number {
  const perSlot = plan.sources.length * plan.fragments;
  const wanted =
    sockets ??
    Math.min(
      Math.max(1, Math.floor(availableParallelism() / 2)),
      Number.isFinite(packetRate) ? Math.max(1, Math.ceil(packetRate / PACKETS_A_THREAD)) : 1,
    );
  return Math.min(wanted, perSlot);
}

export function openPacedSender(options: PacedSenderOptions): PacedSender {
  const { plan } = options;
  const { library, descriptors, offload, run, close } = openSockets(options, socketsFor(options));
  const pace = library.function(
    `int32_t corella_sender_pace(char *error, const int32_t *descriptors, uint8_t *datagrams,
      const uint8_t *left, const uint64_t *bases, const int64_t *fields, const int64_t *sizes,
      double slotNs, int64_t *totals /*[2]*/)`,
  );
  const fields = packetFormatNamed(plan.format).tickFields(plan);
  const templates = packetsOfTickZero(plan, options.session);
  const bases = BigUint64Array.from(
    templates.flatMap((packet) => fields.map((field) => readField(packet, field))),
  );
  const table = BigInt64Array.from(
    fields.flatMap(({ atByte, bytes, order, divide, modulo, times }) => {
      return [atByte, bytes, order === 'big' ? 1 : 0, divide, modulo, times];
    }),
    BigInt,
  );
  const sockets = descriptors.length;
  const each = templates[0].length;
  return {
    sockets,
    send: async ({ packed, fromSlot, toSlot, firstTick, startNs, slotNs }) => {
      const totals = new BigInt64Array(2);
      await run(() => {
        if (packed.datagrams.length !== packed.slots * templates.length * each || toSlot > packed.slots)
          throw new Error(`${packed.datagrams.length} bytes are not ${packed.slots} slots of ${each}`);
        const sizes = BigInt64Array.from([
          ...[each, templates.length, fromSlot, toSlot - fromSlot].map(BigInt),
          BigInt.asIntN(64, firstTick),
          ...[plan.ticksPerSlot, plan.wrapBits].map(BigInt),
          startNs,
          ...[sockets, fields.length, offload].map(BigInt),
        ]);
        const { datagrams, left = NULL } = packed;
        return callApart('send', pace, descriptors, datagrams, left, bases, table, sizes, slotNs, totals);
      });
      return { sent: Number(totals[0]), behindNs: Number(totals[1]) };
    },
    close,
  };
}
