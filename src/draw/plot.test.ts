import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode } from 'fast-png';
import { linePlot } from './plot.js';
import { renderCanvas, renderPng } from './render.js';

describe('plots', () => {
  const plot = linePlot({
    title: 'a < b & c',
    x: { label: 'x', range: [0, 2] },
    y: { label: 'y', range: [0, 2] },
    series: [{ name: 'one', x: [0, 1, 2], y: [1, 1, -Infinity] }],
  });
  it('become PNGs of the size asked for', async () => {
    const { width, height, channels, data } = decode(await renderPng(plot, { width: 450 }));
    assert.deepEqual([width, height, channels], [450, 260, 3]);
    const canvas = renderCanvas(plot, { width: 450 });
    assert.deepEqual([...data], [...canvas.rgb], 'what a PNG reader sees is what was painted');
  });
  it('draw curves where their numbers are, and nothing of them outside the frame', () => {
    const { rgb, width } = renderCanvas(plot);
    const isBlue = (x: number, y: number): boolean => {
      const [red, green, blue] = rgb.subarray(3 * (y * width + x));
      return red < 0x80 && green > 0x90 && blue > 0xb0;
    };
    // frame: left 90, top 60, 770 × 380; y = 1 is in the middle
    assert.ok(isBlue(200, 250) && !isBlue(200, 254) && !isBlue(200, 246));
    // towards −∞ it leaves through the bottom and ends there
    for (let y = 443; y < 520; y++) for (let x = 0; x < 900; x++) assert.ok(!isBlue(x, y), `${x} ${y}`);
  });
  it('put dots on their places', () => {
    const dots = linePlot({
      title: '',
      x: { label: '', range: [0, 2] },
      y: { label: '', range: [0, 2] },
      series: [{ name: 'dots', x: [0.5, 3], y: [1.5, 1], drawn: 'dots', size: 3 }],
    });
    const areas = dots.shapes.filter(({ kind }) => kind === 'area');
    assert.equal(areas.length, 1, 'what is outside the frame is left out');
    const { rgb, width } = renderCanvas(dots);
    const at = (x: number, y: number): number[] => [
      ...rgb.subarray(3 * (y * width + x), 3 * (y * width + x) + 3),
    ];
    assert.deepEqual(at(Math.floor(90 + 770 / 4), 60 + 380 / 4), [0x56, 0xb4, 0xe9]);
  });
  it('name several curves, not one', () => {
    const words = (count: number): number =>
      linePlot({
        title: 't',
        x: { label: 'x' },
        y: { label: 'y' },
        series: Array.from({ length: count }, (_, k) => ({ name: `curve ${k}`, x: [0, 1], y: [0, k + 1] })),
      }).shapes.filter((shape) => shape.kind === 'text' && shape.words.startsWith('curve')).length;
    assert.deepEqual([1, 2, 3].map(words), [0, 2, 3]);
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
  it('refuse sizes that are none', () => {
    assert.throws(() => renderCanvas(plot, { width: 0 }), /width is 0/);
  });
});
