/** False minima, and that solves leave them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nothingToClose } from '../../core/closing.js';
import { fullBatchOf, fullSample } from './cases.js';
import type { FullBatch, FullSolver } from './plan.js';
import { solveFullReference } from './reference.js';
import { solveFromElsewhere } from './starts.js';

const RULE = { kind: 'until', tolerance: 1e-7, most: 1000 } as const;

/** The reference, with a count of its solves. */
function counting(): FullSolver & { readonly asked: number[] } {
  const asked: number[] = [];
  const solve = (batch: FullBatch): Promise<void> => {
    asked.push(batch.solves);
    return solveFullReference(batch);
  };
  return { asked, solve, close: nothingToClose };
}

describe('full polarisation begun elsewhere', () => {
  it('four stations: a false bottom that misses a third of the data is left for the deepest', async () => {
    const batch = fullBatchOf(fullSample({ seed: 4, stations: 4, channels: 2 }), RULE);
    const guess = batch.gains.slice();
    await solveFullReference(batch);
    // Without noise the true gains have no misfit; the reported one may be of a step before the last.
    assert.ok(batch.commonVariance[0] > 100 && batch.lastChange[0] < 1e-7, `${batch.commonVariance[0]}`);
    assert.ok(batch.commonVariance[1] < 1);
    const second = batch.gains.slice(32);
    const solver = counting();
    await solveFromElsewhere(batch, guess, solver);
    assert.ok(batch.commonVariance[0] < 1 && batch.lastChange[0] < 1e-7, `${batch.commonVariance[0]}`);
    assert.deepEqual([...batch.gains.subarray(32)], [...second]);
    // Only the first channel, five times, and its best to the end.
    assert.deepEqual(solver.asked, [1, 1, 1, 1, 1, 1]);
  });

  it('an unpolarised model too, where all stations turned alike are the same start', async () => {
    const polarised = [[0, 0, 0], [0, 0, 0], [0, 0, 0]] as const; // prettier-ignore
    let wrong = 0;
    for (let seed = 1; seed <= 10; seed++) {
      const batch = fullBatchOf(fullSample({ seed, stations: 4, channels: 10, polarised }), RULE);
      const guess = batch.gains.slice();
      await solveFullReference(batch);
      wrong += batch.commonVariance.filter((variance) => variance > 100).length;
      await solveFromElsewhere(batch, guess, counting());
      assert.ok(batch.commonVariance.every((variance) => variance < 1), `seed ${seed}`); // prettier-ignore
    }
    assert.ok(wrong > 0, 'no false bottom was met');
  });

  it('data that the model explains are left alone', async () => {
    const batch = fullBatchOf(fullSample({ seed: 5, stations: 12, channels: 2, noiseJy: 0.1 }), RULE);
    const guess = batch.gains.slice();
    await solveFullReference(batch);
    const solver = counting();
    await solveFromElsewhere(batch, guess, solver);
    assert.deepEqual(solver.asked, []);
  });

  it('noise is tried in vain, and changes nothing', async () => {
    const batch = fullBatchOf(fullSample({ seed: 6, stations: 12, channels: 1, noiseJy: 4 }), RULE);
    const guess = batch.gains.slice();
    await solveFullReference(batch);
    const found = batch.gains.slice();
    const solver = counting();
    await solveFromElsewhere(batch, guess, solver);
    assert.deepEqual(solver.asked, [1, 1, 1, 1, 1]);
    assert.deepEqual([...batch.gains], [...found]);
  });
});
