/** Memory that native code uses and JavaScript owns. */
import koffi from 'koffi';

export interface AlignedMemory {
  readonly address: bigint;
  /** Keeps the memory alive: native code may use it as long as this is held. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Zeroed, from a multiple of `alignment` (a power of two) on. It is an ordinary array of JavaScript and is never freed
 * under a view of it: what is read late is old, and cannot crash.
 */
export function alignedMemory(sizeBytes: number, alignment: number): AlignedMemory {
  // A buffer of its own: V8 may move the contents of a small typed array.
  const whole = new Uint8Array(new ArrayBuffer(sizeBytes + alignment));
  const start = koffi.address(whole);
  const skip = Number(-start & BigInt(alignment - 1));
  return { address: start + BigInt(skip), bytes: whole.subarray(skip, skip + sizeBytes) };
}
