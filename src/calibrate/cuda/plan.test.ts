/** Tests of calibration on a card that need no card: how matrices are dealt. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { packetsOf, planChip, type ChipLimits } from './plan.js';

const h200: ChipLimits = { capability: 90, multiprocessors: 132, sharedBytesPerBlock: 232_448 };
const small: ChipLimits = { capability: 86, multiprocessors: 28, sharedBytesPerBlock: 101_376 };

describe('matrices on the chip', () => {
  it('every plan covers its rows and columns and fits the card', () => {
    for (const card of [h200, small]) {
      for (const stations of [3, 7, 33, 64, 65, 128, 255, 256, 500, 512, 1000, 1024, 1500, 2000]) {
        for (const solves of [1, 2, 20, 264, 5000]) {
          const plan = planChip(stations, solves, card, 'until');
          if (!plan) continue;
          const { THREADS, GROUP, COLUMNS, ROWS, REGISTER_ROWS, CHUNK } = plan.variant;
          assert.ok(GROUP * COLUMNS >= stations && COLUMNS % 2 === 0);
          assert.ok(REGISTER_ROWS <= ROWS && ROWS % CHUNK === 0);
          assert.ok(ROWS === REGISTER_ROWS || (COLUMNS * 3) % 4 === 0);
          assert.ok(plan.sharedBytes <= card.sharedBytesPerBlock);
          assert.ok(plan.blocks <= card.multiprocessors);
          assert.ok(plan.groupsPerSolve * ROWS >= stations);
          const groups = plan.blocks * (THREADS / GROUP);
          assert.ok(groups >= Math.min(solves, plan.solvesPerWave) * plan.groupsPerSolve);
          // A block without rows would read packets that may be overwritten.
          assert.ok((plan.groupsPerSolve - THREADS / GROUP) * ROWS < stations);
          assert.ok(plan.waves * plan.solvesPerWave >= solves);
        }
      }
    }
  });

  it('an H200 holds 2000 stations, and 20 times 500 in two waves; not 2500', () => {
    assert.equal(planChip(1000, 1, h200, 'fixed')?.waves, 1);
    assert.equal(planChip(2000, 1, h200, 'fixed')?.waves, 1);
    assert.equal(planChip(500, 20, h200, 'fixed')?.waves, 2);
    assert.equal(planChip(2500, 1, h200, 'fixed'), undefined);
    assert.equal(planChip(2000, 1, small, 'fixed'), undefined);
    assert.equal(planChip(100, 1, { ...h200, capability: 61 }, 'fixed'), undefined);
  });

  it('packets come in pairs', () => {
    assert.deepEqual([3, 4, 5].map(packetsOf), [4, 4, 6]);
  });
});
