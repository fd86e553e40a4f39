import type { BackendKind } from '../core/backend-kinds.js';
import type { SpectraBlock, SpectraShape } from '../core/blocks.js';
import type { Closable } from '../core/closing.js';

/** What every machine under the rooms offers. */
export interface BackendBase extends Closable {
  readonly kind: BackendKind;
  /** For people: "AVX-512, 2 threads", "NVIDIA H200". */
  readonly description: string;
  /** A block for channelised data, kept as this backend's kernels like it. */
  allocateSpectra(shape: SpectraShape): SpectraBlock;
  /** Closes everything that it handed out; safe to call twice. */
  close(): Promise<void>;
}
