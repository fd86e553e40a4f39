/** Spectra on their way through the chain: where a backend keeps them, and where they lie in time. */
import type { Backend } from '../backend/backend.js';
import type { SpectraBlock } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { addSamples, formatInstant, secondsBetween, type Instant } from '../core/instant.js';
import type { SpectrumGrid } from './clock.js';

/** Never straddles a cut. */
export interface TimedSpectra {
  readonly block: SpectraBlock;
  /** Pushes after this one during which the block is left alone; none unless given: it may be filled anew by the next. */
  readonly stays?: number;
  /** Number of the first spectrum in the stream, lost ones counted. */
  readonly index: number;
  /** When it begins. */
  readonly start: Instant;
  /** The first spectrum that no longer belongs to the integration this block is in; Infinity where none comes. */
  readonly cutAt: number;
}

/**
 * Blocks that a stage fills in turn where a flagger comes next: threads make one while the event loop judges the one before. Where
 * there are many threads a block takes no longer than it takes to wake the event loop, so there one more may be on its way.
 */
export const blocksInTurn = (backend: Backend, isFlagged: boolean): number =>
  // While a card works on one, the next goes up.
  backend.kind === 'cuda'
    ? 2
    : !isFlagged || backend.kind !== 'cpu'
      ? 1
      : backend.threads > FEW_THREADS
        ? 3
        : 2;
const FEW_THREADS = 4;

/** Spectra that are missing before a block that begins then, where number `next` should come; an earlier one is refused. */
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

/** A stretch of spectra that belong together: an integration, or the time an image is made of. */
export interface Stretch {
  readonly firstIndex: number;
  readonly start: Instant;
  readonly cutAt: number;
}

/**
 * Opens and closes stretches as spectra pass. `finish` is called with the stretch and the number of the first spectrum
 * after it: on its cut, when later spectra show that the rest of it was lost, and at the end.
 */
export class StretchKeeper {
  private open: Stretch | undefined;
  private nextIndex = 0;

  constructor(private readonly finish: (stretch: Stretch, endIndex: number) => Promise<void>) {}

  /** Before a block is worked on: ends a stretch that it no longer belongs to. */
  async begin({ index, start, cutAt }: TimedSpectra): Promise<void> {
    if (this.open && index >= this.open.cutAt) await this.end(this.open.cutAt);
    this.open ??= { firstIndex: index, start, cutAt };
  }

  /** After a block was worked on: ends the stretch if the block reaches its cut. */
  async done({ index, block }: TimedSpectra): Promise<void> {
    this.nextIndex = index + block.samples;
    if (this.open && this.nextIndex >= this.open.cutAt) await this.end(this.open.cutAt);
  }

  /** The data are at their end. */
  async flush(): Promise<void> {
    if (this.open) await this.end(Math.min(this.nextIndex, this.open.cutAt));
  }

  private async end(endIndex: number): Promise<void> {
    const stretch = this.open;
    this.open = undefined;
    if (stretch) await this.finish(stretch, endIndex);
  }
}
