import type { BackendKind } from '../core/backend-kinds.js';
import type { SpectraBlock, SpectraShape } from '../core/blocks.js';
import type { Closable } from '../core/closing.js';

/** Common to every backend. */
export interface BackendBase extends Closable {
  readonly kind: BackendKind;
  /** For reports: "AVX-512, 2 threads", "NVIDIA H200". */
  readonly description: string;
  /** A block for channelised data, in this backend's layout. */
  allocateSpectra(shape: SpectraShape): SpectraBlock;
  /** Closes everything that it handed out; safe to call twice. */
  close(): Promise<void>;
}
