import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseInstant } from '../core/instant.js';
import { feedJones, inverseJones, mountAngleRad, mountAxis, throughFeed } from './feeds.js';
import { altitudeDeg, azimuthDeg, skyFrame } from './frame.js';

const close = (got: number, expected: number, tolerance: number): void => {
  assert.ok(Math.abs(got - expected) <= tolerance, `${got} is not ${expected} ± ${tolerance}`);
};

/**
 * Position angles of the zenith and of the pole of date at a source in ICRS, by astropy 5.2 and ERFA 2.0 (AltAz of the
 * zenith to ICRS; pnm06a's third row; SkyCoord.position_angle).
 */
const byAstropy = [
  [34.348358, -106.885783, 1477.8, '2026-06-21T04:00:00Z', 299.868, 40.7339, -68.7197, 0.1709],
  [34.348358, -106.885783, 1477.8, '2026-06-21T09:30:00Z', 299.868, 40.7339, 146.48, 0.1709],
  [34.079, -107.6177, 2115, '2024-03-01T05:00:00Z', 202.7845, 30.5092, -64.4573, 0.0578],
  [34.079, -107.6177, 2115, '2024-03-01T12:00:00Z', 202.7845, 30.5092, 73.8092, 0.0578],
  [-26.7033194, 116.67081524, 377.827, '2021-11-10T18:00:00Z', 79.957, -45.779, -9.2467, -0.169],
  [-26.7033194, 116.67081524, 377.827, '2021-04-10T12:00:00Z', 187.7059, 12.3911, -128.098, 0.0154],
] as const;

describe('the angle of a mount', () => {
  it("is astropy's parallactic angle, and that of the pole of date", () => {
    for (const [latitudeDeg, longitudeDeg, heightM, time, raDeg, decDeg, zenithDeg, poleDeg] of byAstropy) {
      const site = { latitudeDeg, longitudeDeg, heightM };
      const axes = skyFrame(site, parseInstant(time, 'time')).tangentAxes({ raDeg, decDeg });
      const angleDeg = (mount: 'altaz' | 'equatorial'): number =>
        (mountAngleRad(mountAxis(mount, site), axes) * 180) / Math.PI;
      // Aberration varies by some arcseconds on the way to the zenith; this is divided by the distance.
      close(angleDeg('altaz'), zenithDeg, 0.02);
      close(angleDeg('equatorial'), poleDeg, 0.01);
    }
  });
});

describe('the Jones matrix of feeds', () => {
  /** By hand, from altitude and azimuth: axes of altitude and azimuth, then the parallactic angle. */
  const byHand = (altDeg: number, azDeg: number, parallacticDeg: number): number[][] => {
    const [alt, az, chi] = [altDeg, azDeg, parallacticDeg].map((deg) => (deg * Math.PI) / 180);
    // A field upwards (rising altitude) and to the right as seen from the ground, towards rising azimuth.
    const up = [-Math.sin(alt) * Math.sin(az), -Math.sin(alt) * Math.cos(az)];
    const right = [Math.cos(az), -Math.sin(az)];
    // North is χ from up; east is to the left of north on the sky, and rising azimuth to the right of up.
    const north = [0, 1].map((k) => Math.cos(chi) * up[k] + Math.sin(chi) * right[k]);
    const east = [0, 1].map((k) => Math.sin(chi) * up[k] - Math.cos(chi) * right[k]);
    return [0, 1].map((k) => [east[k], north[k]]);
  };

  it('of fixed dipoles is their projection', () => {
    for (const [latitudeDeg, longitudeDeg, heightM, time, raDeg, decDeg, parallacticDeg] of byAstropy) {
      const site = { latitudeDeg, longitudeDeg, heightM };
      const frame = skyFrame(site, parseInstant(time, 'time'));
      const axes = frame.tangentAxes({ raDeg, decDeg });
      const [[xEast, xNorth], [yEast, yNorth]] = byHand(
        altitudeDeg(axes.n),
        azimuthDeg(axes.n),
        parallacticDeg,
      );
      const found = feedJones({ mount: 'fixed' }, axes, { x: 0, y: 0, z: 1 });
      [xEast, xNorth, yEast, yNorth].forEach((value, k) => {
        close(found[k], value, 5e-4);
      });
    }
  });

  it('of a dish rotates Q and U by twice the parallactic angle', () => {
    // X 90° and Y 0° from the zenith: at χ = 18° the field of Q = 3 (along north) gives Q 3·cos 36° and U −3·sin 36°.
    const axes = { l: { x: 0, y: 0, z: 0 }, m: { x: 0, y: 0, z: 0 }, n: { x: 0, y: 0, z: 1 } };
    const chi = (18 * Math.PI) / 180;
    const at = { ...axes, l: { x: 0, y: 0, z: Math.sin(chi) }, m: { x: 0, y: 0, z: Math.cos(chi) } };
    const jones = feedJones({ mount: 'altaz' }, at, { x: 0, y: 0, z: 1 });
    const { i, q, u, v } = throughFeed(jones, { i: 10, q: 3, u: 0, v: 0.5 });
    close(i, 10, 1e-12);
    close(q, 3 * Math.cos(2 * chi), 1e-12);
    close(u, -3 * Math.sin(2 * chi), 1e-12);
    close(v, 0.5, 1e-12);
  });

  it('of feeds at 45° takes X between north and east', () => {
    const axes = { l: { x: 1, y: 0, z: 0 }, m: { x: 0, y: 1, z: 0 }, n: { x: 0, y: 0, z: 1 } };
    const half = Math.SQRT1_2;
    for (const mount of ['fixed', 'equatorial'] as const) {
      const found = feedJones({ mount, xAngleDeg: 45 }, axes, { x: 0, y: 1, z: 0 });
      [half, half, -half, half].forEach((value, k) => {
        close(found[k], value, 1e-12);
      });
    }
  });

  it('is undone by its inverse, and has none at the horizon', () => {
    const jones = [0.9, -0.2, 0.3, 0.5] as const;
    const stokes = { i: 3, q: 1, u: -0.5, v: 0.25 };
    const inverse = inverseJones(jones);
    assert.ok(inverse);
    const back = throughFeed(inverse, throughFeed(jones, stokes));
    for (const key of ['i', 'q', 'u', 'v'] as const) close(back[key], stokes[key], 1e-12);
    assert.equal(inverseJones([1, 0, 0, 0]), undefined);
  });
});
