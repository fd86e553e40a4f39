/**
 * Transposes recorders' [t][a] into [a][t] and back. Samples are moved as whole words, so every bit is preserved (a
 * NaN's too).
 */

/** The memory layout of a matrix of samples; counted in samples. */
interface Matrix {
  readonly bytes: Uint8Array;
  /** Sample at row 0, column 0. */
  readonly first: number;
  /** From one row to the next. */
  readonly stride: number;
}

/** The bytes of any typed array. */
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

/**
 * Tiles of 64 rows and 8 columns, so that a tile's output stays in the first-level cache. Only 8 because recordings
 * often have power-of-two sizes: all of a tile's targets then share one cache set, which holds about 8 lines.
 */
const TILE_ROWS = 64;
const TILE_COLUMNS = 8;

/** target[column][row] = source[row][column] over rows × columns samples. */
export function turn(
  source: Matrix,
  target: Matrix,
  size: { readonly rows: number; readonly columns: number; readonly sampleBytes: SampleBytes },
): void {
  const { rows, columns, sampleBytes } = size;
  const from: Words = makeWords[sampleBytes](source.bytes);
  const to: Words = makeWords[sampleBytes](target.bytes);
  for (let row0 = 0; row0 < rows; row0 += TILE_ROWS) {
    const rowEnd = Math.min(rows, row0 + TILE_ROWS);
    for (let column0 = 0; column0 < columns; column0 += TILE_COLUMNS) {
      const columnEnd = Math.min(columns, column0 + TILE_COLUMNS);
      for (let row = row0; row < rowEnd; row++) {
        const read = source.first + row * source.stride;
        const write = target.first + row;
        if (sampleBytes === 8) {
          for (let column = column0; column < columnEnd; column++) {
            to[2 * (write + column * target.stride)] = from[2 * (read + column)];
            to[2 * (write + column * target.stride) + 1] = from[2 * (read + column) + 1];
          }
        } else {
          for (let column = column0; column < columnEnd; column++) {
            to[write + column * target.stride] = from[read + column];
          }
        }
      }
    }
  }
}
