import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { imageCPML, planeML, tapsCSKK } from '../core/axes.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { randomStations, zenithAxes } from './cases.js';
import {
  averageChannels,
  fittingPixels,
  measureSource,
  pixelCosine,
  placeOf,
  planImage,
  stokesI,
} from './index.js';
import type { ImageOptions, ImagePlan } from './index.js';

const plan = (options: Partial<ImageOptions>): ImagePlan =>
  planImage({
    pixels: 64,
    field: { kind: 'all-sky' },
    stationsM: randomStations(1, 12, 60, 0),
    axes: zenithAxes,
    frequenciesHz: Float64Array.of(60e6),
    polarisations: 1,
    ...options,
  });
const rms = (values: Float64Array): number =>
  Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0) / values.length);

describe('image plan', () => {
  it('puts the horizon inside, the zenith at n/2, and blanks what is below', () => {
    const { pixels, pixelSize, shown } = plan({});
    assert.ok(Math.abs(pixels * pixelSize - 2.3) < 1e-12);
    assert.equal(pixelCosine({ pixels, pixelSize }, 32), 0);
    assert.equal(shown[32 * 64 + 32], 1);
    assert.equal(shown[0], 0);
    // π/4 of the square of the hemisphere, which is 1/1.15² of the image
    const fraction = shown.reduce((sum, value) => sum + value, 0) / 64 ** 2;
    assert.ok(Math.abs(fraction - Math.PI / 4 / 1.15 ** 2) < 0.01);
  });
  it('blanks what is below the horizon of a tilted field', () => {
    // centre 30° up in the north: m towards the zenith side is up, the south of the image is below the horizon
    const [c, s] = [Math.cos(Math.PI / 6), Math.sin(Math.PI / 6)];
    const axes = { l: { x: 1, y: 0, z: 0 }, m: { x: 0, y: -s, z: c }, n: { x: 0, y: c, z: s } };
    const { shown, pixelSize } = plan({ axes, stationsM: randomStations(1, 4, 3, 0) });
    // along l = 0 the horizon is where m·cos 30° + n·sin 30° = 0, m = −sin 30°
    const row = (m: number): number => shown[Math.round(m / pixelSize + 32) * 64 + 32];
    assert.deepEqual([row(-0.55), row(-0.45), row(0.9)], [0, 1, 1]);
  });
  it('fits kernels as well as their size allows', () => {
    // on flat ground: MARGIN's comment
    for (const { size, least, most } of [
      { size: 1, least: 0.2, most: 0.8 },
      { size: 3, least: 0.01, most: 0.04 },
      { size: 5, least: 1e-3, most: 3e-3 },
      { size: 7, least: 5e-5, most: 3e-4 },
    ] as const) {
      const error = rms(plan({ kernel: { kind: 'fitted', size } }).kernelErrors);
      assert.ok(error > least && error < most, `K = ${size}: ${error}`);
    }
  });
  it('reports by its kernel errors that heights left out do harm', () => {
    const stationsM = randomStations(2, 12, 60, 2);
    const projected = rms(plan({ stationsM }).kernelErrors);
    const centred = rms(plan({ stationsM, heights: 'phase-centre' }).kernelErrors);
    assert.ok(projected < 0.06 && centred > 0.3, `${projected} ${centred}`);
  });
  it('takes kernels of the user’s own', () => {
    const taps = tapsCSKK(new Float64Array(2 * 12 * 9).fill(0.25), 1, 12, 3);
    const own = plan({ kernel: { kind: 'own', size: 3, taps } });
    assert.equal(own.taps, taps);
    assert.ok(own.correction.every((value) => value === 1));
  });
  it('has room on the grid for every antenna at the very limit', () => {
    for (const size of [1, 3, 5, 7] as const) {
      // the widest array that is not refused, in the worst case: just under n − K − 2 cells
      const acrossM = ((64 - size - 2) * 0.9999 * SPEED_OF_LIGHT_M_PER_S) / 60e6 / 2.3;
      const corner = (x: number) => ({ x, y: x, z: 0 });
      const { corners } = plan({
        stationsM: [corner(0), corner(acrossM)],
        kernel: { kind: 'fitted', size },
      });
      assert.ok(corners.every((cell) => cell >= 0 && cell + size <= 64));
    }
  });
});

describe('pixels for who has no wish', () => {
  const fitting = (acrossM: number, field: ImageOptions['field'] = { kind: 'all-sky' }): number =>
    fittingPixels({
      field,
      axes: zenithAxes,
      frequenciesHz: Float64Array.of(50e6, 60e6),
      stationsM: [
        { x: 0, y: 0, z: 0 },
        { x: 3, y: acrossM, z: 0 },
      ],
    });
  it('are 128, or the next good size that holds the array', () => {
    // 60 MHz are 4.997 m: an array of A m covers 2.3·A/4.997 cells and 7 more
    assert.equal(fitting(20), 128);
    assert.equal(fitting(((128 - 7.01) * 4.9965) / 2.3), 128);
    assert.equal(fitting(((128 - 6.99) * 4.9965) / 2.3), 160);
    assert.equal(fitting(300), 160);
    assert.equal(fitting(300, { kind: 'field', widthDeg: 48 }), 128);
  });
  it('are the most where nothing holds it: the plan then states which field would fit those', () => {
    assert.equal(fitting(3000), 1024);
  });
});

