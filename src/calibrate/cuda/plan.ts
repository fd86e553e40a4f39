/**
 * How a calibration runs on a card: whether its matrices fit on the chip, how they are dealt, and the numbers kernels
 * are compiled with. Pure, so that every plan can be checked, and compiled, on a machine without a card.
 */
import { structure } from '../../backend/cuda/arguments.js';
import type { KernelRequest, LaunchShape } from '../../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../../backend/cuda/sources.js';
import type { IterationRule } from '../plan.js';

/** The properties of the card that a plan needs. */
export interface ChipLimits {
  readonly capability: number;
  readonly multiprocessors: number;
  readonly sharedBytesPerBlock: number;
}

/** How rows and columns are dealt (stefcal-chip.cu). */
export interface ChipVariant {
  /** Of a block. */
  readonly THREADS: number;
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

/** ld.relaxed and st.relaxed, which exchange the gains, and cooperative launches came with 7.0. */
const LEAST_CAPABILITY = 70;
/**
 * Threads of a block, and the number of rows in each thread's registers, by its columns: the rest after gains and sums.
 * Few threads with many registers are best, since a thread's overhead besides the matrices is constant, and a warp's
 * sums over its lanes cost the same for any number of columns; where registers hold everything, twice the warps wait
 * less.
 */
const shapes = [
  { THREADS: 256, registerRows: { 2: 24, 4: 12, 8: 7, 16: 4 } },
  { THREADS: 512, registerRows: { 2: 8 } },
] as const satisfies readonly {
  readonly THREADS: number;
  readonly registerRows: Readonly<Record<number, number>>;
}[];
const groupChoices = [512, 256, 128, 64, 32] as const;

/** Packets are dealt in pairs, so that one load reads two. */
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

const isPowerOfTwo = (rows: number): boolean => Number.isInteger(Math.log2(rows));
/** Powers of two are summed all at once, without selection; others by the largest part of up to 8. */
const chunkOf = (rows: number): number =>
  isPowerOfTwo(rows) ? rows : Math.max(...[1, 2, 3, 4, 5, 6, 7].filter((chunk) => rows % chunk === 0));

/**
 * The approximate cost of an iteration of one wave in microseconds, as measured on an H200: the exchange of gains
 * through L2, a multiprocessor's share of the products, the sums over lanes, those that need selection, and the block's
 * copy of the gains where its groups share one. Only the order matters.
 */
const costOf = (stations: number, { THREADS, GROUP, COLUMNS, ROWS, CHUNK }: ChipVariant): number =>
  (THREADS === 512 ? 0.65 : 0.75) +
  2.8e-5 * THREADS * ROWS * COLUMNS +
  1.5e-3 * ROWS * (THREADS / 32) +
  (isPowerOfTwo(ROWS) && CHUNK === ROWS ? 0 : (0.1 * ROWS) / CHUNK) +
  (GROUP === THREADS ? 0 : 4e-4 * stations);

/**
 * The cheapest way to hold the matrices on the chip, or the one given; undefined where it is too small for one solve.
 */
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
    const fits = deal.solvesPerWave > 0 && sharedBytesOf(deal, rule) <= card.sharedBytesPerBlock;
    return fits ? [{ deal, cost: Math.ceil(solves / deal.solvesPerWave) * costOf(stations, variant) }] : [];
  });
  const best = plans.sort((x, y) => x.cost - y.cost).at(0);
  return best && chipPlan(stations, solves, rule, best.deal);
}

/** Whole blocks for each solve where that needs no further wave: then a block waits for the gains of one solve only. */
function dealSolves(stations: number, solves: number, card: ChipLimits, variant: ChipVariant): Deal {
  const { THREADS, GROUP, ROWS } = variant;
  const groups = THREADS / GROUP;
  const needed = Math.ceil(stations / ROWS);
  const whole = groups * Math.ceil(needed / groups);
  const perWave = (each: number): number =>
    Math.min(solves, Math.floor((card.multiprocessors * groups) / each));
  const isWhole = Math.ceil(solves / perWave(whole)) <= Math.ceil(solves / perWave(needed));
  const groupsPerSolve = isWhole ? whole : needed;
  return { variant, groupsPerSolve, solvesPerWave: perWave(groupsPerSolve) };
}

function variantsFor(stations: number): ChipVariant[] {
  return shapes.flatMap(({ THREADS, registerRows }) =>
    groupChoices.flatMap((GROUP) => {
      const choice = Object.entries(registerRows).find(([columns]) => Number(columns) * GROUP >= stations);
      if (choice === undefined || GROUP > THREADS) return [];
      const [COLUMNS, inRegisters] = choice.map(Number);
      // Rows in shared memory are whole vectors, which two columns do not fill.
      const most = COLUMNS === 2 ? inRegisters : 32;
      return Array.from({ length: most }, (_, n) => {
        const ROWS = n + 1;
        // Summed all at once, rows leave fewer registers: the gains of all columns stay in registers meanwhile.
        const room = COLUMNS === 16 && isPowerOfTwo(ROWS) ? inRegisters - 1 : inRegisters;
        const REGISTER_ROWS = Math.min(ROWS, room);
        return { THREADS, GROUP, COLUMNS, ROWS, REGISTER_ROWS, CHUNK: chunkOf(ROWS) };
      });
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
        ...commonHeaders('integers.cuh', 'shared.cuh'),
        'chip-rows.cuh': readSource(import.meta.url, 'chip-rows.cuh'),
        'packets.cuh': readSource(import.meta.url, 'packets.cuh'),
        'row-sums.cuh': readSource(import.meta.url, 'row-sums.cuh'),
      },
      defines: {
        STATIONS: stations,
        ...variant,
        GROUPS_PER_SOLVE: groupsPerSolve,
        JUDGES: rule === 'until' ? 1 : 0,
      },
      entries: { stefcalChip: [structure('ChipWork', CHIP_WORK)] },
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

/** 32 × 32 pairs to a block. */
export function matricesShape(stations: number, solves: number): LaunchShape {
  const tiles = Math.ceil(stations / 32);
  return { grid: [(tiles * (tiles + 1)) / 2, Math.min(solves, 65_535)], threads: 256 };
}

/** The place of stefcalJudge's tolerance: a float64 among its arguments. */
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
        { bytes: 8, align: 8, type: 'double' },
        ...(['i32', 'i32', 'i32', 'i32'] as const),
      ],
    },
  }) as const satisfies KernelRequest;
