import type { DeviceMemory } from '../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../backend/cuda/spectra.js';

/** Adds blocks to the sums of products, [c][product][m][l] float64 in the transform's order, on the compute stream. */
export interface DirectEngine {
  /** factors : [c][a] complex float32. */
  add(block: CudaSpectraBlock, factors: DeviceMemory): void;
  readonly memories: readonly { free(): void }[];
}
