/**
 * How a correlation runs on a card: the kernel, the numbers it is compiled with, the launch. Pure, so that every plan
 * can be checked, and compiled, on a machine without a card.
 */
import type { CudaPath } from '../../backend/cuda/cuda.js';
import { structure } from '../../backend/cuda/arguments.js';
import type { ArgumentKind, KernelRequest, LaunchShape } from '../../backend/cuda/kernels.js';
import { kernelSource } from '../../backend/cuda/sources.js';
import { mapArgument, type FetchBytes } from '../../backend/cuda/tensor-map.js';
import { refuse } from '../../core/errors.js';
import type { CorrelatePlan } from '../plan.js';

/** Tuning parameters of the Hopper kernel, explained in correlate-hopper.cu. */
interface HopperVariant {
  readonly TILE: 64 | 128;
  readonly WARPGROUPS: 1 | 2;
  readonly STAGES: number;
  readonly SPANS: number;
  readonly LEAD: number;
  readonly CLUSTER: 1 | 2;
  readonly DIAGONAL_ONLY: 0 | 1;
  readonly BLOCKS_PER_SM: number;
}

/** The useful variants, the most inputs of each, and how many bytes the L2 cache fetches per access. */
export const hopperVariants = {
  /**
   * All inputs in one tile of 64, three blocks to a multiprocessor: memory-bound, so many loads in flight, each of 512
   * bytes of a row at once. Fetches of 256 bytes would only load data that is requested anyway, out of order (-3 %).
   */
  single64: {
    mostInputs: 64,
    fetchBytes: 64,
    TILE: 64,
    WARPGROUPS: 1,
    STAGES: 2,
    SPANS: 4,
    LEAD: 0,
    CLUSTER: 1,
    DIAGONAL_ONLY: 1,
    BLOCKS_PER_SM: 3,
  },
  /** All inputs in one tile of 128; longer stages mean fewer waits per byte. */
  single128: {
    mostInputs: 128,
    fetchBytes: 256,
    TILE: 128,
    WARPGROUPS: 2,
    STAGES: 6,
    SPANS: 2,
    LEAD: 2,
    CLUSTER: 1,
    DIAGONAL_ONLY: 1,
    BLOCKS_PER_SM: 1,
  },
  /** Any number of inputs, independent blocks. */
  tiles: {
    mostInputs: Infinity,
    fetchBytes: 256,
    TILE: 128,
    WARPGROUPS: 2,
    STAGES: 7,
    SPANS: 1,
    LEAD: 0,
    CLUSTER: 1,
    DIAGONAL_ONLY: 0,
    BLOCKS_PER_SM: 1,
  },
  /** Any number of inputs, blocks in pairs that share their loads: moving fewer bytes allows a higher clock. */
  pairs: {
    mostInputs: Infinity,
    fetchBytes: 256,
    TILE: 128,
    WARPGROUPS: 2,
    STAGES: 7,
    SPANS: 1,
    LEAD: 2,
    CLUSTER: 2,
    DIAGONAL_ONLY: 0,
    BLOCKS_PER_SM: 1,
  },
} as const satisfies Record<
  string,
  HopperVariant & { readonly mostInputs: number; readonly fetchBytes: FetchBytes }
>;
export type HopperVariantName = keyof typeof hopperVariants;

/** Fastest first for each size, as measured on an H200. */
export const chooseHopperVariant = (inputs: number): HopperVariantName =>
  inputs <= 64 ? 'single64' : inputs <= 128 ? 'single128' : 'pairs';

/** Shared memory per block: constants of the architecture, not queried from the card. */
const SPAN_BYTES = 128;
const SLOTS = 8;

interface XEngineLaunch {
  readonly request: KernelRequest;
  readonly entry: string;
  readonly threads: number;
  readonly sharedBytes: number;
  readonly cluster: number;
  /** Rows of the tensor map's boxes, and its fetch size, where the kernel uses one. */
  readonly boxRows?: number;
  readonly fetchBytes?: FetchBytes;
  /** Bytes of K in a step: 2 · samples are divided by it, rounding up. */
  readonly stepBytes: number;
  /** Blocks, or clusters of them, per channel. */
  readonly itemsPerChannel: number;
  /** Persistent blocks, which take items until none is left; undefined where each item has its own block. */
  readonly blocksPerMultiprocessor?: number;
}

const pointerArguments: readonly ArgumentKind[] = ['pointer', 'i64', 'i32', 'pointer'];
/** struct Work of correlate-hopper.cu: two counts and two pointers. */
export const HOPPER_WORK = { kSteps: 0, items: 4, sums: 8, counter: 16, bytes: 24 } as const;

const source = (name: string, ...headers: readonly string[]) =>
  kernelSource(import.meta.url, name, ...headers);
const triangle = (inputs: number, tile: number): number => {
  const blocks = Math.ceil(inputs / tile);
  return (blocks * (blocks + 1)) / 2;
};

export interface XEngineOptions {
  /** Whether a launch adds to the existing sums. */
  readonly mode: 'replace' | 'add';
  /** Hopper only: by default the variant for the size. */
  readonly variant?: HopperVariantName;
}

