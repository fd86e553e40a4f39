/**
 * How a calibration runs on a card: whether its matrices fit on the chip, dealt how, and compiled with which numbers.
 * Pure, so that every plan can be checked, and compiled, on a machine without a card.
 */
import type { KernelRequest } from '../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../backend/cuda/sources.js';
import type { IterationRule } from './plan.js';

/** What a plan must know of the card. */
export interface ChipLimits {
  readonly capability: number;
  readonly multiprocessors: number;
  readonly sharedBytesPerBlock: number;
}

/** How rows and columns are dealt (stefcal-chip.cu). */
export interface ChipVariant {
  /** Of a block. */
  readonly THREADS: number;
  /** Blocks on a multiprocessor: while one waits for gains another may be at its sums, if they belong to different solves. */
  readonly RESIDENT: number;
  readonly GROUP: number;
  readonly COLUMNS: number;
  readonly ROWS: number;
  readonly REGISTER_ROWS: number;
  readonly CHUNK: number;
}

export interface ChipPlan {
  readonly request: KernelRequest;
  readonly entry: 'stefcalChip';
  readonly variant: ChipVariant;
  readonly threads: number;
  readonly sharedBytes: number;
  readonly groupsPerSolve: number;
  readonly solvesPerWave: number;
  readonly waves: number;
  readonly blocks: number;
}

/** struct ChipWork of stefcal-chip.cu. */
export const CHIP_WORK = {
  numerator: 0,
  denominator: 8,
  first: 16,
  gains: 24,
  before: 32,
  iterations: 40,
  packets: 48,
  solves: 56,
  solvesPerWave: 60,
  most: 64,
  tolerance: 68,
  bytes: 72,
} as const;

/** ld.relaxed and st.relaxed, which carry the gains, and cooperative launches at their best came with 7.0. */
const LEAST_CAPABILITY = 70;
/** What the driver keeps of a multiprocessor's shared memory for each block on it. */
const RESERVED_BYTES = 1024;
/**
 * Few threads with many registers each: what a thread needs besides the matrices it needs once, and a warp's sums over
 * its lanes cost the same however many columns they are of.
 */
const shapes = [
  { THREADS: 256, RESIDENT: 1 },
  { THREADS: 128, RESIDENT: 2 },
] as const;
/** Rows a thread keeps in registers, by its columns of each: what 255 registers leave beside gains and sums. */
const registerRows = { 2: 24, 4: 14, 8: 7, 16: 3 } as const;
const columnChoices = [2, 4, 8, 16] as const;
const groupChoices = [256, 128, 64, 32] as const;

/** Packets are dealt in pairs, so that one load takes two. */
export const packetsOf = (stations: number): number => 2 * Math.ceil(stations / 2);

interface Deal {
  readonly variant: ChipVariant;
  readonly groupsPerSolve: number;
  readonly solvesPerWave: number;
}

function sharedBytesOf({ variant, groupsPerSolve }: Deal, rule: IterationRule['kind']): number {
  const { THREADS, GROUP, COLUMNS, ROWS, REGISTER_ROWS } = variant;
  const groups = THREADS / GROUP;
  const warps = THREADS / 32;
  const blockSolves =
    groupsPerSolve % groups === 0 ? 1 : Math.floor((groups + groupsPerSolve - 2) / groupsPerSolve) + 1;
  const matrix = (ROWS - REGISTER_ROWS) * ((COLUMNS * 3) / 4) * THREADS;
  const sums = 2 * warps * ROWS;
  const known = groups === 1 ? 0 : blockSolves * GROUP * COLUMNS;
  const judged = rule === 'until' ? warps / 2 + Math.ceil(blockSolves / 4) : 0;
  return 16 * (matrix + sums + known + judged);
}

/** Powers of two are summed all at once, which needs no choosing; others by the largest part of up to 8. */
const chunkOf = (rows: number): number =>
  Number.isInteger(Math.log2(rows))
    ? rows
    : Math.max(...[1, 2, 3, 4, 5, 6, 7].filter((chunk) => rows % chunk === 0));

/**
 * What an iteration of one wave costs in microseconds, roughly: the gains' journey through L2, a multiprocessor's share of
 * the products, and the sums over lanes. Only the order of the choices matters.
 */
const costOf = ({ THREADS, RESIDENT, GROUP, COLUMNS, ROWS }: ChipVariant): number =>
  1 + RESIDENT * THREADS * ROWS * (5e-5 * COLUMNS + 5e-5) + (GROUP === THREADS ? 0 : 0.1);

