/**
 * Kernels that grid, fold and image on Hopper's tensor cores, and the numbers they are compiled with. Pure, so that
 * every plan can be checked, and compiled, on a machine without a card.
 */
import type { KernelRequest } from '../../../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../../../backend/cuda/sources.js';
import { roundUp } from '../../../core/round-up.js';
import { TASK, tasksOf } from './tables.js';
import type { ImagePlan } from '../../plan.js';
import { planSampling, type SamplingOptions } from './sampling.js';
import { halvesOf, type FoldedPrecision } from './halves/split-halves.js';
import { halfWgmmaHeader } from './wgmma-half.js';

/** Boxes of cells the kernels are made for. */
export const FOLDED_BOXES = [32, 48, 64] as const;
type FoldedBox = (typeof FOLDED_BOXES)[number];

type Inputs = Pick<ImagePlan, 'stations' | 'polarisations'>;
const source = (name: string): string => readSource(import.meta.url, name);

interface GridTuning {
  /** Tasks of a block, one to a warp. */
  readonly WARPS: number;
  /** Blocks on a multiprocessor at once. */
  readonly BLOCKS: 1 | 2;
  /** Groups of 16 stations whose weights a warp keeps in registers. */
  readonly HELD: 0 | 1 | 2;
}

/** As measured on an H200. */
const gridTuning = {
  half: {
    32: { WARPS: 16, BLOCKS: 1, HELD: 2 },
    48: { WARPS: 12, BLOCKS: 1, HELD: 1 },
    64: { WARPS: 16, BLOCKS: 1, HELD: 1 },
  },
  split: {
    32: { WARPS: 8, BLOCKS: 1, HELD: 1 },
    48: { WARPS: 12, BLOCKS: 1, HELD: 0 },
    64: { WARPS: 8, BLOCKS: 1, HELD: 1 },
  },
} satisfies Record<FoldedPrecision, Record<FoldedBox, GridTuning>>;
/** The most shared memory of a block on Hopper. */
const MOST_SHARED_BYTES = 227 * 1024;

function gridSharedBytes(
  { stations, polarisations }: Inputs,
  halves: number,
  buffers: number,
  ahead: number,
): number {
  const sampleBytes = roundUp(stations * polarisations * (16 * ahead + 8), 16);
  return sampleBytes + buffers * stations * (polarisations * 32 * halves + 16);
}
/** A block's part of eight steps' grids before they are stored, twice. */
const stagedBytes = ({ polarisations }: Inputs, box: FoldedBox, warps: number): number =>
  2 * 8 * ((polarisations * 4 * box * box * warps) / tasksOf(box) + 16);

export function planGridding(plan: Inputs, box: FoldedBox, precision: FoldedPrecision) {
  const halves = halvesOf[precision];
  const tuning: GridTuning = gridTuning[precision][box];
  // With two buffers of unpacked samples the next are unpacked while these are gridded.
  const AHEAD = precision === 'half' && gridSharedBytes(plan, halves, 2, 2) <= MOST_SHARED_BYTES ? 2 : 1;
  const BUFFERS = gridSharedBytes(plan, halves, 2, AHEAD) <= MOST_SHARED_BYTES ? 2 : 1;
  // Where a block makes whole blocks of rows and has room for them, the copy engine stores them.
  const STAGED =
    precision === 'half' &&
    tuning.WARPS % (box / 4) === 0 &&
    gridSharedBytes(plan, halves, BUFFERS, AHEAD) + stagedBytes(plan, box, tuning.WARPS) <= MOST_SHARED_BYTES
      ? 1
      : 0;
  const name = { half: 'direct-grid.cu', split: 'direct-grid-split.cu' }[precision];
  return {
    request: {
      name,
      source: source(name),
      headers: {
        ...commonHeaders('integers.cuh', 'hopper.cuh'),
        'halves.cuh': source('halves.cuh'),
        'direct-grid.cuh': source('direct-grid.cuh'),
      },
      defines: {
        STATIONS: plan.stations,
        POLARISATIONS: plan.polarisations,
        BOX: box,
        ...tuning,
        BUFFERS,
        ...(precision === 'half' ? { AHEAD, STAGED } : {}),
      },
      entries: {
        spreadFolded: ['pointer', 'i64', 'i32', 'i32', 'i32', 'pointer', 'pointer', 'pointer', 'pointer'],
      },
      tables: { Task: TASK },
    },
    threads: 32 * tuning.WARPS,
    /** Blocks that share a channel's steps, each with its rows. */
    blocksPerSpan: tasksOf(box) / tuning.WARPS,
    sharedBytes:
      gridSharedBytes(plan, halves, BUFFERS, AHEAD) + STAGED * stagedBytes(plan, box, tuning.WARPS),
  } as const satisfies {
    request: KernelRequest;
    threads: number;
    blocksPerSpan: number;
    sharedBytes: number;
  };
}

interface HalfTuning {
  /** Bulk copies of grids in flight, of UNROLL steps each. With more than two, registers get scarce and operands clash. */
  readonly STAGES: number;
  readonly UNROLL: 2 | 4 | 8;
  /** 1: a step's last products are summed during the next. */
  readonly ACROSS: 0 | 1;
  /** 1: stage 1 takes its factors from shared memory. */
  readonly ROWS_SHARED: 0 | 1;
}
interface SplitTuning {
  /** Steps of grids in shared memory. */
  readonly RING: number;
  /** Copies of a slot: with two, each is requested again as soon as it has been used. */
  readonly COPIES: 1 | 2;
  /** 1: stage 2 takes the rests of its factors from shared memory; registers would not hold them. */
  readonly RESTS_SHARED: 0 | 1;
}

