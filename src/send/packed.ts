/**
 * Sends a source as packets by native threads: each block is packed once and sent at its rate while the next is packed.
 * With `loop`, a recording that fits in memory is kept, and further passes cost only the sending.
 */
import { freemem } from 'node:os';
import { numberOf } from '../core/clock/rational.js';
import type { Source } from '../core/sources.js';
import type { StreamPlan } from '../packets/packet-format.js';
import { packetFormatNamed } from '../packets/registry.js';
import { packetsOfTickZero, type PacedSender, type PackedSlots } from '../receive/index.js';
import { isLost, type Block } from './blocks.js';
import { slotsPacker } from './cells.js';
import type { FaultCounts, FaultSettings } from './faults.js';
import type { FirstTick } from './stream-for.js';
import { wholeSlots } from './whole-slots.js';

/** Size of a block of the source: small enough to be packed while the block before is sent. */
const BLOCK_BYTES = 2 ** 25;
/** Interval between checks for a stop. */
const CALL_S = 0.2;
/** Interval between descriptors. */
const DESCRIBE_S = 1;
/** Share of the free memory, for a recording that is sent repeatedly. */
const MOST_OF_MEMORY = 0.6;

interface PackedSettings {
  readonly source: Source;
  readonly plan: StreamPlan;
  /** Called when the first packets are ready. */
  readonly first: () => FirstTick;
  /** End of the first slot, by process.hrtime: the slot is sent then. Called after `first`. */
  readonly beginNs: () => bigint;
  /** Seconds of data per second; Infinity is as fast as possible. */
  readonly speed: number;
  readonly loop: boolean;
  readonly limitS: number;
  readonly isStopped: () => boolean;
  /** Called after `first`. */
  readonly open: (first: FirstTick) => PacedSender;
  /** Sends one extra datagram. */
  readonly describe: (descriptor: Uint8Array) => Promise<void>;
  readonly onProgress: (packets: number) => void;
}

export interface PackedSent extends FaultCounts {
  readonly slots: number;
  readonly leftSamples: number;
  readonly seconds: number;
  readonly sockets: number;
  /** The largest delay behind schedule. */
  readonly behindS: number;
}

/** Faults are applied packet by packet, in TypeScript only. */
export const isFaultless = (settings: FaultSettings): boolean =>
  settings.loseSource.length === 0 &&
  settings.restartS === undefined &&
  settings.jump === undefined &&
  (['lose', 'duplicate', 'reorder', 'late', 'corrupt'] as const).every((name) => settings[name] === 0);

type Packed = PackedSlots & { readonly leftSamples: number };

/** Packs the payloads of blocks; headers follow when the epoch is known. */
function blockPacker(plan: StreamPlan, each: number): (samples: Block) => Packed {
  const pack = slotsPacker(plan);
  const perSlot = plan.sources.length * plan.fragments;
  return (samples) => {
    const slots = Math.floor(samples.samples / plan.samplesPerSlot);
    const datagrams = new Uint8Array(slots * perSlot * each);
    pack(samples, slots, { each, perSlot, packets: datagrams });
    const isLeft = (k: number): boolean => {
      const n = k % perSlot;
      const place = { sender: Math.floor(n / plan.fragments), fragment: n % plan.fragments };
      return isLost(samples.gaps, plan, { ...place, slot: Math.floor(k / perSlot) });
    };
    return {
      slots,
      datagrams,
      leftSamples: samples.samples - slots * plan.samplesPerSlot,
      ...(samples.gaps.length > 0 && {
        left: Uint8Array.from({ length: slots * perSlot }, (_, k) => (isLeft(k) ? 1 : 0)),
      }),
    };
  };
}

/** Everything except the times. */
function writeHeaders(plan: StreamPlan, { slots, datagrams }: Packed, templates: Uint8Array[]): void {
  const each = templates[0].length;
  const headers = templates.map((packet) => packet.subarray(0, each - plan.cellBytes));
  for (let slot = 0; slot < slots; slot++)
    headers.forEach((header, n) => {
      datagrams.set(header, (slot * headers.length + n) * each);
    });
}

interface Sending {
  readonly first: FirstTick;
  readonly sender: PacedSender;
  readonly beganNs: bigint;
  readonly templates: Uint8Array[];
}

