/** What a card and its bus are busy with, by marks in their own streams. */
import type { CudaEvent, CudaSession, Stream } from './session.js';

export const cardSteps = ['upload', 'turn', 'flag', 'correlate', 'image', 'sum', 'download'] as const;
export type CardStep = (typeof cardSteps)[number];

export interface CardAccount {
  /** From the first step to the last. */
  readonly wallS: number;
  /** Of that, the part in which kernels ran: all of their times together, overlapping or not. */
  readonly busyShare: number;
  readonly seconds: Readonly<Partial<Record<CardStep, number>>>;
  readonly blocks: number;
  /** Blocks that the host had to copy first, since the ring's pages were not locked. */
  readonly copiedBlocks: number;
  readonly uploadedBytes: number;
  readonly downloadedBytes: number;
}

interface Lap {
  readonly step: CardStep;
  readonly begun: CudaEvent;
  readonly ended: CudaEvent;
}

/** Nothing is measured until it is begun: marks cost little, but not nothing. */
export class CardMeter {
  private isOn = false;
  private beganMs: number | undefined;
  private endedMs = 0;
  private downloadedBytes = 0;
  private blocks = { blocks: 0, copied: 0, bytes: 0 };
  private readonly seconds = new Map<CardStep, number>();
  /** Under way, oldest first. */
  private readonly laps: Lap[] = [];
  /** Used again: a steady stream of blocks makes no new ones. */
  private readonly spare: CudaEvent[] = [];
  private readonly all: CudaEvent[] = [];

  constructor(private readonly session: Pick<CudaSession, 'createEvent' | 'millisecondsBetween'>) {}

  begin(): void {
    this.isOn = true;
    this.beganMs = undefined;
    this.downloadedBytes = 0;
    this.blocks = { blocks: 0, copied: 0, bytes: 0 };
    this.collect();
    this.seconds.clear();
  }

  /** Queues a step in a stream, between two marks. */
  around<Result>(step: CardStep, stream: Stream, queue: () => Result): Result {
    if (!this.isOn) return queue();
    this.beganMs ??= performance.now();
    this.collect();
    const begun = this.mark(stream);
    const done = (): void => {
      this.laps.push({ step, begun, ended: this.mark(stream) });
      this.endedMs = performance.now();
    };
    const result = queue();
    if (result instanceof Promise) return result.finally(done) as Result;
    done();
    return result;
  }

  downloaded(bytes: number): void {
    this.downloadedBytes += bytes;
  }

  /** Blocks of the ring that went up so far. */
  sent({
    blocks,
    copied,
    bytes,
  }: {
    readonly blocks: number;
    readonly copied: number;
    readonly bytes: number;
  }): void {
    this.blocks = { blocks, copied, bytes };
  }

  /** Undefined where nothing was measured. */
  account(): CardAccount | undefined {
    if (this.beganMs === undefined) return undefined;
    this.collect();
    const wallS = (this.endedMs - this.beganMs) / 1000;
    const seconds = Object.fromEntries(this.seconds) as Partial<Record<CardStep, number>>;
    const { turn = 0, flag = 0, correlate = 0, image = 0, sum = 0 } = seconds;
    const { blocks, copied, bytes } = this.blocks;
    return {
      ...{ wallS, seconds, blocks, copiedBlocks: copied, uploadedBytes: bytes },
      busyShare: wallS > 0 ? (turn + flag + correlate + image + sum) / wallS : 0,
      downloadedBytes: this.downloadedBytes,
    };
  }

  async close(): Promise<void> {
    for (const event of this.all.splice(0)) await event.close();
  }

  private mark(stream: Stream): CudaEvent {
    let event = this.spare.pop();
    if (event === undefined) {
      event = this.session.createEvent({ timing: 'on' });
      this.all.push(event);
    }
    event.record(stream);
    return event;
  }

  /** Reads laps that are over; streams overlap, so that a later one may be over before an earlier one. */
  private collect(): void {
    for (let lap = this.laps.at(0); lap?.ended.isPassed() === true; lap = this.laps.at(0)) {
      this.laps.shift();
      const { step, begun, ended } = lap;
      const seconds = this.session.millisecondsBetween(begun, ended) / 1000;
      this.seconds.set(step, (this.seconds.get(step) ?? 0) + seconds);
      this.spare.push(begun, ended);
    }
  }
}
