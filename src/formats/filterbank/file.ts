/** An open filterbank of any format. */
import type { Closable } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import type { DecodedHeader, FilterbankHeader } from './header.js';

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

/** Refuses values that are not in the file. */
export function checkRange(path: string, values: number, first: number, count: number): void {
  if (!(first >= 0 && count >= 0 && first + count <= values))
    refuse(path, `values ${first} to ${first + count} of ${values} were asked for`, 'ask for what is there');
}

type Values = Parameters<FilterbankWriter['append']>[0];
const arrays = { 8: Uint8Array, 16: Uint16Array, 32: Float32Array } as const;
export type WrittenBits = keyof typeof arrays;

/** The array of values to write; refused for other bits. */
export function arrayOf(path: string, { bits }: FilterbankHeader): (typeof arrays)[WrittenBits] {
  const found = bits in arrays ? arrays[bits as WrittenBits] : undefined;
  return found ?? refuse(path, `values of ${bits} bits are not written`, 'take 8, 16 or 32');
}

export function checkValues(
  path: string,
  { channels, planes }: FilterbankHeader,
  kind: (typeof arrays)[WrittenBits],
  given: Values,
): void {
  if (!(given instanceof kind) || given.length % (channels * planes) !== 0)
    refuse(path, `${given.length} values as ${given.constructor.name}`, `give [t][if][c] as ${kind.name}`);
}
