import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { addSeconds, parseInstant } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { DEGREES_PER_RADIAN } from '../core/units.js';
import { dot, type Vector3 } from '../core/vector.js';
import { outsideDiscs } from '../sky/discs.js';
import { skyFrame } from '../sky/frame.js';
import { useOrbits } from '../sky/orbits/orbits.js';
import { findSources } from '../sky/sources.js';
import { discPixels, type BlankedSpan } from './blank-discs.js';

const site = { latitudeDeg: 34, longitudeDeg: -107, heightM: 2000 };
/** Cyg A is high, Cen A below the horizon. */
const start = parseInstant('2026-06-21T10:00:00Z');
const ground: BlankedSpan = {
  ...{ site, start, durationS: 1, pixels: 8, pixelCosine: 0.1 },
  cosinesOf: (position, frame) => frame.directionEnu(position),
};
const still = (x: number, y: number): BlankedSpan => ({
  ...ground,
  cosinesOf: () => ({ x, y, z: Math.sqrt(1 - x * x - y * y) }),
});
const rows = (blanked: Uint8Array | undefined, pixels: number): string[] =>
  Array.from(
    { length: pixels },
    (_, row) => blanked?.subarray(row * pixels, (row + 1) * pixels).join('') ?? '',
  );

// asin(0.15): at the centre of the image a radius of 1.5 pixels.
const disc = { name: 'Cyg A', radiusDeg: Math.asin(0.15) * DEGREES_PER_RADIAN };

describe('pixels inside a disc', () => {
  it('are those nearer than its radius', () => {
    assert.deepEqual(rows(discPixels([disc], still(0, 0)), 8), [
      ...['00000000', '00000000', '00000000'],
      ...['00011100', '00011100', '00011100'],
      ...['00000000', '00000000'],
    ]);
  });

  it('end at the edge of the field, and are nearer there in direction cosines', () => {
    // By hand, from (−0.4, 0): (−0.3, 0) at 6.1°, (−0.4, ±0.1) at 5.7°, (−0.3, ±0.1) at 8.3°; (−0.2, 0) at 12.0°.
    assert.deepEqual(rows(discPixels([disc], still(-0.4, 0)), 8), [
      ...['00000000', '00000000', '00000000'],
      ...['11000000', '11000000', '11000000'],
      ...['00000000', '00000000'],
    ]);
    // Outside the field by one pixel: what is inside is blank. (0.3, 0) is 6.1° from (0.4, 0), (0.3, ±0.1) 8.3°.
    assert.deepEqual(rows(discPixels([disc], still(0.4, 0)), 8), [
      ...['00000000', '00000000', '00000000'],
      ...['00000001', '00000001', '00000001'],
      ...['00000000', '00000000'],
    ]);
    assert.equal(discPixels([disc], still(0.6, 0)), undefined);
  });

  it('are none for a source below the horizon', () => {
    const below = { name: 'Cen A', radiusDeg: 10 };
    const up = skyFrame(site, start).directionEnu(findSources(['Cen A'])[0].position(skyFrame(site, start)));
    assert.ok(up.z < 0);
    assert.equal(discPixels([below], still(0, 0)), undefined);
  });

  it('are the same as those found one by one, at the discs of two sources', () => {
    const span = { ...ground, pixels: 64, pixelCosine: 1 / 32 };
    const discs = [disc, { name: 'Cas A', radiusDeg: 20 }];
    const frame = skyFrame(site, start);
    const wanted = discs.map(({ name, radiusDeg }) => ({
      towards: frame.directionEnu(findSources([name])[0].position(frame)),
      radiusDeg,
    }));
    const found = discPixels(discs, { ...span, durationS: 0 });
    let count = 0;
    for (let at = 0; at < 64 * 64; at++) {
      const [x, y] = [(at % 64) - 32, Math.floor(at / 64) - 32].map((one) => one / 32);
      const z = Math.sqrt(1 - x * x - y * y);
      const isIn = wanted.some(
        ({ towards, radiusDeg }) =>
          Math.acos(Math.min(1, dot(towards, { x, y, z }))) * DEGREES_PER_RADIAN <= radiusDeg,
      );
      assert.equal(found?.[at], isIn ? 1 : 0, `${x} ${y}`);
      count += found[at];
    }
    assert.ok(count > 50, `${count}`);
  });
});

