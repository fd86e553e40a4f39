/** Positions tested against ERFA's numbers (scripts/erfa-places.py). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseInstant } from '../core/instant.js';
import { DEGREES_PER_RADIAN } from '../core/units.js';
import { cross, dot, type Vector3 } from '../core/vector.js';
import { earthOrientation } from './earth/orientation.js';
import { directionFromAltAz, skyFrame } from './frame.js';
import { localSiderealTimeRad } from './earth/sidereal.js';
import { findSources } from './sources.js';
import { erfaRows, erfaSites } from './testing/erfa.js';

const ARCSECONDS = DEGREES_PER_RADIAN * 3600;

const apartArcsec = (a: Vector3, b: Vector3): number => {
  const across = cross(a, b);
  return Math.atan2(Math.sqrt(dot(across, across)), dot(a, b)) * ARCSECONDS;
};

describe('places against ERFA', () => {
  it('of nine sources at five sites on thirteen days are within 0.005″', () => {
    const rows = erfaRows('places');
    assert.equal(rows.length, 5 * 13 * 9);
    const off = rows.map(([utc, site, name, azimuth, altitude]) => {
      const frame = skyFrame(erfaSites[site], parseInstant(utc));
      const position =
        name === 'near the pole' ? { raDeg: 37.9, decDeg: 89.264 } : findSources([name])[0].position(frame);
      const seen = frame.directionEnu(position);
      const back = frame.positionOf(seen);
      assert.ok(Math.abs(back.decDeg - position.decDeg) < 1e-10, 'there and back');
      return apartArcsec(seen, directionFromAltAz(Number(altitude), Number(azimuth)));
    });
    off.sort((x, y) => x - y);
    assert.ok(off[off.length >> 1] < 0.002, `half of them within ${off[off.length >> 1]}″`);
    assert.ok((off.at(-1) ?? 1) < 0.005, `all within ${off.at(-1) ?? ''}″`);
  });

  it('of the Sun are within 0.25″', () => {
    const rows = erfaRows('sun');
    const off = rows.map(([utc, site, azimuth, altitude]) => {
      const frame = skyFrame(erfaSites[site], parseInstant(utc));
      const seen = frame.directionEnu(findSources(['Sun'])[0].position(frame));
      return apartArcsec(seen, directionFromAltAz(Number(altitude), Number(azimuth)));
    });
    off.sort((x, y) => x - y);
    assert.ok((off.at(-1) ?? 1) < 0.25, `all within ${off.at(-1) ?? ''}″`);
  });

  it('follow a clock that runs with the Earth: sidereal time, UT1 and the pole', () => {
    for (const [utc, greenwich, ut1MinusUtcS, poleX, poleY] of erfaRows('sidereal')) {
      const moment = parseInstant(utc);
      const offDeg = localSiderealTimeRad(moment, 0) * DEGREES_PER_RADIAN - Number(greenwich);
      assert.ok(Math.abs(offDeg * 3600) < 0.005, `${utc}: ${offDeg * 3600}″`);
      const earth = earthOrientation(moment);
      assert.ok(Math.abs(earth.ut1MinusUtcS - Number(ut1MinusUtcS)) < 2e-4, utc);
      assert.ok(Math.abs(earth.poleXRad * ARCSECONDS - Number(poleX)) < 0.002, utc);
      assert.ok(Math.abs(earth.poleYRad * ARCSECONDS - Number(poleY)) < 0.002, utc);
    }
  });

  it('have the axes of images and uvw that the catalogue has there', () => {
    for (const [utc, site, ...cells] of erfaRows('axes')) {
      const [raDeg, decDeg, , , , , ...uvwM] = cells.map(Number);
      const { l, m, n } = skyFrame(erfaSites[site], parseInstant(utc)).tangentAxes({ raDeg, decDeg });
      const baseline = { x: 1700, y: -900, z: 12 };
      // 5 mas over 2 km are 0.05 mm.
      [l, m, n].forEach((axis, k) => {
        assert.ok(Math.abs(dot(axis, baseline) - uvwM[k]) < 5e-5, `${utc} axis ${k}: ${dot(axis, baseline)}`);
      });
    }
  });
});
