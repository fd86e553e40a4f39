/** The backend that runs kernels. Each kernel's module prepares itself on one of these. */
import type { BackendBase } from './backend-base.js';
import type { CpuBackend } from './cpu/cpu.js';
import type { CudaBackend } from './cuda/cuda.js';

export interface ReferenceBackend extends BackendBase {
  readonly kind: 'reference';
}

/** A union of all backends; modules switch over `kind` and the compiler finds missing cases. */
export type Backend = ReferenceBackend | CpuBackend | CudaBackend;

/** Backends whose work is done when a call returns, so that the host's clock times it. */
export type HostBackend = Exclude<Backend, CudaBackend>;
