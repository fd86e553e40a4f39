import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { trio } from '../../formats/testing/trio.js';
import { parseFlags } from './flags.js';

const flagged = (text: string | undefined, polarisations: 1 | 2 = 2): number[] =>
  [...parseFlags(text, 3 * polarisations, polarisations, trio)].flatMap((flag, a) =>
    new Array<number>(flag).fill(a),
  );

describe('inputs to leave out', () => {
  it('are named by number, by range, by station and by feed', () => {
    assert.deepEqual(flagged(undefined), []);
    assert.deepEqual(flagged(' 1, 3-5 '), [1, 3, 4, 5]);
    assert.deepEqual(flagged('s1'), [2, 3]);
    assert.deepEqual(flagged('s1:Y,s2:x'), [3, 4]);
    // Circular feeds, named as in calibrate.
    assert.deepEqual(flagged('s0:R,s1:L'), [0, 3]);
    assert.deepEqual(flagged('s1', 1), [1]);
    assert.deepEqual(flagged('s1:X', 1), [1]);
  });

  it('are refused where there are none of that name', () => {
    assert.throws(() => flagged('6'), /--flag: 6 is outside inputs 0 to 5/);
    assert.throws(() => flagged('4-2'), /4-2 is outside/);
    assert.throws(() => flagged('s3'), /'s3' is no station here/);
    assert.throws(() => flagged('s1:X:Y'), /'s1:X' is no station here/);
    assert.throws(() => flagged('s1:Z'), /'s1:Z' names no polarisation/);
    assert.throws(() => flagged('s1:Y', 1), /'s1:Y' names no polarisation/);
    assert.throws(() => parseFlags('s1', 6, 2), /'s1' is no station here/);
  });
});
