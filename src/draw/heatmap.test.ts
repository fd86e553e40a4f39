import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode } from 'fast-png';
import { decibelScale, drawHeatMap, type HeatMap } from './heatmap.js';
import { renderPng } from './render.js';
import { pictureOf } from './plot.js';

describe('heat maps', () => {
  it('draw row 0 at the bottom, column 0 at the left, and nothing in a colour of its own', async () => {
    const map: HeatMap = {
      title: 'four cells',
      x: { label: 'x', range: [0, 2] },
      y: { label: 'y', range: [0, 2] },
      rows: 2,
      columns: 2,
      // Bottom: strongest, nothing. Top: weakest, middle.
      values: Float64Array.of(10, Number.NaN, 0, 5),
      scale: { map: 'power', low: 0, high: 10, label: 'dB' },
    };
    const frame = { left: 80, top: 40, width: 100, height: 100 };
    const picture = decode(
      await renderPng(pictureOf({ width: 220, height: 200 }, [drawHeatMap(map, frame)])),
    );
    const pixel = (x: number, y: number): number[] => {
      const at = (y * picture.width + x) * picture.channels;
      return [...picture.data.subarray(at, at + 3)];
    };
    const [weakest, middle] = [pixel(105, 65), pixel(155, 65)];
    const [strongest, nothing] = [pixel(105, 115), pixel(155, 115)];
    assert.ok(Math.max(...weakest) < 10, `${weakest.join()} is black`);
    assert.ok(Math.min(...strongest) > 150 && strongest[0] > 240, `${strongest.join()} is a light yellow`);
    assert.ok(middle[0] > 150 && middle[2] < 120, `${middle.join()} is red`);
    assert.deepEqual(nothing, [96, 104, 116]);
  });

  it('spend their colours on the bulk, and say when some lie beyond', () => {
    const bulk = Float64Array.from({ length: 1000 }, (_, k) => k / 100);
    assert.deepEqual(decibelScale([bulk], 'dB'), {
      map: 'power',
      low: 0.1,
      high: 9.99,
      label: 'dB',
      below: true,
    });
    const broken = Float64Array.from(bulk, (value, k) => (k === 500 ? 700 : value));
    const { high, above } = decibelScale([broken], 'dB');
    assert.ok(high < 10 && above === true);
  });
});
