/**
 * How a direct image is made on a card: which box of cells, which kernels compiled with which numbers, and how many
 * channels at a time. Pure, so that every plan can be checked, and compiled, on a machine without a card.
 */
import type { CudaPath } from '../backend/cuda/cuda.js';
import type { KernelRequest } from '../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../backend/cuda/sources.js';
import type { SpectraType } from '../core/axes.js';
import { tasksOf, type GridBox } from './cuda-tables.js';
import type { ImagePlan } from './plan.js';
import { halfWgmmaHeader } from './wgmma-half.js';

/** `half`: fp16 operands with fp32 sums on the tensor cores, to 1e-3; `single`: fp32, to 1e-5. */
export type DirectPrecision = 'half' | 'single';

type Shape = Pick<ImagePlan, 'pixels' | 'stations' | 'polarisations' | 'kernelSize'>;

/** Rows and columns that any antenna touches in any channel, end exclusive. */
export interface Touched {
  readonly firstRow: number;
  readonly endRow: number;
  readonly firstColumn: number;
  readonly endColumn: number;
}

export function touchedCells({ corners, kernelSize }: Pick<ImagePlan, 'corners' | 'kernelSize'>): Touched {
  let [firstRow, endRow, firstColumn, endColumn] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let at = 0; at < corners.length; at += 2) {
    firstRow = Math.min(firstRow, corners[at]);
    endRow = Math.max(endRow, corners[at] + kernelSize);
    firstColumn = Math.min(firstColumn, corners[at + 1]);
    endColumn = Math.max(endColumn, corners[at + 1] + kernelSize);
  }
  return { firstRow, endRow, firstColumn, endColumn };
}

/** Boxes the half-precision kernels are made for. */
export const HALF_BOXES = [32, 48, 64] as const;
export type HalfBox = (typeof HALF_BOXES)[number];
/** Stations whose fields fit in a block's shared memory beside the staging, on any card since Ampere. */
const MOST_HALF_STATIONS = 1024;

export type DirectChoice =
  | { readonly kind: 'half'; readonly box: GridBox }
  /** Why half precision will not do. */
  | { readonly kind: 'single'; readonly why: string };

/** Half precision where the card, the image and the aperture allow it. */
export function chooseDirect(
  plan: Pick<ImagePlan, 'pixels' | 'stations' | 'corners' | 'kernelSize'>,
  path: CudaPath,
  type: SpectraType,
): DirectChoice {
  const { firstRow, endRow, firstColumn, endColumn } = touchedCells(plan);
  const cells = Math.max(endRow - firstRow, endColumn - firstColumn);
  const size = HALF_BOXES.find((box) => box >= cells);
  const single = (why: string): DirectChoice => ({ kind: 'single', why });
  if (path !== 'hopper') return single("its kernels need Hopper's tensor cores");
  if (type === 'cf32') return single('float samples know no full scale');
  if (plan.pixels % 64 !== 0 || plan.pixels > 512)
    return single(`${plan.pixels} pixels are not 64, 128 … 512`);
  if (plan.stations > MOST_HALF_STATIONS) return single(`${plan.stations} stations are more than 1024`);
  if (size === undefined) return single(`the aperture covers ${cells} cells, more than 64`);
  // The middle of the box as near as may be to the middle of what is touched.
  const box = {
    firstRow: Math.floor((firstRow + endRow - size) / 2),
    firstColumn: Math.floor((firstColumn + endColumn - size) / 2),
    size,
  };
  return { kind: 'half', box };
}

const source = (name: string): { readonly name: string; readonly source: string } => ({
  name,
  source: readSource(import.meta.url, name),
});
const inputDefines = ({ stations, polarisations }: Pick<Shape, 'stations' | 'polarisations'>) => ({
  STATIONS: stations,
  POLARISATIONS: polarisations,
});

