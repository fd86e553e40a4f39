/** This card's peak rates, and random spectra to measure with. */
import type { Closable } from '../../core/closing.js';
import type { CudaBackend, CudaPath } from './cuda.js';
import type { ArgumentKind, KernelRequest } from './kernels.js';
import type { DevicePointer } from './session.js';
import { commonHeaders, readSource } from './sources.js';

const entries = {
  fillRandom: ['pointer', 'i64', 'i32'],
  multiplyOnly: ['i32', 'pointer'],
} as const satisfies Record<string, readonly ArgumentKind[]>;

export const ceilingRequest = (path: CudaPath) =>
  ({
    name: 'ceilings.cu',
    source: readSource(import.meta.url, 'ceilings.cu'),
    headers: commonHeaders('integers.cuh', 'hopper.cuh', 'wgmma.cuh'),
    defines: { HOPPER: path === 'hopper' ? 1 : 0, TENSOR: path === 'tensor' ? 1 : 0 },
    entries,
  }) satisfies KernelRequest;

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
