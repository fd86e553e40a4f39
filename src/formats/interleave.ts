/**
 * Turns [t][a] as recorders interleave it into [a][t] and back. Samples are moved as whole words, whatever they
 * hold, so that every bit survives (a NaN's too).
 */

/** Where a matrix of samples lies in memory; counted in samples. */
export interface Matrix {
  readonly bytes: Uint8Array;
  /** Sample at row 0, column 0. */
  readonly first: number;
  /** From one row to the next. */
  readonly stride: number;
}

/** The bytes under any typed array. */
export const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

export type SampleBytes = 1 | 2 | 4 | 8;

type Words = Uint8Array | Uint16Array | Uint32Array;
const makeWords = {
  1: (bytes) => bytes,
  2: (bytes) => new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 1),
  4: (bytes) => new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2),
  8: (bytes) => new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2),
} satisfies Record<SampleBytes, (bytes: Uint8Array) => Words>;

/** Square tiles: both sides of a tile stay in the first cache, where whole rows would not. */
const TILE = 64;

/** target[column][row] = source[row][column] over rows × columns samples. */
export function turn(
  source: Matrix,
  target: Matrix,
  size: { readonly rows: number; readonly columns: number; readonly sampleBytes: SampleBytes },
): void {
  const { rows, columns, sampleBytes } = size;
  const from: Words = makeWords[sampleBytes](source.bytes);
  const to: Words = makeWords[sampleBytes](target.bytes);
  for (let row0 = 0; row0 < rows; row0 += TILE) {
    const rowEnd = Math.min(rows, row0 + TILE);
    for (let column0 = 0; column0 < columns; column0 += TILE) {
      const columnEnd = Math.min(columns, column0 + TILE);
      for (let row = row0; row < rowEnd; row++) {
        for (let column = column0; column < columnEnd; column++) {
          const read = source.first + row * source.stride + column;
          const write = target.first + column * target.stride + row;
          if (sampleBytes === 8) {
            to[2 * write] = from[2 * read];
            to[2 * write + 1] = from[2 * read + 1];
          } else {
            to[write] = from[read];
          }
        }
      }
    }
  }
}
