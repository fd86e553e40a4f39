import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planeML } from '../../core/axes.js';
import { randomStream } from '../../core/random.js';
import { addRestored, fitBeam } from './beam.js';

const pixels = 64;
const plan = { pixels, pixelCosine: 0.002 };
const DEGREES = 180 / Math.PI;

/** A Gaussian of these widths in pixels, its major axis rotated from north (up) to east (right). */
function gaussian(majorPixels: number, minorPixels: number, angleDeg: number) {
  const image = planeML(new Float64Array(pixels * pixels), pixels);
  for (let k = 0; k < image.length; k++) {
    const x = (k % pixels) - pixels / 2;
    const y = Math.floor(k / pixels) - pixels / 2;
    const along = x * Math.sin(angleDeg / DEGREES) + y * Math.cos(angleDeg / DEGREES);
    const across = x * Math.cos(angleDeg / DEGREES) - y * Math.sin(angleDeg / DEGREES);
    image[k] = 0.5 ** (4 * ((along / majorPixels) ** 2 + (across / minorPixels) ** 2));
  }
  return image;
}
const inDegrees = (widthPixels: number): number => widthPixels * plan.pixelCosine * DEGREES;

describe('the fitted beam', () => {
  for (const [major, minor, angle] of [
    [8, 4, 0],
    [8, 4, 30],
    [9.5, 6.1, 90],
    [7, 3.2, 135],
    [5, 3, 179],
  ]) {
    it(`${major} by ${minor} pixels at ${angle}°`, () => {
      const beam = fitBeam(plan, gaussian(major, minor, angle));
      assert.ok(Math.abs(beam.majorDeg / inDegrees(major) - 1) < 1e-9);
      assert.ok(Math.abs(beam.minorDeg / inDegrees(minor) - 1) < 1e-9);
      assert.ok(Math.abs(beam.positionAngleDeg - angle) < 1e-6, `${beam.positionAngleDeg}`);
    });
  }

  it('a round one, with sidelobes that are not looked at and noise that hardly counts', () => {
    const image = gaussian(6, 6, 0);
    const random = randomStream(3, 'beam');
    for (let k = 0; k < image.length; k++) {
      image[k] += 0.01 * random.gaussian();
      if (k % pixels < 10) image[k] = 0.9;
    }
    const { majorDeg, minorDeg } = fitBeam(plan, image);
    for (const width of [majorDeg, minorDeg]) assert.ok(Math.abs(width / inDegrees(6) - 1) < 0.02);
  });

  it('refuses one that pixels cannot show', () => {
    assert.throws(() => fitBeam(plan, gaussian(1.5, 1.2, 0)), /narrower than its pixels/);
  });

  it('restores what was fitted', () => {
    const restored = planeML(new Float64Array(pixels * pixels).fill(1), pixels);
    const fluxes = planeML(new Float64Array(pixels * pixels), pixels);
    fluxes[(pixels / 2) * (pixels + 1)] = 2;
    addRestored(plan, restored, fluxes, fitBeam(plan, gaussian(7, 4, 60)));
    const expected = gaussian(7, 4, 60);
    for (const [k, value] of restored.entries()) assert.ok(Math.abs(value - 1 - 2 * expected[k]) < 1e-7);
  });
});
