import assert from 'node:assert/strict';
import { it } from 'node:test';
import { modelVisibilities } from '../calibrate/index.js';
import { instant } from '../core/instant.js';
import { dot } from '../core/vector.js';
import { trio } from '../formats/testing/trio.js';
import { sourcesUp } from '../sky/above.js';
import { skyFrame } from '../sky/frame.js';
import { fixedSource } from '../sky/source.js';
import { modelComponents } from './calibrate.js';

it('a Gaussian is on the sky at its position angle, and long baselines along it see less', () => {
  const frame = skyFrame(trio.site, instant(1_770_000_000));
  const point = fixedSource({ name: 'g', position: frame.zenith, fluxJy: 10 });
  const shape = { majorDeg: 6, minorDeg: 3, positionAngleDeg: 90 };
  const frequenciesHz = Float64Array.of(100e6);
  const up = sourcesUp([{ ...point, shape }], frame, 5);
  const [component] = modelComponents({ ...trio, beamExponent: 0 }, frequenciesHz, up, frame);
  const { l, m } = frame.tangentAxes(frame.zenith);
  // Position angle 90° is east.
  const radians = Math.PI / 180;
  assert.ok(component.gaussian);
  const along = [dot(component.gaussian.majorEnu, l), dot(component.gaussian.majorEnu, m)];
  assert.ok(Math.abs(along[0] - 6 * radians) < 1e-12 && Math.abs(along[1]) < 1e-12, String(along));
  assert.ok(Math.abs(Math.abs(dot(component.gaussian.minorEnu, m)) - 3 * radians) < 1e-12);
  // 20 m along the major axis at 100 MHz are 6.6713 wavelengths: e^(−π²·(6°·6.6713)²/(4 ln 2)) = e^(−1.7373) = 0.1760.
  const stationsM = [
    { x: 0, y: 0, z: 0 },
    { x: 20 * l.x, y: 20 * l.y, z: 20 * l.z },
    { x: 20 * m.x, y: 20 * m.y, z: 20 * m.z },
  ];
  const model = modelVisibilities({ stationsM, frequenciesHz, polarisations: 1, components: [component] });
  const size = (b: number): number => Math.hypot(model[2 * b], model[2 * b + 1]) / 10;
  assert.ok(Math.abs(size(1) - 0.176) < 5e-4, String(size(1)));
  // Across it, half as wide: the exponent is a quarter.
  assert.ok(Math.abs(size(3) - 0.176 ** 0.25) < 1e-3, String(size(3)));
});
