/** Packets by sender over a second, a minute and the run, and the probable cause of losses. */
import { numberOf, type Rational } from '../core/clock/rational.js';
import { hasDuplicateId, type ReceiveAccount } from '../receive/index.js';
import type { SenderRow, SendersView } from './messages.js';

interface Snapshot {
  readonly unixS: number;
  readonly account: ReceiveAccount;
}

const MINUTE_S = 60;
/** Histogram bounds of lateness, in milliseconds. */
const LATENESS_MS = [1, 3, 10, 30, 100, 300, 1000, 3000, Infinity] as const;

const lostPercent = (missing: number, placed: number): number =>
  missing + placed > 0 ? (100 * missing) / (missing + placed) : 0;

/** A sender's losses, without its share of the slots before the first and after the last packet of all. */
const lostBy = ({ senders, missingCells, edgeCells }: ReceiveAccount, n: number): number =>
  edgeCells > 0 && missingCells === edgeCells
    ? 0
    : Math.max(0, senders[n].missingCells - edgeCells / senders.length);

/** By sender, in percent. */
const lostOfAll = (account: ReceiveAccount): number[] =>
  account.senders.map((sender, n) => lostPercent(lostBy(account, n), sender.outcomes.placed));

export class SenderRates {
  private readonly snapshots: Snapshot[] = [];
  private readonly receivedAtS: number[] = [];
  private readonly lateness = LATENESS_MS.map(() => 0);
  private errors: number[] = [];

  /** A capture is read as fast as possible and ends: no sender is silent, and it is evaluated as a whole. */
  constructor(
    private readonly tickRateHz: Rational | undefined,
    private readonly from: 'network' | 'capture' = 'network',
  ) {}

  /** Called once per second. */
  tick(account: ReceiveAccount, unixS: number): void {
    const before = this.snapshots.at(-1);
    account.senders.forEach(({ outcomes }, n) => {
      const old = before?.account.senders[n].outcomes.placed ?? -1;
      if (outcomes.placed !== old) this.receivedAtS[n] = unixS;
    });
    this.snapshots.push({ unixS, account });
    while (this.snapshots.length > 1 && unixS - this.snapshots[0].unixS > MINUTE_S + 1)
      this.snapshots.shift();
  }

  /** Records a block's arrival, relative to the time of its first sample. */
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

  /** The snapshot at the start of the last `seconds`; the first one if the run is shorter. */
  private since(seconds: number): Snapshot | undefined {
    const last = this.snapshots.at(-1);
    if (!last) return undefined;
    return this.snapshots.findLast(({ unixS }) => last.unixS - unixS >= seconds - 0.25) ?? this.snapshots[0];
  }

  /** Missing fraction of the slots due within this time, by sender, in percent. */
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

  /** Increase within this time. */
  grownWithin(seconds: number, of: (account: ReceiveAccount) => number): number {
    const [last, then] = [this.snapshots.at(-1), this.since(seconds)];
    return last && then ? of(last.account) - of(then.account) : 0;
  }

  silentS(n: number): number {
    if (this.from === 'capture') return 0;
    const last = this.snapshots.at(-1);
    return last ? last.unixS - (this.receivedAtS[n] ?? this.snapshots[0].unixS) : 0;
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
      const { outcomes, newestTick } = sender;
      const silentS = this.silentS(n);
      return {
        name: sender.name,
        packetsPerS: (outcomes.placed - second.account.senders[n].outcomes.placed) / elapsedS,
        lostPercent: {
          second: lostSecond[n],
          minute: lostMinute[n],
          run: lostPercent(lostBy(account, n), outcomes.placed),
        },
        outcomes,
        missing: Math.round(lostBy(account, n)),
        silentS,
        newestTick: newestTick?.toString(),
        ...(newestTick !== undefined &&
          newest !== undefined &&
          rate !== undefined && { behindMs: (1000 * Number(newest - newestTick)) / rate }),
        status:
          this.from === 'capture'
            ? this.status(n, lostOfAll(account), account, undefined)
            : silentS >= 3
              ? 'silent: look at the sender and its cable'
              : this.status(n, lostMinute, account, this.since(MINUTE_S)?.account),
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
      clockErrorS,
      lateness: {
        upToMs: LATENESS_MS.map((most) => (most === Infinity ? 1e9 : most)),
        blocks: [...this.lateness],
      },
    };
  }

  /** Probable cause of a sender's losses since `before`; `all` are the losses of all senders, in percent. */
  private status(
    n: number,
    all: readonly number[],
    now: ReceiveAccount,
    before: ReceiveAccount | undefined,
  ): string {
    if (hasDuplicateId(now.senders[n], before?.senders[n]))
      return 'two senders share its name, or it comes by two ways';
    if (all[n] === 0) return 'whole';
    const grown = (of: (account: ReceiveAccount) => number): number => of(now) - (before ? of(before) : 0);
    const [worst] = [
      { count: grown(({ senders }) => senders[n].outcomes.ring_full), what: 'ours: the chain is too slow' },
      { count: grown(({ socket }) => socket?.kernelDrops ?? 0), what: "ours: the socket's buffer was full" },
      {
        count: grown(({ senders }) => senders[n].outcomes.late),
        what: 'its packets come too late: clock or network',
      },
      {
        count: grown(({ senders }) => senders[n].outcomes.early + senders[n].outcomes.other_epoch),
        what: 'its clock is ahead: synchronise it',
      },
    ].sort((x, y) => y.count - x.count);
    if (worst.count > 0) return worst.what;
    const isShared = all.length > 2 && all.filter((one) => one > 0).length > all.length / 2;
    return isShared ? 'lost on the way, of most senders: the network' : 'never came: sender or network';
  }
}