describe('the disc of a satellite', () => {
  const folder = temporaryFolder('blank-discs');
  after(() => useOrbits([]));
  const ISS = [
    'ISS',
    '1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927',
    '2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537',
  ];

  it('follows it through the whole integration, and ends at the horizon', async () => {
    const path = join(folder, 'iss.tle');
    writeFileSync(path, ISS.join('\n'));
    await useOrbits([path]);
    const [iss] = findSources(['ISS']);
    // A place under its orbit: it crosses the sky within these ten minutes.
    const begins = parseInstant('2008-09-20T12:20:00Z');
    const up = (at: number, place: typeof site): Vector3 => {
      const frame = skyFrame(place, addSeconds(begins, at));
      return frame.directionEnu(iss.position(frame));
    };
    const places = Array.from({ length: 36 * 11 }, (_, k) => ({
      latitudeDeg: -50 + 10 * Math.floor(k / 36),
      longitudeDeg: 10 * (k % 36),
      heightM: 0,
    }));
    const place = places.find((one) => up(300, one).z > 0.7 && up(0, one).z < 0);
    assert.ok(place);
    const pixels = 128;
    const span = { ...ground, site: place, start: begins, durationS: 600, pixels, pixelCosine: 1 / 64 };
    const radiusDeg = 3;
    const found = discPixels([{ name: 'ISS', radiusDeg }], span) ?? new Uint8Array();
    const track = Array.from({ length: 6001 }, (_, k) => up(k / 10, place)).filter(({ z }) => z > 0);
    assert.ok(track.length < 6001);
    let inside = 0;
    for (let at = 0; at < pixels * pixels; at++) {
      const [x, y] = [(at % pixels) - 64, Math.floor(at / pixels) - 64].map((one) => one / 64);
      const z2 = 1 - x * x - y * y;
      if (z2 < 0) continue;
      const nearest = track.reduce((most, one) => Math.max(most, dot(one, { x, y, z: Math.sqrt(z2) })), -1);
      const awayDeg = Math.acos(Math.min(1, nearest)) * DEGREES_PER_RADIAN;
      // Between two moments the edge is off by less than a hundredth.
      if (Math.abs(awayDeg - radiusDeg) < 0.03) continue;
      assert.equal(found[at], awayDeg < radiusDeg ? 1 : 0, `${awayDeg}`);
      inside += found[at];
    }
    assert.ok(inside > 200, `${inside}`);
    // In an image of a moment only one disc.
    const moment = { ...span, start: addSeconds(begins, 300), durationS: 0 };
    const short = discPixels([{ name: 'ISS', radiusDeg }], moment) ?? new Uint8Array();
    assert.ok(short.filter((one) => one === 1).length < inside / 3);
  });
});

describe('a model outside discs', () => {
  const frame = skyFrame(site, start);
  const names = (discs: readonly { readonly name: string; readonly radiusDeg: number }[]): string[] =>
    outsideDiscs(() => findSources(['Cyg A', 'Cas A', 'Cen A', 'Sun']), discs)(frame).map(({ name }) => name);

  it('lacks the sources inside them, wherever they are', () => {
    assert.deepEqual(names([]), ['Cyg A', 'Cas A', 'Cen A', 'Sun']);
    assert.deepEqual(names([{ name: 'cas-a', radiusDeg: 1e-6 }]), ['Cyg A', 'Cen A', 'Sun']);
    assert.deepEqual(names([{ name: 'Cen A', radiusDeg: 1 }]), ['Cyg A', 'Cas A', 'Sun']);
    // Cas A is 36° from Cyg A.
    assert.deepEqual(names([{ name: 'Cyg A', radiusDeg: 40 }]), ['Cen A', 'Sun']);
    assert.throws(() => names([{ name: 'Nibiru', radiusDeg: 1 }]), /'Nibiru' is unknown/);
  });
});
