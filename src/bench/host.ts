import type { Backend } from '../backend/backend.js';
import type { CudaBackend } from '../backend/cuda/cuda.js';

/** Backends whose kernels are timed by the host's clock. */
export type HostBackend = Exclude<Backend, CudaBackend>;
