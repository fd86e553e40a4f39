/** The channelisers on tensor cores (channelise-tensor.cu, channelise-cluster.cu): when they can be had, with which numbers. */
import type { CudaPath } from '../backend/cuda/cuda.js';
import type { KernelRequest } from '../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../backend/cuda/sources.js';
import { shapeDefines } from './cuda-plan.js';
import { factorTable } from './cuda-tables.js';
import { entriesOf, MOST_TAPS, signOf } from './cuda-tensor-tables.js';
import type { ChannelisePlan } from './plan.js';

export interface TensorCard {
  readonly capability: number;
  readonly sharedBytesPerBlock: number;
  readonly path: CudaPath;
}

export interface TensorPlan {
  /** With no word of missing spectra, which costs registers, and with them. */
  readonly requests: Readonly<Record<'whole' | 'gaps', KernelRequest>>;
  readonly entry: 'channeliseTensor' | 'channeliseCluster';
  readonly threads: number;
  readonly sharedBytes: number;
  readonly blocksPerMultiprocessor: number;
  /** Blocks of a cluster, which share a spectrum. */
  readonly ranks: number;
  /** Spectra of a tile. */
  readonly tile: 16;
  /** What one copy carries away: spectra, inputs, k1, k2, where k = k1 + 32 k2. */
  readonly box: readonly [number, number, number, number];
  /** −1 where the taps are taken with the other sign, which their factors make good. */
  readonly sign: 1 | -1;
}

/** struct TensorWork of tensor.cuh. */
export const TENSOR_WORK = {
  voltages: 0,
  pitchBytes: 8,
  taps: 16,
  moreTaps: 24,
  entries: 32,
  twiddles: 40,
  lastTwiddles: 48,
  factors: 56,
  missing: 64,
  saturated: 72,
  inputs: 80,
  spectra: 84,
  factor: 88,
  factorStep: 92,
  bytes: 96,
} as const;
/** What cuTensorMapEncodeTiled fills. */
const MAP_BYTES = 128;

const TILE = 16;
const GROUPS = 16;
const FRAGMENT_BYTES = 16;
const COMPLEX_BYTES = 8;
/** A block's barriers. */
const BARRIER_BYTES = 64;
/** The driver keeps this much of every resident block's shared memory. */
const RESERVED_BYTES = 1024;

/** How 1024 or 4096 channels are shared out. */
interface Layout {
  readonly entry: TensorPlan['entry'];
  readonly source: string;
  readonly ranks: number;
  readonly warps: number;
  readonly blocksPerMultiprocessor: number;
  readonly box: TensorPlan['box'];
  /** Exchange, ring, twiddles, barriers: what a block needs beside factors and taps. */
  readonly fixedBytes: number;
  readonly factorBytes: number;
}

const ringBytes = (warps: number): number => 32 * warps * 128;
const turnBytes = (rows: number): number => rows * 18 * COMPLEX_BYTES;

const single: Layout = {
  entry: 'channeliseTensor',
  source: 'channelise-tensor.cu',
  ranks: 1,
  warps: 16,
  blocksPerMultiprocessor: 1,
  box: [TILE, 1, 2, 32],
  fixedBytes: 1024 * TILE * COMPLEX_BYTES + ringBytes(16) + turnBytes(32) + BARRIER_BYTES,
  factorBytes: 32 * 36 * 4,
};

function clusterOf(ranks: 4 | 8): Layout {
  const warps = 64 / ranks;
  const rows = 32 / ranks;
  const lastBytes = rows * 4 * 34 * COMPLEX_BYTES;
  return {
    entry: 'channeliseCluster',
    source: 'channelise-cluster.cu',
    ranks,
    warps,
    blocksPerMultiprocessor: 16 / warps,
    box: [TILE, 1, 1, 128],
    fixedBytes:
      rows * 128 * TILE * COMPLEX_BYTES + ringBytes(warps) + turnBytes(rows) + lastBytes + BARRIER_BYTES,
    factorBytes: rows * 4 * 36 * 4,
  };
}

