import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { turn } from './interleave.js';

describe('turning samples', () => {
  for (const sampleBytes of [1, 2, 4, 8] as const) {
    for (const [rows, columns] of [
      [1, 1],
      [65, 9],
      [7, 130],
      [128, 16],
    ]) {
      it(`moves every byte of ${rows} × ${columns} samples of ${sampleBytes} bytes, and no other`, () => {
        // inside larger matrices: source offset 3 samples, rows 2 samples longer
        const source = { first: 3, stride: columns + 2 };
        const target = { first: 5, stride: rows + 1 };
        const from = Uint8Array.from(
          { length: sampleBytes * (3 + rows * source.stride) },
          (_, n) => 1 + (n % 251),
        );
        const to = new Uint8Array(sampleBytes * (5 + columns * target.stride)).fill(253);
        const expected = to.slice();
        for (let row = 0; row < rows; row++) {
          for (let column = 0; column < columns; column++) {
            const read = sampleBytes * (3 + row * source.stride + column);
            expected.set(
              from.subarray(read, read + sampleBytes),
              sampleBytes * (5 + column * target.stride + row),
            );
          }
        }
        turn({ bytes: from, ...source }, { bytes: to, ...target }, { rows, columns, sampleBytes });
        assert.deepEqual(to, expected);
      });
    }
  }
});
