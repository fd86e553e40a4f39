/** The ceiling of half-precision products, which the direct image is measured against. */
import type { CudaBackend } from '../../../backend/cuda/cuda.js';
import type { KernelRequest } from '../../../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../../../backend/cuda/sources.js';
import type { Closable } from '../../../core/closing.js';
import { halfWgmmaHeader } from './wgmma-half.js';

export const halfCeilingRequest = () =>
  ({
    name: 'half-ceiling.cu',
    source: readSource(import.meta.url, 'half-ceiling.cu'),
    headers: {
      ...commonHeaders('integers.cuh', 'hopper.cuh'),
      'wgmma-half.cuh': halfWgmmaHeader({ halfSums: [], floatSums: [128] }),
    },
    defines: {},
    entries: { multiplyHalves: ['i32', 'pointer'] },
  }) as const satisfies KernelRequest;

interface HalfCeiling extends Closable {
  /** Operations of one launch. */
  readonly operations: number;
  launch(): void;
}

/** Half-precision products alone, for some milliseconds. */
export async function prepareHalfCeiling({ session, shop }: CudaBackend): Promise<HalfCeiling> {
  const { multiplyHalves } = await shop.prepare(halfCeilingRequest());
  const out = session.allocate('unused result', 4);
  const iterations = 4096;
  const blocks = session.device.multiprocessors;
  return {
    operations: blocks * iterations * 2 * 8 * 2 * 64 * 128 * 16,
    launch: () => {
      multiplyHalves.set([iterations, out.pointer]);
      multiplyHalves.launch({ grid: [blocks, 1], threads: 256 }, session.streams.compute);
    },
    close: () => out.close(),
  };
}
