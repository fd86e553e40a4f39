/** The channeliser on tensor cores (channelise-tensor.cu): when it can be had, with which numbers, and its tables. */
import type { CudaPath } from '../backend/cuda/cuda.js';
import type { KernelRequest } from '../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../backend/cuda/sources.js';
import { shapeDefines } from './cuda-plan.js';
import { factorTable } from './cuda-tables.js';
import { outputRail, type ChannelisePlan } from './plan.js';

export interface TensorCard {
  readonly capability: number;
  readonly sharedBytesPerBlock: number;
  readonly path: CudaPath;
}

export interface TensorPlan {
  readonly request: KernelRequest;
  readonly entry: 'channeliseTensor';
  readonly threads: 512;
  readonly sharedBytes: number;
  /** Blocks of a cluster: each takes 1024 channels. */
  readonly ranks: 1 | 4;
  /** Spectra of a tile. */
  readonly tile: 16;
  /** −1 where the taps are taken with the other sign, which their factors make good. */
  readonly sign: 1 | -1;
}

/** struct TensorWork of channelise-tensor.cu. */
export const TENSOR_WORK = {
  voltages: 0,
  pitchBytes: 8,
  taps: 16,
  moreTaps: 24,
  entries: 32,
  twiddles: 40,
  lastTwiddles: 48,
  factors: 56,
  limits: 64,
  missing: 72,
  out: 80,
  outPitchBytes: 88,
  saturated: 96,
  factorStep: 104,
  inputs: 108,
  spectra: 112,
  bytes: 120,
} as const;

/**
 * The window of four neighbouring spectra, T + 3 times, goes into one product of 16 times or two. The ring holds 32: the
 * last four spectra of a tile start at 12 and reach time 19 after that, and no further.
 */
const MOST_TAPS = 17;
/** 127 · 256 + 127: the most that two signed bytes hold; downwards they reach −32896. */
const MOST_TAP = 32_639;
const LANES = 32;
const WARPS = 16;
const GROUPS = 16;
const FRAGMENT_BYTES = 16;
/** The exchange, the ring, twiddles and factors, and a barrier: what a block needs beside its taps. */
const FIXED_BYTES = {
  1: 131_072 + 65_536 + 32 * 18 * 8 + 32 * 36 * 4 + 64,
  4: 131_072 + 65_536 + 8 * 18 * 8 + 32 * 36 * 4 + 32 * 34 * 8 + 64,
} as const;

const ranksOf = (channels: number): 1 | 4 | undefined =>
  channels === 1024 ? 1 : channels === 4096 ? 4 : undefined;

/** Nothing where the plan or the card asks for the general kernels. */
export function planTensor(
  plan: ChannelisePlan,
  card: TensorCard,
  batch: 1 | 2 | 4 = plan.taps + 3 <= 16 ? 4 : 2,
): TensorPlan | undefined {
  const ranks = ranksOf(plan.channels);
  const sign = signOf(plan);
  if (ranks === undefined || sign === undefined || plan.inputType !== 'ci8') return undefined;
  if (plan.outputType === 'cf32' || plan.taps > MOST_TAPS) return undefined;
  if (card.capability < 90 || card.path === 'dp4a') return undefined;
  const [first, second] = entryCounts(plan.taps);
  const room = card.sharedBytesPerBlock - FIXED_BYTES[ranks];
  const groupBytes = WARPS * first * FRAGMENT_BYTES;
  const kept = Math.min(GROUPS, Math.floor(room / groupBytes));
  if (room < 0) return undefined;
  return {
    request: {
      name: 'channelise-tensor.cu',
      source: readSource(import.meta.url, 'channelise-tensor.cu'),
      headers: {
        ...commonHeaders('integers.cuh'),
        'shape.cuh': readSource(import.meta.url, 'shape.cuh'),
        'butterflies.cuh': readSource(import.meta.url, 'butterflies.cuh'),
      },
      defines: {
        ...shapeDefines(plan, true),
        RANKS: ranks,
        WINDOWS: plan.taps + 3 <= 16 ? 1 : 2,
        ENTRIES: first,
        ENTRIES_2: second,
        KEPT: kept,
        BATCH: batch,
      },
      entries: { channeliseTensor: [{ bytes: TENSOR_WORK.bytes, align: 8 }] },
    },
    entry: 'channeliseTensor',
    threads: 512,
    sharedBytes: FIXED_BYTES[ranks] + kept * groupBytes,
    ranks,
    tile: 16,
    sign,
  };
}

/** A filter's peak is 32767, one sign of which two bytes can hold. */
function signOf({ kernel }: ChannelisePlan): 1 | -1 | undefined {
  if (kernel.kind !== 'int16') return undefined;
  let [least, most] = [0, 0];
  for (const tap of kernel.taps) {
    least = Math.min(least, tap);
    most = Math.max(most, tap);
  }
  return most <= MOST_TAP ? 1 : -least <= MOST_TAP ? -1 : undefined;
}

/** Times, within a window of 16, whose taps lane (group g, q) holds: byte b of its fragment. */
const timeOf = (lane: number, byte: number): number => {
  const pair = 2 * (lane % 4) + Math.floor(byte / 2);
  return 2 * (pair < 4 ? 2 * pair : 2 * (pair - 4) + 1) + (byte % 2);
};
/** The tap that lane and byte hold: the window's time less the lane's spectrum, 0…3. */
const tapOf = (lane: number, byte: number, window: number): number =>
  16 * window + timeOf(lane, byte) - (Math.floor(lane / 4) % 4);

