/** Spectra in the chain: where a backend keeps them, and their times. */
import type { Backend } from '../backend/backend.js';
import type { SpectraBlock } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { addSamples, formatInstant, secondsBetween, type Instant } from '../core/instant.js';
import type { SpectrumGrid } from './clock.js';
import type { Emit, Stage } from './stage.js';

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

interface OverRanges<Out> {
  /** A block of the range. */
  readonly add: (spectra: TimedSpectra, range: TimeRange) => Promise<void>;
  /** What comes of a range, and the number of the first spectrum after it. */
  readonly finish: (range: TimeRange, endIndex: number) => Promise<Out>;
}

/**
 * Opens and closes time ranges as spectra pass: they end on their cut, when later spectra show that the rest was lost,
 * and at the end of the data.
 */
export function overRanges<Out>({
  add,
  finish,
}: OverRanges<Out>): Pick<Stage<TimedSpectra, Out>, 'push' | 'flush'> {
  let open: TimeRange | undefined;
  let nextIndex = 0;
  const end = async (range: TimeRange, endIndex: number, emit: Emit<Out>): Promise<void> => {
    open = undefined;
    await emit(await finish(range, endIndex));
  };
  return {
    push: async (spectra, emit) => {
      const { index, start, cutAt, block } = spectra;
      // The block no longer belongs to it.
      if (open && index >= open.cutAt) await end(open, open.cutAt, emit);
      const range = (open ??= { firstIndex: index, start, cutAt });
      await add(spectra, range);
      nextIndex = index + block.samples;
      if (nextIndex >= range.cutAt) await end(range, range.cutAt, emit);
    },
    flush: async (emit) => {
      if (open) await end(open, Math.min(nextIndex, open.cutAt), emit);
    },
  };
}