describe('image plan refuses', () => {
  it('an aperture that does not fit, and reports what would', () => {
    // 300 m at 60 MHz are 60.04 wavelengths, 138.1 cells of 1/2.3, + 7 = 145.1, hence 146; 57/138.1 of the sky fits
    const stationsM = [
      { x: 0, y: 0, z: 0 },
      { x: 300, y: 10, z: 0 },
    ];
    assert.throws(
      () => plan({ stationsM }),
      /300\.0 m across are 60\.0 wavelengths at 60 MHz and need 146 grid cells .* take 146 pixels, image a field of at most 48\.\d°/,
    );
    plan({ stationsM, pixels: 146 });
    plan({ stationsM, field: { kind: 'field', widthDeg: 48 } });
  });
  it('a wide field far from the zenith, which tilts the array out of its plane', () => {
    const half = Math.SQRT1_2;
    const axes = { l: { x: 1, y: 0, z: 0 }, m: { x: 0, y: -half, z: half }, n: { x: 0, y: half, z: half } };
    assert.throws(() => plan({ axes }), /kernels are \d+ % wrong; put the phase centre at the zenith/);
    const narrow = plan({ axes, field: { kind: 'field', widthDeg: 10 } });
    assert.ok(rms(narrow.kernelErrors) < 5e-3);
  });
  it('odd, tiny and senseless sizes', () => {
    assert.throws(() => plan({ pixels: 65 }), /65 pixels; give an even number such as 66/);
    assert.throws(() => plan({ pixels: 8 }), /pixels is 8/);
    assert.throws(() => plan({ field: { kind: 'field', widthDeg: 181 } }), /field width in degrees is 181/);
    assert.throws(() => plan({ frequenciesHz: Float64Array.of(NaN) }), /frequency in Hz is NaN/);
    assert.throws(() => plan({ stationsM: [{ x: NaN, y: 0, z: 0 }] }), /no finite position/);
  });
});

describe('measuring', () => {
  it('finds the top of a paraboloid between pixels', () => {
    const shape = { pixels: 16, pixelSize: 0.1 };
    // top of 5 at column 10.3, row 6.8, that is l = 0.23, m = −0.12
    const plane = planeML(
      Float64Array.from(
        { length: 256 },
        (_, at) => 5 - ((at % 16) - 10.3) ** 2 - 2 * (Math.floor(at / 16) - 6.8) ** 2,
      ),
      16,
    );
    const found = measureSource(plane, shape, { l: 0.2, m: -0.12 }, 3);
    assert.ok(Math.abs(found.l - 0.23) < 1e-12 && Math.abs(found.m + 0.12) < 1e-12);
    assert.ok(Math.abs(found.peak - 5) < 1e-12);
    assert.ok(Math.abs(found.errorPixels - 0.3) < 1e-9);
    assert.throws(
      () => measureSource(plane.fill(NaN), shape, { l: 0, m: 0 }, 2),
      /no pixel is shown within 2 pixels/,
    );
  });
  it('averages channels that have data, and polarisations into Stokes I', () => {
    const three = plan({ frequenciesHz: Float64Array.of(60e6, 60e6, 60e6), polarisations: 2, pixels: 64 });
    const size = 64 * 64;
    const image = imageCPML(new Float64Array(3 * 4 * size), 3, 4, 64);
    for (const [c, value] of [1, NaN, 5].entries()) image.fill(value, c * 4 * size, (c + 1) * 4 * size);
    const mean = averageChannels(image, three);
    assert.ok(mean.every((value) => value === 3));
    mean.fill(7, size, 2 * size);
    assert.ok(stokesI(mean, three, 0).every((value) => value === 5));
    // With one polarisation XX is used for I, in memory of its own.
    const one = plan({ frequenciesHz: Float64Array.of(60e6), polarisations: 1, pixels: 64 });
    const alone = imageCPML(new Float64Array(size).fill(4), 1, 1, 64);
    const stokes = stokesI(alone, one, 0);
    alone.fill(9);
    assert.ok(stokes.every((value) => value === 4));
  });
  it('places directions by the axes, and none behind', () => {
    assert.deepEqual(placeOf(plan({}), { x: 0.6, y: 0, z: 0.8 }), { l: 0.6, m: 0 });
    assert.equal(placeOf(plan({}), { x: 0.6, y: 0, z: -0.8 }), undefined);
  });
});
