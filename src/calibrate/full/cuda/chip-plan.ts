/**
 * Which full-polarisation solves fit in a card's registers and shared memory together, and how they are dealt; pure.
 */
import { structure } from '../../../backend/cuda/arguments.js';
import type { KernelRequest } from '../../../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../../../backend/cuda/sources.js';
import type { ChipLimits } from '../../cuda/plan.js';
import type { IterationRule } from '../../plan.js';
import { LEAST_DETERMINANT, type ModelForm } from '../plan.js';
import { MIX_STATE, MIX_WORK, mixDefines, mixHeaders, PAIR_NUMBERS } from './plan.js';

/** struct ChipWork of full-chip.cu. */
export const FULL_CHIP_WORK = {
  pairs: 0,
  ratios: 8,
  sums: 16,
  packets: 24,
  solves: 32,
  solvesPerWave: 36,
  bytes: 40,
} as const;

export interface FullChipVariant {
  readonly GROUP_WARPS: number;
  readonly ROWS: number;
  readonly REGISTER_ROWS: number;
  readonly CHUNK: number;
}

export interface FullChipPlan {
  readonly request: KernelRequest & {
    readonly entries: { readonly fullChip: KernelRequest['entries'][string] };
  };
  readonly variant: FullChipVariant;
  readonly threads: number;
  readonly sharedBytes: number;
  readonly blocks: number;
  readonly blocksPerSolve: number;
  readonly solvesPerWave: number;
  readonly waves: number;
}

export interface FullChipSize {
  readonly stations: number;
  readonly solves: number;
  readonly form: ModelForm;
}

/** ld.relaxed and st.relaxed, which carry the gains between blocks, came with 7.0. */
const LEAST_CAPABILITY = 70;
const THREADS = 256;
const WARPS = THREADS / 32;
/** Registers of a thread for pairs: of 255, beside sums, gains and the current pair. */
const PAIR_REGISTERS = 112;
/** Columns of a thread and rows of a group, all unrolled by the compiler. */
const MOST_COLUMNS = 4;
const MOST_UNROLLED = 32;
/** The shared memory for mixing. */
const MIX_BYTES = 3072;
/** Multiply-adds of a pair from one side, by form. */
const MULTIPLY_ADDS = [36, 64, 80] as const satisfies Record<ModelForm, number>;

interface Deal extends FullChipVariant {
  readonly blocksPerSolve: number;
  readonly solvesPerWave: number;
  readonly sharedBytes: number;
  readonly costUs: number;
}

/**
 * Rows of a group whose sums over lanes need no selection (full-rows.cuh), and the cost of each row of other counts.
 */
const MIRRORED_ROWS: readonly number[] = [4, 8, 16];
const SUM_US: Readonly<Record<number, number>> = { 1: 0.09, 2: 0.04, 3: 0.06, 4: 0.04 };
/** Two rows are summed over lanes at a time. */
const chunkOf = (rows: number): number => [4, 3, 2, 1].find((chunk) => rows % chunk === 0) ?? 1;

/** Rows in registers, and those summed over lanes at a time. */
function variantOf(
  { stations, form }: FullChipSize,
  { GROUP_WARPS, ROWS }: Pick<FullChipVariant, 'GROUP_WARPS' | 'ROWS'>,
): FullChipVariant {
  const columns = Math.ceil(stations / (32 * GROUP_WARPS));
  const REGISTER_ROWS = Math.min(ROWS, Math.floor(PAIR_REGISTERS / (PAIR_NUMBERS[form] * columns)));
  return { GROUP_WARPS, ROWS, REGISTER_ROWS, CHUNK: chunkOf(ROWS) };
}

