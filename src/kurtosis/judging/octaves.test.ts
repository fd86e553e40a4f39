import assert from 'node:assert/strict';
import { it } from 'node:test';
import { randomStream } from '../../core/random.js';
import { octavesOf } from './octaves.js';

it('octaves are logarithms of base 2, exact where they are whole', () => {
  for (let octave = -1022; octave < 1024; octave++) assert.equal(octavesOf(2 ** octave), octave);
  const random = randomStream(4, 'octaves');
  for (let n = 0; n < 20_000; n++) {
    const value = 2 ** (40 * (random.uniform() - 0.5));
    const expected = Math.log2(value);
    assert.ok(Math.abs(octavesOf(value) - expected) <= 4e-16 * Math.max(1, Math.abs(expected)), `${value}`);
  }
  assert.ok(Math.abs(octavesOf(3) - 1.584962500721156) < 3e-16);
  assert.ok(Math.abs(octavesOf(10) - 3.321928094887362) < 5e-16);
});
