/** A filterbank that is open, whatever its format. */
import type { Closable } from '../../core/closing.js';
import type { DecodedHeader } from './header.js';

export interface Filterbank extends Closable, Pick<DecodedHeader, 'header' | 'keywords'> {
  readonly path: string;
  readonly format: 'sigproc' | 'psrfits';
  /** Whole ones. */
  readonly values: number;
  /** After the last whole value: the file was cut short. */
  readonly leftOverBytes: number;
  /** [t][if][c], of `count` values from `first` on. */
  read(first: number, count: number): Promise<Float32Array>;
}

/** What PSRFITS keeps beside values. */
export interface Appended {
  /** [if][c]: stored = value·scale + offset. */
  readonly levels?: { readonly scale: Float32Array; readonly offset: Float32Array };
  /** [t][if][c]: 0 where nothing was received. */
  readonly counts?: Float32Array;
}

export interface FilterbankWriter {
  /** Whole values, [t][if][c]: floats, or unsigned integers of the header's bits. */
  append(values: Float32Array | Uint16Array | Uint8Array, about?: Appended): Promise<void>;
  finish(): Promise<void>;
  /** Ends early: what was written is the file; how many values. With none, nothing is left. */
  keep(): Promise<number>;
  abandon(): Promise<void>;
}
