/** Load of the machine: processor, event loop, chain, memory, disk. */
import { statfs } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { diskWaitMs } from '../formats/index.js';

interface LoadNow {
  readonly resource: string;
  readonly ratio: number;
  readonly word: string;
  /** Time for which it has been above 95 %. */
  readonly forS: number;
}

const HIGH = 0.95;

export class LoadMeter {
  private readonly loop = monitorEventLoopDelay({ resolution: 2 });
  private cpu = process.cpuUsage();
  private utilisation = performance.eventLoopUtilization();
  private atMs = performance.now();
  /** Milliseconds in which the chain processed data, since the last update. */
  private chainMs = 0;
  private diskMs = diskWaitMs();
  private now: LoadNow[] = [];
  private readonly highSince = new Map<string, number>();
  loopMs = { p50: 0, p99: 0 };
  diskFreeBytes: number | undefined;

  constructor(private readonly folder: string) {
    this.loop.enable();
  }

  /** Records the time for which the chain processed a block. */
  worked(milliseconds: number): void {
    this.chainMs += milliseconds;
  }

  /** Called once per second. */
  tick(): void {
    const atMs = performance.now();
    const elapsedMs = Math.max(1, atMs - this.atMs);
    const { user, system } = process.cpuUsage(this.cpu);
    const used = performance.eventLoopUtilization(this.utilisation);
    const cores = availableParallelism();
    const diskMs = diskWaitMs();
    const busy = (user + system) / 1000 / elapsedMs;
    this.now = [
      this.entry('processor', busy / cores, `${busy.toFixed(2)} of ${cores} cores`, atMs),
      this.entry('chain', Math.min(1, this.chainMs / elapsedMs), 'time with a block in hand', atMs),
      this.entry('disk', Math.min(1, (diskMs - this.diskMs) / elapsedMs), 'time waited for it', atMs),
      this.entry('event loop', used.utilization, 'time not idle', atMs),
    ];
    const ms = (ns: number): number => Math.round(ns / 1e4) / 100;
    this.loopMs = { p50: ms(this.loop.percentile(50)), p99: ms(this.loop.percentile(99)) };
    this.loop.reset();
    this.cpu = process.cpuUsage();
    this.utilisation = performance.eventLoopUtilization();
    this.atMs = atMs;
    this.chainMs = 0;
    this.diskMs = diskMs;
    void statfs(this.folder).then(
      ({ bavail, bsize }) => {
        this.diskFreeBytes = bavail * bsize;
      },
      () => undefined,
    );
  }

  get all(): readonly LoadNow[] {
    return this.now;
  }

  close(): void {
    this.loop.disable();
  }

  private entry(resource: string, ratio: number, word: string, atMs: number): LoadNow {
    if (ratio <= HIGH) this.highSince.delete(resource);
    else if (!this.highSince.has(resource)) this.highSince.set(resource, atMs);
    const since = this.highSince.get(resource);
    return { resource, ratio, word, forS: since === undefined ? 0 : (atMs - since) / 1000 };
  }
}
