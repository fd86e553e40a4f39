/**
 * How a channeliser runs on a card: the number of passes, the numbers kernels are compiled with, the launch. Pure, so
 * that every plan can be checked, and compiled, on a machine without a card.
 */
import { structure, type StructureLayout } from '../../backend/cuda/arguments.js';
import type { ArgumentKind, KernelRequest } from '../../backend/cuda/kernels.js';
import { POWER_CELLS } from '../../backend/cuda/power-cells.js';
import { kernelSource } from '../../backend/cuda/sources.js';
import { isComplexVoltage, voltageSizeBytes, type VoltageType } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { SUMMED_AT_ONCE } from '../../core/windows.js';
import { factorise, splitPoints } from './factors.js';
import {
  blockOf,
  COMPLEX_BYTES,
  shapeOfOneOfTwo,
  shapeOfOnePass,
  THREADS_AT_ONCE,
  type CardLimits,
  type Shape,
  type Waiting,
} from './shapes.js';
import { WORD_BYTES } from './tables.js';
import { outputRail, type ChannelisePlan } from '../plan.js';

export interface ChannelisePass {
  readonly request: KernelRequest;
  readonly entry: string;
  readonly threads: number;
  /** Concurrent blocks of a multiprocessor. */
  readonly blocks: number;
  readonly sharedBytes: number;
  /** Blocks' worth of work for each tile of an input. */
  readonly groups: number;
  /** The number of points of this pass. */
  readonly points: number;
  /** Its radices; undefined where it is computed as plain sums. */
  readonly radices: readonly number[] | undefined;
}

/** One or two passes of the general kernels. */
export interface FusedPlan {
  readonly passes: readonly ChannelisePass[];
  /** Whether two neighbouring real samples are transformed as one complex one, and separated at the end. */
  readonly folded: boolean;
  /** Columns of a spectrum: the points of all passes together. */
  readonly columns: number;
  /** Spectra that a block transposes together: the length of output rows. */
  readonly span: number;
  /** Between passes, for each row of `span` spectra of an input; 0 with one pass. */
  readonly scratchBytes: number;
  /** Powers are summed too (powers.cuh). */
  readonly sumsPowers: boolean;
}

/** One kernel for whole spectra, whose results the copy engine writes. */
export interface OnePassPlan {
  /** For reports. */
  readonly description: string;
  /** With sums of powers or without, and where `gapsApart` with missing spectra, which cost registers, or without. */
  readonly request: (what: { readonly gaps: boolean; readonly powers: boolean }) => KernelRequest;
  readonly gapsApart: boolean;
  readonly entry: string;
  /** The structure that it takes, and numbers for it. */
  readonly work: StructureLayout & Readonly<Record<'factor' | 'powers', number>>;
  readonly constants: Readonly<Record<string, number>>;
  /** By the names of their fields. */
  readonly tables: () => Readonly<Record<string, ArrayBufferView>> & { readonly factors: Float32Array };
  readonly threads: number;
  readonly sharedBytes: number;
  /** Spectra that a block processes together, or one after another. */
  readonly unit: number;
  /** k = k low + `low` · k high; the box of one copy: spectra, inputs, k low, k high. */
  readonly low: number;
  readonly box: readonly [number, number, number, number];
  /** The scratch of a block, for results until all of a unit are done. */
  readonly scratchBytesPerBlock: number;
}

/** A flagger follows: powers are summed, if a block has whole rows of them. */
interface FusedOptions {
  readonly powers?: boolean;
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
  inputs: 88,
  spectra: 92,
  firstItem: 96,
  items: 100,
  delays: 104,
  powers: 112,
  bytes: 112 + POWER_CELLS.bytes,
} as const;
const workArgument: readonly ArgumentKind[] = [structure('Work', WORK)];

const RADICES = 7;
const POINTS_OF_TWO_PASSES = { wellPoints: 512, mostPoints: 2048, mostRadices: RADICES } as const;

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
    DELAYED: plan.mostDelaySamples === undefined ? 0 : 1,
    ONE_FACTOR: typeof plan.gains === 'number' ? 1 : 0,
  };
}

const source = (name: string, ...headers: readonly string[]) =>
  kernelSource(import.meta.url, name, 'powers.cuh', 'shape.cuh', 'delays.cuh', ...headers);
const waitingOf = ({ outputType }: ChannelisePlan): Waiting => (outputType === 'cf32' ? 'nothing' : 'bytes');

function fusedPass(
  plan: ChannelisePlan,
  card: CardLimits,
  folded: boolean,
  pass: Shape & { which: 0 | 1 | 2; points: number; other: number; opensAt: number; powers?: boolean },
): ChannelisePass {
  const { which, points, other, tile, span, group, opensAt, powers = false } = pass;
  const radices = factorise(points)?.radices ?? [];
  const isLean = which === 0 && plan.inputType === 'ci8';
  const waiting = which === 1 ? 'nothing' : waitingOf(plan);
  const block = blockOf(radices, pass, waiting, isLean ? 'few' : 'all', card);
  return {
    request: {
      ...source('channelise-fused.cu', 'filter.cuh', 'finish.cuh', 'rows.cuh', 'transform.cuh'),
      defines: {
        ...shapeDefines(plan, folded),
        OPENS_AT: opensAt,
        PASS: which,
        N: points,
        OTHER: other,
        TILE: tile,
        SPAN: span,
        GROUP: group,
        THREADS: block.threads,
        BLOCKS: block.blocks,
        TURNS_KEPT: block.turnsKept ? 1 : 0,
        POWERS: powers ? 1 : 0,
        ...Object.fromEntries(Array.from({ length: RADICES }, (_, n) => [`R${n}`, radices[n] ?? 1])),
      },
      entries: { channelise: workArgument },
    },
    entry: 'channelise',
    ...block,
    groups: which === 0 ? 1 : Math.ceil(other / group),
    points,
    radices,
  };
}

