/**
 * StEFCal's iterations on the chip (stefcal-chip.cu), compiled and ready: one launch for matrices already on the card.
 */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { DevicePointer } from '../../backend/cuda/session.js';
import type { Closable } from '../../core/closing.js';
import { CHIP_WORK, packetsOf, planChip, type ChipPlan, type ChipVariant } from './plan.js';
import type { IterationRule } from '../plan.js';

/** Rounding changes float32 gains by a few 1e-8 an iteration: smaller tolerances need float64. */
export const FINEST_FLOAT32 = 1e-6;

/** A tolerance of 0 never stops a solve. */
export const limitsOf = (rule: IterationRule): { readonly most: number; readonly tolerance: number } =>
  rule.kind === 'fixed' ? { most: rule.count, tolerance: 0 } : rule;

/** All of it in device memory. */
export interface ChipBatch {
  /** numerator : [k][i][j] complex float32. */
  readonly numerator: DevicePointer;
  /** denominator : [k][i][j] float32. */
  readonly denominator: DevicePointer;
  /** first : [k][i] complex float32. */
  readonly first: DevicePointer;
  /** gains, before : [k][i] complex float32, out: the last iteration's, and those it started from. */
  readonly gains: DevicePointer;
  readonly before: DevicePointer;
  /** iterations : [k] int32, out. */
  readonly iterations: DevicePointer;
}

export interface ChipSolver extends Closable {
  readonly plan: ChipPlan;
  /** Queued on the compute stream; at most as many solves as were planned. */
  launch(batch: ChipBatch, solves: number, rule: IterationRule): void;
}

interface ChipOptions {
  readonly stations: number;
  readonly solves: number;
  readonly rule: IterationRule['kind'];
  /** This variant instead of the one that seems cheapest. */
  readonly variant?: ChipVariant | undefined;
}

/** Undefined where the chip is too small for one solve. */
export async function prepareChip(
  { session, shop }: CudaBackend,
  { stations, solves, rule, variant }: ChipOptions,
): Promise<ChipSolver | undefined> {
  const plan = planChip(stations, solves, session.device, rule, variant);
  if (!plan) return undefined;
  const stream = session.streams.compute;
  const kernel = (await shop.prepare(plan.request))[plan.entry];
  const packets = session.allocate('packets', 2 * solves * packetsOf(stations) * 8);
  const { view } = kernel.argument(0);
  view.setBigUint64(CHIP_WORK.packets, packets.pointer, true);
  const { blocks, threads, sharedBytes } = plan;
  const shape = { grid: [blocks, 1], threads, sharedBytes, residency: 'together' } as const;
  const names = ['numerator', 'denominator', 'first', 'gains', 'before', 'iterations'] as const;
  return {
    plan,
    launch: (batch, count, given) => {
      const { most, tolerance } = limitsOf(given);
      for (const name of names) view.setBigUint64(CHIP_WORK[name], batch[name], true);
      view.setInt32(CHIP_WORK.solves, count, true);
      view.setInt32(CHIP_WORK.solvesPerWave, plan.solvesPerWave, true);
      view.setInt32(CHIP_WORK.most, most, true);
      view.setFloat32(CHIP_WORK.tolerance, Math.max(tolerance, FINEST_FLOAT32), true);
      session.call('cuMemsetD8Async', packets.pointer, 0, packets.sizeBytes, stream.handle);
      kernel.launch(shape, stream);
    },
    close: () => packets.close(),
  };
}
