/**
 * The ring in TypeScript: the reference implementation, one packet at a time. A window of consecutive blocks is open
 * and follows the median source (sender-clocks.ts). A packet is placed if its block is open and its packet slot empty.
 * A block that leaves the window is delivered, with zeros for missing packets. A block's first packet allocates its
 * memory, so unsent blocks cost none.
 */
import { closes } from '../core/closing.js';
import { emptyPresence, holesOf, isPresent, markSlots, type Presence } from '../core/presence/presence.js';
import { floorDivide } from '../core/clock/rational.js';
import { unwrapTick } from '../core/clock/tick-clock.js';
import type { PacketFacts, PacketFormat } from '../packets/packet-format.js';
import { packetFormatNamed } from '../packets/registry.js';
import { Jumps } from './jumps.js';
import { SenderClocks, type Moment } from './sender-clocks.js';
import { blockBytesOf, blockTicksOf, cellsOf, activePackets, type RingPlan } from './plan.js';
import {
  type ArrivedBlock,
  type FedRing,
  type Outcome,
  type RingAccount,
  senderOutcomes,
  outcomes,
  type SenderOutcome,
} from './ring.js';

interface Memory {
  readonly cells: Uint8Array;
  readonly presence: Presence;
}

/** A block being filled; it has memory once a packet was placed. */
interface OpenBlock {
  readonly number: bigint;
  memory: Memory | undefined;
  placed: number;
  arrivedUnixNs: bigint;
}

const newBlock = (number: bigint): OpenBlock => ({
  number,
  memory: undefined,
  placed: 0,
  arrivedUnixNs: 0n,
});

export class ReferenceRing implements FedRing {
  private readonly format: PacketFormat;
  private readonly blockTicks: bigint;
  private readonly window: bigint;
  private readonly clocks: SenderClocks;
  private readonly jumps: Jumps;
  private readonly tally: Tally;
  private readonly free: Memory[];
  private readonly ready: ArrivedBlock[] = [];
  /** Consecutive blocks from `first`; none before the first packet. */
  private open: OpenBlock[] = [];
  private first = 0n;
  /** Clock of the median source, which the window follows. */
  private head: Moment = { tick: 0n, epoch: 0n };
  /** The first block after those that the timeout closed, until the window moves on. */
  private floor: bigint | undefined;
  private session = 0;
  private skipped = 0;
  /** Whether this stream epoch delivered a block: nothing is skipped before that. */
  private handedOn = false;

  constructor(
    readonly plan: RingPlan,
    /** Called when a block is ready, and when memory is released. */
    private readonly onChange: () => void = () => undefined,
    garbage = 0,
  ) {
    const { stream } = plan;
    this.format = packetFormatNamed(stream.format);
    this.blockTicks = blockTicksOf(plan);
    this.window = BigInt(plan.window);
    this.clocks = new SenderClocks(stream.senders.length, this.blockTicks, activePackets(plan));
    this.jumps = new Jumps(plan);
    this.tally = new Tally(stream.senders.length);
    this.free = Array.from({ length: plan.blocks }, () => ({
      cells: new Uint8Array(blockBytesOf(plan)).fill(garbage),
      presence: emptyPresence(stream.senders.length, stream.fragments, plan.slotsPerBlock),
    }));
  }

  feed(datagram: Uint8Array, unixNs = 0n): Outcome {
    this.tally.packets++;
    this.tally.bytes += datagram.length;
    const facts = this.format.decode(datagram, this.plan.stream);
    if (facts === 'control') return this.tally.count('control');
    if ('refused' in facts) return this.tally.count(facts.refused);
    return this.tally.count(this.place(facts, unixNs), facts.sender);
  }

  take(): ArrivedBlock | undefined {
    return this.ready.shift();
  }

  freeBlocks(): number {
    return this.free.length;
  }

  account(): RingAccount {
    return { ...this.tally.snapshot(), refusedResyncs: this.jumps.refused };
  }

  /** Clocks must be confirmed again. A packet for a block closed here is late and starts no new session. */
  flush(): void {
    if (this.open.length === 0) return;
    this.handOnAll();
    this.floor = this.first;
    this.clocks.forget();
    this.startAt(this.first);
  }

  readonly close = closes(() => undefined);

