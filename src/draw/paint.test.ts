import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planeML, type PlaneML } from '../core/axes.js';
import { paintSky } from './paint.js';
import { paletteColour } from './palettes.js';
import { colourFraction, percentileStretch } from './stretch.js';

/** Zero but for one bright pixel. */
const spot = (row: number, column: number): PlaneML => {
  const plane = planeML(new Float64Array(256), 16);
  plane[row * 16 + column] = 1;
  return plane;
};
const linear = { low: 0, high: 1, exponent: 1 };

describe('painted sky', () => {
  const PAPER = 0x010203;
  const GROUND = 0x040506;
  /** The 16 × 16 image on a canvas of 40 × 36, three canvas pixels each, the phase centre at (20.5, 16.5). */
  const paint = (plane: PlaneML): ((x: number, y: number) => number) => {
    const canvas = { width: 40, height: 36, rgb: new Uint8Array(3 * 40 * 36).fill(99) };
    paintSky(
      canvas,
      { left: 0, top: 0, right: 40, bottom: 36 },
      {
        plane,
        pixels: 16,
        stretch: linear,
        palette: 'brightness',
        zoom: 3,
        paper: PAPER,
        ground: GROUND,
        centre: { x: 20.5, y: 16.5 },
        depth: (x, y) => 15 - Math.max(Math.abs(x), Math.abs(y)),
      },
    );
    return (x, y) => Buffer.from(canvas.rgb).readUIntBE(3 * (y * 40 + x), 3);
  };
  const colour = (fraction: number): number => paletteColour('brightness', fraction);

  it('has north up and east to the left, and goes through the pixels’ own values', () => {
    // row 10 is 2 pixels north of the centre, column 11 is 3 east: 6 canvas pixels up, 9 to the left
    const at = paint(spot(10, 11));
    assert.equal(at(20 - 9, 16 - 6), colour(1));
    assert.equal(at(20 - 9 + 3, 16 - 6), colour(0));
    assert.equal(at(20, 16), colour(0));
  });
  it('is between the pixels’ values in between', () => {
    const ramp = planeML(
      Float64Array.from({ length: 256 }, (_, at) => (at % 16) / 16),
      16,
    );
    // a third of a pixel to the west of column 9; linear brightness stays linear
    assert.equal(paint(ramp)(20 - 3 + 1, 16), colour((9 - 1 / 3) / 16));
  });
  it('is paper outside, half and half on the rim, and ground where nothing is known but beside the sky', () => {
    const plane = spot(8, 8);
    plane.fill(NaN, 0, 7 * 16);
    const at = paint(plane);
    assert.equal(at(0, 0), PAPER);
    assert.equal(at(20 - 15, 16), Buffer.from(channels(colour(0), PAPER)).readUIntBE(0, 3));
    // the sky ends with row 7, which is 3 canvas pixels below the centre; the two rows below repeat its value
    assert.deepEqual([at(20, 19), at(20, 22), at(20, 28)], [colour(0), colour(0), GROUND]);
  });
  const channels = (a: number, b: number): number[] =>
    [16, 8, 0].map((shift) => Math.round((((a >> shift) & 255) + ((b >> shift) & 255)) / 2));
});

describe('stretch', () => {
  it('stretches between percentiles and bends by the exponent', () => {
    const plane = planeML(
      Float64Array.from({ length: 256 }, (_, at) => (at < 101 ? at : NaN)),
      16,
    );
    const { low, high } = percentileStretch(plane, 2, 98);
    assert.deepEqual([low, high], [2, 98]);
    assert.equal(colourFraction(5, { low: 1, high: 17, exponent: 0.5 }), 0.5);
    assert.equal(colourFraction(-9, linear), 0);
    assert.equal(colourFraction(9, linear), 1);
    assert.throws(() => percentileStretch(planeML(new Float64Array(256).fill(NaN), 16), 0, 100), /no pixel/);
    // A flat image has one colour, in the middle of a range around it.
    const flat = percentileStretch(planeML(new Float64Array(256).fill(3), 16), 1, 99);
    assert.deepEqual([flat.low, flat.high], [2, 4]);
    assert.throws(() => percentileStretch(plane, 60, 50), /high percentile is 50/);
  });
});
