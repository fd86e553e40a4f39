/**
 * Whose time is believed. Each lane has a clock: the tick of its newest packet, which counts once the packet after it
 * agrees to a block. The median is over lanes heard lately, the lower of two, so that no single clock can move the
 * window or hold it: not a damaged time, not a board seconds ahead, not one that died, not the one that spoke first.
 */
import { floorDivide } from '../core/clock/rational.js';

interface LaneClock {
  /** Of the last packet, believed or not. */
  last: bigint | undefined;
  lastEpoch: bigint;
  confirmed: bigint | undefined;
  confirmedEpoch: bigint;
  /** The number of that packet. */
  heard: number;
}

/** A tick, and what tick 0 means where packets tell (0 where not). */
export interface Moment {
  readonly tick: bigint;
  readonly epoch: bigint;
}

const unheard = (): LaneClock => ({
  last: undefined,
  lastEpoch: 0n,
  confirmed: undefined,
  confirmedEpoch: 0n,
  heard: 0,
});

const distance = (x: bigint, y: bigint): bigint => (x < y ? y - x : x - y);

export class LaneClocks {
  private readonly clocks: LaneClock[];
  private seen = 0;

  constructor(
    lanes: number,
    private readonly blockTicks: bigint,
    /** How many packets ago a lane may have spoken. */
    private readonly span: number,
  ) {
    this.clocks = Array.from({ length: lanes }, unheard);
  }

  /** The very first packet is believed as it is: blocks begin somewhere. */
  believe(lane: number, { tick, epoch }: Moment): void {
    this.clocks[lane] = {
      last: tick,
      lastEpoch: epoch,
      confirmed: tick,
      confirmedEpoch: epoch,
      heard: ++this.seen,
    };
  }

  /** True where a confirmed clock came to another block, so that the median may have moved. */
  hear(lane: number, { tick, epoch }: Moment): boolean {
    const clock = this.clocks[lane];
    const agrees =
      clock.last !== undefined && clock.lastEpoch === epoch && distance(tick, clock.last) <= this.blockTicks;
    clock.last = tick;
    clock.lastEpoch = epoch;
    clock.heard = ++this.seen;
    if (!agrees) return false;
    const before = clock.confirmedEpoch === epoch ? clock.confirmed : undefined;
    const goesOn = before !== undefined && distance(tick, before) <= this.blockTicks;
    const confirmed = goesOn && before > tick ? before : tick;
    clock.confirmed = confirmed;
    clock.confirmedEpoch = epoch;
    return before === undefined || this.blockOf(confirmed) !== this.blockOf(before);
  }

  /** Before the clock's zero where a wrapped one is taken for the turn before. */
  private blockOf(tick: bigint): bigint {
    return floorDivide(tick, this.blockTicks);
  }

  /** Of the epoch that most lanes tell; where they are even the present one stays. */
  median(presentEpoch: bigint): Moment | undefined {
    const heard = this.clocks.filter(
      ({ confirmed, heard: when }) => confirmed !== undefined && this.seen - when <= this.span,
    );
    if (heard.length === 0) return undefined;
    const votes = new Map<bigint, number>();
    for (const { confirmedEpoch } of heard) votes.set(confirmedEpoch, (votes.get(confirmedEpoch) ?? 0) + 1);
    let epoch = presentEpoch;
    for (const [one, count] of [...votes].sort(([x], [y]) => (x < y ? -1 : 1))) {
      if (count > (votes.get(epoch) ?? 0)) epoch = one;
    }
    const ticks = heard
      .filter(({ confirmedEpoch }) => confirmedEpoch === epoch)
      .map(({ confirmed }) => confirmed ?? 0n)
      .sort((x, y) => (x < y ? -1 : x > y ? 1 : 0));
    return { tick: ticks[(ticks.length - 1) >> 1], epoch };
  }

  /** Clocks must prove themselves again. */
  forget(): void {
    this.clocks.forEach((_, lane) => (this.clocks[lane] = unheard()));
  }

  /** In a new session ticks are as they were sent: whole turns of a clock are for whoever knows the time. */
  fold(wrapBits: number): void {
    for (const clock of this.clocks) {
      if (clock.last !== undefined) clock.last = BigInt.asUintN(wrapBits, clock.last);
      if (clock.confirmed !== undefined) clock.confirmed = BigInt.asUintN(wrapBits, clock.confirmed);
    }
  }
}
