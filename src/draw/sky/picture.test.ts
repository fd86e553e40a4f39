import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode } from 'fast-png';
import { planeML, type PlaneML } from '../../core/axes.js';
import { instant } from '../../core/instant.js';
import { directionFromAltAz, skyFrame } from '../../sky/frame.js';
import { zenithAxes } from '../../image/cases.js';
import { groundAxes, planImage, type ImagePlan } from '../../image/index.js';
import { renderCanvas, renderPng } from '../render.js';
import type { Picture, TextShape } from '../shapes.js';
import { skyPicture } from './picture.js';

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
/** Centres of closed lines of marker size. */
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
    // the horizon's radius is 405/1.07 = 378.5, so l = 0.6 is 227.1 left of 450
    assert.ok(Math.abs(x - (450 - 227.1)) < 0.1);
    assert.ok(Math.abs(y - 517) < 0.1);
    assert.ok(wordsOf(picture).includes('East') && !wordsOf(picture).includes('Set'));
  });
  it('draws the true horizon, zenith and compass points of an image that leans 10° to the east', () => {
    const leaning = { ...plan, axes: groundAxes(directionFromAltAz(80, 90)) };
    const tilted = skyPicture({
      plane: spot(8, 8),
      plan: leaning,
      title: ['x'],
      unit: '',
      sources: [],
    });
    const letters = new Map(textsOf(tilted).map(({ words, x, y }) => [words, { x, y }]));
    const radius = 405 / 1.07;
    // East on the true horizon is cos 10° from the centre, to the left; the zenith is sin 10° to the right.
    const east = letters.get('E');
    assert.ok(
      east && Math.abs(east.x - (450 - (Math.cos(Math.PI / 18) + 0.04) * radius)) < 0.1,
      `${east?.x}`,
    );
    const west = letters.get('W');
    assert.ok(west && Math.abs(west.x - (450 + 1.04 * radius)) < 0.1, `${west?.x}`);
    const zenith = letters.get('zenith');
    assert.ok(
      zenith && Math.abs(zenith.x - 10 - (450 + Math.sin(Math.PI / 18) * radius)) < 0.1,
      `${zenith?.x}`,
    );
    assert.ok(!wordsOf(picture).includes('zenith'));
    const canvas = renderCanvas(tilted);
    const colourAt = (x: number): string => canvas.rgb.subarray(3 * (517 * canvas.width + x), 3 * (517 * canvas.width + x) + 3).join(); // prettier-ignore
    // 9° below the eastern horizon there is no sky; 9° above the western rim there is.
    const paper = colourAt(3);
    assert.equal(colourAt(Math.round(450 - 0.995 * radius)), paper);
    assert.notEqual(colourAt(Math.round(450 + 0.98 * radius)), paper);
  });
  it('shows a narrow field from edge to edge', () => {
    const field = skyPicture({
      plane: spot(8, 8),
      plan: narrow(60),
      title: ['x'],
      unit: 'Jy/beam',
      stretch: linear,
      sources: [{ name: 'North', directionEnu: { x: 0, y: 0.25, z: Math.sqrt(1 - 0.0625) } }],
    });
    // sin 30° is the half width of 362.5, so m = 0.25 is 181.25 above the centre.
    const [{ x, y }] = markersOf(field);
    assert.ok(Math.abs(x - 457.5) < 0.1 && Math.abs(y - (496.5 - 181.25)) < 0.1, `${x} ${y}`);
  });
  it('has offsets, a scale bar and no coarse position in a field of thousandths of arcseconds', () => {
    const overhead = { directionEnu: { x: 0, y: 0, z: 1 } };
    const sources = [
      { name: 'catalogue', ...overhead, accuracyDeg: 1e-5 },
      { name: 'exact', ...overhead },
    ];
    const words = wordsOf(
      skyPicture({ plane: spot(8, 8), plan: narrow(20 / 3.6e6), title: [], unit: 'Jy', sources }),
    );
    assert.ok(words.includes('−10 mas') && words.includes('exact') && !words.includes('catalogue'));
    // On both axes, and on the bar.
    assert.equal(words.filter((text) => text === '5 mas').length, 3, words.join());
  });

  it('draws no line of the grid outside a field', () => {
    const frame = skyFrame({ latitudeDeg: 34, longitudeDeg: -107, heightM: 0 }, instant(946_728_000));
    const axes = frame.tangentAxes(frame.zenith);
    const field = skyPicture({
      plane: spot(8, 8),
      plan: narrow(20, axes),
      title: ['x'],
      unit: '',
      sources: [],
      frame,
    });
    const lines = field.shapes.flatMap((shape) =>
      shape.kind === 'line' && shape.opacity === 0.3 ? [shape] : [],
    );
    // five declinations, seven right ascensions
    assert.ok(lines.length >= 9, `${lines.length}`);
    for (const { x, y } of lines.flatMap(({ points }) => points)) {
      assert.ok(x >= 95 && x <= 820 && y >= 134 && y <= 859, `${x} ${y}`);
    }
  });
  it('has its compass outside a field, and the numbers of its grid outside too', () => {
    const frame = skyFrame({ latitudeDeg: 34, longitudeDeg: -107, heightM: 0 }, instant(946_728_000));
    const field = skyPicture({
      plane: spot(8, 8),
      plan: narrow(20, frame.tangentAxes(frame.zenith)),
      title: ['x'],
      unit: '',
      sources: [],
      frame,
    });
    const named = (words: string): TextShape => {
      const found = textsOf(field).find((text) => text.words === words);
      assert.ok(found, words);
      return found;
    };
    assert.ok(named('N').y < 134 && named('S').y > 859 && named('E').x < 95 && named('W').x > 820);
    // the zenith is at 11h34m +34°: these lines cross the field
    for (const words of ['+30°', '+35°', '+40°']) assert.ok(named(words).x < 95, words);
    for (const words of ['11h20m', '11h40m']) assert.ok(named(words).y > 859, words);
    // north is up: +40° is above +30°; east is left: 11h40m is left of 11h20m
    assert.ok(named('+40°').y < named('+30°').y && named('11h40m').x < named('11h20m').x);
  });
  it('writes no number of its grid over a source, and all of them with a halo', () => {
    // a source on each circle of altitude where its label would be: azimuth 22.5°
    const sources = [15, 30, 45, 60, 75].map((alt) => ({
      name: `at ${alt}`,
      directionEnu: directionFromAltAz(alt, 22.5),
    }));
    const crowded = skyPicture({ plane: spot(8, 8), plan, title: ['x'], unit: '', sources, stretch: linear });
    const numbers = textsOf(crowded).filter(({ words }) => /^\d+°$/.test(words));
    assert.equal(numbers.length, 5);
    for (const { x, y, words, halo } of numbers) {
      assert.notEqual(halo, undefined);
      for (const marker of markersOf(crowded))
        assert.ok(Math.hypot(x - marker.x, y - marker.y) > 18, `${words} on a source`);
    }
  });
  it('reports what it shows: Stokes, calibration, integration, beam, stretch', () => {
    const facts = skyPicture({
      plane: spot(8, 8),
      plan,
      title: ['x', 'y'],
      unit: 'Jy/beam',
      sources: [],
      stokes: 'I',
      calibration: 'uncalibrated',
      integrationS: 0.0819,
      beam: { majorDeg: 0.51, minorDeg: 0.4, positionAngleDeg: -12.4 },
    });
    const words = wordsOf(facts);
    assert.ok(
      words.includes('Stokes I · uncalibrated · 81.9 ms integrated · beam 30.6′ × 24′, PA −12°'),
      words.join('\n'),
    );
    assert.ok(words.includes('Stokes I, Jy/beam · colours ∝ brightness to the power 0.6'));
    assert.ok(wordsOf(picture).includes('Jy/beam · colours linear in brightness'));
    const product = skyPicture({
      plane: spot(8, 8),
      plan,
      title: [],
      unit: 'counts',
      sources: [],
      stokes: 'XX',
      stretch: linear,
    });
    assert.ok(
      wordsOf(product).some((line) => line.startsWith('XX, counts')),
      'XX is no Stokes parameter',
    );
  });
  it('reaches the peak with its bar, or marks that it is beyond', () => {
    const fine = { ...plan, pixels: 64, pixelSize: plan.pixelSize / 4 };
    const barOf = (peak: number): string[] => {
      const plane = planeML(
        Float64Array.from({ length: 64 * 64 }, (_, k) => (k === 2000 ? peak : k % 100)),
        64,
      );
      const drawn = skyPicture({ plane, plan: fine, title: [], unit: '', sources: [] });
      return wordsOf(drawn).filter((words) => /(up|down) to/.test(words));
    };
    // one pixel in 4096 is above the 99.95th percentile
    assert.deepEqual(barOf(110), ['down to 0']);
    assert.deepEqual(barOf(9000), ['down to 0', 'up to 9000']);
  });
  it('draws the beam to scale, its long axis from north towards east, which is to the left', () => {
    const beam = { majorDeg: 10, minorDeg: 2, positionAngleDeg: 45 };
    const wide = skyPicture({ plane: spot(8, 8), plan: narrow(60), title: [], unit: '', sources: [], beam });
    const { rgb, width } = renderCanvas(wide);
    const isLight = (x: number, y: number): boolean => rgb[3 * (Math.round(y) * width + Math.round(x))] > 60;
    // the field's lower left corner is (95, 859); sin 5° of 362.5/sin 30° is 63.2, and a margin of 10
    const [x, y] = [95 + 73.2, 859 - 73.2];
    const along = 50 * Math.SQRT1_2;
    assert.ok(isLight(x - along, y - along) && isLight(x + along, y + along), 'upper left and lower right');
    assert.ok(!isLight(x - along, y + along) && !isLight(x + along, y - along));
    assert.ok(!isLight(x - 70 * Math.SQRT1_2, y - 70 * Math.SQRT1_2));
  });
  it('becomes one PNG: the source in the middle under its lines', async () => {
    const { width, height, data, channels } = decode(await renderPng(picture, { width: 300 }));
    assert.deepEqual([width, height, channels], [300, 349, 3]);
    const at = (x: number, y: number): number[] => [...data.slice(3 * (y * 300 + x), 3 * (y * 300 + x) + 3)];
    // the background in a corner; the bright pixel in the middle, at (450, 517) of 900
    assert.deepEqual(at(1, 1), [0x0b, 0x0d, 0x13]);
    const [red, green] = at(152, 174);
    assert.ok(red > 200 && green > 200, `${red} ${green}`);
    // white letters of the title keep their full brightness over the background
    const brightest = Array.from({ length: 300 * 20 }, (_, k) => data[3 * k]).reduce((a, b) =>
      Math.max(a, b),
    );
    assert.ok(brightest > 0xd0, `${brightest}`);
  });
});
