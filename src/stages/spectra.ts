/** Spectra in the chain: where a backend keeps them, and their times. */
import type { Backend } from '../backend/backend.js';
import type { SpectraBlock } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { addSamples, formatInstant, secondsBetween, type Instant } from '../core/instant.js';
import type { SpectrumGrid } from './clock.js';

/** Never crosses a cut. */
export interface TimedSpectra {
  readonly block: SpectraBlock;
  /** How many further pushes leave the block unchanged; none by default: the next push may fill it anew. */
  readonly stays?: number;
  /** Number of the first spectrum in the stream, lost ones counted. */
  readonly index: number;
  /** When it begins. */
  readonly start: Instant;
  /** The first spectrum after the integration that this block belongs to; Infinity where none comes. */
  readonly cutAt: number;
}

/**
 * The number of blocks that a stage fills in rotation where a flagger follows: threads make one while the event loop
 * tests the one before. With many threads a block takes no longer than waking the event loop, so one more may be in
 * progress.
 */
export const blocksInTurn = (backend: Backend, isFlagged: boolean): number =>
  // While a card works on one, the next is copied to it.
  backend.kind === 'cuda'
    ? 2
    : !isFlagged || backend.kind !== 'cpu'
      ? 1
      : backend.threads > FEW_THREADS
        ? 3
        : 2;
const FEW_THREADS = 4;

/** Spectra lost before a block that begins then, where number `next` was expected; an earlier one is refused. */
export function lostBefore({ start, spectrumRateHz }: SpectrumGrid, next: number, begins: Instant): number {
  const expected = addSamples(start, next, spectrumRateHz);
  const lost = Math.round(secondsBetween(expected, begins) * spectrumRateHz);
  return lost >= 0
    ? lost
    : refuse(
        'spectra',
        `a block begins at ${formatInstant(begins, 9)}, ${-lost} spectra before the end of the last one`,
        'hand blocks over in the order of time',
      );
}

/** A time range of spectra that belong together: an integration, or an image. */
export interface TimeRange {
  readonly firstIndex: number;
  readonly start: Instant;
  readonly cutAt: number;
}

/**
 * Opens and closes time ranges as spectra pass. `finish` is called with the time range and the number of the first
 * spectrum after it: on its cut, when later spectra show that the rest of it was lost, and at the end.
 */
export class TimeRanges {
  private open: TimeRange | undefined;
  private nextIndex = 0;

  constructor(private readonly finish: (timeRange: TimeRange, endIndex: number) => Promise<void>) {}

  /** Before a block is processed: ends a time range that it no longer belongs to. */
  async begin({ index, start, cutAt }: TimedSpectra): Promise<void> {
    if (this.open && index >= this.open.cutAt) await this.end(this.open.cutAt);
    this.open ??= { firstIndex: index, start, cutAt };
  }

  /** After a block was processed: ends the time range if the block reaches its cut. */
  async done({ index, block }: TimedSpectra): Promise<void> {
    this.nextIndex = index + block.samples;
    if (this.open && this.nextIndex >= this.open.cutAt) await this.end(this.open.cutAt);
  }

  /** At the end of the data. */
  async flush(): Promise<void> {
    if (this.open) await this.end(Math.min(this.nextIndex, this.open.cutAt));
  }

  private async end(endIndex: number): Promise<void> {
    const timeRange = this.open;
    this.open = undefined;
    if (timeRange) await this.finish(timeRange, endIndex);
  }
}