/** As measured on an H200. */
const halfTuning = {
  32: { STAGES: 2, UNROLL: 8, ACROSS: 1, ROWS_SHARED: 1 },
  48: { STAGES: 2, UNROLL: 4, ACROSS: 0, ROWS_SHARED: 1 },
  64: { STAGES: 2, UNROLL: 2, ACROSS: 0, ROWS_SHARED: 1 },
} satisfies Record<FoldedBox, HalfTuning>;
/** Of blocks of one warpgroup, two to a multiprocessor. */
const smallTuning: HalfTuning = { STAGES: 2, UNROLL: 4, ACROSS: 1, ROWS_SHARED: 1 };
const splitTuning = {
  32: { RING: 6, COPIES: 1, RESTS_SHARED: 1 },
  48: { RING: 3, COPIES: 1, RESTS_SHARED: 0 },
  64: { RING: 1, COPIES: 2, RESTS_SHARED: 1 },
} satisfies Record<FoldedBox, SplitTuning>;

type Picture = Pick<ImagePlan, 'pixels' | 'polarisations' | 'kernelSize'>;

export function planImaging(
  plan: Picture,
  { box, precision, steps }: SamplingOptions & { readonly box: FoldedBox },
) {
  const { samples, groups, tiles, multiprocessors } = planSampling(plan, { box, precision, steps });
  const isRefined = samples < plan.pixels;
  const uBytes = 64 * 4 * box * 2;
  const rowBytes = 64 * box * 2;
  const slotBytes = 4 * box * box;
  const { name, tuning, sharedBytes, sums } = {
    half: () => {
      const half = groups === 1 ? smallTuning : halfTuning[box];
      const { STAGES, UNROLL } = half;
      return {
        name: 'direct-hopper.cu',
        tuning: { ...half },
        sharedBytes: 2 * uBytes + rowBytes + STAGES * UNROLL * 2 * slotBytes + 8 * STAGES,
        sums: { halfSums: [(4 * box) / groups], floatSums: [64] },
      };
    },
    split: () => {
      const split: SplitTuning = splitTuning[box];
      const { RING, COPIES, RESTS_SHARED } = split;
      return {
        name: 'direct-hopper-split.cu',
        tuning: { ...split },
        sharedBytes: 4 * uBytes + (2 + 2 * RESTS_SHARED) * rowBytes + RING * (4 * slotBytes + 16 * COPIES),
        sums: { halfSums: [], floatSums: [64] },
      };
    },
  }[precision]();
  return {
    request: {
      name,
      source: source(name),
      headers: {
        ...commonHeaders('integers.cuh', 'hopper.cuh'),
        'halves.cuh': source('halves.cuh'),
        'direct-hopper.cuh': source('direct-hopper.cuh'),
        'wgmma-half.cuh': halfWgmmaHeader(sums),
      },
      defines: {
        PIXELS: samples,
        POLARISATIONS: plan.polarisations,
        BOX: box,
        GROUPS: groups,
        REFINED: isRefined ? 1 : 0,
        ...tuning,
      },
      entries: {
        imageFolded: ['pointer', 'i32', 'i32', 'i32', 'i32', 'pointer', 'pointer', 'pointer', 'pointer'],
      },
    },
    sharedBytes,
    threads: 128 * groups,
    tiles,
    /** Multiprocessors filled by the tiles of a channel. */
    multiprocessors,
    /** Along either side of the sampled image. */
    samples,
    refining: isRefined ? planRefining(plan, samples) : undefined,
  } as const satisfies { request: KernelRequest; [name: string]: unknown };
}

/** Rows and columns of pixels that direct-refine.cu makes at a time. */
const REFINED_ROWS = 64;
const REFINED_COLUMNS = 128;

/** From samples to pixels. */
function planRefining(
  { pixels, polarisations }: Pick<ImagePlan, 'pixels' | 'polarisations'>,
  samples: number,
) {
  return {
    request: {
      name: 'direct-refine.cu',
      source: source('direct-refine.cu'),
      headers: commonHeaders('integers.cuh'),
      defines: {
        SAMPLES: samples,
        PIXELS: pixels,
        PRODUCTS: polarisations === 2 ? 4 : 1,
        ROWS: REFINED_ROWS,
        COLUMNS: REFINED_COLUMNS,
      },
      entries: { refineSums: ['pointer', 'pointer', 'i32', 'i32', 'i32', 'pointer', 'pointer'] },
    },
    tiles: Math.ceil(pixels / REFINED_ROWS) * Math.ceil(pixels / REFINED_COLUMNS),
    sharedBytes: 4 * samples * (samples + REFINED_COLUMNS + 2 * REFINED_ROWS),
  } as const satisfies { request: KernelRequest; tiles: number; sharedBytes: number };
}

/** The size of folded grids of one channel: two slots of 4·box² bytes for each pair, or twice that. */
export const gridBytes = (
  box: number,
  steps: number,
  polarisations: 1 | 2,
  precision: FoldedPrecision,
): number => halvesOf[precision] * 4 * box * box * polarisations * Math.ceil(steps / 8) * 8;

/** Steps of a launch: all of them, or as many as leave room for channels that fill the card. */
export function stepsAtOnce(options: {
  readonly steps: number;
  readonly bytesPerStep: number;
  /** Channels that fill the card once. */
  readonly channels: number;
  readonly scratchBytes: number;
}): number {
  const { steps, bytesPerStep, channels, scratchBytes } = options;
  const fitting = Math.floor(scratchBytes / (channels * bytesPerStep * 8)) * 8;
  return roundUp(Math.max(1, Math.min(steps, Math.max(8, fitting))), 8);
}
