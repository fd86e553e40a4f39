import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { directionFromAltAz } from '../frame.js';
import { ZENITH, type ElementBeam } from './element-beam.js';
import { besselJ1 } from './formulae.js';
import { powersOf, type Gathering } from './powers.js';
import { findBeam } from './registry.js';
import { parseBeamTable } from './table.js';

const power = (name: string, frequencyHz: number, altDeg: number, azDeg: number): number[] => {
  const beam = findBeam(name);
  const towards = typeof beam.pointing === 'object' ? beam.pointing.directionEnu : ZENITH;
  return beam.voltage(frequencyHz, directionFromAltAz(altDeg, azDeg), towards).map((v = 0) => v * v);
};
const close = (found: number, wanted: number, tolerance: number): void => {
  assert.ok(Math.abs(found - wanted) <= tolerance, `${found} where ${wanted} belongs`);
};

describe('beams', () => {
  it('of dipoles distinguish X from Y', () => {
    // Due east at 30°: X points at it, so 1 − cos²30° = 1/4 of the power; Y receives all. 0.278 m at 150 MHz is 2πh/λ =
    // 0.8740: sin(0.8740·0.5)/sin(0.8740) = 0.4232/0.7669 = 0.5519, squared 0.3046.
    const [x, y] = power('mwa-dipole', 150e6, 30, 90);
    close(y, 0.3046, 3e-4);
    close(x, 0.3046 / 4, 1e-4);
    const [xNorth, yNorth] = power('mwa-dipole', 150e6, 30, 0);
    close(xNorth, y, 1e-12);
    close(yNorth, x, 1e-12);
    assert.deepEqual(power('mwa-dipole', 150e6, -5, 0), [0, 0]);
  });

  it('of tiles have nulls where the elements cancel, and follow their delays', () => {
    // Four rows 1.1 m apart cancel where 4·d·sin θ = λ: 150 MHz, λ = 1.99862 m, sin θ = 0.454.
    const nullDeg = (Math.asin(1.99862 / 4.4) * 180) / Math.PI;
    const [x] = power('mwa-tile', 150e6, 90 - nullDeg, 0);
    assert.ok(x < 1e-6, String(x));
    const [there] = power('mwa-tile@60:90', 150e6, 60, 90);
    close(there, 1, 1e-12);
    const [zenith] = power('mwa-tile@60:90', 150e6, 90, 0);
    assert.ok(zenith < 0.3, String(zenith));
  });

  it('of dishes are half as strong where the literature states', () => {
    // J₁ from tables: J₁(1) = 0.4400505857, J₁(3.8317) = 0.
    close(besselJ1(1), 0.4400505857, 1e-9);
    close(besselJ1(3.8317059702), 0, 1e-9);
    close(besselJ1(20), 0.0668331242, 1e-9);
    // An Airy pattern is half at x = 1.61634: sin θ = 1.61634·λ/(π·14 m).
    const halfDeg = (Math.asin((1.61634 * 1.99861639) / (14 * Math.PI)) * 180) / Math.PI;
    close(power('hera', 150e6, 90 - halfDeg, 33)[0], 0.5, 1e-5);
    // MeerKAT: 57.5′ across at half power at 1.5 GHz, by the definition of 1.189 to three figures.
    close(power('meerkat', 1.5e9, 90 - 57.5 / 120, 33)[0], 0.5, 2e-3);
    close(power('meerkat', 0.75e9, 90 - 57.5 / 60, 33)[0], 0.5, 2e-3);
  });

  it('of a table are drawn straight between its points', () => {
    const table = parseBeamTable('za_deg,az_deg,x_power,y_power\n0,0,1,1\n0,180,1,1\n90,0,0.5,0\n90,180,0.1,0\n', 't.csv'); // prettier-ignore
    const [x, y] = table.voltage(1e8, directionFromAltAz(45, 90), ZENITH);
    // Halfway in both: (1 + 1 + 0.5 + 0.1)/4 and (1 + 1)/4.
    close(x * x, 0.65, 1e-12);
    close(y * y, 0.5, 1e-12);
    assert.throws(() => parseBeamTable('za_deg,x_power\n0,1\n', 't.csv'), /lacks the column 'y_power'/);
    assert.throws(
      () => parseBeamTable('za_deg,az_deg,x_power,y_power\n0,0,1,1\n90,90,0,0\n', 't.csv'),
      /do not make a grid/,
    );
  });

  it('of a table may have phases', () => {
    const table = parseBeamTable('za_deg,x_re,x_im,y_re,y_im\n0,1,0,1,0\n90,0,1,0.5,-0.5\n', 't.csv');
    const [x, y, xIm, yIm] = table.voltage(1e8, directionFromAltAz(45, 90), ZENITH);
    [x, y, xIm, yIm].forEach((value, n) => {
      close(value ?? 0, [0.5, 0.75, 0.5, -0.25][n], 1e-12);
    });
    assert.throws(
      () => parseBeamTable('za_deg,x_re,y_re,y_im\n0,1,1,0\n', 't.csv'),
      /lacks the column 'x_im'/,
    );
    // x·conj(y) = (0.5 + 0.5i)(0.75 + 0.25i) = 0.25 + 0.5i
    const powers = powersOf(table)(0, 1e8, directionFromAltAz(45, 90), ZENITH);
    [powers.xx, powers.yy, powers.xyRe, powers.xyIm].forEach((value, n) => {
      close(value, [0.5, 0.625, 0.25, 0.5][n], 1e-12);
    });
  });

  it('of stations that differ are taken together as they were in the image', () => {
    const beamOf = (x: number, y: number, xIm = 0): ElementBeam => ({
      name: 'b',
      title: 'b',
      pointing: 'zenith',
      voltage: () => [x, y, xIm, 0],
    });
    const [strong, weak] = [beamOf(1, 0.5), beamOf(0.5, 0.5)];
    const at = (gathering?: Gathering) => {
      const all = { ...strong, perStation: [strong, weak, weak] };
      return powersOf(all, gathering)(0, 1e8, ZENITH, ZENITH);
    };
    // Pairs i ≠ j of (1, ½, ½) in X and (½, ½, ½) in Y: XX (½ + ½ + ¼)/3, YY ¼, XY (2·½ + 4·¼)/6.
    const pairs = at();
    close(pairs.xx, 1.25 / 3, 1e-12);
    close(pairs.yy, 0.25, 1e-12);
    close(pairs.xyRe, 2 / 6, 1e-12);
    // With autocorrelations, (Σx)²/9; and without the X of one station.
    close(at({ weighting: 'alike', autos: 'include' }).xx, 4 / 9, 1e-12);
    const part = at({ weighting: 'alike', autos: 'leave-out', takesPart: (_, s, p) => s !== 0 || p === 1 });
    close(part.xx, 0.25, 1e-12);
    // Weighted by the mean of X and Y, ¾ and ½, over the mean power ((1 + ¼)/2 + ¼ + ¼)/3 = 0.375: (¾ + ¼ +
    // ¼)²/9/0.375.
    close(at({ weighting: 'own', autos: 'include' }).xx, 1.5625 / 9 / 0.375, 1e-5);
  });

  it('that are unknown are refused', () => {
    assert.throws(() => findBeam('vla'), /'vla' is no beam we know/);
    assert.throws(() => findBeam('mwa-tile@60'), /is no direction/);
  });
});
