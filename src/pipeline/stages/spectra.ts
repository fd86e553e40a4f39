/** Spectra on their way through the chain: where a backend keeps them, and where they lie in time. */
import type { SpectraBlock } from '../../core/blocks.js';
import type { Instant } from '../../core/instant.js';

/** Never straddles a cut. The block's memory is filled anew by the next push. */
export interface TimedSpectra {
  readonly block: SpectraBlock;
  /** Number of the first spectrum in the stream, lost ones counted. */
  readonly index: number;
  /** When it begins. */
  readonly start: Instant;
  /** The first spectrum that no longer belongs to the integration this block is in; Infinity where none comes. */
  readonly cutAt: number;
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
