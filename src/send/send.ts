/** Sends a source as packets: in time order, with faults applied, and with a record of what arrives. */
import { numberOf } from '../core/clock/rational.js';
import { instantOfTick } from '../core/clock/tick-clock.js';
import type { CanonicalSpectra, VoltageBlock } from '../core/blocks.js';
import type { SpectraGap } from '../core/gaps.js';
import type { Instant } from '../core/instant.js';
import type { Source } from '../core/sources.js';
import { emptyPresence, gapsOfPresence, markSlots, rowOf } from '../core/presence/presence.js';
import type { StreamPlan } from '../packets/packet-format.js';
import { packetFormatNamed } from '../packets/registry.js';
import { isLost, type Block } from './blocks.js';
import { cellPacker } from './cells.js';
import { Faults, type FaultCounts, type FaultSettings, type Outgoing } from './faults.js';
import type { FirstTick } from './stream-for.js';
import { wholeSlots } from './whole-slots.js';

interface SendSettings {
  readonly source: Source;
  readonly plan: StreamPlan;
  /** Called when the first block is ready: a live simulated sky begins then. */
  readonly first: () => FirstTick;
  readonly faults: FaultSettings;
  /** Resolves when there is space for more. */
  readonly put: (packet: Outgoing) => Promise<void> | void;
  /** The arriving part of a block, in time order; its arrays are reused. */
  readonly truth?: (block: ArrivedSamples) => Promise<void>;
  /** Restarts the source when it ends, while its clock runs on. */
  readonly loop?: boolean;
  readonly until?: (sinceS: number) => boolean;
}

export interface ArrivedSamples {
  readonly elements: CanonicalSpectra['spectra'] | VoltageBlock['voltages'];
  readonly samples: number;
  readonly gaps: readonly SpectraGap[];
  readonly start: Instant;
}

export interface Sent extends FaultCounts {
  readonly slots: number;
  /** Samples at the end that do not fill a packet. */
  readonly leftSamples: number;
  readonly seconds: number;
}

/** Interval between descriptors. */
const DESCRIBE_S = 1;

export async function sendPackets(settings: SendSettings): Promise<Sent> {
  const { source, plan, put, truth, until } = settings;
  let first: FirstTick | undefined;
  const format = packetFormatNamed(plan.format);
  const pack = cellPacker(plan);
  const faults = new Faults(settings.faults, format, plan);
  const slotS = plan.tickRateHz ? plan.ticksPerSlot / numberOf(plan.tickRateHz) : 0;
  const queue: Outgoing[] = [];
  const out = (packet: Outgoing): void => {
    queue.push(packet);
  };
  const flush = async (): Promise<void> => {
    for (const packet of queue) await put(packet);
    queue.length = 0;
  };
  let slot = 0;
  let leftSamples = 0;
  let describedS = -Infinity;
  const state = { isDone: false };
  const blockSamples = plan.samplesPerSlot * Math.max(1, Math.floor(BLOCK_SAMPLES / plan.samplesPerSlot));

  const sendSlot = async (
    block: Block,
    at: number,
    presence: ReturnType<typeof emptyPresence>,
    { tick, session }: FirstTick,
  ): Promise<void> => {
    const sinceS = slot * slotS;
    if (format.describe && sinceS - describedS >= DESCRIBE_S) {
      describedS = sinceS;
      out({ datagram: format.describe(plan), sinceS });
    }
    for (let sender = 0; sender < plan.senders.length; sender++) {
      for (let fragment = 0; fragment < plan.fragments; fragment++) {
        if (isLost(block.gaps, plan, { sender, fragment, slot: at })) continue;
        const place = {
          tick: tick + BigInt(slot) * BigInt(plan.ticksPerSlot),
          sender,
          fragment,
          session,
        };
        const datagram = format.encode(
          faults.clockOf(place, sinceS, tick),
          pack(block, sender, fragment, at),
          plan,
        );
        if (faults.pass({ datagram, sinceS }, plan.sources[sender], out) === 'arrives')
          markSlots(presence, rowOf(presence, sender, fragment), at, at + 1, 'present');
      }
    }
    slot++;
    if (queue.length >= QUEUED) await flush();
  };

  do {
    for await (const samples of wholeSlots(source, plan, blockSamples)) {
      const slots = Math.floor(samples.samples / plan.samplesPerSlot);
      leftSamples = samples.samples - slots * plan.samplesPerSlot;
      const presence = emptyPresence(plan.senders.length, plan.fragments, Math.max(1, slots));
      first ??= settings.first();
      const startSlot = slot;
      for (let at = 0; at < slots && !state.isDone; at++) {
        await sendSlot(samples, at, presence, first);
        state.isDone = until?.(slot * slotS) === true;
      }
      await flush();
      if (truth && slot - startSlot === slots && slots > 0) {
        const tick = first.tick + BigInt(startSlot) * BigInt(plan.ticksPerSlot);
        const clock = {
          epoch: first.epoch,
          tickRateHz: plan.tickRateHz ?? { numerator: 1n, denominator: 1n },
        };
        await truth({
          elements: samples.elements,
          samples: samples.samples,
          gaps: gapsOfPresence(presence, plan),
          start: instantOfTick(clock, tick),
        });
      }
      if (state.isDone) break;
    }
  } while (settings.loop === true && !state.isDone);
  faults.end(out);
  await flush();
  return { ...faults.counts, slots: slot, leftSamples, seconds: slot * slotS };
}

/** Samples per block of the source. */
const BLOCK_SAMPLES = 4096;
const QUEUED = 256;
