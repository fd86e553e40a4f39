/** Full-polarisation StEFCal on the chip (full-chip.cu), compiled for a form of model and ready: one launch for all iterations. */
import type { CudaBackend } from '../../../backend/cuda/cuda.js';
import type { DevicePointer } from '../../../backend/cuda/session.js';
import type { Closable } from '../../../core/closing.js';
import type { IterationRule } from '../../plan.js';
import {
  FULL_CHIP_WORK,
  planFullChip,
  type FullChipPlan,
  type FullChipSize,
  type FullChipVariant,
} from './chip-plan.js';

export interface FullChip extends Closable {
  readonly plan: FullChipPlan;
  /** Fills struct MixWork with `setMix`; queued on the compute stream. */
  launch(solves: number, setMix: (view: DataView) => void): void;
}

/** All of it in device memory. */
interface FullChipMemory {
  readonly pairs: DevicePointer;
  readonly ratios: DevicePointer;
  readonly sums: DevicePointer;
}

/** Undefined where the chip is too small for one solve. */
export async function prepareFullChip(
  { session, shop }: CudaBackend,
  size: FullChipSize,
  rule: IterationRule['kind'],
  memory: FullChipMemory,
  variant?: FullChipVariant,
): Promise<FullChip | undefined> {
  const plan = planFullChip(size, session.device, rule, variant);
  if (!plan) return undefined;
  const { fullChip } = await shop.prepare(plan.request);
  const stream = session.streams.compute;
  const isAlone = plan.blocksPerSolve === 1;
  const packets = session.allocate('packets', isAlone ? 32 : 2 * size.solves * size.stations * 32);
  const { view } = fullChip.argument(0);
  for (const name of ['pairs', 'ratios', 'sums'] as const)
    view.setBigUint64(FULL_CHIP_WORK[name], memory[name], true);
  view.setBigUint64(FULL_CHIP_WORK.packets, packets.pointer, true);
  return {
    plan,
    launch: (solves, setMix) => {
      view.setInt32(FULL_CHIP_WORK.solves, solves, true);
      view.setInt32(FULL_CHIP_WORK.solvesPerWave, plan.solvesPerWave, true);
      setMix(fullChip.argument(1).view);
      const { threads, sharedBytes } = plan;
      if (isAlone) {
        fullChip.launch({ grid: [solves, 1], threads, sharedBytes }, stream);
        return;
      }
      session.call('cuMemsetD8Async', packets.pointer, 0, packets.sizeBytes, stream.handle);
      const blocks = Math.min(solves, plan.solvesPerWave) * plan.blocksPerSolve;
      fullChip.launch({ grid: [blocks, 1], threads, sharedBytes, residency: 'together' }, stream);
    },
    close: () => packets.close(),
  };
}
