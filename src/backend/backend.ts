/** The machine under the rooms. Each kernel's room prepares itself on one of these. */
import type { BackendKind, SpectraBlock, SpectraShape } from '../core/blocks.js';

export interface BackendBase {
  readonly kind: BackendKind;
  /** For people: "AVX-512, 2 threads", "NVIDIA H200". */
  readonly description: string;
  /** A block for channelised data, kept as this backend's kernels like it. */
  allocateSpectra(shape: SpectraShape): SpectraBlock;
  /** Frees everything; safe to call twice. */
  close(): Promise<void>;
}

export interface ReferenceBackend extends BackendBase {
  readonly kind: 'reference';
}

/** Grows a member for each backend; rooms switch over `kind` and the compiler finds the ones that forgot. */
export type Backend = ReferenceBackend;
