/** The machine under the rooms. Each kernel's room prepares itself on one of these. */
import type { BackendBase } from './backend-base.js';
import type { CpuBackend } from './cpu/cpu.js';
import type { CudaBackend } from './cuda/cuda.js';

export interface ReferenceBackend extends BackendBase {
  readonly kind: 'reference';
}

/** Grows a member for each backend; rooms switch over `kind` and the compiler finds the ones that forgot. */
export type Backend = ReferenceBackend | CpuBackend | CudaBackend;

/** Backends whose work is done when a call returns, so that the host's clock times it. */
export type HostBackend = Exclude<Backend, CudaBackend>;