export const planFactors = (plan: Pick<Shape, 'stations' | 'polarisations'>) =>
  ({
    ...source('direct-factors.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: inputDefines(plan),
    entries: {
      scaleFactors: ['pointer', 'pointer', 'pointer', 'pointer'],
      invertGains: ['pointer', 'pointer', 'i64', 'pointer'],
    },
  }) as const satisfies KernelRequest;

export const planFinish = () =>
  ({
    ...source('direct-finish.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: {},
    entries: {
      pairSums: ['pointer', 'pointer', 'i64', 'i32', 'i32', 'pointer'],
      scaleSums: ['pointer', 'pointer', 'pointer', 'i32', 'i32', 'pointer'],
    },
  }) as const satisfies KernelRequest;

export interface SingleOptions {
  readonly rows: number;
  readonly columns: number;
  readonly samples: 'integer' | 'float';
}

export const planSingle = (plan: Shape, { rows, columns, samples }: SingleOptions) =>
  ({
    ...source('direct-float.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: {
      ...inputDefines(plan),
      PIXELS: plan.pixels,
      KERNEL: plan.kernelSize,
      ROWS: rows,
      COLUMNS: columns,
      FLOAT_SAMPLES: samples === 'float' ? 1 : 0,
    },
    entries: {
      spreadFloat: ['pointer', 'i64', 'i32', 'i32', 'i32', 'pointer', 'pointer', 'pointer', 'pointer'],
      rowsFloat: ['pointer', 'pointer', 'pointer'],
      columnsFloat: ['pointer', 'pointer', 'i32', 'pointer'],
    },
  }) as const satisfies KernelRequest;

export interface GridTuning {
  /** Tasks of a block, one to a warp. */
  readonly WARPS: number;
  /** Blocks on a multiprocessor at once. */
  readonly BLOCKS: 1 | 2;
  /** Groups of 16 stations whose weights a warp keeps in registers. */
  readonly HELD: 1 | 2;
  /** Buffers of unpacked samples: with two, the next are unpacked while these are gridded. */
  readonly BUFFERS: 1 | 2;
}

/** As measured on an H200. */
const gridTuning = {
  32: { WARPS: 16, BLOCKS: 1, HELD: 2 },
  48: { WARPS: 12, BLOCKS: 1, HELD: 1 },
  64: { WARPS: 16, BLOCKS: 1, HELD: 1 },
} satisfies Record<HalfBox, Omit<GridTuning, 'BUFFERS'>>;
/** What a block gets on Hopper, and less than on what comes after it. */
const MOST_SHARED_BYTES = 227 * 1024;

type Inputs = Pick<Shape, 'stations' | 'polarisations'>;

function gridSharedBytes({ stations, polarisations }: Inputs, buffers: number): number {
  const sampleBytes = stations * polarisations * (16 + 8);
  return sampleBytes + buffers * stations * (polarisations * 32 + 16);
}

export function planGridHalf(plan: Inputs, box: HalfBox, wanted?: GridTuning) {
  const tuning: GridTuning = wanted ?? {
    ...gridTuning[box],
    BUFFERS: gridSharedBytes(plan, 2) <= MOST_SHARED_BYTES ? 2 : 1,
  };
  return {
    request: {
      ...source('direct-grid.cu'),
      headers: commonHeaders('integers.cuh'),
      defines: { ...inputDefines(plan), BOX: box, ...tuning },
      entries: {
        gridHalf: ['pointer', 'i64', 'i32', 'i32', 'i32', 'pointer', 'pointer', 'pointer', 'pointer'],
      },
    },
    threads: 32 * tuning.WARPS,
    /** Blocks that share a channel's steps, each with its rows. */
    blocksPerSpan: tasksOf(box) / tuning.WARPS,
    sharedBytes: gridSharedBytes(plan, tuning.BUFFERS),
  } as const satisfies {
    request: KernelRequest;
    threads: number;
    blocksPerSpan: number;
    sharedBytes: number;
  };
}

export interface HopperTuning {
  /** Bulk copies of grids in flight, of UNROLL steps each. With more than two, registers get scarce and operands clash. */
  readonly STAGES: number;
  readonly UNROLL: 2 | 4 | 8;
  /** 1: a step's last products are summed during the next. */
  readonly ACROSS: 0 | 1;
  /** 1: stage 1 takes its factors from shared memory. */
  readonly ROWS_SHARED: 0 | 1;
}

/** As measured on an H200. */
const hopperTuning = {
  32: { STAGES: 2, UNROLL: 8, ACROSS: 1, ROWS_SHARED: 1 },
  48: { STAGES: 2, UNROLL: 4, ACROSS: 0, ROWS_SHARED: 1 },
  64: { STAGES: 2, UNROLL: 2, ACROSS: 0, ROWS_SHARED: 1 },
} satisfies Record<HalfBox, HopperTuning>;

export function planImageHopper(
  plan: Pick<Shape, 'pixels' | 'polarisations'>,
  box: HalfBox,
  tuning: HopperTuning = hopperTuning[box],
) {
  const { STAGES, UNROLL } = tuning;
  const uBytes = 64 * 4 * box * 2;
  return {
    request: {
      ...source('direct-hopper.cu'),
      headers: {
        ...commonHeaders('integers.cuh', 'hopper.cuh'),
        'wgmma-half.cuh': halfWgmmaHeader({ halfSums: [2 * box], floatSums: [64] }),
      },
      defines: { PIXELS: plan.pixels, POLARISATIONS: plan.polarisations, BOX: box, ...tuning },
      entries: {
        imageHopper: ['pointer', 'i32', 'i32', 'i32', 'i32', 'pointer', 'pointer', 'pointer', 'pointer'],
      },
    },
    sharedBytes: 2 * uBytes + 128 * box + STAGES * UNROLL * 8 * box * box + 8 * STAGES,
    tiles: Math.ceil(plan.pixels / 64) * Math.ceil(plan.pixels / 128),
  } as const satisfies { request: KernelRequest; sharedBytes: number; tiles: number };
}

/** struct Source of visibilities.cu. */
const visibilitySource = { bytes: 48, align: 8 } as const;
export const planVisibilities = (plan: Shape) =>
  ({
    ...source('visibilities.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: { ...inputDefines(plan), PIXELS: plan.pixels, KERNEL: plan.kernelSize },
    entries: {
      addDensities: [visibilitySource, 'i32', 'pointer'],
      makePairKernels: ['pointer', 'pointer', 'i64', 'pointer'],
      weighPairs: [visibilitySource, 'i32', 'pointer', 'pointer', 'i32', 'pointer', 'pointer'],
      gridPairs: ['pointer', 'i32', 'pointer', 'pointer', 'pointer', 'pointer', 'pointer'],
      transformRows: ['pointer', 'pointer', 'pointer'],
      transformColumns: ['pointer', 'pointer', 'pointer'],
      collectSums: ['pointer', 'i32', 'pointer'],
    },
  }) as const satisfies KernelRequest;

/** What half-precision grids of one channel take: two slots of 4·box² bytes for each pair. */
export const gridBytes = (box: number, steps: number, polarisations: 1 | 2): number =>
  4 * box * box * polarisations * Math.ceil(steps / 8) * 8;

/**
 * Channels that are worked on together: as many as the scratch memory holds, and where that leaves a choice, so many
 * that their blocks come in whole waves over the card.
 */
export function channelsAtOnce(options: {
  readonly channels: number;
  readonly bytesPerChannel: number;
  readonly scratchBytes: number;
  readonly blocksPerChannel: number;
  readonly multiprocessors: number;
}): number {
  const { channels, bytesPerChannel, scratchBytes, blocksPerChannel, multiprocessors } = options;
  const fitting = Math.max(1, Math.min(channels, Math.floor(scratchBytes / bytesPerChannel)));
  if (fitting === channels) return channels;
  const wave = Math.ceil(multiprocessors / blocksPerChannel);
  return fitting >= wave ? Math.floor(fitting / wave) * wave : fitting;
}