/** Lanes whose taps are all beyond the filter share one fragment of zeros. */
function entriesOf(taps: number, window: number): { readonly entries: Uint8Array; readonly count: number } {
  const isUsed = (lane: number): boolean =>
    [0, 1, 2, 3].some((byte) => {
      const tap = tapOf(lane, byte, window);
      return tap >= 0 && tap < taps;
    });
  const used = Array.from({ length: LANES }, (_, lane) => lane).filter(isUsed);
  const entries = Uint8Array.from({ length: LANES }, (_, lane) =>
    isUsed(lane) ? used.indexOf(lane) : used.length,
  );
  return { entries, count: used.length < LANES ? used.length + 1 : LANES };
}
const entryCounts = (taps: number): readonly [number, number] => [
  entriesOf(taps, 0).count,
  entriesOf(taps, 1).count,
];

export interface TensorTables {
  /** Fragments: [rank][warp][group][entry]{high, low of n1 = group, high, low of n1 = group + 16}. */
  readonly taps: Uint32Array;
  readonly moreTaps: Uint32Array;
  /** entries : [window][lane]. */
  readonly entries: Uint8Array;
  readonly twiddles: Float32Array;
  readonly lastTwiddles: Float32Array;
  readonly factors: Float32Array;
  /** Below this magnitude before the factor, nothing of an input saturates. */
  readonly limits: Float32Array;
}

export function tensorTables(plan: ChannelisePlan, { ranks, sign }: TensorPlan): TensorTables {
  const first = entriesOf(plan.taps, 0);
  const second = entriesOf(plan.taps, 1);
  const factors = factorTable(plan).map((factor) => sign * factor);
  return {
    taps: fragments(plan, ranks, sign, 0, first),
    moreTaps: fragments(plan, ranks, sign, 1, second),
    entries: Uint8Array.from([...first.entries, ...second.entries]),
    twiddles: turnedTwiddles(),
    lastTwiddles: lastTwiddles(),
    factors,
    limits: limitsOf(plan, factors),
  };
}

function fragments(
  plan: ChannelisePlan,
  ranks: number,
  sign: number,
  window: number,
  { entries, count }: { readonly entries: Uint8Array; readonly count: number },
): Uint32Array {
  const { channels, taps, kernel } = plan;
  const table = new Uint32Array(ranks * WARPS * GROUPS * count * 4);
  for (let rank = 0; rank < ranks; rank++) {
    for (let warp = 0; warp < WARPS; warp++) {
      for (let n1 = 0; n1 < 32; n1++) {
        const group = (rank * WARPS + warp) * GROUPS + (n1 % GROUPS);
        for (let lane = 0; lane < LANES; lane++) {
          const channel = 32 * rank + 2 * warp + Math.floor(lane / 16) + 32 * ranks * n1;
          const to = (group * count + entries[lane]) * 4 + 2 * Math.floor(n1 / GROUPS);
          for (let byte = 0; byte < 4; byte++) {
            const tap = tapOf(lane, byte, window);
            if (tap < 0 || tap >= taps) continue;
            const value = sign * kernel.taps[tap * channels + channel];
            const low = ((value + 128) & 255) - 128;
            table[to] |= (((value - low) / 256) & 255) << (8 * byte);
            table[to + 1] |= (low & 255) << (8 * byte);
          }
        }
      }
    }
  }
  return table;
}

const put = (table: Float32Array, at: number, turns: number): void => {
  table[2 * at] = Math.cos(-2 * Math.PI * turns);
  table[2 * at + 1] = Math.sin(-2 * Math.PI * turns);
};

/** For each k1 the sixteen twiddles of butterflies.cuh, ω = e^(−2πi k1/1024). */
function turnedTwiddles(): Float32Array {
  const table = new Float32Array(2 * 32 * 16);
  for (let k1 = 0; k1 < 32; k1++) {
    const omega = k1 / 1024;
    for (let k = 0; k < 8; k++) put(table, 16 * k1 + k, omega + k / 32);
    for (let k = 0; k < 4; k++) put(table, 16 * k1 + 8 + k, 2 * omega + k / 16);
    for (let k = 0; k < 2; k++) put(table, 16 * k1 + 12 + k, 4 * omega + k / 8);
    put(table, 16 * k1 + 14, 8 * omega);
    put(table, 16 * k1 + 15, 16 * omega);
  }
  return table;
}

function lastTwiddles(): Float32Array {
  const table = new Float32Array(2 * 32 * 4 * 32);
  for (let k1 = 0; k1 < 32; k1++) {
    for (let u = 0; u < 4; u++) {
      for (let q = 0; q < 32; q++) put(table, (k1 * 4 + u) * 32 + q, (u * (k1 + 32 * q)) / 4096);
    }
  }
  return table;
}

function limitsOf(plan: ChannelisePlan, factors: Float32Array): Float32Array {
  const step = factors.length > 1 ? plan.channels : 1;
  const edge = (outputRail[plan.outputType] + 0.5) * (1 - 1e-6);
  return Float32Array.from({ length: factors.length / step }, (_, a) => {
    let largest = 0;
    for (const factor of factors.subarray(a * step, (a + 1) * step))
      largest = Math.max(largest, Math.abs(factor));
    return edge / largest;
  });
}
