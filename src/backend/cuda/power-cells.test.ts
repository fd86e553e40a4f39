import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cutEvenly, SUMMED_AT_ONCE } from '../../core/windows.js';
import { cellNumbers, cellsIn, powersBytesOf } from './power-cells.js';

/** cellOf of powers.cuh. */
const cellOf = ({ inverse, eights, last }: ReturnType<typeof cellNumbers>, group: number): number =>
  Math.min(Number(((BigInt(2 * group + 1) * BigInt(eights) - 1n) * inverse) >> 64n), last);

describe('cells of powers', () => {
  it('are whole windows, or parts of them that sums of 64 bits hold', () => {
    assert.deepEqual(cellsIn('ci8', 1000, 256), { cells: 4, perWindow: 1 });
    assert.deepEqual(cellsIn('ci4', 1200, 800), { cells: 6, perWindow: 3 });
    assert.deepEqual(cellsIn('cf32', 1000, 256), { cells: 16, perWindow: 4 });
    assert.deepEqual(cellsIn('cf32', 1200, 800), { cells: 24, perWindow: 12 });
    assert.equal(cellsIn('ci8', 1000, 100).cells, 0);
    for (const window of [128, 256, 331, 480, 1000, 32_768])
      for (const spectra of [24, 100, 383, 500, 1499, 65_535]) {
        const { cells, perWindow } = cellsIn('ci8', spectra, window);
        const edges = cutEvenly(spectra, cells, SUMMED_AT_ONCE);
        for (let n = 1; n <= cells; n++) assert.ok(edges[n] - edges[n - 1] <= 512, `${window} ${spectra}`);
        // A window begins where its first cell does.
        cutEvenly(spectra, cells / perWindow, SUMMED_AT_ONCE).forEach((edge, w) => {
          assert.equal(edges[w * perWindow], edge);
        });
      }
    // 512 powers of 2 · 127² and their squares, side by side.
    assert.ok(512 * 2 * 127 ** 2 < 2 ** 24 && 512 * (2 * 127 ** 2) ** 2 < 2 ** 40);
  });

  it('are found by kernels within the edges', () => {
    for (const window of [128, 250, 256, 700, 9000])
      for (const spectra of [1, 17, 31, 100, 250, 1000, 4097, 65_536, 2 ** 20 - 1]) {
        const { cells } = cellsIn('ci8', spectra, window);
        const edges = cutEvenly(spectra, cells, SUMMED_AT_ONCE);
        const numbers = cellNumbers(spectra, cells);
        assert.ok(numbers.inverse < 2n ** 64n);
        let cell = 0;
        for (let group = 0; 16 * group < spectra; group++) {
          while (cell + 1 < cells && edges[cell + 1] <= 16 * group) cell++;
          assert.equal(cellOf(numbers, group), cell, `${window} ${spectra} ${group}`);
        }
      }
  });

  it('take room where they are asked for', () => {
    const shape = { type: 'ci8', channels: 10, inputs: 3, capacity: 1000 } as const;
    assert.equal(powersBytesOf(shape), 0);
    assert.equal(powersBytesOf({ ...shape, powers: 256 }), 4 * 10 * 3 * 8);
    assert.equal(powersBytesOf({ ...shape, powers: 64 }), 0);
    assert.equal(powersBytesOf({ ...shape, type: 'cf32', powers: 256 }), 16 * 10 * 3 * 8);
  });
});
