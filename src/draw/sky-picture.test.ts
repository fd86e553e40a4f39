import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode } from 'fast-png';
import { planeML, type PlaneML } from '../core/axes.js';
import { instant } from '../core/instant.js';
import { skyFrame } from '../sky/frame.js';
import { zenithAxes } from '../image/cases.js';
import { planImage, type ImagePlan } from '../image/index.js';
import { renderPng } from './render.js';
import type { Picture, TextShape } from './shapes.js';
import { skyPicture } from './sky-picture.js';

const plan = planImage({
  pixels: 16,
  field: { kind: 'all-sky' },
  stationsM: [{ x: 0, y: 0, z: 0 }],
  axes: zenithAxes,
  frequenciesHz: Float64Array.of(60e6),
  polarisations: 1,
});
const narrow = (widthDeg: number, axes: ImagePlan['axes'] = zenithAxes): ImagePlan => ({
  ...plan,
  field: { kind: 'field', widthDeg },
  axes,
});
/** Zero but for one bright pixel. */
const spot = (row: number, column: number): PlaneML => {
  const plane = planeML(new Float64Array(256), 16);
  plane[row * 16 + column] = 1;
  return plane;
};
const linear = { low: 0, high: 1, exponent: 1 };

const textsOf = ({ shapes }: Picture): TextShape[] =>
  shapes.flatMap((shape) => (shape.kind === 'text' ? [shape] : []));
const wordsOf = (picture: Picture): string[] => textsOf(picture).map(({ words }) => words);
/** Middles of closed lines as small as a marker. */
const markersOf = ({ shapes }: Picture): { x: number; y: number }[] =>
  shapes.flatMap((shape) => {
    if (shape.kind !== 'line' || shape.closed !== true) return [];
    const middle = (values: readonly number[]): number => (Math.min(...values) + Math.max(...values)) / 2;
    const xs = shape.points.map(({ x }) => x);
    const isSmall = Math.max(...xs) - Math.min(...xs) < 50;
    return isSmall ? [{ x: middle(xs), y: middle(shape.points.map(({ y }) => y)) }] : [];
  });

describe('sky picture', () => {
  const picture = skyPicture({
    plane: spot(8, 8),
    plan,
    title: ['First <light>', 'a & b'],
    unit: 'Jy/beam',
    sources: [
      { name: 'East', directionEnu: { x: 0.6, y: 0, z: 0.8 } },
      { name: 'Set', directionEnu: { x: 0.6, y: 0, z: -0.8 } },
    ],
    stretch: linear,
  });
  it('marks a source in the east left of the middle, and none that has set', () => {
    const [{ x, y }] = markersOf(picture);
    // the horizon's radius is 405/1.07 = 378.5, so l = 0.6 lies 227.1 left of 450
    assert.ok(Math.abs(x - (450 - 227.1)) < 0.1);
    assert.ok(Math.abs(y - 501) < 0.1);
    assert.ok(wordsOf(picture).includes('East') && !wordsOf(picture).includes('Set'));
  });
  it('shows a narrow field from edge to edge', () => {
    const field = skyPicture({
      ...{ plane: spot(8, 8), plan: narrow(60), title: ['x'], unit: 'Jy/beam', stretch: linear },
      sources: [{ name: 'North', directionEnu: { x: 0, y: 0.25, z: Math.sqrt(1 - 0.0625) } }],
    });
    // sin 30° fills the half width of 405, so m = 0.25 lies 202.5 above the middle.
    const [{ x, y }] = markersOf(field);
    assert.ok(Math.abs(x - 450) < 0.1 && Math.abs(y - (501 - 202.5)) < 0.1, `${x} ${y}`);
  });
  it('draws no line of the grid outside a field', () => {
    const frame = skyFrame({ latitudeDeg: 34, longitudeDeg: -107, heightM: 0 }, instant(946_728_000));
    const axes = frame.tangentAxes(frame.zenith);
    const field = skyPicture({
      ...{ plane: spot(8, 8), plan: narrow(20, axes), title: ['x'], unit: '', sources: [], frame },
    });
    const lines = field.shapes.flatMap((shape) =>
      shape.kind === 'line' && shape.opacity === 0.3 ? [shape] : [],
    );
    assert.ok(lines.length > 10);
    for (const { x, y } of lines.flatMap(({ points }) => points)) {
      assert.ok(x >= 45 && x <= 855 && y >= 96 && y <= 906, `${x} ${y}`);
    }
  });
  it('becomes one PNG: the source in the middle under its lines', async () => {
    const { width, height, data, channels } = decode(await renderPng(picture, { width: 300 }));
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
});
