import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseInstant } from '../../core/instant.js';
import { skyFrame } from '../../sky/frame.js';
import { fringesOf } from '../products/images.js';
import { smearLines } from './images.js';
import { outsideField } from '../../stages/index.js';

describe('smearing', () => {
  it('is reported above one per cent', () => {
    assert.deepEqual(smearLines('bandwidth', 0.0099), []);
    const [{ code, data, text }] = smearLines('bandwidth', 0.0123);
    assert.deepEqual({ code, data }, { code: 'image.smearing', data: { by: 'bandwidth', loss: 0.0123 } });
    assert.match(text, /1\.2 % loss/);
    assert.match(smearLines('time', 0.456)[0].text, /46 % loss/);
  });

  it('takes fringes to have run where the file states, whatever its object is called', () => {
    assert.equal(fringesOf({ fringes: 'running', object: 'unprojected' }), 'running');
    assert.equal(fringesOf({ object: 'Zenith' }), 'running');
    assert.equal(fringesOf({ object: 'Cyg A' }), 'stopped');
  });
});

describe('what image states of a field', () => {
  it('is that the telescope followed something outside it', () => {
    const site = { latitudeDeg: 30, longitudeDeg: 0, heightM: 0 };
    const frame = skyFrame(site, parseInstant('2026-06-21T04:00:00Z'));
    const { raDeg, decDeg } = frame.zenith;
    const outside = (offsetDeg: number, widthDeg?: number): object[] =>
      outsideField(
        { object: 'M 51', phaseCentre: { raDeg, decDeg: decDeg + offsetDeg } },
        frame,
        widthDeg === undefined ? { kind: 'all-sky' } : { kind: 'field', widthDeg },
      ).map(({ code, data }) => ({ code, ...data }));
    assert.deepEqual(outside(0, 1), []);
    assert.deepEqual(outside(9, 20), []);
    const [found] = outside(-11, 20) as { fromZenithDeg: number }[];
    const fromZenithDeg = Math.round(found.fromZenithDeg);
    assert.deepEqual(
      { ...found, fromZenithDeg },
      { code: 'image.phase-centre-outside', object: 'M 51', fromZenithDeg: 11 },
    );
    assert.deepEqual(outside(-80), []);
    assert.ok((outside(-100) as { fromZenithDeg: number }[])[0].fromZenithDeg > 90);
  });
});
