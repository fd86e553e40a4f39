/** This card's peak rates, of its matrix units and without them, and random spectra to measure with. */
import { preparing, type Closable } from '../../core/closing.js';
import type { CudaBackend, CudaPath } from './cuda.js';
import type { KernelRequest } from './kernels.js';
import type { DevicePointer } from './session.js';
import { kernelSource } from './sources.js';

export const ceilingRequest = (path: CudaPath) =>
  ({
    ...kernelSource(import.meta.url, 'ceilings.cu', 'hopper.cuh', 'wgmma.cuh'),
    defines: { HOPPER: path === 'hopper' ? 1 : 0, TENSOR: path === 'tensor' ? 1 : 0 },
    entries: {
      fillRandom: ['pointer', 'i64', 'i32'],
      multiplyOnly: ['i32', 'pointer'],
      copyVectors: ['pointer', 'pointer', 'i64'],
      multiplyAdds: ['i32', { bytes: 4, align: 4, type: 'float' }, 'pointer'],
    },
  }) as const satisfies KernelRequest;

/** Operations of a block of 256 threads in one iteration (ceilings.cu). */
const operations = {
  hopper: 2 * 2 * 64 * 128 * 32 * 8,
  tensor: 8 * 2 * 16 * 8 * 32 * 16,
  dp4a: 256 * 8 * 16,
} satisfies Record<CudaPath, number>;
const sharedBytes = { hopper: 66_560, tensor: 0, dp4a: 0 } satisfies Record<CudaPath, number>;
/** Blocks that fill a multiprocessor: wgmma needs one, the others several to hide their latency. */
const blocksPerMultiprocessor = { hopper: 1, tensor: 2, dp4a: 4 } satisfies Record<CudaPath, number>;

export interface Ceilings extends Closable {
  /** int8 operations of one launch of the products-only kernel. */
  readonly operations: number;
  launch(): void;
  /** Fills device memory with bytes in −127…127. */
  fill(pointer: DevicePointer, sizeBytes: number, seed: number): void;
}

export async function prepareCeilings(backend: CudaBackend): Promise<Ceilings> {
  const { session, shop, path } = backend;
  const kernels = await shop.prepare(ceilingRequest(path));
  const out = session.allocate('unused result', 4);
  const iterations = 4096;
  const blocks = session.device.multiprocessors * blocksPerMultiprocessor[path];
  const stream = session.streams.compute;
  return {
    operations: operations[path] * blocks * iterations,
    launch: () => {
      kernels.multiplyOnly.set([iterations, out.pointer]);
      kernels.multiplyOnly.launch(
        { grid: [blocks, 1], threads: 256, sharedBytes: sharedBytes[path] },
        stream,
      );
    },
    fill: (pointer, sizeBytes, seed) => {
      kernels.fillRandom.set([pointer, sizeBytes, seed]);
      kernels.fillRandom.launch({ grid: [4096, 1], threads: 256 }, stream);
    },
    close: () => out.close(),
  };
}

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

export const preparePlainCeilings = ({ session, shop, path }: CudaBackend): Promise<PlainCeilings> =>
  preparing(async (closers) => {
    const { copyVectors, multiplyAdds } = await shop.prepare(ceilingRequest(path));
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
  });
