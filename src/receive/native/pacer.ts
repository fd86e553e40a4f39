/**
 * Packets packed once and sent at a fixed rate by native threads (pace.cpp), off the event loop. The threads set the
 * clock fields of the headers. Linux.
 */
import { availableParallelism } from 'node:os';
import type { Closable } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import { NULL } from '../../backend/c-arguments.js';
import { errorBuffer, loadNative, settle } from '../../backend/cpu/library.js';
import type { StreamPlan } from '../../packets/packet-format.js';
import { packetFormatNamed } from '../../packets/registry.js';
import { readField } from '../../packets/tick-fields.js';
import type { NativeSenderOptions } from './sender.js';

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
  const library = loadNative();
  if ('what' in library) refuse('send', library.what, library.fix);
  const open = library.function(
    `int32_t corella_sender_open(char *error, const char *address, const char *interface,
      const int64_t *asked /*[3]*/, int32_t *descriptor /*[1]*/)`,
  );
  const pace = library.function(
    `int32_t corella_sender_pace(char *error, const int32_t *descriptors, uint8_t *datagrams,
      const uint8_t *left, const uint64_t *bases, const int64_t *fields, const int64_t *sizes,
      double slotNs, int64_t *totals /*[2]*/)`,
  );
  const close = library.function('int32_t corella_sender_close(char *error, int32_t descriptor)');
  const { plan, to, sendBufferBytes = 2 ** 23, hops = 4, offload = 'on' } = options;
  const format = packetFormatNamed(plan.format);
  const fields = format.tickFields(plan);
  const templates = packetsOfTickZero(plan, options.session);
  const bases = BigUint64Array.from(
    templates.flatMap((packet) => fields.map((field) => readField(packet, field))),
  );
  const table = BigInt64Array.from(
    fields
      .flatMap(({ atByte, bytes, order, divide, modulo, times }) => [
        atByte,
        bytes,
        order === 'big' ? 1 : 0,
        divide,
        modulo,
        times,
      ])
      .map(BigInt),
  );
  const error = errorBuffer();
  const asked = BigInt64Array.from([to.port, sendBufferBytes, hops], BigInt);
  const sockets = socketsFor(options);
  const descriptors = new Int32Array(sockets);
  const one = new Int32Array(1);
  const closeFirst = (count: number): void => {
    for (let n = 0; n < count; n++) settle('send', close(error, descriptors[n]), error);
  };
  for (let n = 0; n < sockets; n++) {
    try {
      settle('send', open(error, to.address, options.interface ?? '0.0.0.0', asked, one), error);
    } catch (fault) {
      closeFirst(n);
      throw fault;
    }
    descriptors[n] = one[0];
  }
  const each = templates[0].length;
  let state: 'open' | 'closed' = 'open';
  let underWay: Promise<unknown> = Promise.resolve();
  return {
    sockets,
    send: async ({ packed, fromSlot, toSlot, firstTick, startNs, slotNs }) => {
      if (state === 'closed') refuse('send', 'the sender is closed');
      if (packed.datagrams.length !== packed.slots * templates.length * each || toSlot > packed.slots)
        throw new Error(`${packed.datagrams.length} bytes are not ${packed.slots} slots of ${each}`);
      const sizes = BigInt64Array.from([
        ...[each, templates.length, fromSlot, toSlot - fromSlot].map(BigInt),
        BigInt.asIntN(64, firstTick),
        ...[plan.ticksPerSlot, plan.wrapBits].map(BigInt),
        startNs,
        ...[sockets, fields.length, offload === 'on' ? 1 : 0].map(BigInt),
      ]);
      const totals = new BigInt64Array(2);
      const sending = new Promise<number>((resolve, reject) => {
        const done = (fault: unknown, code: number): void => {
          if (fault instanceof Error) reject(fault);
          else resolve(code);
        };
        const left = packed.left ?? NULL;
        pace.async(error, descriptors, packed.datagrams, left, bases, table, sizes, slotNs, totals, done);
      });
      underWay = sending.catch(() => undefined);
      settle('send', await sending, error);
      return { sent: Number(totals[0]), behindNs: Number(totals[1]) };
    },
    close: async () => {
      if (state === 'closed') return;
      state = 'closed';
      await underWay;
      closeFirst(sockets);
    },
  };
}
