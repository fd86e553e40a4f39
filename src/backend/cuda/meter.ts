/** The load of a card and its bus, by marks in their own streams. */
import { LapClock } from './lap-clock.js';
import type { CudaSession, Stream } from './session.js';

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

/** Nothing is measured until `begin`: marks have a small cost. */
export class CardMeter {
  private isOn = false;
  private beganMs: number | undefined;
  private endedMs = 0;
  private downloadedBytes = 0;
  private blocks = { blocks: 0, copied: 0, bytes: 0 };
  private readonly clock: LapClock<CardStep>;

  constructor(session: Pick<CudaSession, 'createEvent' | 'millisecondsBetween'>) {
    this.clock = new LapClock(session);
  }

  begin(): void {
    this.isOn = true;
    this.beganMs = undefined;
    this.downloadedBytes = 0;
    this.blocks = { blocks: 0, copied: 0, bytes: 0 };
    this.clock.collectPassed();
    this.clock.reset();
  }

  /** Queues a step in a stream, between two marks. */
  around<Result>(step: CardStep, stream: Stream, queue: () => Result): Result {
    if (!this.isOn) return queue();
    this.beganMs ??= performance.now();
    this.clock.collectPassed();
    const begun = this.clock.begin(stream);
    const done = (): void => {
      this.clock.end(step, begun, stream);
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
    this.clock.collectPassed();
    const wallS = (this.endedMs - this.beganMs) / 1000;
    const seconds = this.clock.times;
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

  close(): Promise<void> {
    return this.clock.close();
  }
}
