/**
 * The shape of a block of channelise-fused.cu: spectra at a time, shared memory, threads. Chosen by measurements on an
 * H200.
 */
import type { CudaPath } from '../../backend/cuda/cuda.js';
import { spectraSizeBytes } from '../../core/axes.js';
import { powerOfTwoFrom, roundUp } from '../../core/round-up.js';
import { levelTwiddles } from './tables.js';
import type { ChannelisePlan } from '../plan.js';

/** The properties of the card that a plan needs. */
export interface CardLimits {
  readonly sharedBytesPerBlock: number;
}

/** Those that decide between kernels, too. */
export interface Card extends CardLimits {
  readonly capability: number;
  readonly path: CudaPath;
}

/** TILE spectra at a time, until SPAN of them are done, of GROUP columns or rows. */
export interface Shape {
  readonly tile: number;
  readonly span: number;
  readonly group: number;
}

/** Whether bytes are kept in shared memory until whole rows of them can be written. */
export type Waiting = 'bytes' | 'nothing';

interface Block {
  readonly threads: number;
  /** Blocks per multiprocessor. */
  readonly blocks: number;
  readonly sharedBytes: number;
  /** Whether twiddles are kept in shared memory. */
  readonly turnsKept: boolean;
}

export const COMPLEX_BYTES = 8;
/** A multiprocessor's registers are enough for this many threads of 64, as needed for transforms of 16 points. */
export const THREADS_AT_ONCE = 1024;
/**
 * Where several blocks filter 8-bit complex samples, fewer threads with more registers are faster. Blocks that wait for
 * wider samples or for the other pass, or separate real transforms, need as many threads as possible: two blocks of
 * 512, not three of 256.
 */
const FEW_THREADS = 640;
/** Shared memory that a multiprocessor reserves for each block. */
const RESERVED_BYTES = 1024;
/** Rows of output are whole sectors of memory: parts of them cost several times as much. */
const SECTOR_BYTES = 32;
/** Points in a block's shared memory: two such blocks fit on a multiprocessor, and one works while the other waits. */
const ELEMENTS = 8192;
/** For spectra so short that four blocks fit, like 32 spectra of 144 channels. */
const ELEMENTS_OF_SHORT = 4608;
const MOST_BLOCKS = 4;
const MOST_TILE = 64;
/** Fewer spectra at a time leave most lanes of a warp in banks of others. */
const USUAL_TILE = 8;

const powerOfTwoUpTo = (value: number): number => 2 ** Math.floor(Math.log2(Math.max(1, value)));
const powersOfTwoDownFrom = (value: number): number[] =>
  Array.from({ length: Math.log2(powerOfTwoUpTo(value)) + 1 }, (_, n) => powerOfTwoUpTo(value) / 2 ** n);

/** In the layout of rows.cuh: points in rows with gaps, then rows of bytes. */
function sharedBytesOf(points: number, { tile, span, group }: Shape, waiting: Waiting): number {
  const rows = points * group;
  const gaps = Math.floor(rows / (tile < 8 ? 16 / tile : 2));
  const tileBytes = roundUp(rows * tile + 2 * gaps, 2) * COMPLEX_BYTES;
  return tileBytes + (waiting === 'bytes' ? roundUp(rows * span * 2, 16) : 0);
}

/** The shape of a block for whole spectra of so many points; undefined where they do not fit. */
export function shapeOfOnePass(plan: ChannelisePlan, card: CardLimits): Shape | undefined {
  const { channels, capacity, outputType } = plan;
  const sectorSpectra = SECTOR_BYTES / spectraSizeBytes(outputType === 'cf32' ? 'cf32' : 'ci8');
  const enough = Math.max(2, powerOfTwoFrom(capacity));
  const [waiting, least]: [Waiting, number] =
    outputType === 'cf32' ? ['nothing', Math.min(enough, sectorSpectra)] : ['bytes', 2];
  const shapeOf = (tile: number): Shape => ({
    tile,
    span: waiting === 'bytes' ? Math.max(tile, sectorSpectra) : tile,
    group: 1,
  });
  const wanted = Math.max(USUAL_TILE, powerOfTwoUpTo(ELEMENTS_OF_SHORT / channels));
  return powersOfTwoDownFrom(Math.min(MOST_TILE, enough, wanted))
    .filter((tile) => tile >= least)
    .map(shapeOf)
    .find((shape) => sharedBytesOf(channels, shape, waiting) <= card.sharedBytesPerBlock);
}

/**
 * The shape of a block for columns or rows of `points` points, of which there are `other`; undefined where they do not
 * fit.
 */
export function shapeOfOneOfTwo(
  points: number,
  other: number,
  span: number,
  waiting: Waiting,
  card: CardLimits,
): Shape | undefined {
  return powersOfTwoDownFrom(span)
    .filter((tile) => tile >= 2 && points * tile <= ELEMENTS)
    .flatMap((tile) => {
      const most = Math.min(ELEMENTS / (points * tile), powerOfTwoFrom(other));
      return powersOfTwoDownFrom(most).map((group) => ({ tile, span, group }));
    })
    .find((shape) => sharedBytesOf(points, shape, waiting) <= card.sharedBytesPerBlock);
}

/** `wanted`: the number of threads, see FEW_THREADS. */
export function blockOf(
  radices: readonly number[],
  shape: Shape,
  waiting: Waiting,
  wanted: 'few' | 'all',
  card: CardLimits,
): Block {
  const points = radices.reduce((product, radix) => product * radix, 1);
  const leastBytes = sharedBytesOf(points, shape, waiting);
  const fitting = (bytes: number): number =>
    Math.floor((card.sharedBytesPerBlock + RESERVED_BYTES) / (bytes + RESERVED_BYTES));
  const several = Math.min(MOST_BLOCKS, fitting(leastBytes));
  const few = wanted === 'few' ? several : powerOfTwoUpTo(several);
  const most = few > 1 && wanted === 'few' ? FEW_THREADS : THREADS_AT_ONCE;
  const threads = threadsFor(radices, shape, most / few);
  const blocks = Math.min(fitting(leastBytes), Math.floor(THREADS_AT_ONCE / threads));
  const withTurns = leastBytes + levelTwiddles(radices).byteLength;
  const turnsKept = fitting(withTurns) >= blocks;
  return { threads, blocks, sharedBytes: turnsKept ? withTurns : leastBytes, turnsKept };
}

/**
 * Nearly as many threads as possible, in whole warps and whole rows of a tile: the number with the fewest idle ones.
 */
function threadsFor(radices: readonly number[], { tile, group }: Shape, most: number): number {
  const step = Math.max(32, tile);
  const points = radices.reduce((product, radix) => product * radix, 1);
  const butterflies = [1, ...radices].slice(-Math.max(1, radices.length)).map((radix) => ({
    radix,
    count: (points / radix) * group * tile,
  }));
  const busiest = roundUp(Math.max(...butterflies.map(({ count }) => count)), step);
  const timeOf = (threads: number): number =>
    butterflies.reduce((sum, { radix, count }) => sum + Math.ceil(count / threads) * threads * radix, 0);
  let best = Math.min(busiest, Math.floor(most / step) * step);
  for (let threads = best; threads >= 0.75 * most; threads -= step) {
    if (timeOf(threads) < 0.97 * timeOf(best)) best = threads;
  }
  return best;
}
