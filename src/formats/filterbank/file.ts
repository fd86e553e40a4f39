/** An open filterbank of any format. */
import type { Closable } from '../../core/closing.js';
import type { DecodedHeader } from './header.js';

export interface Filterbank extends Closable, Pick<DecodedHeader, 'header' | 'keywords'> {
  readonly path: string;
  readonly format: 'sigproc' | 'psrfits';
  /** Whole values. */
  readonly values: number;
  /** After the last whole value, if the file is truncated. */
  readonly leftOverBytes: number;
  /** [t][if][c], of `count` values, starting at `first`. */
  read(first: number, count: number): Promise<Float32Array>;
}

/** What PSRFITS stores besides values. */
export interface Appended {
  /** [if][c]: stored = value·scale + offset. */
  readonly levels?: { readonly scale: Float32Array; readonly offset: Float32Array };
  /** [t][if][c]: 0 where no data arrived. */
  readonly counts?: Float32Array;
}

export interface FilterbankWriter {
  /** Whole values, [t][if][c]: floats, or unsigned integers of the header's bits. */
  append(values: Float32Array | Uint16Array | Uint8Array, about?: Appended): Promise<void>;
  finish(): Promise<void>;
  /** Ends early: the values written so far are the file; returns their number. With none, the file is removed. */
  keep(): Promise<number>;
  abandon(): Promise<void>;
}
