import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import koffi from 'koffi';
import { alignedMemory } from './aligned-memory.js';

describe('memory for native code', () => {
  it('begins where it was asked to, zeroed, as native code sees it', () => {
    for (const [sizeBytes, alignment] of [
      [1, 8],
      [56, 128],
      [100_000, 4096],
      [65_536, 65_536],
    ]) {
      const { address, bytes } = alignedMemory(sizeBytes, alignment);
      assert.equal(address % BigInt(alignment), 0n);
      assert.equal(bytes.length, sizeBytes);
      assert.ok(bytes.every((value) => value === 0));
      bytes[sizeBytes - 1] = 201;
      assert.equal(koffi.decode(address + BigInt(sizeBytes - 1), 'uint8_t'), 201);
    }
  });
});
