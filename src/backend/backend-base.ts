import type { BackendKind, SpectraBlock, SpectraShape } from '../core/blocks.js';

/** What every machine under the rooms offers. */
export interface BackendBase {
  readonly kind: BackendKind;
  /** For people: "AVX-512, 2 threads", "NVIDIA H200". */
  readonly description: string;
  /** A block for channelised data, kept as this backend's kernels like it. */
  allocateSpectra(shape: SpectraShape): SpectraBlock;
  /** Frees everything; safe to call twice. */
  close(): Promise<void>;
}