function dealOf(
  { stations, solves, form }: FullChipSize,
  card: ChipLimits,
  { GROUP_WARPS, ROWS, REGISTER_ROWS, CHUNK }: FullChipVariant,
): Deal {
  const width = Math.ceil(stations / (32 * GROUP_WARPS)) * 32 * GROUP_WARPS;
  const groups = WARPS / GROUP_WARPS;
  const blockRows = groups * ROWS;
  const blocksPerSolve = Math.ceil(stations / blockRows);
  const solvesPerWave = Math.min(solves, Math.floor(card.multiprocessors / blocksPerSolve));
  const sharedFloats = groups * (ROWS - REGISTER_ROWS) * PAIR_NUMBERS[form] * width;
  // Sums of warps are float64 where steps are mixed.
  const sharedBytes = 4 * sharedFloats + 64 * width + 96 * WARPS * ROWS;
  // Approximate microseconds, as measured on an H200: products at 0.6 of its rate, the sums of rows over lanes, and the
  // exchange of gains. Only the order matters.
  const products = (blockRows * width * MULTIPLY_ADDS[form]) / (0.6 * 128 * 1700);
  const sums = ROWS * (MIRRORED_ROWS.includes(ROWS) ? 0.02 : SUM_US[CHUNK]);
  const gains = (blocksPerSolve === 1 ? 0.5 : 1.2) + (GROUP_WARPS > 1 ? 0.1 : 0);
  const costUs = Math.ceil(solves / solvesPerWave) * (gains + products + sums);
  return { GROUP_WARPS, ROWS, REGISTER_ROWS, CHUNK, blocksPerSolve, solvesPerWave, sharedBytes, costUs };
}

const variantsFor = (size: FullChipSize): FullChipVariant[] =>
  [1, 2, 4, 8].flatMap((GROUP_WARPS) => {
    const columns = Math.ceil(size.stations / (32 * GROUP_WARPS));
    if (columns > MOST_COLUMNS) return [];
    const most = Math.min(32, Math.floor(MOST_UNROLLED / columns));
    return Array.from({ length: most }, (_, n) => variantOf(size, { GROUP_WARPS, ROWS: n + 1 }));
  });

/**
 * The cheapest variant, or the one given; undefined where none fits. Only a block that has a solve to itself can mix
 * its steps.
 */
export function planFullChip(
  size: FullChipSize,
  card: ChipLimits,
  rule: IterationRule['kind'],
  wanted?: FullChipVariant,
): FullChipPlan | undefined {
  if (card.capability < LEAST_CAPABILITY) return undefined;
  const { stations, solves, form } = size;
  const most = card.sharedBytesPerBlock - (rule === 'until' ? MIX_BYTES : 0);
  const best = (wanted ? [wanted] : variantsFor(size))
    .map((variant) => dealOf(size, card, variant))
    .filter(
      ({ blocksPerSolve, solvesPerWave, sharedBytes }) =>
        solvesPerWave > 0 && sharedBytes <= most && (rule === 'fixed' || blocksPerSolve === 1),
    )
    .sort((x, y) => x.costUs - y.costUs)
    .at(0);
  if (!best) return undefined;
  const { GROUP_WARPS, ROWS, REGISTER_ROWS, CHUNK, blocksPerSolve, solvesPerWave, sharedBytes } = best;
  const variant = { GROUP_WARPS, ROWS, REGISTER_ROWS, CHUNK };
  return {
    request: {
      name: 'full-chip.cu',
      source: readSource(import.meta.url, 'full-chip.cu'),
      headers: {
        ...commonHeaders('integers.cuh'),
        ...mixHeaders(),
        'full-rows.cuh': readSource(import.meta.url, 'full-rows.cuh'),
        'packets.cuh': readSource(import.meta.url, '../../cuda/packets.cuh'),
        'row-sums.cuh': readSource(import.meta.url, '../../cuda/row-sums.cuh'),
      },
      defines: {
        ...mixDefines(THREADS),
        ...variant,
        STATIONS: stations,
        FORM: form,
        BLOCKS_PER_SOLVE: blocksPerSolve,
        MIXES: rule === 'until' ? 1 : 0,
        LEAST_DETERMINANT,
      },
      entries: { fullChip: [structure('ChipWork', FULL_CHIP_WORK), structure('MixWork', MIX_WORK)] },
      tables: { MixState: MIX_STATE },
    },
    variant,
    threads: THREADS,
    sharedBytes,
    blocksPerSolve,
    solvesPerWave,
    // A block on its own waits for no other: as many as there are solves.
    blocks: blocksPerSolve === 1 ? solves : solvesPerWave * blocksPerSolve,
    waves: Math.ceil(solves / solvesPerWave),
  };
}
