import assert from 'node:assert/strict';
import { it } from 'node:test';
import { INPUT_DELAY, writeDelays } from './delay-table.js';

it('delays of inputs for a card: turns as parts of 2⁶⁴, whole ones dropped, and where rows open', () => {
  const table = new DataView(new ArrayBuffer(2 * INPUT_DELAY.bytes));
  for (let n = 0; n < table.byteLength; n++) table.setUint8(n, 85);
  const delays = {
    shiftSamples: Int32Array.of(3, -4),
    turns: Float64Array.of(0.25, -0.25, 0.5, -2, -1e-9, 7.75, 1e-3, 1e-4),
  };
  writeDelays(table, delays, 10, 2);
  const bits = (a: number, at: number): bigint => table.getBigUint64(a * INPUT_DELAY.bytes + at, true);
  assert.equal(bits(0, INPUT_DELAY.phase), 1n << 62n);
  assert.equal(bits(0, INPUT_DELAY.phaseStep), 3n << 62n);
  // What is just below a whole turn: 2⁶⁴ − 1e-9 · 2⁶⁴, to a double's digits.
  const below = (1n << 64n) - bits(1, INPUT_DELAY.phase);
  assert.ok(Math.abs(Number(below) / 2 ** 64 - 1e-9) < 2 ** -53);
  assert.equal(bits(1, INPUT_DELAY.phaseStep), 3n << 62n);
  const float = (a: number, at: number): number => table.getFloat32(a * INPUT_DELAY.bytes + at, true);
  assert.deepEqual([float(0, INPUT_DELAY.slope), float(0, INPUT_DELAY.slopeStep)], [0.5, -2]);
  assert.equal(float(1, INPUT_DELAY.slope), Math.fround(1e-3));
  const opening = (a: number): number => table.getInt32(a * INPUT_DELAY.bytes + INPUT_DELAY.opening, true);
  assert.deepEqual([opening(0), opening(1)], [14, 28]);
});

it('a phase that is a rounding error below zero is a whole turn, and none', () => {
  const table = new DataView(new ArrayBuffer(INPUT_DELAY.bytes));
  writeDelays(table, { shiftSamples: Int32Array.of(0), turns: Float64Array.of(-1e-30, 0, 0, 0) }, 0, 2);
  assert.equal(table.getBigUint64(INPUT_DELAY.phase, true), 0n);
});
