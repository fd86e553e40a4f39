/** The load of a card and its bus: events around each step, in the step's own stream, read once they have passed. */
import type { CudaEvent, CudaSession, Stream } from './session.js';

/** Steps that the card computes; the others are copies on the bus. */
const kernelSteps = [
  'turn',
  'channelise',
  'flag',
  'correlate',
  'image',
  'beams',
  'finish',
  'sum',
  'calibrate',
] as const;
export const cardSteps = ['upload', ...kernelSteps, 'download'] as const;
export type CardStep = (typeof cardSteps)[number];

export interface CardAccount {
  /** From the first step to the last. */
  readonly wallS: number;
  /** The fraction of it in which kernels ran: the sum of their times, overlapping or not. */
  readonly busyShare: number;
  readonly seconds: Readonly<Partial<Record<CardStep, number>>>;
  readonly blocks: number;
  /** Blocks that the host had to copy first, since their pages were not locked. */
  readonly copiedBlocks: number;
  readonly uploadedBytes: number;
  readonly downloadedBytes: number;
}

interface Lap {
  readonly step: CardStep;
  readonly begun: CudaEvent;
  readonly ended: CudaEvent;
}

/** Nothing is measured until `begin`: marks have a small cost. */
export class CardMeter {
  private isOn = false;
  private beganMs: number | undefined;
  private endedMs = 0;
  private downloadedBytes = 0;
  private blocks = { blocks: 0, copied: 0, bytes: 0 };
  private seconds: Partial<Record<CardStep, number>> = {};
  /** Steps whose end may not have passed, oldest first. */
  private readonly laps: Lap[] = [];
  /** Free marks; a steady stream of blocks makes no new ones. */
  private readonly spare: CudaEvent[] = [];
  private readonly all: CudaEvent[] = [];

  constructor(private readonly session: Pick<CudaSession, 'createEvent' | 'millisecondsBetween'>) {}

  begin(): void {
    this.isOn = true;
    this.beganMs = undefined;
    this.downloadedBytes = 0;
    this.blocks = { blocks: 0, copied: 0, bytes: 0 };
    this.collectPassed();
    this.seconds = {};
  }

  /** Queues a step in a stream, between two marks. */
  around<Result>(step: CardStep, stream: Stream, queue: () => Result): Result {
    if (!this.isOn) return queue();
    this.beganMs ??= performance.now();
    this.collectPassed();
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

  /** A block was sent to the card. */
  sent({ bytes, isCopied }: { readonly bytes: number; readonly isCopied: boolean }): void {
    this.blocks.blocks++;
    this.blocks.bytes += bytes;
    if (isCopied) this.blocks.copied++;
  }

  /** Undefined where nothing was measured. */
  account(): CardAccount | undefined {
    if (this.beganMs === undefined) return undefined;
    this.collectPassed();
    const wallS = (this.endedMs - this.beganMs) / 1000;
    const seconds = { ...this.seconds };
    const { blocks, copied, bytes } = this.blocks;
    return {
      wallS,
      seconds,
      blocks,
      copiedBlocks: copied,
      uploadedBytes: bytes,
      busyShare: wallS > 0 ? kernelSteps.reduce((sum, step) => sum + (seconds[step] ?? 0), 0) / wallS : 0,
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

  /** Reads the steps that have passed, up to the first that has not. */
  private collectPassed(): void {
    for (let lap = this.laps.at(0); lap?.ended.isPassed() === true; lap = this.laps.at(0)) {
      const { step, begun, ended } = lap;
      this.laps.shift();
      const seconds = this.session.millisecondsBetween(begun, ended) / 1000;
      this.seconds[step] = (this.seconds[step] ?? 0) + seconds;
      this.spare.push(begun, ended);
    }
  }
}
