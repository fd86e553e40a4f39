/** This card's peak rates besides its matrix units: copying, and float32 multiply-adds. */
import { preparing, type Closable, type Closers } from '../../core/closing.js';
import type { CudaBackend } from './cuda.js';
import type { KernelRequest } from './kernels.js';
import { commonHeaders, readSource } from './sources.js';

export const plainCeilingRequest = () =>
  ({
    name: 'plain-ceilings.cu',
    source: readSource(import.meta.url, 'plain-ceilings.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: {},
    entries: {
      copyVectors: ['pointer', 'pointer', 'i64'],
      multiplyAdds: ['i32', { bytes: 4, align: 4, type: 'float' }, 'pointer'],
    },
  }) as const satisfies KernelRequest;

interface PlainCeilings extends Closable {
  /** Bytes read and written by one launch. */
  readonly copyBytes: number;
  readonly copy: () => void;
  /** Operations of one launch. */
  readonly operations: number;
  readonly multiplyAdd: () => void;
}

const COPIED_BYTES = 2 ** 30;
const ITERATIONS = 4096;

export const preparePlainCeilings = (backend: CudaBackend): Promise<PlainCeilings> =>
  preparing((closers) => makeCeilings(backend, closers));

async function makeCeilings({ session, shop }: CudaBackend, closers: Closers): Promise<PlainCeilings> {
  const { copyVectors, multiplyAdds } = await shop.prepare(plainCeilingRequest());
  const from = closers.keep(session.allocate('bytes to copy', COPIED_BYTES));
  const to = closers.keep(session.allocate('bytes copied', COPIED_BYTES));
  const stream = session.streams.compute;
  session.call('cuMemsetD8Async', from.pointer, 0x5a, COPIED_BYTES, stream.handle);
  const blocks = session.device.multiprocessors * 8;
  multiplyAdds.argument(1).view.setFloat32(0, 0.999, true);
  return {
    copyBytes: 2 * COPIED_BYTES,
    copy: () => {
      copyVectors.set([from.pointer, to.pointer, COPIED_BYTES / 16]);
      copyVectors.launch({ grid: [blocks * 4, 1], threads: 256 }, stream);
    },
    operations: blocks * 256 * 32 * ITERATIONS,
    multiplyAdd: () => {
      multiplyAdds.set([ITERATIONS, null, to.pointer]);
      multiplyAdds.launch({ grid: [blocks, 1], threads: 256 }, stream);
    },
    close: () => closers.close(),
  };
}
