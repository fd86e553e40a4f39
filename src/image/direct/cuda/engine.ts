import type { DeviceMemory } from '../../../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../../../backend/cuda/spectra.js';
import type { Closable } from '../../../core/closing.js';

/** Makes sums of products of blocks, [c][product][m][l] float64 in the transform's order, on the compute stream. */
export interface DirectEngine extends Closable {
  /** factors : [c][a] complex float32. `replace` starts new sums. */
  sum(block: CudaSpectraBlock, factors: DeviceMemory, mode: 'replace' | 'add'): void;
}
