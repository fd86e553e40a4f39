/** Lists of the taps in each grid cell: every tap of every antenna once, in the right cell. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { randomStations, zenithAxes } from '../../cases.js';
import { cellLists } from './single.js';
import { touchedCells } from './choice.js';
import { planImage } from '../../index.js';

it('lists of cells hold what spreading antenna by antenna would', () => {
  const plan = planImage({
    pixels: 64,
    field: { kind: 'all-sky' },
    stationsM: randomStations(5, 17, 40),
    axes: zenithAxes,
    frequenciesHz: Float64Array.of(60e6, 52e6),
    polarisations: 1,
    kernel: { kind: 'fitted', size: 3 },
  });
  const { channels, stations, kernelSize: size, corners, taps } = plan;
  const touched = touchedCells(plan);
  const [rows, columns] = [touched.endRow - touched.firstRow, touched.endColumn - touched.firstColumn + 1];
  const lists = cellLists(plan, touched, { rows, columns });
  for (let c = 0; c < channels; c++) {
    const wanted = new Float64Array(2 * rows * columns);
    for (let s = 0; s < stations; s++) {
      const at = c * stations + s;
      for (let tap = 0; tap < size * size; tap++) {
        const row = corners[2 * at] - touched.firstRow + Math.floor(tap / size);
        const column = corners[2 * at + 1] - touched.firstColumn + (tap % size);
        for (let part = 0; part < 2; part++)
          wanted[2 * (row * columns + column) + part] += (s + 1) * taps[2 * (at * size * size + tap) + part];
      }
    }
    const found = new Float64Array(2 * rows * columns);
    const first = c * (rows * columns + 1);
    for (let cell = 0; cell < rows * columns; cell++) {
      for (let n = lists.starts[first + cell]; n < lists.starts[first + cell + 1]; n++) {
        for (let part = 0; part < 2; part++)
          found[2 * cell + part] += (lists.stations[n] + 1) * lists.taps[2 * n + part];
      }
    }
    assert.deepEqual(found, wanted);
    assert.equal(lists.starts[first + rows * columns], (c + 1) * stations * size * size);
  }
});
