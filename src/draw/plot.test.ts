import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode } from 'fast-png';
import { renderPng } from './render.js';
import { linePlot, ticks } from './plot.js';

describe('plots', () => {
  it('mark round numbers inside the range', () => {
    assert.deepEqual(ticks([0.4, 10.3], 6), [2, 4, 6, 8, 10]);
    assert.deepEqual(ticks([0.5, 51], 5), [20, 40]);
  });

  it('become PNGs of the size asked for, with the curve in them', async () => {
    const plot = linePlot({
      title: 'a < b & c',
      x: { label: 'x' },
      y: { label: 'y', range: [0, 2] },
      series: [{ name: 'one', x: [0, 1, 2], y: [1, 1, -Infinity] }],
    });
    const { width, data, channels } = decode(await renderPng(plot, { width: 450 }));
    assert.equal(width, 450);
    // The first series is drawn in #56b4e9, which antialiasing dims a little; nothing else is blue.
    let blue = 0;
    for (let at = 0; at < data.length; at += channels) {
      if (data[at] < 0x80 && data[at + 1] > 0x90 && data[at + 2] > 0xb0) blue++;
    }
    assert.ok(blue > 50, `${blue} pixels of the curve's colour`);
  });

  it('refuse to draw nothing', () => {
    const empty = {
      title: 'none',
      x: { label: '' },
      y: { label: '' },
      series: [{ name: '', x: [NaN], y: [NaN] }],
    };
    assert.throws(() => linePlot(empty), /no finite values/);
  });
});
