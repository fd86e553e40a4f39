/**
 * How a channeliser runs on a card: in how many passes, compiled with which numbers, launched how. Pure, so that every
 * plan can be checked, and compiled, on a machine without a card.
 */
import type { ArgumentKind, KernelRequest } from '../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../backend/cuda/sources.js';
import { isComplexVoltage, voltageSizeBytes, type VoltageType } from '../core/axes.js';
import { factorise, splitPoints } from './cuda-factors.js';
import { outputRail, type ChannelisePlan } from './plan.js';

/** What a plan must know of the card. */
export interface CardLimits {
  readonly sharedBytesPerBlock: number;
}

export interface ChannelisePass {
  readonly request: KernelRequest;
  readonly entry: string;
  readonly threads: number;
  readonly sharedBytes: number;
  /** Blocks' worth of work for each tile of an input. */
  readonly groups: number;
  /** How many points this pass transforms; its twiddles are e^(−2πi n/points). */
  readonly points: number;
}

/** One or two passes of the general kernels. */
export interface FusedPlan {
  readonly passes: readonly ChannelisePass[];
  /** Whether a real sample's neighbour is taken as its imaginary part, and parted again at the end. */
  readonly folded: boolean;
  /** Columns of a spectrum: the points of all passes together. */
  readonly columns: number;
  /** Spectra of a tile. */
  readonly tile: number;
  /** Between passes, for each tile of an input; 0 with one pass. */
  readonly scratchBytes: number;
}

/** struct Work of finish.cuh. */
export const WORK = {
  voltages: 0,
  pitchBytes: 8,
  taps: 16,
  twiddles: 24,
  longTwiddles: 32,
  scratch: 40,
  factors: 48,
  missing: 56,
  out: 64,
  outPitchBytes: 72,
  saturated: 80,
  factorStep: 88,
  inputs: 92,
  spectra: 96,
  firstItem: 100,
  items: 104,
  bytes: 112,
} as const;
const workArgument: readonly ArgumentKind[] = [{ bytes: WORK.bytes, align: 8 }];

/** Complex numbers a block keeps in shared memory: 32 for each of 512 threads is what its registers can turn over. */
const MOST_ELEMENTS = 16_384;
const COMPLEX_BYTES = 8;
/** In two passes; rows of eight 8-bit spectra are 16 bytes, one vector. */
const TILE_OF_TWO_PASSES = 8;
const RADICES = 7;

const sampleBytes = (type: VoltageType): number => voltageSizeBytes(type) / (isComplexVoltage(type) ? 2 : 1);

export function shapeDefines(plan: ChannelisePlan, folded: boolean): Record<string, number> {
  const rail = outputRail[plan.outputType];
  return {
    CHANNELS: plan.channels,
    TAPS: plan.taps,
    REAL: plan.sampling === 'real' ? 1 : 0,
    FOLDED: folded ? 1 : 0,
    SAMPLE_BYTES: sampleBytes(plan.inputType),
    OUTPUT_FLOAT: Number.isFinite(rail) ? 0 : 1,
    RAIL: Number.isFinite(rail) ? rail : 0,
  };
}

const headers = (...names: string[]): Record<string, string> => ({
  ...commonHeaders('integers.cuh'),
  ...Object.fromEntries(names.map((name) => [name, readSource(import.meta.url, name)])),
});
const powerOfTwoUpTo = (value: number): number => 2 ** Math.floor(Math.log2(Math.max(1, value)));
const threadsFor = (elements: number): number =>
  Math.min(512, Math.max(64, Math.ceil(elements / 16 / 32) * 32));

function fusedPass(
  plan: ChannelisePlan,
  folded: boolean,
  pass: { which: 0 | 1 | 2; points: number; other: number; tile: number; group: number },
): ChannelisePass {
  const { which, points, other, tile, group } = pass;
  const radices = factorise(points)?.radices ?? [];
  const elements = points * tile * group;
  const threads = threadsFor(elements);
  return {
    request: {
      name: 'channelise-fused.cu',
      source: readSource(import.meta.url, 'channelise-fused.cu'),
      headers: headers('shape.cuh', 'filter.cuh', 'finish.cuh', 'transform.cuh'),
      defines: {
        ...shapeDefines(plan, folded),
        ...{ PASS: which, N: points, OTHER: other, TILE: tile, GROUP: group, THREADS: threads },
        ...Object.fromEntries(Array.from({ length: RADICES }, (_, n) => [`R${n}`, radices[n] ?? 1])),
      },
      entries: { channelise: workArgument },
    },
    entry: 'channelise',
    threads,
    sharedBytes: elements * COMPLEX_BYTES,
    groups: which === 0 ? 1 : Math.ceil(other / group),
    points,
  };
}

function plainPass(plan: ChannelisePlan, points: number, other: number, tile: number): ChannelisePass {
  const threads = 256;
  return {
    request: {
      name: 'channelise-plain.cu',
      source: readSource(import.meta.url, 'channelise-plain.cu'),
      headers: headers('shape.cuh', 'finish.cuh'),
      defines: { ...shapeDefines(plan, false), N: points, OTHER: other, TILE: tile, THREADS: threads },
      entries: { channelisePlain: workArgument },
    },
    entry: 'channelisePlain',
    threads,
    sharedBytes: 0,
    groups: other * Math.ceil(points / (threads / tile)),
    points,
  };
}

export function planFused(plan: ChannelisePlan, card: CardLimits): FusedPlan {
  const most = Math.min(MOST_ELEMENTS, Math.floor(card.sharedBytesPerBlock / COMPLEX_BYTES));
  const enough = 2 ** Math.ceil(Math.log2(plan.capacity));
  // One pass: a real spectrum of 2C samples is transformed as C complex points.
  const tile = Math.min(64, enough, powerOfTwoUpTo(most / plan.channels));
  const small = factorise(plan.channels);
  if (small && small.radices.length <= RADICES && plan.channels * Math.min(2, enough) <= most) {
    const pass = fusedPass(plan, true, { which: 0, points: plan.channels, other: 1, tile, group: 1 });
    return { passes: [pass], folded: true, columns: plan.channels, tile, scratchBytes: 0 };
  }
  const columns = plan.samplesPerSpectrum;
  const folded = plan.sampling === 'complex';
  const inTwo = Math.min(TILE_OF_TWO_PASSES, enough);
  const { first, second, smooth } = splitPoints(columns, most / inTwo, RADICES);
  const group = (points: number, other: number): number =>
    Math.min(powerOfTwoUpTo(most / 2 / (points * inTwo)), 2 ** Math.ceil(Math.log2(other)));
  const passes = [
    fusedPass(plan, folded, {
      which: 1,
      points: first,
      other: second,
      tile: inTwo,
      group: group(first, second),
    }),
    smooth
      ? fusedPass(plan, folded, {
          which: 2,
          points: second,
          other: first,
          tile: inTwo,
          group: group(second, first),
        })
      : plainPass(plan, second, first, inTwo),
  ];
  return { passes, folded, columns, tile: inTwo, scratchBytes: columns * inTwo * COMPLEX_BYTES };
}

export const planStream = () =>
  ({
    name: 'channelise-stream.cu',
    source: readSource(import.meta.url, 'channelise-stream.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: {},
    entries: { moveWaiting: ['pointer', 'pointer', 'i64', 'i64', 'i64', 'i32'] },
  }) as const satisfies KernelRequest;