const layoutOf = (channels: number): Layout | undefined =>
  channels === 1024 ? single : channels === 4096 ? clusterOf(4) : undefined;

/** Nothing where the plan or the card asks for the general kernels. */
export function planTensor(plan: ChannelisePlan, card: TensorCard): TensorPlan | undefined {
  const layout = layoutOf(plan.channels);
  const sign = signOf(plan);
  if (layout === undefined || sign === undefined || plan.inputType !== 'ci8') return undefined;
  if (plan.outputType === 'cf32' || plan.taps > MOST_TAPS) return undefined;
  if (card.capability < 90 || card.path === 'dp4a') return undefined;
  const { entry, ranks, warps, blocksPerMultiprocessor, box } = layout;
  const windows = plan.taps + 3 <= 16 ? 1 : 2;
  // One gain for all saves memory and loads. With one window a table is still faster: given one number, the compiler
  // keeps every rounded value for the rare clamping, and stores late.
  const oneFactor = typeof plan.gains === 'number' && (windows === 2 || ranks > 1);
  const fixedBytes = layout.fixedBytes + (oneFactor ? 0 : layout.factorBytes);
  const share = (card.sharedBytesPerBlock + RESERVED_BYTES) / blocksPerMultiprocessor - RESERVED_BYTES;
  const room = Math.floor(share) - fixedBytes;
  if (room < 0) return undefined;
  const [first, second] = [0, 1].map((window) => entriesOf(plan.taps, window).count);
  // Of the short second window as many groups as fit; then of the first.
  const groupBytes = (entries: number): number => warps * entries * FRAGMENT_BYTES;
  const fitting = (bytes: number, entries: number): number =>
    Math.min(GROUPS, Math.floor(bytes / groupBytes(entries)));
  const keptMore = windows === 2 ? fitting(room, second) : 0;
  const kept = fitting(room - keptMore * groupBytes(second), first);
  const defines = {
    ...shapeDefines(plan, true),
    ONE_FACTOR: oneFactor ? 1 : 0,
    CLAMP: largestOutput(plan) < 2 ** 15 ? 0 : 1,
    WARPS: warps,
    WINDOWS: windows,
    ENTRIES: first,
    ENTRIES_2: second,
    KEPT: kept,
    KEPT_2: keptMore,
    ...(ranks > 1 ? { RANKS: ranks } : {}),
  };
  const request = (gaps: 0 | 1): KernelRequest => ({
    name: layout.source,
    source: readSource(import.meta.url, layout.source),
    headers: {
      ...commonHeaders('integers.cuh', 'hopper.cuh'),
      ...Object.fromEntries(
        ['shape.cuh', 'butterflies.cuh', 'tensor.cuh'].map((name) => [
          name,
          readSource(import.meta.url, name),
        ]),
      ),
    },
    defines: { ...defines, GAPS: gaps },
    entries: {
      [entry]: [
        { bytes: MAP_BYTES, align: MAP_BYTES },
        { bytes: TENSOR_WORK.bytes, align: 8 },
      ],
    },
  });
  return {
    requests: { whole: request(0), gaps: request(1) },
    entry,
    threads: 32 * warps,
    sharedBytes: fixedBytes + kept * groupBytes(first) + keptMore * groupBytes(second),
    blocksPerMultiprocessor,
    ranks,
    tile: TILE,
    box,
    sign,
  };
}

/** No output is larger before it is clamped, whatever comes in: every sample at −128 − 128i, each turned the worst way. */
function largestOutput(plan: ChannelisePlan): number {
  let taps = 0;
  for (const tap of plan.kernel.taps) taps += Math.abs(tap);
  let factor = 0;
  for (const one of factorTable(plan)) factor = Math.max(factor, Math.abs(one));
  return Math.SQRT2 * 128 * taps * factor;
}
