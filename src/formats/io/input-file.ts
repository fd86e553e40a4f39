/** A file that is read at any place, wherever it lies. */
import type { Closable } from '../../core/closing.js';

export interface InputFile extends Closable {
  readonly path: string;
  readonly sizeBytes: number;
  /** Fills `target` from `position` on; a file that ends before is refused, saying how much is missing. */
  readExactly(target: Uint8Array, position: number): Promise<void>;
}
