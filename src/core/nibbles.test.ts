import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { highNibble, lowNibble, packNibbles } from './nibbles.js';

describe('nibbles', () => {
  it('carry their signs, the real part high', () => {
    assert.deepEqual([0x7f, 0xf7, 0x91, 0x19].map(highNibble), [7, -1, -7, 1]);
    assert.deepEqual([0x7f, 0xf7, 0x91, 0x19].map(lowNibble), [-1, 7, 1, -7]);
    assert.equal(packNibbles(-7, 3), 0x93);
  });

  it('come back from every byte', () => {
    for (let byte = 0; byte < 256; byte++) {
      assert.equal(packNibbles(highNibble(byte), lowNibble(byte)), byte);
    }
    // Bytes read as signed numbers hold the same nibbles.
    assert.deepEqual([highNibble(-109), lowNibble(-109)], [-7, 3]);
  });
});
