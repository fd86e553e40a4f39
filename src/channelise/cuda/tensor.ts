/** The channeliser on tensor cores (channelise-tensor.cu): when it can be used, and the numbers it is compiled with. */
import { structure } from '../../backend/cuda/arguments.js';
import { POWER_CELLS } from '../../backend/cuda/power-cells.js';
import { kernelSource } from '../../backend/cuda/sources.js';
import { mapArgument } from '../../backend/cuda/tensor-map.js';
import { shapeDefines, type OnePassPlan } from './plan.js';
import type { Card } from './shapes.js';
import { largestOutput } from './tables.js';
import { entriesOf, MOST_TAPS, rotatedTaps, ROTATIONS, signOf, tensorTables } from './tensor-tables.js';
import type { ChannelisePlan } from '../plan.js';

interface TensorPlan extends OnePassPlan {
  /** −1 where the taps are negated, which their factors correct. */
  readonly sign: 1 | -1;
}

/** struct TensorWork of tensor.cuh. */
const TENSOR_WORK = {
  voltages: 0,
  pitchBytes: 8,
  taps: 16,
  moreTaps: 24,
  entries: 32,
  twiddles: 40,
  factors: 48,
  missing: 56,
  saturated: 64,
  inputs: 72,
  spectra: 76,
  factor: 80,
  factorStep: 84,
  delays: 88,
  powers: 96,
  bytes: 96 + POWER_CELLS.bytes,
} as const;

const CHANNELS = 1024;
const TILE = 16;
const WARPS = 16;
const GROUPS = 16;
const FRAGMENT_BYTES = 16;
const COMPLEX_BYTES = 8;
/** Exchange, ring, twiddles and barriers: the memory of a block besides factors and taps. */
const FIXED_BYTES = CHANNELS * TILE * COMPLEX_BYTES + 32 * WARPS * 128 + 32 * 18 * COMPLEX_BYTES + 64;
const FACTOR_BYTES = 32 * 36 * 4;

/** Undefined where the plan or the card needs the general kernels. */
export function planTensor(plan: ChannelisePlan, card: Card): TensorPlan | undefined {
  const sign = signOf(plan);
  if (plan.channels !== CHANNELS || sign === undefined || plan.inputType !== 'ci8') return undefined;
  const taps = rotatedTaps(plan);
  if (plan.outputType === 'cf32' || taps > MOST_TAPS) return undefined;
  if (card.capability < 90 || card.path === 'dp4a') return undefined;
  const windows = taps + 3 <= 16 ? 1 : 2;
  // One gain for all saves memory and loads.
  const oneFactor = typeof plan.gains === 'number';
  const fixedBytes = FIXED_BYTES + (oneFactor ? 0 : FACTOR_BYTES);
  const room = card.sharedBytesPerBlock - fixedBytes;
  if (room < 0) return undefined;
  const [first, second] = [0, 1].map((window) => entriesOf(taps, window).count);
  // As many groups of the short second window as fit; then of the first.
  const groupBytes = (entries: number): number => WARPS * entries * FRAGMENT_BYTES;
  const fitting = (bytes: number, entries: number): number =>
    Math.min(GROUPS, Math.floor(bytes / groupBytes(entries)));
  const keptMore = windows === 2 ? fitting(room, second) : 0;
  const kept = fitting(room - keptMore * groupBytes(second), first);
  const defines = {
    ...shapeDefines(plan, true),
    TAPS: taps,
    OPENS_AT: ROTATIONS * 2,
    CLAMP: largestOutput(plan) < 2 ** 15 ? 0 : 1,
    WARPS,
    WINDOWS: windows,
    ENTRIES: first,
    ENTRIES_2: second,
    KEPT: kept,
    KEPT_2: keptMore,
  };
  return {
    description: 'tensor cores, one pass',
    request: ({ gaps, powers }) => ({
      ...kernelSource(
        import.meta.url,
        'channelise-tensor.cu',
        ...['hopper.cuh', 'powers.cuh', 'shared.cuh'],
        ...['shape.cuh', 'delays.cuh', 'butterflies.cuh', 'rounding.cuh', 'tensor.cuh'],
      ),
      defines: { ...defines, GAPS: gaps ? 1 : 0, POWERS: powers ? 1 : 0 },
      entries: { channeliseTensor: [mapArgument, structure('TensorWork', TENSOR_WORK)] },
    }),
    gapsApart: true,
    entry: 'channeliseTensor',
    work: TENSOR_WORK,
    constants: { factorStep: oneFactor ? 0 : 1 },
    tables: () => ({ ...tensorTables(plan, sign) }),
    threads: 32 * WARPS,
    sharedBytes: fixedBytes + kept * groupBytes(first) + keptMore * groupBytes(second),
    unit: TILE,
    low: 32,
    box: [TILE, 1, 2, 32],
    scratchBytesPerBlock: 0,
    sign,
  };
}
