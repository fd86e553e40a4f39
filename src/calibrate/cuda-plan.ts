/**
 * How a calibration runs on a card: whether its matrices fit on the chip, dealt how, and compiled with which numbers.
 * Pure, so that every plan can be checked, and compiled, on a machine without a card.
 */
import type { KernelRequest } from '../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../backend/cuda/sources.js';

/** What a plan must know of the card. */
export interface ChipLimits {
  readonly capability: number;
  readonly multiprocessors: number;
  readonly sharedBytesPerBlock: number;
}

/** How rows and columns are dealt (stefcal-chip.cu). */
export interface ChipVariant {
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
  readonly threads: 512;
  readonly sharedBytes: number;
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

const THREADS = 512;
const WARPS = THREADS / 32;
/** ld.relaxed and st.relaxed, which carry the gains, and cooperative launches at their best came with 7.0. */
const LEAST_CAPABILITY = 70;
/**
 * Rows a thread keeps in registers, by its columns of each: what 128 registers leave beside the sums, as measured.
 */
const registerRows = { 2: 12, 4: 7, 8: 3 } as const;
const columnChoices = [2, 4, 8] as const;
const groupChoices = [512, 256, 128, 64, 32] as const;

/** Packets are dealt in pairs, so that one load takes two. */
export const packetsOf = (stations: number): number => 2 * Math.ceil(stations / 2);

function sharedBytesOf(stations: number, { GROUP, COLUMNS, ROWS, REGISTER_ROWS }: ChipVariant): number {
  const groups = THREADS / GROUP;
  const groupsPerSolve = Math.ceil(stations / ROWS);
  const blockSolves = groups === 1 ? 1 : Math.floor((groups + groupsPerSolve - 2) / groupsPerSolve) + 1;
  const matrix = (ROWS - REGISTER_ROWS) * ((COLUMNS * 3) / 4) * THREADS * 16;
  const sums = 2 * WARPS * 3 * ROWS * 4;
  const known = groups === 1 ? 0 : 2 * blockSolves * GROUP * COLUMNS * 8;
  return matrix + sums + known + 2 * WARPS * 4 + blockSolves * 4;
}

/** Powers of two are summed all at once, which needs no choosing; others by the largest part of up to 8. */
const chunkOf = (rows: number): number =>
  Number.isInteger(Math.log2(rows))
    ? rows
    : Math.max(...[1, 2, 3, 4, 5, 6, 7].filter((chunk) => rows % chunk === 0));

/**
 * What an iteration of one wave costs in microseconds, roughly: the gains' journey through L2, a thread's share of the
 * products, and the sums over lanes. Only the order of the choices matters.
 */
const costOf = ({ GROUP, COLUMNS, ROWS }: ChipVariant): number =>
  1 + 0.012 * ROWS * COLUMNS + 0.06 * ROWS + (GROUP === THREADS ? 0 : 0.4);

/** The cheapest way to hold the matrices on the chip, or the one given; nothing where it is too small for one solve. */
export function planChip(
  stations: number,
  solves: number,
  card: ChipLimits,
  wanted?: ChipVariant,
): ChipPlan | undefined {
  if (card.capability < LEAST_CAPABILITY) return undefined;
  const plans = (wanted ? [wanted] : variantsFor(stations)).flatMap((variant) => {
    const groups = card.multiprocessors * (THREADS / variant.GROUP);
    const solvesPerWave = Math.min(solves, Math.floor(groups / Math.ceil(stations / variant.ROWS)));
    const fits = solvesPerWave > 0 && sharedBytesOf(stations, variant) <= card.sharedBytesPerBlock;
    return fits
      ? [{ variant, solvesPerWave, cost: Math.ceil(solves / solvesPerWave) * costOf(variant) }]
      : [];
  });
  const best = plans.sort((x, y) => x.cost - y.cost).at(0);
  return best && chipPlan(stations, solves, best.variant, best.solvesPerWave);
}

function variantsFor(stations: number): ChipVariant[] {
  return groupChoices.flatMap((GROUP) => {
    const COLUMNS = columnChoices.find((columns) => columns * GROUP >= stations);
    if (COLUMNS === undefined) return [];
    // Rows in shared memory are whole vectors, which two columns do not make.
    const most = COLUMNS === 2 ? registerRows[COLUMNS] : 32;
    return Array.from({ length: most }, (_, n) => ({
      GROUP,
      COLUMNS,
      ROWS: n + 1,
      REGISTER_ROWS: Math.min(n + 1, registerRows[COLUMNS]),
      CHUNK: chunkOf(n + 1),
    }));
  });
}

function chipPlan(stations: number, solves: number, variant: ChipVariant, solvesPerWave: number): ChipPlan {
  const groupsAtOnce = Math.min(solves, solvesPerWave) * Math.ceil(stations / variant.ROWS);
  return {
    request: {
      name: 'stefcal-chip.cu',
      source: readSource(import.meta.url, 'stefcal-chip.cu'),
      headers: {
        ...commonHeaders('integers.cuh'),
        'packets.cuh': readSource(import.meta.url, 'packets.cuh'),
      },
      defines: { STATIONS: stations, ...variant },
      entries: { stefcalChip: [{ bytes: CHIP_WORK.bytes, align: 8 }] },
    },
    entry: 'stefcalChip',
    variant,
    threads: THREADS,
    sharedBytes: sharedBytesOf(stations, variant),
    solvesPerWave,
    waves: Math.ceil(solves / solvesPerWave),
    blocks: Math.ceil(groupsAtOnce / (THREADS / variant.GROUP)),
  };
}

export const planMatrices = () =>
  ({
    name: 'stefcal-matrices.cu',
    source: readSource(import.meta.url, 'stefcal-matrices.cu'),
    headers: commonHeaders('integers.cuh'),
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
