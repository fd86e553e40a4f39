/** Single values, lists and texts as items of an HDF5 file. */
import { bytesOf } from '../io/interleave.js';
import type { Fixed } from './write.js';

const fixed = (type: Fixed['type'], dims: readonly number[], bytes: Uint8Array): Fixed => ({
  kind: 'fixed',
  type,
  dims,
  bytes,
});

export const whole = (value: number): Fixed => fixed('int64', [], bytesOf(BigInt64Array.of(BigInt(value))));
export const wholes = (values: readonly number[]): Fixed =>
  fixed('int64', [values.length], bytesOf(BigInt64Array.from(values, BigInt)));
export const real = (value: number): Fixed => fixed('float64', [], bytesOf(Float64Array.of(value)));
export const reals = (values: readonly number[], dims: readonly number[] = [values.length]): Fixed =>
  fixed('float64', dims, bytesOf(Float64Array.from(values)));
export const truth = (value: 'yes' | 'no'): Fixed =>
  fixed('boolean', [], Uint8Array.of(value === 'yes' ? 1 : 0));

/** HDF5 has no text of length zero: a space is written instead. */
export function text(value: string): Fixed {
  const bytes = new TextEncoder().encode(value === '' ? ' ' : value);
  return fixed({ textBytes: bytes.length }, [], bytes);
}

/** All padded to the longest. */
export function texts(values: readonly string[]): Fixed {
  const encoded = values.map((value) => new TextEncoder().encode(value));
  const longest = Math.max(1, ...encoded.map((one) => one.length));
  const bytes = new Uint8Array(longest * values.length);
  encoded.forEach((one, k) => {
    bytes.set(one, k * longest);
  });
  return fixed({ textBytes: longest }, [values.length], bytes);
}
