/** Where things are, held to ERFA's numbers (scripts/erfa-places.py). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parseInstant } from '../core/instant.js';
import { DEGREES_PER_RADIAN } from '../core/units.js';
import { cross, dot, type Vector3 } from '../core/vector.js';
import type { Site } from '../telescope/telescope.js';
import { earthOrientation } from './earth/orientation.js';
import { directionFromAltAz, skyFrame } from './frame.js';
import { localSiderealTimeRad } from './sidereal.js';
import { findSources } from './sources.js';

const ARCSECONDS = DEGREES_PER_RADIAN * 3600;

export function rowsOf(name: string): string[][] {
  const text = readFileSync(new URL(`testing/${name}`, import.meta.url), 'utf8');
  return text
    .trim()
    .split('\n')
    .slice(2)
    .map((line) => line.split(','));
}

const sites: Readonly<Record<string, Site>> = {
  sevilleta: { latitudeDeg: 34.348358, longitudeDeg: -106.885783, heightM: 1477.8 },
  boolardy: { latitudeDeg: -26.703319, longitudeDeg: 116.670813, heightM: 377.83 },
  karoo: { latitudeDeg: -30.721527, longitudeDeg: 21.428305, heightM: 1051.7 },
  exloo: { latitudeDeg: 52.915122, longitudeDeg: 6.869837, heightM: 49.3 },
  chajnantor: { latitudeDeg: -23.022886, longitudeDeg: -67.755147, heightM: 5064 },
};

const apartArcsec = (a: Vector3, b: Vector3): number => {
  const across = cross(a, b);
  return Math.atan2(Math.sqrt(dot(across, across)), dot(a, b)) * ARCSECONDS;
};

describe('places against ERFA', () => {
  it('of nine sources at five sites on thirteen days are within 0.02″', () => {
    const rows = rowsOf('erfa-places.csv');
    assert.equal(rows.length, 5 * 13 * 9);
    const off = rows.map(([utc, site, name, azimuth, altitude]) => {
      const frame = skyFrame(sites[site], parseInstant(utc));
      const position =
        name === 'near the pole' ? { raDeg: 37.9, decDeg: 89.264 } : findSources([name])[0].position(frame);
      const seen = frame.directionEnu(position);
      const back = frame.positionOf(seen);
      assert.ok(Math.abs(back.decDeg - position.decDeg) < 1e-10, 'there and back');
      return apartArcsec(seen, directionFromAltAz(Number(altitude), Number(azimuth)));
    });
    off.sort((x, y) => x - y);
    if (process.env.SHOW) console.log(off[off.length >> 1], off.at(-1));
    assert.ok(off[off.length >> 1] < 0.005, `half of them within ${off[off.length >> 1]}″`);
    assert.ok((off.at(-1) ?? 1) < 0.02, `all within ${off.at(-1) ?? ''}″`);
  });

  it('of the Sun are within 0.3″', () => {
    const rows = rowsOf('erfa-sun.csv');
    const off = rows.map(([utc, site, azimuth, altitude]) => {
      const frame = skyFrame(sites[site], parseInstant(utc));
      const seen = frame.directionEnu(findSources(['Sun'])[0].position(frame));
      return apartArcsec(seen, directionFromAltAz(Number(altitude), Number(azimuth)));
    });
    off.sort((x, y) => x - y);
    if (process.env.SHOW) console.log(off[off.length >> 1], off.at(-1));
    assert.ok((off.at(-1) ?? 1) < 0.3, `all within ${off.at(-1) ?? ''}″`);
  });

  it('follow a clock that runs with the Earth: sidereal time, UT1 and the pole', () => {
    for (const [utc, greenwich, ut1MinusUtcS, poleX, poleY] of rowsOf('erfa-sidereal.csv')) {
      const moment = parseInstant(utc);
      const offDeg = localSiderealTimeRad(moment, 0) * DEGREES_PER_RADIAN - Number(greenwich);
      assert.ok(Math.abs(offDeg * 3600) < 0.005, `${utc}: ${offDeg * 3600}″`);
      const earth = earthOrientation(moment);
      assert.ok(Math.abs(earth.ut1MinusUtcS - Number(ut1MinusUtcS)) < 2e-4, utc);
      assert.ok(Math.abs(earth.poleXRad * ARCSECONDS - Number(poleX)) < 0.002, utc);
      assert.ok(Math.abs(earth.poleYRad * ARCSECONDS - Number(poleY)) < 0.002, utc);
    }
  });
});