export async function sendPacked(settings: PackedSettings): Promise<PackedSent> {
  const { source, plan, speed, limitS } = settings;
  const format = packetFormatNamed(plan.format);
  const slotS = plan.tickRateHz ? plan.ticksPerSlot / numberOf(plan.tickRateHz) : 0;
  const slotNs = Number.isFinite(speed) ? (1e9 * slotS) / speed : 0;
  const slotsACall = Math.max(1, Math.floor((1e9 * CALL_S) / (slotNs > 0 ? slotNs : 1e9 * slotS)));
  const mostSlots = Math.ceil(limitS / slotS - 1e-6);
  const totals = { slots: 0, sent: 0, behindNs: 0, leftSamples: 0, describedS: -Infinity };
  const isDone = (): boolean => totals.slots >= mostSlots || settings.isStopped();

  let state: Sending | undefined;
  const headed = new WeakSet<Packed>();
  const begin = (): Sending => {
    const first = settings.first();
    const templates = packetsOfTickZero(plan, first.session);
    return { first, templates, sender: settings.open(first), beganNs: settings.beginNs() };
  };
  const sendAll = async (packed: Packed): Promise<void> => {
    state ??= begin();
    const { first, sender, beganNs, templates } = state;
    if (!headed.has(packed)) writeHeaders(plan, packed, templates);
    headed.add(packed);
    for (let from = 0; from < packed.slots && !isDone();) {
      const sinceS = totals.slots * slotS;
      if (format.describe && sinceS - totals.describedS >= DESCRIBE_S) {
        totals.describedS = sinceS;
        await settings.describe(format.describe(plan));
        totals.sent++;
      }
      const to = Math.min(packed.slots, from + slotsACall, from + mostSlots - totals.slots);
      const { sent, behindNs } = await sender.send({
        packed,
        fromSlot: from,
        toSlot: to,
        firstTick: first.tick + BigInt(totals.slots) * BigInt(plan.ticksPerSlot),
        startNs: beganNs + BigInt(Math.round(totals.slots * slotNs)),
        slotNs,
      });
      totals.sent += sent;
      totals.behindNs = Math.max(totals.behindNs, behindNs);
      totals.slots += to - from;
      from = to;
      settings.onProgress(totals.sent);
    }
  };

  const each = packetsOfTickZero(plan, ANY_SESSION)[0].length;
  const pack = blockPacker(plan, each);
  const cellSamples = plan.channels * plan.inputs * plan.samplesPerSlot;
  const blockSamples = plan.samplesPerSlot * Math.max(1, Math.floor(BLOCK_BYTES / cellSamples));
  async function* packedBlocks(): AsyncGenerator<Packed> {
    for await (const samples of wholeSlots(source, plan, blockSamples)) {
      const packed = pack(samples);
      totals.leftSamples = packed.leftSamples;
      yield packed;
    }
  }
  /** A whole pass, or as much as requested; undefined if it does not fit in memory. */
  const wholeTurn = async (): Promise<Packed[] | undefined> => {
    const most = MOST_OF_MEMORY * freemem();
    const kept: Packed[] = [];
    let [bytes, slots] = [0, 0];
    for await (const packed of packedBlocks()) {
      kept.push(packed);
      bytes += packed.datagrams.length;
      slots += packed.slots;
      if (bytes > most) return undefined;
      if (slots >= mostSlots || settings.isStopped()) break;
    }
    return kept;
  };
  const turn = async (): Promise<void> => {
    let sending: Promise<void> = Promise.resolve();
    for await (const packed of packedBlocks()) {
      await sending;
      sending = sendAll(packed);
      // The error is reported where `sending` is awaited.
      sending.catch(() => undefined);
      if (isDone()) break;
    }
    await sending;
  };

  const kept = settings.loop ? await wholeTurn() : undefined;
  do {
    const before = totals.slots;
    if (kept) for (const packed of kept) await sendAll(packed);
    else await turn();
    if (totals.slots === before) break;
  } while (settings.loop && !isDone());
  return {
    sent: totals.sent,
    lost: 0,
    duplicated: 0,
    reordered: 0,
    late: 0,
    corrupted: 0,
    slots: totals.slots,
    leftSamples: totals.leftSamples,
    seconds: totals.slots * slotS,
    sockets: state?.sender.sockets ?? 0,
    behindS: totals.behindNs / 1e9,
  };
}

/** Used to measure the length of a packet. */
const ANY_SESSION = 1n;
