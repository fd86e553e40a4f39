import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawColourBar, type ColourScale } from './colour-bar.js';
import { angleScale, decibelScale, drawHeatMap, type HeatMap } from './heatmap.js';
import { pictureOf } from './plot.js';
import { renderCanvas } from './render.js';
import type { Shape } from './shapes.js';

const colourIn = (shapes: readonly Shape[], size: { width: number; height: number }) => {
  const { rgb, width } = renderCanvas(pictureOf(size, shapes));
  return (x: number, y: number): number[] => [...rgb.subarray(3 * (y * width + x), 3 * (y * width + x) + 3)];
};
const wordsOf = (shapes: readonly Shape[]): string[] =>
  shapes.flatMap((shape) => (shape.kind === 'text' ? [shape.words] : []));

const power: ColourScale = { palette: 'brightness', low: 0, high: 10, exponent: 1, label: 'dB' };
const frame = { left: 80, top: 40, width: 100, height: 100 };
const heat = (rows: number, columns: number, values: readonly number[], scale = power): HeatMap => ({
  title: 'cells',
  x: { label: 'x', range: [0, columns] },
  y: { label: 'y', range: [0, rows] },
  rows,
  columns,
  values: Float64Array.from(values),
  scale,
});
const NOTHING = [96, 104, 116];

describe('heat maps', () => {
  it('draw row 0 at the bottom, column 0 at the left, and nothing in a colour of its own', () => {
    // Bottom: strongest, missing. Top: weakest, middle.
    const map = heat(2, 2, [10, Number.NaN, 0, 5]);
    const pixel = colourIn(drawHeatMap(map, frame), { width: 220, height: 200 });
    const [weakest, middle] = [pixel(105, 65), pixel(155, 65)];
    const [strongest, nothing] = [pixel(105, 115), pixel(155, 115)];
    assert.ok(Math.max(...weakest) < 10, `${weakest.join()} is black`);
    assert.ok(Math.min(...strongest) > 150 && strongest[0] > 240, `${strongest.join()} is a light yellow`);
    assert.ok(middle[0] > 150 && middle[2] < 120, `${middle.join()} is red`);
    assert.deepEqual(nothing, NOTHING);
    // cells have sharp edges: no smoothing
    assert.deepEqual(pixel(129, 115), strongest);
    assert.deepEqual(pixel(131, 115), nothing);
  });

  it('lose no strong cell where there are more cells than pixels', () => {
    const values = new Array<number>(1000 * 300).fill(0);
    values[700 * 300 + 200] = 10;
    const pixel = colourIn(drawHeatMap(heat(1000, 300, values), frame), { width: 220, height: 200 });
    // row 700 of 1000 is 70 of 100 up, column 200 of 300 is 66 along
    assert.ok(pixel(80 + 66, 40 + 99 - 70)[0] > 240);
    assert.ok(pixel(80 + 65, 40 + 99 - 70)[0] < 10);
  });

  it('spend their colours on the bulk, and keep what is beyond', () => {
    const bulk = Float64Array.from({ length: 1000 }, (_, k) => k / 100);
    const { low, high, least, most } = decibelScale([bulk], 'dB');
    assert.deepEqual([low, high, least, most], [0.1, 9.99, 0, 9.99]);
    const broken = Float64Array.from(bulk, (value, k) => (k === 500 ? 700 : k === 501 ? -Infinity : value));
    const scale = decibelScale([broken], 'dB');
    assert.ok(scale.high < 10 && scale.most === 700 && scale.least === 0);
  });
});

describe('colour bars', () => {
  const bar = { left: 80, top: 40, width: 20, height: 100 };
  it('rise from the lowest to the highest, their numbers beside them', () => {
    const shapes = drawColourBar(power, bar, { stands: 'beside', missing: true });
    const pixel = colourIn(shapes, { width: 220, height: 220 });
    assert.ok(Math.max(...pixel(90, 138)) < 15 && pixel(90, 42)[0] > 240);
    assert.deepEqual(pixel(90, 173), NOTHING);
    assert.deepEqual(wordsOf(shapes), ['0', '5', '10', 'missing', 'dB']);
  });
  it('mark the ends that numbers lie beyond, and report how far they go', () => {
    const shapes = drawColourBar({ ...power, least: -36.12, most: 700 }, bar, { stands: 'beside' });
    assert.ok(wordsOf(shapes).includes('down to −36.1') && wordsOf(shapes).includes('up to 700'));
    // a tip of 14 above the bar, in the highest colour
    assert.ok(colourIn(shapes, { width: 220, height: 220 })(90, 34)[0] > 240);
    const within = drawColourBar({ ...power, least: 0, most: 10 }, bar, { stands: 'beside' });
    assert.ok(!wordsOf(within).some((words) => words.includes(' to ')));
  });
  it('lie too, with numbers where the stretch puts them', () => {
    const lying = { left: 50, top: 20, width: 100, height: 10 };
    const shapes = drawColourBar({ ...power, exponent: 0.5, ticks: [0, 2.5, 10] }, lying, {
      stands: 'below',
    });
    const places = shapes.flatMap((shape) => (shape.kind === 'text' ? [[shape.words, shape.x]] : []));
    // a quarter of the range has half of the colours: √0.25
    assert.deepEqual(places, [
      ['0.0', 50],
      ['2.5', 100],
      ['10.0', 150],
    ]);
    const over = wordsOf(drawColourBar({ ...power, most: 12.3 }, lying, { stands: 'below' }));
    assert.ok(over.includes('up to 12.3'));
  });
  it('of angles have the same colour at both ends', () => {
    const pixel = colourIn(drawColourBar(angleScale, bar, { stands: 'beside' }), { width: 220, height: 220 });
    const [top, bottom, middle] = [pixel(90, 42), pixel(90, 137), pixel(90, 90)];
    assert.ok(top.every((value, k) => Math.abs(value - bottom[k]) < 40) && Math.max(...top, ...bottom) < 90);
    assert.ok(Math.min(...middle) > 200);
  });
});
