import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseInstant } from '../core/instant.js';
import { parsePosition } from './phase-centre.js';
import { skyFrame } from './frame.js';
import { parsePhaseCentre } from './phase-centre.js';

const site = { latitudeDeg: 34.348358, longitudeDeg: -106.885783, heightM: 1477.8 };
const frame = skyFrame(site, parseInstant('2026-06-21T04:00:00Z'));
const close = (got: number, expected: number, what: string): void => {
  assert.ok(Math.abs(got - expected) <= 1e-10, `${what}: ${got} should be ${expected}`);
};

describe('coordinates', () => {
  it('are read however they are written', () => {
    // 19 h 59 m 28.36 s = 15·(19 + 59/60 + 28.36/3600)° = 299.868166…°
    const raDeg = 15 * (19 + 59 / 60 + 28.36 / 3600);
    const decDeg = 40 + 44 / 60 + 2.1 / 3600;
    for (const text of [
      '19h59m28.36s +40d44m02.1s',
      '19h59m28.36s 40d44m2.1s',
      ' 19h59m28.36s,+40d44m02.1s ',
      '19h 59m 28.36s +40d 44m 02.1s',
      '19h59m28.36s, 40:44:02.1',
      '19:59:28.36 +40:44:02.1',
      '19H59M28.36S +40D44M02.1S',
      `19h59m28.36s +40°44′02.1″`,
      `19h59m28.36s +40°44'02.1"`,
      `${raDeg} ${decDeg}`,
      `${raDeg}deg +${decDeg}d`,
      `299d52m05.4s +40d44m02.1s`,
    ]) {
      const position = parsePosition(text, '--track');
      close(position.raDeg, raDeg, text);
      close(position.decDeg, decDeg, text);
    }
    for (const [text, ra, dec] of [
      ['0 -90', 0, -90],
      ['12h -00d30m', 180, -0.5],
      ['12h −0:30:00', 180, -0.5],
      ['12h30m -12.5', 187.5, -12.5],
      ['12h30.5m +12d', 187.625, 12],
      ['12:30 -12:30', 187.5, -12.5],
      ['.5 -.25', 0.5, -0.25],
      ['359.999,90', 359.999, 90],
    ] as const) {
      const position = parsePosition(text, '--track');
      close(position.raDeg, ra, text);
      close(position.decDeg, dec, text);
    }
  });

  it('are refused where they are none, or stand outside the sky', () => {
    const refused = (text: string, words: RegExp): void => {
      assert.throws(() => parsePosition(text, '--track'), words, text);
    };
    refused('12h34m56s', /--track: '12h34m56s' is not two coordinates; write RA and Dec like "19h/);
    refused('1 2 3', /is not two coordinates/);
    refused('12 34 56 -12 34 56', /is not two coordinates/);
    refused('12h60m00s +10', /'12h60m00s' is not a right ascension/);
    refused('12h00m60s +10', /'12h00m60s' is not a right ascension/);
    refused('12h34.5m20s +10', /is not a right ascension/);
    refused('12h 10h', /'10h' is not a declination/);
    refused('12x +10', /'12x' is not a right ascension/);
    refused('1e2 +10', /'1e2' is not a right ascension/);
    refused('10 +', /'\+' is not a declination/);
    refused('24h +10', /a right ascension of '24h' is 360°; give one from 0/);
    refused('-10 +10', /a right ascension of '-10' is -10°/);
    refused('10 90.1', /a declination of '90.1' is 90.1°/);
    refused('10 -90d00m01s', /a declination of '-90d00m01s'/);
  });
});

describe('a phase centre', () => {
  it('is a source by name, a place, the Sun, or the zenith', () => {
    const cygnus = parsePhaseCentre('cyga', '--track');
    assert.deepEqual([cygnus.name, cygnus.kind], ['Cyg A', 'fixed']);
    assert.deepEqual(cygnus.position(frame), { raDeg: 299.86815, decDeg: 40.73392 });
    assert.deepEqual(cygnus.directionEnu(frame), frame.directionEnu({ raDeg: 299.86815, decDeg: 40.73392 }));
    const place = parsePhaseCentre('187.5 -12.5', '--track');
    assert.deepEqual([place.name, place.kind], ['187.5 -12.5', 'fixed']);
    assert.deepEqual(place.position(frame), { raDeg: 187.5, decDeg: -12.5 });
    const sun = parsePhaseCentre('Sun', '--track');
    assert.deepEqual([sun.name, sun.kind, sun.position(frame)], ['Sun', 'moving', frame.sun]);
    const zenith = parsePhaseCentre(' Zenith', '--track');
    assert.deepEqual([zenith.name, zenith.kind], ['zenith', 'local']);
    assert.deepEqual(zenith.directionEnu(frame), { x: 0, y: 0, z: 1 });
    assert.deepEqual(zenith.position(frame), frame.zenith);
  });

  it('is a source whose name begins with a number', () => {
    const centre = parsePhaseCentre('3C48', '--centre');
    assert.deepEqual([centre.name, centre.position(frame)], ['3C48', { raDeg: 24.42208, decDeg: 33.15976 }]);
    assert.throws(() => parsePhaseCentre('3C47', '--centre'), /'3C47' is not two coordinates/);
  });

  it('names what it does not know, and what there is', () => {
    assert.throws(
      () => parsePhaseCentre('Cyg B', '--phase-centre'),
      /--phase-centre: 'Cyg B' is no source that we know; choose Cas A, .*, Sun, .*, zenith, or give coordinates like/,
    );
    assert.throws(() => parsePhaseCentre('  ', '--track'), /--track: names no place; choose/);
    assert.throws(() => parsePhaseCentre('12h34m', '--track'), /is not two coordinates/);
  });
});