  private place(facts: PacketFacts, unixNs: bigint): Outcome {
    const { stream } = this.plan;
    const moment = this.follow(facts, unixNs);
    if (!moment) return 'invalid';
    if (moment.epoch !== this.head.epoch) return 'other_epoch';
    const number = floorDivide(moment.tick, this.blockTicks);
    if (number < this.first) return 'late';
    if (number >= this.first + this.window) return 'early';
    this.jumps.came(unixNs);
    const block = this.open[Number(number - this.first)];
    const row = facts.sender * stream.fragments + facts.fragment;
    const slot = Number((moment.tick % this.blockTicks) / BigInt(stream.ticksPerSlot));
    if (block.memory && isPresent(block.memory.presence, row, slot)) return 'duplicate';
    // The consumer may have released a block since the last attempt.
    block.memory ??= this.takeMemory();
    if (!block.memory) return 'ring_full';
    if (block.placed === 0) block.arrivedUnixNs = unixNs;
    block.placed++;
    this.jumps.filled(block.placed);
    markSlots(block.memory.presence, row, slot, slot + 1, 'present');
    block.memory.cells.set(facts.payload, (row * this.plan.slotsPerBlock + slot) * stream.cellBytes);
    const sender = this.tally.senders[facts.sender];
    if (sender.newestTick === undefined || moment.tick > sender.newestTick) sender.newestTick = moment.tick;
    return 'placed';
  }

  /** Updates the source's clock, moves the window with the median, and returns the packet's time, if it has one. */
  private follow(
    { sender, tick: sent, session: epoch = 0n }: PacketFacts,
    unixNs: bigint,
  ): Moment | undefined {
    const { wrapBits } = this.plan.stream;
    if (!this.jumps.isDated({ tick: sent, epoch })) return undefined;
    if (this.open.length === 0) {
      this.head = { tick: sent, epoch };
      this.clocks.believe(sender, this.head);
      this.startAt(this.windowFor(sent / this.blockTicks));
      return this.head;
    }
    const tick = wrapBits < 64 ? unwrapTick(sent, this.head.tick, wrapBits) : sent;
    const isMoved = this.clocks.follow(sender, { tick, epoch });
    if (this.clocks.isOtherClock) this.tally.senders[sender].duplicateIdPackets++;
    if (!isMoved) return { tick, epoch };
    const sessionBefore = this.session;
    this.moveTo(this.clocks.median(this.head.epoch) ?? this.head, unixNs);
    return this.session === sessionBefore || wrapBits === 64
      ? { tick, epoch }
      : { tick: BigInt.asUintN(wrapBits, tick), epoch };
  }

  private moveTo(median: Moment, unixNs: bigint): void {
    const number = floorDivide(median.tick, this.blockTicks);
    const isSameEpoch = median.epoch === this.head.epoch;
    // The senders resume in a block that the timeout closed.
    if (isSameEpoch && number < this.first && this.floor !== undefined && number >= this.floor - this.window)
      return;
    const most = this.head.tick + BigInt(this.plan.skipTicks);
    if (isSameEpoch && number >= this.first && median.tick <= most) {
      this.goOn(median.tick);
      return;
    }
    const { epoch } = this.head;
    const width = this.window * this.blockTicks;
    const isLeft = this.clocks.areElsewhere(epoch, this.head.tick - width, this.head.tick + width);
    if (this.jumps.areFollowed(median, this.head, unixNs, isLeft)) {
      this.resynchronise(median, unixNs);
      return;
    }
    // The sources still in the running stream determine its position.
    const own = this.clocks.medianBetween(epoch, this.first * this.blockTicks, most);
    if (own !== undefined) this.goOn(own);
  }

  private goOn(tick: bigint): void {
    if (tick > this.head.tick) this.head = { ...this.head, tick };
    this.advance(this.windowFor(floorDivide(tick, this.blockTicks)));
  }

  /** The first block of the window when the median source is in block n. */
  private windowFor(number: bigint): bigint {
    const first = number - (this.window - 2n);
    return first < 0n ? 0n : first;
  }

  private startAt(first: bigint): void {
    this.first = first;
    this.open = Array.from({ length: this.plan.window }, (_, n) => newBlock(first + BigInt(n)));
  }

  private resynchronise({ tick, epoch }: Moment, unixNs: bigint): void {
    const { wrapBits } = this.plan.stream;
    this.handOnAll();
    this.jumps.resynchronised(this.head, unixNs);
    this.session++;
    this.tally.resyncs++;
    this.skipped = 0;
    this.handedOn = false;
    this.floor = undefined;
    if (wrapBits < 64) this.clocks.fold(wrapBits);
    this.head = { tick: wrapBits < 64 ? BigInt.asUintN(wrapBits, tick) : tick, epoch };
    this.startAt(this.windowFor(this.head.tick / this.blockTicks));
  }

