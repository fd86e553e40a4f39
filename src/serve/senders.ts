/** Packets by sender over a second, a minute and the night, and who answers for what is lost. */
import { numberOf, type Rational } from '../core/clock/rational.js';
import type { ReceiveAccount } from '../receive/index.js';
import type { SenderRow, SendersView } from './messages.js';

interface Snapshot {
  readonly unixS: number;
  readonly account: ReceiveAccount;
}

const MINUTE_S = 60;
/** Bounds of the histogram of lateness, in milliseconds. */
const LATENESS_MS = [1, 3, 10, 30, 100, 300, 1000, 3000, Infinity] as const;

const lostPercent = (missing: number, placed: number): number =>
  missing + placed > 0 ? (100 * missing) / (missing + placed) : 0;

/** By sender, in percent; what lies before the first packet and after the last is no loss. */
const lostOfAll = ({ senders, missingCells, edgeCells }: ReceiveAccount): number[] =>
  senders.map((sender) =>
    missingCells === edgeCells ? 0 : lostPercent(sender.missingCells, sender.outcomes.placed),
  );

export class SendersBook {
  private readonly snapshots: Snapshot[] = [];
  private readonly heardAtS: number[] = [];
  private readonly lateness = LATENESS_MS.map(() => 0);
  private errors: number[] = [];

  /** A capture comes as fast as it is read, and ends: nobody is silent, and all of it is judged together. */
  constructor(
    private readonly tickRateHz: Rational | undefined,
    private readonly from: 'network' | 'capture' = 'network',
  ) {}

  /** Once a second. */
  tick(account: ReceiveAccount, unixS: number): void {
    const before = this.snapshots.at(-1);
    account.senders.forEach(({ outcomes }, n) => {
      const old = before?.account.senders[n].outcomes.placed ?? -1;
      if (outcomes.placed !== old) this.heardAtS[n] = unixS;
    });
    this.snapshots.push({ unixS, account });
    while (this.snapshots.length > 1 && unixS - this.snapshots[0].unixS > MINUTE_S + 1)
      this.snapshots.shift();
  }

  /** A block came so long after its first sample was taken. */
  arrived(afterS: number): void {
    const ms = 1000 * Math.abs(afterS);
    this.lateness[LATENESS_MS.findIndex((most) => ms <= most)]++;
    this.errors.push(afterS);
    if (this.errors.length > 256) this.errors = this.errors.slice(-128);
  }

  get clockErrorS(): { readonly mean: number; readonly spread: number } | undefined {
    const { length } = this.errors;
    if (length === 0) return undefined;
    const mean = this.errors.reduce((sum, one) => sum + one, 0) / length;
    const spread = Math.sqrt(this.errors.reduce((sum, one) => sum + (one - mean) ** 2, 0) / length);
    return { mean, spread };
  }

  /** Of the last so many seconds; the whole night where there are fewer. */
  private since(seconds: number): Snapshot | undefined {
    const last = this.snapshots.at(-1);
    if (!last) return undefined;
    return this.snapshots.findLast(({ unixS }) => last.unixS - unixS >= seconds - 0.25) ?? this.snapshots[0];
  }

  /** Missing of all that should have come within so many seconds, by sender, in percent. */
  lostWithin(seconds: number): readonly number[] {
    const [last, then] = [this.snapshots.at(-1), this.since(seconds)];
    if (!last || !then) return [];
    return last.account.senders.map((sender, n) => {
      const old = then.account.senders[n];
      return lostPercent(
        sender.missingCells - old.missingCells,
        sender.outcomes.placed - old.outcomes.placed,
      );
    });
  }

  /** Grown by how much within so many seconds. */
  grownWithin(seconds: number, of: (account: ReceiveAccount) => number): number {
    const [last, then] = [this.snapshots.at(-1), this.since(seconds)];
    return last && then ? of(last.account) - of(then.account) : 0;
  }

  silentS(n: number): number {
    if (this.from === 'capture') return 0;
    const last = this.snapshots.at(-1);
    return last ? last.unixS - (this.heardAtS[n] ?? this.snapshots[0].unixS) : 0;
  }

  view(): SendersView | undefined {
    const last = this.snapshots.at(-1);
    if (!last) return undefined;
    const { account } = last;
    const second = this.since(1) ?? last;
    const elapsedS = Math.max(1e-3, last.unixS - second.unixS);
    const [lostSecond, lostMinute] = [this.lostWithin(1), this.lostWithin(MINUTE_S)];
    const newest = account.senders.reduce<bigint | undefined>(
      (most, { newestTick: tick }) =>
        tick !== undefined && (most === undefined || tick > most) ? tick : most,
      undefined,
    );
    const rate = this.tickRateHz && numberOf(this.tickRateHz);
    const senders = account.senders.map((sender, n): SenderRow => {
      const { outcomes, missingCells, newestTick } = sender;
      const silentS = this.silentS(n);
      return {
        name: sender.name,
        packetsPerS: (outcomes.placed - second.account.senders[n].outcomes.placed) / elapsedS,
        lostPercent: {
          second: lostSecond[n],
          minute: lostMinute[n],
          night: lostPercent(missingCells, outcomes.placed),
        },
        outcomes,
        missing: missingCells,
        silentS,
        ...(newestTick !== undefined && { newestTick: newestTick.toString() }),
        ...(newestTick !== undefined &&
          newest !== undefined &&
          rate !== undefined && { behindMs: (1000 * Number(newest - newestTick)) / rate }),
        verdict:
          this.from === 'capture'
            ? this.verdict(n, lostOfAll(account), (of) => of(account) > 0)
            : silentS >= 3
              ? 'silent: look at the sender and its cable'
              : this.verdict(n, lostMinute, (of) => this.grownWithin(MINUTE_S, of) > 0),
      };
    });
    const clockErrorS = this.clockErrorS;
    return {
      senders,
      packets: account.packets,
      bytesPerS: (account.bytes - second.account.bytes) / elapsedS,
      outcomes: account.outcomes,
      ...(account.socket?.kernelDrops !== undefined && { kernelDrops: account.socket.kernelDrops }),
      resyncs: account.resyncs,
      skippedBlocks: account.skippedBlocks,
      ...(clockErrorS && { clockErrorS }),
      lateness: {
        upToMs: LATENESS_MS.map((most) => (most === Infinity ? 1e9 : most)),
        blocks: [...this.lateness],
      },
    };
  }

  /** Of what all senders lost, in percent, and what there was of each kind of trouble. */
  private verdict(
    n: number,
    all: readonly number[],
    grown: (of: (account: ReceiveAccount) => number) => boolean,
  ): string {
    if (grown(({ senders }) => senders[n].rivals))
      return 'two senders share its name, or it comes by two ways';
    if (all[n] === 0) return 'whole';
    if (grown(({ senders }) => senders[n].outcomes.ring_full)) return 'ours: the chain is too slow';
    if (grown(({ socket }) => socket?.kernelDrops ?? 0)) return "ours: the socket's buffer was full";
    if (grown(({ senders }) => senders[n].outcomes.late))
      return 'its packets come too late: clock or network';
    if (grown(({ senders }) => senders[n].outcomes.early + senders[n].outcomes.other_epoch))
      return 'its clock is ahead: synchronise it';
    const isShared = all.length > 2 && all.filter((one) => one > 0).length > all.length / 2;
    return isShared ? 'lost on the way, of most senders: the network' : 'never came: sender or network';
  }
}
