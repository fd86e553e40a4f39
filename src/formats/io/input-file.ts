/** A file with random access, local or remote. */
import type { Closable } from '../../core/closing.js';

export interface InputFile extends Closable {
  readonly path: string;
  readonly sizeBytes: number;
  /** Fills `target` from `position` on; fails if the file ends before, stating how much is missing. */
  readExactly(target: Uint8Array, position: number): Promise<void>;
}
