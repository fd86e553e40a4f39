/**
 * Reports losses while they happen, since the account comes only at the end of a run. One message when a loss begins
 * and one when it is over, however long it lasts.
 */
import { formatSeconds, percent } from '../core/units.js';
import { hasDuplicateId, type ReceiveAccount } from '../receive/index.js';
import { diskWaitMs } from '../formats/index.js';
import type { OpenedInput, Say } from './opened-input.js';
import { notPlaced, refusedLine, duplicateIdLine } from './packet-lines.js';

const LOOK_S = 10;
/** Fraction of packets above which a loss is reported; it ends after this many looks below a tenth of it. */
const MUCH = 0.01;
const QUIET_LOOKS = 3;
/** Waiting for the disk for more than this part of the time makes it the cause of a full ring. */
const DISK_SHARE = 0.5;

/** Checks packets from a network every ten seconds; returns the function that stops it. */
export function watchLosses(input: OpenedInput, say: Say): () => void {
  if (!input.isLive) return () => undefined;
  const watch = new LossWatch(LOOK_S, diskWaitMs);
  const timer = setInterval(() => {
    const account = input.packets?.();
    for (const line of account ? watch.look(account) : []) say(line);
  }, 1000 * LOOK_S);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}

/** A loss that is going on. */
interface Trouble {
  looks: number;
  /** The number of latest looks without significant loss. */
  quiet: number;
  count: number;
}

export class LossWatch {
  private before: ReceiveAccount | undefined;
  private silentLooks = 0;
  private missing: Trouble | undefined;
  private unplaced: Trouble | undefined;
  /** Duplicate source IDs, each reported once. */
  private readonly reportedIds = new Set<string>();
  private areJumpsReported = false;

  private diskWaitedMs = 0;
  private isDiskReported = false;

  /** `diskWaitMs`: how long the run has waited for its disks so far. */
  constructor(
    private readonly everyS: number,
    private readonly diskWaitMs: () => number = () => 0,
  ) {}

  /** The messages about the time since the last look. */
  look(now: ReceiveAccount): string[] {
    const { before } = this;
    // Losses of an interruption are counted from its beginning.
    if (before && before.outcomes.placed > 0 && now.packets === before.packets) {
      this.silentLooks++;
      return this.silentLooks === 1 ? [`no packet in ${this.time(1)}; waiting`] : [];
    }
    this.before = now;
    // Nothing can be lost before the first packet.
    if (!before || before.outcomes.placed === 0) return [];
    const missing = Math.max(0, lossesOf(now) - lossesOf(before));
    if (this.silentLooks > 0) {
      const lines = [`packets again after ${this.time(this.silentLooks)}; ${missing} are missing`];
      this.silentLooks = 0;
      return lines;
    }
    const came = now.outcomes.placed - before.outcomes.placed;
    const others = notPlaced(now.outcomes, before.outcomes);
    const unplaced = others.reduce((sum, { count }) => sum + count, 0);
    const lines: string[] = [];
    this.missing = this.follow(this.missing, missing, came + missing, lines, {
      begins: (share) => `${share} of packets missing in ${this.time(1)}${worstSince(now, before)}`,
      ends: (time, count) => `packets are whole again; ${count} were missing in ${time}`,
    });
    this.unplaced = this.follow(this.unplaced, unplaced, now.packets - before.packets, lines, {
      begins: (share) => {
        const kinds = others.map(({ count, what }) => `${count} ${what}`).join(', ');
        return `${share} of the packets that came in ${this.time(1)} are of no use: ${kinds}`;
      },
      ends: (time, count) => `all packets are of use again; ${count} were not in ${time}`,
    });
    lines.push(...this.slowDisk(now.outcomes.ring_full - before.outcomes.ring_full));
    for (const [n, sender] of now.senders.entries()) {
      if (this.reportedIds.has(sender.name) || !hasDuplicateId(sender, before.senders.at(n))) continue;
      this.reportedIds.add(sender.name);
      lines.push(duplicateIdLine(sender));
    }
    const refused = now.refusedResyncs - before.refusedResyncs;
    if (refused > 0 && !this.areJumpsReported) lines.push(refusedLine(refused));
    this.areJumpsReported = refused > 0;
    return lines;
  }

  /** A full ring while the chain waits for a disk: reported once, until the ring is full no more. */
  private slowDisk(dropped: number): string[] {
    const waitedS = (this.diskWaitMs() - this.diskWaitedMs) / 1000;
    this.diskWaitedMs += 1000 * waitedS;
    const isSlow = dropped > 0 && waitedS > DISK_SHARE * this.everyS;
    const isNew = isSlow && !this.isDiskReported;
    this.isDiskReported = dropped > 0 && (isSlow || this.isDiskReported);
    return isNew
      ? [
          `${dropped} packets dropped in ${this.time(1)}, of which the run waited ${formatSeconds(waitedS)} for the disk: it is too slow; write to another, or longer integrations and fewer channels`,
        ]
      : [];
  }

  private follow(
    trouble: Trouble | undefined,
    count: number,
    of: number,
    lines: string[],
    words: {
      readonly begins: (share: string) => string;
      readonly ends: (time: string, count: number) => string;
    },
  ): Trouble | undefined {
    const share = of === 0 ? 0 : count / of;
    if (!trouble) {
      if (share < MUCH) return undefined;
      lines.push(words.begins(percent(share)));
      return { looks: 1, quiet: 0, count };
    }
    trouble.looks++;
    trouble.count += count;
    trouble.quiet = share < MUCH / 10 ? trouble.quiet + 1 : 0;
    if (trouble.quiet < QUIET_LOOKS) return trouble;
    lines.push(words.ends(this.time(trouble.looks - trouble.quiet), trouble.count));
    return undefined;
  }

  private time(looks: number): string {
    return formatSeconds(looks * this.everyS);
  }
}

/** Without the packet slots missing at the start and end of a stream epoch. */
const lossesOf = ({ missingCells, edgeCells }: ReceiveAccount): number => missingCells - edgeCells;

/** The sender with the most losses, if one stands out: a fault of its cable rather than the network. */
function worstSince(now: ReceiveAccount, before: ReceiveAccount): string {
  const lost = now.senders.map((sender, n) => {
    const missing = sender.missingCells - (before.senders.at(n)?.missingCells ?? 0);
    const placed = sender.outcomes.placed - (before.senders.at(n)?.outcomes.placed ?? 0);
    return { name: sender.name, missing, placed };
  });
  const all = lost.reduce((sum, { missing }) => sum + missing, 0);
  const [worst] = lost.sort((x, y) => y.missing - x.missing);
  if (lost.length < 2 || worst.missing < all / 2) return '';
  return worst.placed === 0 ? `: no packets from ${worst.name}` : `; most of ${worst.name}: ${worst.missing}`;
}
