/** Each station's own power on a card (direct-powers.cu), beside an image without autocorrelations. */
import type { CudaBackend } from '../../../backend/cuda/cuda.js';
import type { KernelRequest } from '../../../backend/cuda/kernels.js';
import type { CudaSpectraBlock } from '../../../backend/cuda/spectra.js';
import { commonHeaders, readSource } from '../../../backend/cuda/sources.js';
import { downloadInto } from '../../../backend/cuda/transfer.js';
import type { Closable } from '../../../core/closing.js';
import { inputDefines } from '../../cuda/plan.js';
import type { ImagePlan } from '../../plan.js';
import { powerCount } from '../autos.js';

const THREADS = 128;

export const planPowers = (
  plan: Pick<ImagePlan, 'stations' | 'polarisations'>,
  samples: 'integer' | 'float',
) =>
  ({
    name: 'direct-powers.cu',
    source: readSource(import.meta.url, 'direct-powers.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: { ...inputDefines(plan), FLOAT_SAMPLES: samples === 'float' ? 1 : 0 },
    entries: { addPowers: ['pointer', 'i64', 'i32', 'i32', 'pointer'] },
  }) as const satisfies KernelRequest;

interface CudaPowers extends Closable {
  /** In order on the compute stream. */
  add(block: CudaSpectraBlock): Promise<void>;
  /** powers : [c][s][product]; starts again. */
  finish(): Promise<Float64Array>;
}

export function prepareCudaPowers(plan: ImagePlan, { session, shop }: CudaBackend): CudaPowers {
  const { channels, stations } = plan;
  const powers = session.allocate("stations' own powers", 8 * powerCount(plan));
  const onHost = new Float64Array(powerCount(plan));
  let isFresh = true;
  return {
    add: async (block) => {
      const { addPowers } = await shop.prepare(
        planPowers(plan, block.shape.type === 'cf32' ? 'float' : 'integer'),
      );
      addPowers.set([block.pointer, block.pitchBytes, block.samples, Number(isFresh), powers.pointer]);
      addPowers.launch({ grid: [channels * stations, 1], threads: THREADS }, session.streams.compute);
      isFresh = false;
    },
    finish: async () => {
      if (isFresh) return onHost.fill(0);
      await downloadInto(session, powers, onHost);
      isFresh = true;
      return onHost;
    },
    close: () => powers.close(),
  };
}