function plainPass(
  plan: ChannelisePlan,
  points: number,
  other: number,
  tile: number,
  opensAt: number,
): ChannelisePass {
  const threads = 256;
  return {
    request: {
      ...source('channelise-plain.cu', 'finish.cuh'),
      defines: {
        ...shapeDefines(plan, false),
        OPENS_AT: opensAt,
        N: points,
        OTHER: other,
        TILE: tile,
        THREADS: threads,
      },
      entries: { channelisePlain: workArgument },
    },
    entry: 'channelisePlain',
    threads,
    blocks: THREADS_AT_ONCE / threads,
    sharedBytes: 0,
    groups: other * Math.ceil(points / (threads / tile)),
    points,
    radices: undefined,
  };
}

/** Rows are read from multiples of so many bytes: those of a word, where 8-bit samples are read by words. */
const opensAtOf = (plan: ChannelisePlan, inPairs: boolean): number =>
  inPairs && sampleBytes(plan.inputType) === 1 ? WORD_BYTES : 1;

export function planFused(
  plan: ChannelisePlan,
  card: CardLimits,
  { powers = false }: FusedOptions = {},
): FusedPlan {
  const { channels } = plan;
  // One pass: a real spectrum of 2C samples is transformed as C complex points.
  const { radices } = factorise(channels) ?? {};
  const shape = radices && radices.length <= RADICES ? shapeOfOnePass(plan, card) : undefined;
  if (!shape) return planTwoPasses(plan, card, powers);
  const summed = powers ? summedShape(plan, shape) : undefined;
  const opensAt = opensAtOf(plan, channels % 2 === 0);
  const taken = { ...(summed ?? shape), powers: summed !== undefined };
  const pass = fusedPass(plan, card, true, { which: 0, points: channels, other: 1, ...taken, opensAt });
  return {
    passes: [pass],
    folded: true,
    columns: channels,
    span: taken.span,
    scratchBytes: 0,
    sumsPowers: taken.powers,
  };
}

/**
 * The shape of blocks that also sum powers; undefined where they cannot. Integers are summed as rows are written,
 * floats as tiles are done.
 */
function summedShape({ outputType, sampling }: ChannelisePlan, shape: Shape): Shape | undefined {
  if (outputType !== 'cf32') return shape.span === SUMMED_AT_ONCE ? shape : undefined;
  return sampling === 'complex' && shape.tile >= 4 && shape.span <= SUMMED_AT_ONCE ? shape : undefined;
}

/** Rows of 32 bytes if they fit in a block; shorter ones are slower, with the same result. */
const SPANS_OF_TWO_PASSES = [16, 8, 4, 2] as const;

function planTwoPasses(plan: ChannelisePlan, card: CardLimits, wantsPowers: boolean): FusedPlan {
  const columns = plan.samplesPerSpectrum;
  const folded = plan.sampling === 'complex';
  const { first, second, smooth } = splitPoints(columns, POINTS_OF_TWO_PASSES);
  for (const span of SPANS_OF_TWO_PASSES) {
    const one = shapeOfOneOfTwo(first, second, span, 'nothing', card);
    const two = shapeOfOneOfTwo(second, first, span, waitingOf(plan), card);
    if (!one || (smooth && !two)) continue;
    const opensAt = opensAtOf(plan, folded && second % 2 === 0 && one.group % 2 === 0);
    const powers = wantsPowers && smooth && plan.outputType !== 'cf32' && span === SUMMED_AT_ONCE;
    const passes = [
      fusedPass(plan, card, folded, { which: 1, points: first, other: second, ...one, opensAt }),
      smooth && two
        ? fusedPass(plan, card, folded, { which: 2, points: second, other: first, ...two, opensAt, powers })
        : plainPass(plan, second, first, span, opensAt),
    ];
    const scratchBytes = columns * span * COMPLEX_BYTES;
    return { passes, folded, columns, span, scratchBytes, sumsPowers: powers };
  }
  return refuse(
    'channelise',
    `blocks of this card hold ${card.sharedBytesPerBlock} bytes, too few for ${plan.channels} channels`,
    'choose fewer channels, or backend cpu',
  );
}

export const planStream = () =>
  ({
    ...kernelSource(import.meta.url, 'channelise-stream.cu'),
    defines: {},
    entries: {
      moveWaiting: ['pointer', 'pointer', 'i64', 'i64', 'i64', 'i32'],
    },
  }) as const satisfies KernelRequest;