export function planXEngine(
  plan: Pick<CorrelatePlan, 'inputs' | 'polarisations'>,
  path: CudaPath,
  options: XEngineOptions,
): XEngineLaunch {
  const { inputs } = plan;
  const defines = { INPUTS: inputs, POLARISATIONS: plan.polarisations, ADD: options.mode === 'add' ? 1 : 0 };
  const make = {
    hopper: () => planHopper(inputs, defines, options.variant ?? chooseHopperVariant(inputs)),
    tensor: () => planTensor(inputs, defines),
    dp4a: () => planDp4a(inputs, defines),
  } satisfies Record<CudaPath, () => XEngineLaunch>;
  return make[path]();
}

function planHopper(inputs: number, defines: Record<string, number>, name: HopperVariantName): XEngineLaunch {
  const { mostInputs, fetchBytes, ...variant } = hopperVariants[name];
  if (inputs > mostInputs) {
    refuse(
      'correlate',
      `variant '${name}' takes at most ${mostInputs} inputs, not ${inputs}`,
      "choose 'pairs'",
    );
  }
  const { TILE, WARPGROUPS, STAGES, SPANS, CLUSTER, DIAGONAL_ONLY, BLOCKS_PER_SM } = variant;
  const stageBytes = (DIAGONAL_ONLY ? 1 : 2) * SPANS * TILE * SPAN_BYTES;
  const pairs = Math.ceil(Math.ceil(inputs / TILE) / 2);
  return {
    request: {
      ...source('correlate-hopper.cu', 'hopper.cuh', 'wgmma.cuh', 'products.cuh', 'shape.cuh'),
      defines: { ...defines, ...variant },
      entries: { correlateHopper: [mapArgument, mapArgument, structure('Work', HOPPER_WORK)] },
    },
    entry: 'correlateHopper',
    threads: WARPGROUPS * 128 + (WARPGROUPS > 1 ? 128 : 32),
    // The ring, with padding to align it, and its barriers, items and slots.
    sharedBytes: STAGES * stageBytes + 1024 + STAGES * 20 + SLOTS * 12,
    cluster: CLUSTER,
    boxRows: TILE,
    fetchBytes,
    stepBytes: SPANS * SPAN_BYTES,
    itemsPerChannel: CLUSTER === 2 ? pairs * pairs : triangle(inputs, TILE),
    blocksPerMultiprocessor: BLOCKS_PER_SM,
  };
}

/** 64 inputs or fewer fit one small tile; four stages hide the memory's latency on every card since Ampere. */
function planTensor(inputs: number, defines: Record<string, number>): XEngineLaunch {
  const tile = inputs <= 64 ? 64 : 128;
  const stages = 4;
  const stepBytes = 64;
  return {
    request: {
      ...source('correlate-tensor.cu', 'products.cuh', 'shape.cuh'),
      defines: { ...defines, TILE: tile, STAGES: stages },
      entries: { correlateTensor: pointerArguments },
    },
    entry: 'correlateTensor',
    threads: 32 * (tile / 64) * (tile / 32),
    sharedBytes: stages * 2 * tile * stepBytes,
    cluster: 1,
    stepBytes,
    itemsPerChannel: triangle(inputs, tile),
  };
}

function planDp4a(inputs: number, defines: Record<string, number>): XEngineLaunch {
  return {
    request: {
      ...source('correlate-dp4a.cu', 'products.cuh', 'shape.cuh'),
      defines,
      entries: { correlateDp4a: pointerArguments },
    },
    entry: 'correlateDp4a',
    threads: 256,
    sharedBytes: 0,
    cluster: 1,
    stepBytes: 64,
    itemsPerChannel: triangle(inputs, 64),
  };
}

/** Blocks along x: a whole grid, or as many as fit on the card. */
export function launchShape(launch: XEngineLaunch, channels: number, multiprocessors: number): LaunchShape {
  const items = channels * launch.itemsPerChannel;
  if (items * launch.cluster >= 2 ** 31) {
    refuse('correlate', `${items} tiles are more than one launch can count`, 'take fewer channels at a time');
  }
  const { threads, sharedBytes, cluster, blocksPerMultiprocessor } = launch;
  const workers =
    blocksPerMultiprocessor === undefined
      ? items
      : Math.min(items, Math.floor((multiprocessors * blocksPerMultiprocessor) / cluster));
  return { grid: [workers * cluster, 1], threads, sharedBytes, cluster };
}

export function planFloatEngine(plan: Pick<CorrelatePlan, 'inputs' | 'polarisations'>) {
  return {
    itemsPerChannel: triangle(plan.inputs, 64),
    request: {
      ...source('correlate-float.cu', 'shape.cuh'),
      defines: { INPUTS: plan.inputs, POLARISATIONS: plan.polarisations },
      entries: { correlateFloat: ['pointer', 'i64', 'i32', 'i32', 'pointer'] },
    },
  } as const satisfies { itemsPerChannel: number; request: KernelRequest };
}

export function planTotals(plan: Pick<CorrelatePlan, 'inputs' | 'polarisations'>) {
  return {
    ...source('correlate-total.cu', 'shape.cuh'),
    defines: { INPUTS: plan.inputs, POLARISATIONS: plan.polarisations },
    entries: {
      addToTotals: ['pointer', 'pointer', 'i64', 'i32'],
      addToLonger: ['pointer', 'pointer', 'i64', 'i32'],
      spreadCounts: ['pointer', 'pointer', 'pointer', 'i32'],
      zeroFlagged: ['pointer', 'pointer', 'i32'],
    },
  } as const satisfies KernelRequest;
}
