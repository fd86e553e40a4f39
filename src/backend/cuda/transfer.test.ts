import assert from 'node:assert/strict';
import { it } from 'node:test';
import { copyApart } from './transfer.js';

it('copies into a part of an array, and nothing beside it', async () => {
  const from = Uint8Array.from({ length: 1 << 20 }, (_, n) => (n * 7 + 3) & 255);
  const to = new Uint8Array((1 << 20) + 64).fill(99);
  await copyApart(to.subarray(32, 32 + from.length), from);
  assert.deepEqual(to.subarray(32, 32 + from.length), from);
  assert.ok([...to.subarray(0, 32), ...to.subarray(32 + from.length)].every((value) => value === 99));
  await assert.rejects(copyApart(to, from), /do not fill/);
});