/** The cheapest way to hold the matrices on the chip, or the one given; nothing where it is too small for one solve. */
export function planChip(
  stations: number,
  solves: number,
  card: ChipLimits,
  rule: IterationRule['kind'],
  wanted?: ChipVariant,
): ChipPlan | undefined {
  if (card.capability < LEAST_CAPABILITY) return undefined;
  const plans = (wanted ? [wanted] : variantsFor(stations)).flatMap((variant) => {
    const deal = dealSolves(stations, solves, card, variant);
    const each = (card.sharedBytesPerBlock + RESERVED_BYTES) / variant.RESIDENT - RESERVED_BYTES;
    const fits = deal.solvesPerWave > 0 && sharedBytesOf(deal, rule) <= each;
    return fits ? [{ deal, cost: Math.ceil(solves / deal.solvesPerWave) * costOf(variant) }] : [];
  });
  const best = plans.sort((x, y) => x.cost - y.cost).at(0);
  return best && chipPlan(stations, solves, rule, best.deal);
}

/** Whole blocks for each solve where that costs no further wave: then a block waits for the gains of one solve alone. */
function dealSolves(stations: number, solves: number, card: ChipLimits, variant: ChipVariant): Deal {
  const groups = variant.THREADS / variant.GROUP;
  const room = card.multiprocessors * variant.RESIDENT * groups;
  const needed = Math.ceil(stations / variant.ROWS);
  const wavesOf = (each: number): number => Math.ceil(solves / Math.min(solves, Math.floor(room / each)));
  const whole = groups * Math.ceil(needed / groups);
  const groupsPerSolve = wavesOf(whole) <= wavesOf(needed) ? whole : needed;
  return {
    variant,
    groupsPerSolve,
    solvesPerWave: Math.min(solves, Math.floor(room / groupsPerSolve)),
  };
}

function variantsFor(stations: number): ChipVariant[] {
  return shapes.flatMap(({ THREADS, RESIDENT }) =>
    groupChoices.flatMap((GROUP) => {
      const COLUMNS = columnChoices.find((columns) => columns * GROUP >= stations);
      if (COLUMNS === undefined || GROUP > THREADS) return [];
      // Rows in shared memory are whole vectors, which two columns do not make.
      const most = COLUMNS === 2 ? registerRows[COLUMNS] : 32;
      return Array.from({ length: most }, (_, n) => ({
        ...{ THREADS, RESIDENT, GROUP, COLUMNS },
        ROWS: n + 1,
        REGISTER_ROWS: Math.min(n + 1, registerRows[COLUMNS]),
        CHUNK: chunkOf(n + 1),
      }));
    }),
  );
}

function chipPlan(stations: number, solves: number, rule: IterationRule['kind'], deal: Deal): ChipPlan {
  const { variant, groupsPerSolve, solvesPerWave } = deal;
  const groupsAtOnce = Math.min(solves, solvesPerWave) * groupsPerSolve;
  return {
    request: {
      name: 'stefcal-chip.cu',
      source: readSource(import.meta.url, 'stefcal-chip.cu'),
      headers: {
        ...commonHeaders('integers.cuh'),
        'packets.cuh': readSource(import.meta.url, 'packets.cuh'),
        'row-sums.cuh': readSource(import.meta.url, 'row-sums.cuh'),
      },
      defines: {
        STATIONS: stations,
        ...variant,
        GROUPS_PER_SOLVE: groupsPerSolve,
        JUDGES: rule === 'until' ? 1 : 0,
      },
      entries: { stefcalChip: [{ bytes: CHIP_WORK.bytes, align: 8 }] },
    },
    entry: 'stefcalChip',
    variant,
    threads: variant.THREADS,
    sharedBytes: sharedBytesOf(deal, rule),
    groupsPerSolve,
    solvesPerWave,
    waves: Math.ceil(solves / solvesPerWave),
    blocks: Math.ceil(groupsAtOnce / (variant.THREADS / variant.GROUP)),
  };
}

/** For people. */
export const describeWaves = ({ waves, solvesPerWave }: Pick<ChipPlan, 'waves' | 'solvesPerWave'>): string =>
  `on the chip, ${waves} ${waves === 1 ? 'wave' : 'waves'} of ${solvesPerWave}`;

export const planMatrices = () =>
  ({
    name: 'stefcal-matrices.cu',
    source: readSource(import.meta.url, 'stefcal-matrices.cu'),
    headers: commonHeaders('integers.cuh', 'baselines.cuh'),
    defines: {},
    entries: {
      makeMatrices: ['pointer', 'pointer', 'pointer', 'pointer', 'pointer', 'pointer', 'i32', 'i32'],
    },
  }) as const satisfies KernelRequest;

/** Where the tolerance of stefcalJudge is written: a float64 among its arguments. */
export const JUDGE_TOLERANCE = 4;
export const planStreaming = () =>
  ({
    name: 'stefcal-stream.cu',
    source: readSource(import.meta.url, 'stefcal-stream.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: {},
    entries: {
      stefcalStep: ['pointer', 'pointer', 'pointer', 'pointer', 'i32', 'i32', 'i32'],
      stefcalJudge: [
        ...(['pointer', 'pointer', 'pointer', 'pointer'] as const),
        { bytes: 8, align: 8 },
        ...(['i32', 'i32', 'i32', 'i32'] as const),
      ],
    },
  }) as const satisfies KernelRequest;
