/** Which kernels judge spectra on a card, with which numbers compiled in, and what they keep in memory. Pure. */
import type { KernelRequest, LaunchShape } from '../../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../../backend/cuda/sources.js';
import type { SpectraShape } from '../../core/blocks.js';
import type { SpectraGap } from '../../core/gaps.js';
import { windowEdges, type KurtosisPlan } from '../plan.js';
import { groupsOf } from '../screen.js';

const entries = {
  sumPowers: ['pointer', 'i64', 'pointer', 'i32', 'i32', 'pointer'],
  screenSums: [
    ...(['pointer', 'i32', 'i32', 'i32', 'i32', 'pointer'] as const),
    ...(['pointer', 'pointer', 'pointer', 'pointer', 'pointer', 'pointer'] as const),
  ],
  zeroPieces: ['pointer', 'i64', 'i32', 'pointer', 'i32'],
} as const;

export const planPowerSums = ({ type }: Pick<KurtosisPlan, 'type'>) =>
  ({
    name: 'kurtosis.cu',
    source: readSource(import.meta.url, 'kurtosis.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: { FLOATS: type === 'cf32' ? 1 : 0 },
    entries,
    tables: {
      Piece: {
        firstChannel: 0,
        endChannel: 4,
        firstInput: 8,
        endInput: 12,
        firstSample: 16,
        endSample: 20,
        bytes: 24,
      },
    },
  }) satisfies KernelRequest;

const THREADS = 256;
/** What a warp of `sumPowers` takes: so many windows of a row. */
const WINDOWS_AT_ONCE = 4;
const WARP = 32;
const GROUPS_AT_ONCE = 16;
const PIECES_AT_ONCE = 8;

const blocksFor = (blocks: number): LaunchShape => ({ grid: [Math.max(1, blocks), 1], threads: THREADS });

export const sumsLaunch = ({ channels, inputs }: KurtosisPlan, windows: number): LaunchShape =>
  blocksFor(Math.ceil(windows / WINDOWS_AT_ONCE) * Math.ceil((channels * inputs) / (THREADS / WARP)));

export const screenLaunch = (plan: KurtosisPlan, windows: number): LaunchShape =>
  blocksFor(Math.ceil((windows * plan.channels * groupsOf(plan)) / GROUPS_AT_ONCE));

export const zerosLaunch = (pieces: number): LaunchShape => blocksFor(Math.ceil(pieces / PIECES_AT_ONCE));

/** Where a block's sums and what was seen in them lie, one behind the other: on the card and where they come down. */
export interface PowersLayout {
  readonly windows: number;
  /** sums : [w][c][a][S1, S2] and marks : [w][c][a]; totals and groupMarks : [w][c][a / 16]. */
  readonly cells: number;
  readonly groups: number;
  readonly totals: number;
  readonly marks: number;
  readonly groupMarks: number;
  /** Without a screen sums alone come down. */
  readonly sumsBytes: number;
  readonly bytes: number;
}

export function powersLayout(plan: KurtosisPlan, windows: number): PowersLayout {
  const cells = windows * plan.channels * plan.inputs;
  const groups = windows * plan.channels * groupsOf(plan);
  const sumsBytes = 16 * cells;
  const marks = sumsBytes + 8 * groups;
  const groupMarks = marks + cells;
  return {
    windows,
    cells,
    groups,
    totals: sumsBytes,
    marks,
    groupMarks,
    sumsBytes,
    bytes: groupMarks + groups,
  };
}

/** Blocks that may be begun before the first is finished: one summed, one coming down, one judged. */
export const ROOMS = 3;

/** What a flagger keeps on the card for blocks of this capacity, but for fences, which are small. */
export const flaggerBytes = (plan: KurtosisPlan, { capacity }: Pick<SpectraShape, 'capacity'>): number =>
  ROOMS * powersLayout(plan, Math.max(0, windowEdges(plan, capacity).length - 1)).bytes;

/** struct Piece of kurtosis.cu, as whole numbers. */
export const PIECE_NUMBERS = 6;
/** A warp zeroes a piece: at most so many rows. */
const ROWS_IN_PIECE = 64;

/** How many inputs and channels of a box make a piece, so that pieces are of one size. */
export const pieceOf = ({
  firstInput,
  endInput,
}: SpectraGap): { readonly inputs: number; readonly channels: number } => {
  const inputs = Math.min(ROWS_IN_PIECE, endInput - firstInput);
  return { inputs, channels: Math.floor(ROWS_IN_PIECE / inputs) };
};
