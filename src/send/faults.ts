/**
 * Network and board faults on request, reproducible by seed: the same settings give the same faults. A packet that does
 * not arrive in time (lost, damaged, late) is reported, so that the truth file leaves it out.
 */
import { refuse } from '../core/errors.js';
import { randomStream, type RandomStream } from '../core/random.js';
import type { PacketFormat, PacketPlace, StreamPlan } from '../packets/packet-format.js';

export interface SourceLoss {
  /** The sender's ID in the packets. */
  readonly source: number;
  readonly fromS: number;
  readonly toS: number;
}

export interface FaultSettings {
  readonly seed: number;
  /** Probability per packet, 0 to 1. */
  readonly lose: number;
  readonly duplicate: number;
  readonly reorder: number;
  readonly late: number;
  readonly corrupt: number;
  readonly loseSource: readonly SourceLoss[];
  /** After this time all senders count from 0 again. */
  readonly restartS?: number;
  /** After this time their clocks jump by this much. */
  readonly jump?: { readonly atS: number; readonly byS: number };
}

export const noFaults: FaultSettings = {
  seed: 1,
  lose: 0,
  duplicate: 0,
  reorder: 0,
  late: 0,
  corrupt: 0,
  loseSource: [],
};

/** A packet to be sent. */
export interface Outgoing {
  readonly datagram: Uint8Array;
  /** Since the first packet. */
  readonly sinceS: number;
}

export interface FaultCounts {
  sent: number;
  lost: number;
  duplicated: number;
  reordered: number;
  late: number;
  corrupted: number;
}

/** Largest reordering, in packets; within any receive window. */
const REORDERED_BY = 40;
/** Delay of a late packet; beyond any receive window. */
const LATE_S = 1;

type Arrival = 'arrives' | 'missing';

export class Faults {
  readonly counts: FaultCounts = { sent: 0, lost: 0, duplicated: 0, reordered: 0, late: 0, corrupted: 0 };
  private readonly random: RandomStream;
  /** Held back until this many packets were sent, or this much time has passed. */
  private held: { readonly packet: Outgoing; readonly afterCount: number; readonly afterS: number }[] = [];
  private passed = 0;

  constructor(
    private readonly settings: FaultSettings,
    private readonly format: PacketFormat,
    private readonly plan: StreamPlan,
  ) {
    for (const name of ['lose', 'duplicate', 'reorder', 'late', 'corrupt'] as const) {
      const chance = settings[name];
      if (!(chance >= 0 && chance <= 1))
        refuse(name, `is ${chance}`, 'give a chance from 0 to 1, or percent like 2%');
    }
    this.random = randomStream(settings.seed, 'faults');
  }

  /** The reading of the sender's clock. */
  clockOf(place: PacketPlace, sinceS: number, firstTick: bigint): PacketPlace {
    const { restartS, jump } = this.settings;
    const rate = this.plan.tickRateHz;
    const slot = BigInt(this.plan.ticksPerSlot);
    const ticksIn = (seconds: number): bigint =>
      rate
        ? (BigInt(Math.round((seconds * Number(rate.numerator)) / Number(rate.denominator))) / slot) * slot
        : 0n;
    let { tick } = place;
    if (restartS !== undefined && sinceS >= restartS) tick -= firstTick + ticksIn(restartS);
    if (jump && sinceS >= jump.atS) tick += ticksIn(jump.byS);
    if (tick < 0n) refuse('--jump', 'leads before tick 0', 'jump by less, or start later with --start-tick');
    return { ...place, tick: this.plan.wrapBits < 64 ? BigInt.asUintN(this.plan.wrapBits, tick) : tick };
  }

  /** Applies the requested faults to a packet; `out` receives whatever is sent now. */
  pass(packet: Outgoing, source: number, out: (packet: Outgoing) => void): Arrival {
    const { settings, counts, random } = this;
    const { sinceS } = packet;
    // Every probability is drawn for every packet, so that one setting does not change another's faults.
    const [lose, duplicate, reorder, late, corrupt, how] = Array.from({ length: 6 }, () => random.uniform());
    const send = (one: Outgoing): void => {
      counts.sent++;
      out(one);
    };
    this.passed++;
    let arrival: Arrival = 'arrives';
    const silenced = settings.loseSource.some(
      (loss) => loss.source === source && sinceS >= loss.fromS && sinceS < loss.toS,
    );
    if (silenced || lose < settings.lose) {
      counts.lost++;
      arrival = 'missing';
    } else if (corrupt < settings.corrupt) {
      counts.corrupted++;
      send({ ...packet, datagram: this.damaged(packet.datagram, how) });
      arrival = 'missing';
    } else if (late < settings.late) {
      counts.late++;
      this.held.push({ packet, afterCount: 0, afterS: sinceS + LATE_S });
      arrival = 'missing';
    } else if (reorder < settings.reorder) {
      counts.reordered++;
      this.held.push({ packet, afterCount: this.passed + 1 + Math.floor(how * REORDERED_BY), afterS: 0 });
    } else send(packet);
    if (arrival === 'arrives' && duplicate < settings.duplicate) {
      counts.duplicated++;
      this.held.push({ packet, afterCount: this.passed + 1 + Math.floor(how * REORDERED_BY), afterS: 0 });
    }
    this.letGo(sinceS, send);
    return arrival;
  }

  /** At the end held packets are sent, except late ones, which are dropped. */
  end(out: (packet: Outgoing) => void): void {
    for (const { packet, afterS } of this.held) {
      if (afterS > 0) continue;
      this.counts.sent++;
      out(packet);
    }
    this.held = [];
  }

  private letGo(sinceS: number, send: (packet: Outgoing) => void): void {
    if (this.held.length === 0) return;
    const due = this.held.filter(({ afterCount, afterS }) => afterCount <= this.passed && afterS <= sinceS);
    if (due.length === 0) return;
    this.held = this.held.filter((one) => !due.includes(one));
    for (const { packet } of due) send({ ...packet, sinceS });
  }

  /** In a way that a receiver can detect; the rest is left to checksums. */
  private damaged(datagram: Uint8Array, how: number): Uint8Array {
    const bytes = datagram.slice();
    const at = Math.floor(how * Math.min(bytes.length, 24));
    bytes[at] ^= 0xff;
    const read = this.format.decode(bytes, this.plan);
    return read !== 'control' && 'refused' in read ? bytes : bytes.subarray(0, bytes.length - 1);
  }
}
