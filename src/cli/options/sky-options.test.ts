import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseInstant } from '../../core/instant.js';
import { altitudeDeg, azimuthDeg, skyFrame } from '../../sky/frame.js';
import { chooseSources } from './sky-options.js';

const site = { latitudeDeg: 34.3, longitudeDeg: -106.9, heightM: 1478 };
const frame = skyFrame(site, parseInstant('2026-06-21T04:00:00'));

describe('sources from the command line', () => {
  it('are all, or by name, by right ascension or by altitude', () => {
    assert.equal(chooseSources(' all ', frame).length, 10);
    const [cygnus, blob, spot] = chooseSources('cyg a, blob:187.7:-12.4:1000:-0.5,spot@60:90:5000', frame);
    assert.equal(cygnus.name, 'Cyg A');
    assert.deepEqual(blob.position(frame), { raDeg: 187.7, decDeg: -12.4 });
    const direction = frame.directionEnu(spot.position(frame));
    assert.ok(Math.abs(altitudeDeg(direction) - 60) < 1e-9 && Math.abs(azimuthDeg(direction) - 90) < 1e-9);
    assert.deepEqual([spot.name, spot.fluxJy(1e8)], ['spot', 5000]);
  });

  it('are refused when they are none', () => {
    for (const text of ['spot@60:90:x', 'spot@ :90:5', 'spot@60::5', 'spot@60:90']) {
      assert.throws(() => chooseSources(text, frame), /is not a source/, text);
    }
    assert.throws(() => chooseSources('spot@91:90:5', frame), /altitude in degrees is 91/);
    assert.throws(() => chooseSources('unknown-source', frame), /'unknown-source' is unknown/);
  });
});
