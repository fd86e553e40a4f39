/**
 * Which time is accepted. Each source has a clock: the tick of its newest packet that continues the ones before it, to
 * within a block. It moves elsewhere once two packets in a row agree there. The median is over sources whose clocks
 * advanced lately (the lower of two middle ones), so that no single clock can move or hold the window: not a damaged
 * time, not a board seconds ahead, not one that died, not the first one to send, not two with the same ID.
 */
import { floorDivide } from '../core/clock/rational.js';

interface SenderClock {
  confirmed: bigint | undefined;
  confirmedEpoch: bigint;
  /** The number of the packet that confirmed it. */
  confirmedAt: number;
  /** Tick of the last packet that was elsewhere. */
  other: bigint | undefined;
  otherEpoch: bigint;
  /** Whether that was the source's last packet of all. */
  isOtherLast: boolean;
  /** Whether the clock was there before. */
  isFormer: boolean;
  /** It moved away and back: two senders share one ID. The clock stays until its own sender is silent. */
  isContested: boolean;
}

/** A tick, and what tick 0 means if packets carry that (otherwise 0). */
export interface Moment {
  readonly tick: bigint;
  readonly epoch: bigint;
}

const unconfirmed = (): SenderClock => ({
  confirmed: undefined,
  confirmedEpoch: 0n,
  confirmedAt: 0,
  other: undefined,
  otherEpoch: 0n,
  isOtherLast: false,
  isFormer: false,
  isContested: false,
});

/** A contested clock is abandoned after a silence of this many hearing spans: four blocks. */
const CONTESTED_SPANS = 8;

const distance = (x: bigint, y: bigint): bigint => (x < y ? y - x : x - y);

export class SenderClocks {
  private readonly clocks: SenderClock[];
  private seen = 0;
  /** Whether the last packet continued a clock other than its source's own. */
  isOtherClock = false;

  constructor(
    senders: number,
    private readonly blockTicks: bigint,
    /** A source's clock counts if it advanced within this many packets. */
    private readonly span: number,
  ) {
    this.clocks = Array.from({ length: senders }, unconfirmed);
  }

  /** The very first packet is accepted unchecked: blocks need a starting point. */
  believe(sender: number, { tick, epoch }: Moment): void {
    this.clocks[sender] = {
      ...unconfirmed(),
      confirmed: tick,
      confirmedEpoch: epoch,
      confirmedAt: ++this.seen,
    };
  }

  /** True if a confirmed clock reached another block, so that the median may have moved. */
  follow(sender: number, { tick, epoch }: Moment): boolean {
    const clock = this.clocks[sender];
    this.seen++;
    this.isOtherClock = false;
    const before = clock.confirmedEpoch === epoch ? clock.confirmed : undefined;
    if (before !== undefined && distance(tick, before) <= this.blockTicks) {
      const confirmed = before > tick ? before : tick;
      clock.confirmed = confirmed;
      clock.confirmedAt = this.seen;
      clock.isOtherLast = false;
      return this.blockOf(confirmed) !== this.blockOf(before);
    }
    const agrees =
      clock.other !== undefined &&
      clock.otherEpoch === epoch &&
      distance(tick, clock.other) <= this.blockTicks;
    const isInRow = agrees && clock.isOtherLast;
    if (!agrees) clock.isFormer = false;
    clock.other = tick;
    clock.otherEpoch = epoch;
    clock.isOtherLast = true;
    const isSilent = this.seen - clock.confirmedAt > CONTESTED_SPANS * this.span;
    if (!isInRow || (clock.isContested && !isSilent)) {
      this.isOtherClock = agrees;
      return false;
    }
    // Moving there and back once is sufficient evidence.
    clock.isContested = clock.isFormer && !isSilent;
    clock.other = clock.confirmed;
    clock.otherEpoch = clock.confirmedEpoch;
    clock.isOtherLast = false;
    clock.isFormer = true;
    clock.confirmed = tick;
    clock.confirmedEpoch = epoch;
    clock.confirmedAt = this.seen;
    return before === undefined || this.blockOf(tick) !== this.blockOf(before);
  }

  /** Negative if a wrapped clock is assigned to the cycle before. */
  private blockOf(tick: bigint): bigint {
    return floorDivide(tick, this.blockTicks);
  }

  /** Of the epoch that most sources report; on a tie the present one stays. */
  median(presentEpoch: bigint): Moment | undefined {
    const active = this.clocks.filter(
      ({ confirmed, confirmedAt: when }) => confirmed !== undefined && this.seen - when <= this.span,
    );
    if (active.length === 0) return undefined;
    const votes = new Map<bigint, number>();
    for (const { confirmedEpoch } of active) votes.set(confirmedEpoch, (votes.get(confirmedEpoch) ?? 0) + 1);
    let epoch = presentEpoch;
    for (const [one, count] of [...votes].sort(([x], [y]) => (x < y ? -1 : 1))) {
      if (count > (votes.get(epoch) ?? 0)) epoch = one;
    }
    const ticks = active
      .filter(({ confirmedEpoch }) => confirmedEpoch === epoch)
      .map(({ confirmed }) => confirmed ?? 0n)
      .sort((x, y) => (x < y ? -1 : x > y ? 1 : 0));
    return { tick: ticks[(ticks.length - 1) >> 1], epoch };
  }

  /** Median over the sources between two ticks of an epoch. */
  medianBetween(epoch: bigint, least: bigint, most: bigint): bigint | undefined {
    const ticks = this.clocks
      .filter(
        ({ confirmedEpoch, confirmedAt }) => confirmedEpoch === epoch && this.seen - confirmedAt <= this.span,
      )
      .flatMap(({ confirmed }) => (confirmed === undefined ? [] : [confirmed]))
      .filter((tick) => tick >= least && tick <= most)
      .sort((x, y) => (x < y ? -1 : x > y ? 1 : 0));
    return ticks.at((ticks.length - 1) >> 1);
  }

  /** Whether no source's last packet was between these ticks, among the sources active lately. */
  areElsewhere(epoch: bigint, least: bigint, most: bigint): boolean {
    return !this.clocks.some(
      ({ confirmed, confirmedEpoch, confirmedAt, isOtherLast }) =>
        confirmed !== undefined &&
        this.seen - confirmedAt <= this.span &&
        !isOtherLast &&
        confirmedEpoch === epoch &&
        confirmed >= least &&
        confirmed <= most,
    );
  }

  /** Clocks must be confirmed again. */
  forget(): void {
    this.clocks.forEach((_, sender) => (this.clocks[sender] = unconfirmed()));
  }

  /** In a new stream epoch ticks are as sent: whole cycles of a clock are left to the code that knows the time. */
  fold(wrapBits: number): void {
    for (const clock of this.clocks) {
      if (clock.other !== undefined) clock.other = BigInt.asUintN(wrapBits, clock.other);
      if (clock.confirmed !== undefined) clock.confirmed = BigInt.asUintN(wrapBits, clock.confirmed);
    }
  }
}
