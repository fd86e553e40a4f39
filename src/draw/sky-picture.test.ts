import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode } from 'fast-png';
import { planeML, type PlaneML } from '../core/axes.js';
import { instant } from '../core/instant.js';
import { renderPng } from './render.js';
import { skyFrame } from '../sky/frame.js';
import { zenithAxes } from '../image/cases.js';
import { planImage } from '../image/index.js';
import { skyPicture } from './sky-picture.js';
import { placeLabels } from './labels.js';
import { paintSky } from './paint.js';
import { niceTicks } from './sky-picture.js';
import { colourAt, colourFraction, percentileStretch } from './stretch.js';
import { equatorialGrid, horizontalGrid } from './sky-grid.js';

const plan = planImage({
  pixels: 16,
  field: { kind: 'all-sky' },
  stationsM: [{ x: 0, y: 0, z: 0 }],
  axes: zenithAxes,
  frequenciesHz: Float64Array.of(60e6),
  polarisations: 1,
});
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
    paintSky(canvas, {
      ...{ plane, pixels: 16, stretch: linear, zoom: 3, paper: PAPER, ground: GROUND },
      centre: { x: 20.5, y: 16.5 },
      depth: (x, y) => 15 - Math.max(Math.abs(x), Math.abs(y)),
    });
    return (x, y) => Buffer.from(canvas.rgb).readUIntBE(3 * (y * 40 + x), 3);
  };
  const colour = (fraction: number): number => Number.parseInt(colourAt(fraction).slice(1), 16);

  it('has north up and east to the left, and goes through the pixels’ own values', () => {
    // row 10 lies 2 pixels north of the middle, column 11 lies 3 east: 6 canvas pixels up, 9 to the left
    const at = paint(spot(10, 11));
    assert.equal(at(20 - 9, 16 - 6), colour(1));
    assert.equal(at(20 - 9 + 3, 16 - 6), colour(0));
    assert.equal(at(20, 16), colour(0));
  });
  it('lies between the pixels’ values in between', () => {
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
    // the sky ends with row 7, which is 3 canvas pixels below the middle; the two rows below borrow its value
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

describe('labels', () => {
  it('keep clear of each other and of other markers', () => {
    const markers = [0, 1, 2, 3].map((n) => ({ x: 100 + 30 * n, y: 100, text: `Source ${n}` }));
    const placed = placeLabels(markers, { fontSize: 15, markerRadius: 10, isFree: () => true });
    const box = ({ textX, textY, anchor, text }: (typeof placed)[number]) => {
      const width = text.length * 15 * 0.62;
      const left = { start: textX, middle: textX - width / 2, end: textX - width }[anchor];
      return { left, right: left + width, top: textY - 14, bottom: textY + 3 };
    };
    for (const [n, one] of placed.entries()) {
      for (const other of placed.slice(n + 1)) {
        const [a, b] = [box(one), box(other)];
        const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
        assert.ok(apart, `${one.text} over ${other.text}`);
      }
    }
  });
  it('turn inwards at the edge', () => {
    const options = { fontSize: 15, markerRadius: 10, isFree: (x: number) => x < 110 };
    const [{ anchor }] = placeLabels([{ x: 95, y: 50, text: 'Her A' }], options);
    assert.equal(anchor, 'end');
  });
});

describe('grids', () => {
  it('draw altitude 60° at half the radius, and the pole at the latitude’s altitude', () => {
    const { lines, labels } = horizontalGrid(plan);
    assert.ok(lines[3].every(({ l, m }) => Math.abs(Math.hypot(l, m) - 0.5) < 1e-9));
    assert.deepEqual(
      labels.map(({ text }) => text),
      ['15°', '30°', '45°', '60°', '75°'],
    );
    const frame = skyFrame({ latitudeDeg: 34, longitudeDeg: -107, heightM: 0 }, instant(946_728_000));
    const grid = equatorialGrid({ ...plan, axes: frame.tangentAxes(frame.zenith) }, frame);
    // declination +60° circles the pole, which stands at m = cos 34°, l = 0 (J2000 axes at J2000)
    const circle = grid.lines.find((line) => line.length > 200 && line.every(({ m }) => m > 0));
    assert.ok(circle);
    const middle = circle.reduce((sum, { l }) => sum + l, 0) / circle.length;
    assert.ok(Math.abs(middle) < 0.01, `${middle}`);
  });
});

describe('sky picture', () => {
  const { svg, under } = skyPicture({
    plane: spot(8, 8),
    plan,
    title: ['First <light>', 'LWA-SV'],
    unit: 'Jy/beam',
    sources: [
      { name: 'East', directionEnu: { x: 0.6, y: 0, z: 0.8 } },
      { name: 'Set', directionEnu: { x: 0.6, y: 0, z: -0.8 } },
    ],
    stretch: linear,
  });
  it('marks a source in the east left of the middle, and none that has set', () => {
    const [, x, y] = /<circle cx="([\d.]+)" cy="([\d.]+)" r="18"/.exec(svg) ?? [];
    // the horizon's radius is 405/1.07 = 378.5, so l = 0.6 lies 227.1 left of 450
    assert.ok(Math.abs(Number(x) - (450 - 227.1)) < 0.1);
    assert.equal(Number(y), 501);
    assert.ok(svg.includes('>East<') && !svg.includes('>Set<'));
  });
  it('shows a narrow field from edge to edge', () => {
    const narrow = planImage({
      pixels: 16,
      field: { kind: 'field', widthDeg: 60 },
      stationsM: [{ x: 0, y: 0, z: 0 }],
      axes: zenithAxes,
      frequenciesHz: Float64Array.of(60e6),
      polarisations: 1,
    });
    const picture = skyPicture({
      ...{ plane: spot(8, 8), plan: narrow, title: ['x'], unit: 'Jy/beam', stretch: linear },
      sources: [{ name: 'North', directionEnu: { x: 0, y: 0.25, z: Math.sqrt(1 - 0.0625) } }],
    });
    // sin 30° fills the half width of 405, so m = 0.25 lies 202.5 above the middle.
    const [, x, y] = /<circle cx="([\d.]+)" cy="([\d.]+)" r="18"/.exec(picture.svg) ?? [];
    assert.equal(Number(x), 450);
    assert.ok(Math.abs(Number(y) - (501 - 202.5)) < 0.1, y);
  });
  it('escapes what people write', () => {
    assert.ok(svg.includes('First &lt;light&gt;') && !svg.includes('<light>'));
    assert.ok(svg.includes('Jy/beam'));
  });
  it('becomes one PNG: the source in the middle under its lines', async () => {
    const { width, height, data, channels } = decode(await renderPng(svg, { width: 300, under }));
    assert.deepEqual([width, height, channels], [300, 337, 3]);
    const at = (x: number, y: number): number[] => [...data.slice(3 * (y * 300 + x), 3 * (y * 300 + x) + 3)];
    // the paper in a corner; the bright pixel in the middle, at (450, 501) of 900
    assert.deepEqual(at(1, 1), [0x0b, 0x0d, 0x13]);
    const [red, green] = at(152, 169);
    assert.ok(red > 200 && green > 200, `${red} ${green}`);
    // white letters of the title lie over the paper undimmed
    const brightest = Array.from({ length: 300 * 20 }, (_, k) => data[3 * k]).reduce((a, b) =>
      Math.max(a, b),
    );
    assert.ok(brightest > 0xd0, `${brightest}`);
  });
  it('ticks at round numbers', () => {
    const near = (found: number[], wanted: number[]): void => {
      assert.deepEqual(
        found.map((value) => Number(value.toPrecision(9))),
        wanted,
      );
    };
    near(niceTicks(0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1]);
    near(niceTicks(-130, 4300), [0, 1000, 2000, 3000, 4000]);
  });
});
