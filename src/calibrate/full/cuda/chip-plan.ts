/** Which full-polarisation solves a card's shared memory holds, and dealt how (full-chip.cu); pure. */
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

export interface FullChipPlan {
  readonly request: KernelRequest & { readonly entries: { readonly fullChip: KernelRequest['entries'][string] } };
  readonly threads: number;
  readonly sharedBytes: number;
  readonly blocks: number;
  readonly blocksPerSolve: number;
  readonly solvesPerWave: number;
}

/** ld.relaxed and st.relaxed, which carry the gains between blocks, came with 7.0. */
const LEAST_CAPABILITY = 70;
const THREADS = 256;
const WARPS = THREADS / 32;
/** Sums of more rows than these would not stay in registers. */
const MOST_ROWS = 8;
/** What mixing keeps in shared memory besides. */
const OTHER_BYTES = 3072;

interface Deal {
  readonly GROUP_WARPS: number;
  readonly ROWS: number;
  readonly blocksPerSolve: number;
  readonly solvesPerWave: number;
  readonly sharedBytes: number;
  readonly costUs: number;
}

/** Nothing where memory does better, or no deal fits; only a block that has a solve to itself can mix its steps. */
export function planFullChip(
  { stations, solves, form }: { readonly stations: number; readonly solves: number; readonly form: ModelForm },
  card: ChipLimits,
  rule: IterationRule['kind'],
): FullChipPlan | undefined {
  if (card.capability < LEAST_CAPABILITY) return undefined;
  const rowNumbers = PAIR_NUMBERS[form] * 4 * Math.ceil(stations / 4);
  const deals = [1, 2, 4, 8].flatMap((GROUP_WARPS) =>
    Array.from({ length: MOST_ROWS }, (_, n): Deal => {
      const ROWS = n + 1;
      const blockRows = (WARPS / GROUP_WARPS) * ROWS;
      const blocksPerSolve = Math.ceil(stations / blockRows);
      const solvesPerWave = Math.min(solves, Math.floor(card.multiprocessors / blocksPerSolve));
      const sharedBytes = 4 * (blockRows * rowNumbers + 12 * 4 * Math.ceil(stations / 4) + WARPS * ROWS * 12);
      // By the card's clock: gains' way through L2 or memory, products, sums over lanes. Only the order matters.
      const products = blockRows * stations * (form === 2 ? 6e-4 : 2.8e-4);
      const costUs = Math.ceil(solves / solvesPerWave) * (1 + products + 0.03 * ROWS * WARPS);
      return { GROUP_WARPS, ROWS, blocksPerSolve, solvesPerWave, sharedBytes, costUs };
    }),
  );
  const best = deals
    .filter(({ blocksPerSolve, solvesPerWave, sharedBytes }) => {
      const fits = solvesPerWave > 0 && sharedBytes + OTHER_BYTES <= card.sharedBytesPerBlock;
      return fits && (rule === 'fixed' || blocksPerSolve === 1);
    })
    .sort((x, y) => x.costUs - y.costUs)
    .at(0);
  if (!best) return undefined;
  const { GROUP_WARPS, ROWS, blocksPerSolve, solvesPerWave, sharedBytes } = best;
  return {
    request: {
      name: 'full-chip.cu',
      source: readSource(import.meta.url, 'full-chip.cu'),
      headers: {
        ...commonHeaders('integers.cuh'),
        ...mixHeaders(),
        'packets.cuh': readSource(import.meta.url, '../../cuda/packets.cuh'),
        'row-sums.cuh': readSource(import.meta.url, '../../cuda/row-sums.cuh'),
      },
      defines: {
        ...mixDefines(THREADS),
        STATIONS: stations,
        FORM: form,
        GROUP_WARPS,
        ROWS,
        BLOCKS_PER_SOLVE: blocksPerSolve,
        LEAST_DETERMINANT,
      },
      entries: { fullChip: [structure('ChipWork', FULL_CHIP_WORK), structure('MixWork', MIX_WORK)] },
      tables: { MixState: MIX_STATE },
    },
    threads: THREADS,
    sharedBytes,
    blocks: solvesPerWave * blocksPerSolve,
    blocksPerSolve,
    solvesPerWave,
  };
}
