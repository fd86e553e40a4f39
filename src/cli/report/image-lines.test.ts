import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseInstant } from '../../core/instant.js';
import { skyFrame } from '../../sky/frame.js';
import { fringesOf } from '../../visibilities/index.js';
import { smearLine } from './image-lines.js';
import { outsideLines } from './image-notes.js';

describe('smearing', () => {
  it('is told above one per cent', () => {
    assert.deepEqual(smearLine('the width of a channel', 0.0099), []);
    assert.deepEqual(smearLine('the width of a channel', 0.0123), [
      'the width of a channel takes 1.2 % of a source at the edge of the field',
    ]);
    assert.match(smearLine('the length of an integration', 0.456)[0], /takes 46 % of a source/);
  });

  it('takes fringes to have run where the file says so, whatever its object is called', () => {
    assert.equal(fringesOf({ fringes: 'running', object: 'unprojected' }), 'running');
    assert.equal(fringesOf({ object: 'Zenith' }), 'running');
    assert.equal(fringesOf({ object: 'Cyg A' }), 'stopped');
  });
});

describe('what image says of a field', () => {
  it('is that the telescope followed something outside it', () => {
    const site = { latitudeDeg: 30, longitudeDeg: 0, heightM: 0 };
    const frame = skyFrame(site, parseInstant('2026-06-21T04:00:00Z'));
    const { raDeg, decDeg } = frame.zenith;
    const lines = (offsetDeg: number, widthDeg?: number): string[] =>
      outsideLines(
        { object: 'M 51', phaseCentre: { raDeg, decDeg: decDeg + offsetDeg } },
        frame,
        widthDeg === undefined ? { kind: 'all-sky' } : { kind: 'field', widthDeg },
      );
    assert.deepEqual(lines(0, 1), []);
    assert.deepEqual(lines(9, 20), []);
    assert.deepEqual(lines(-11, 20), [
      "the file's phase centre, M 51, is 11.0° from the zenith, outside this field round the zenith",
    ]);
    assert.deepEqual(lines(-80), []);
    assert.match(lines(-100)[0], /100\.0° from the zenith, below the horizon/);
  });
});
