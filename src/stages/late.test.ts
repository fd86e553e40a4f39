import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Stage } from './stage.js';
import { leavingOutLate } from './late.js';

const collecting = <In>(into: In[]): Stage<In, never> => ({
  push: (item) => Promise.resolve(void into.push(item)),
  flush: () => Promise.resolve(),
  account: () => ({}),
  close: () => Promise.resolve(),
});
const emit = (): Promise<void> => Promise.resolve();

describe('images are left out while packets wait', () => {
  it('whole integrations, each counted', async () => {
    const made: { k: number }[] = [];
    const behind = [false, true, true, false];
    let leftOut = 0;
    const late = { isBehind: () => behind.shift() === true, leftOut: () => leftOut++ };
    const stage = leavingOutLate(collecting(made), late);
    for (const k of [0, 1, 2, 3]) await stage.push({ k }, emit);
    assert.deepEqual(
      made.map(({ k }) => k),
      [0, 3],
    );
    assert.equal(leftOut, 2);
  });

  it('of spectra all until the cut, or none', async () => {
    const made: { index: number; cutAt: number }[] = [];
    // Asked at spectra 0, 8 and 16 alone.
    const behind = [false, true, false];
    let leftOut = 0;
    const late = { isBehind: () => behind.shift() === true, leftOut: () => leftOut++ };
    const stage = leavingOutLate(collecting(made), late);
    for (let index = 0; index < 24; index += 2)
      await stage.push({ index, cutAt: 8 * Math.floor(index / 8 + 1) }, emit);
    assert.deepEqual(
      made.map(({ index }) => index),
      [0, 2, 4, 6, 16, 18, 20, 22],
    );
    assert.equal(leftOut, 1);
  });

  it('never where nothing waits: captures', () => {
    const stage = collecting([]);
    assert.equal(leavingOutLate(stage, undefined), stage);
  });
});