  private advance(wanted: bigint): void {
    if (wanted <= this.first) return;
    this.floor = undefined;
    while (this.first < wanted) {
      const [oldest, ...others] = this.open;
      this.handOn(oldest);
      this.first++;
      if (wanted - this.first > this.window) {
        // Far ahead: unsent blocks are counted without a loop over them.
        for (const block of others) this.handOn(block);
        this.skip(Number(wanted - this.first - (this.window - 1n)));
        this.startAt(wanted);
        return;
      }
      this.open = [...others, newBlock(this.first + this.window - 1n)];
    }
  }

  /** Up to the last block with any packet; the blocks after it have not begun and are not losses. */
  private handOnAll(): void {
    let begun = this.open.length;
    while (begun > 0 && this.open[begun - 1].placed === 0) begun--;
    for (const block of this.open.slice(0, begun)) this.handOn(block);
    this.first += BigInt(begun);
  }

  private skip(blocks: number): void {
    this.skipped += blocks;
    this.tally.skip(blocks, this.plan.stream.fragments * this.plan.slotsPerBlock);
  }

  private handOn(block: OpenBlock): void {
    const { memory } = block;
    if (!memory) {
      if (this.handedOn) this.skip(1);
      return;
    }
    const { cellBytes, fragments } = this.plan.stream;
    const { slotsPerBlock } = this.plan;
    for (let row = 0; row < memory.presence.senders * fragments; row++) {
      for (const [from, to] of holesOf(memory.presence, row)) {
        const start = row * slotsPerBlock;
        memory.cells.fill(0, (start + from) * cellBytes, (start + to) * cellBytes);
        this.tally.senders[Math.floor(row / fragments)].missingCells += to - from;
      }
    }
    const missingCells = cellsOf(this.plan) - block.placed;
    this.tally.missingCells += missingCells;
    this.tally.blocks++;
    this.ready.push({
      ...memory,
      startTick: block.number * this.blockTicks,
      session: this.session,
      epoch: this.head.epoch,
      skippedBlocks: this.skipped,
      missingCells,
      arrivedUnixNs: block.arrivedUnixNs,
      release: this.releaser(memory),
    });
    this.skipped = 0;
    this.handedOn = true;
    this.onChange();
  }

  private takeMemory(): Memory | undefined {
    const memory = this.free.pop();
    memory?.presence.bits.fill(0);
    return memory;
  }

  private releaser(memory: Memory): () => void {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.free.push(memory);
      this.onChange();
    };
  }
}

interface SenderTally {
  readonly outcomes: Record<SenderOutcome, number>;
  missingCells: number;
  newestTick: bigint | undefined;
  duplicateIdPackets: number;
}

const zeros = <Name extends string>(names: readonly Name[]): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;

const isSenderOutcome = (outcome: Outcome): outcome is SenderOutcome =>
  (senderOutcomes as readonly Outcome[]).includes(outcome);

class Tally {
  packets = 0;
  bytes = 0;
  blocks = 0;
  skippedBlocks = 0;
  missingCells = 0;
  resyncs = 0;
  readonly outcomes = zeros(outcomes);
  readonly senders: SenderTally[];

  constructor(senders: number) {
    this.senders = Array.from({ length: senders }, () => ({
      outcomes: zeros(senderOutcomes),
      missingCells: 0,
      newestTick: undefined,
      duplicateIdPackets: 0,
    }));
  }

  count(outcome: Outcome, sender?: number): Outcome {
    this.outcomes[outcome]++;
    if (sender !== undefined && isSenderOutcome(outcome)) this.senders[sender].outcomes[outcome]++;
    return outcome;
  }

  /** Counts empty blocks, with this many packet slots per source. */
  skip(blocks: number, cellsOfSender: number): void {
    this.skippedBlocks += blocks;
    this.missingCells += blocks * cellsOfSender * this.senders.length;
    for (const sender of this.senders) sender.missingCells += blocks * cellsOfSender;
  }

  snapshot(): Omit<RingAccount, 'refusedResyncs'> {
    const { packets, bytes, blocks, skippedBlocks, missingCells, resyncs } = this;
    return {
      packets,
      bytes,
      blocks,
      skippedBlocks,
      missingCells,
      resyncs,
      outcomes: { ...this.outcomes },
      senders: this.senders.map((sender) => ({ ...sender, outcomes: { ...sender.outcomes } })),
    };
  }
}
