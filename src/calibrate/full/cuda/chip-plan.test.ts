/** Tests of full polarisation on a card that need no card: how pairs are dealt. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChipLimits } from '../../cuda/plan.js';
import { planFullChip } from './chip-plan.js';
import { PAIR_NUMBERS } from './plan.js';

const h200: ChipLimits = { capability: 90, multiprocessors: 132, sharedBytesPerBlock: 232_448 };
const small: ChipLimits = { capability: 86, multiprocessors: 28, sharedBytesPerBlock: 101_376 };
const forms = [0, 1, 2] as const;

describe('pairs of full polarisation on the chip', () => {
  it('every plan covers its rows and columns and fits the card', () => {
    let plans = 0;
    for (const card of [h200, small])
      for (const form of forms)
        for (const rule of ['fixed', 'until'] as const)
          for (const stations of [2, 3, 7, 33, 64, 65, 128, 255, 256, 500, 1000])
            for (const solves of [1, 2, 20, 384]) {
              const plan = planFullChip({ stations, solves, form }, card, rule);
              if (!plan) continue;
              plans++;
              const { GROUP_WARPS, ROWS, REGISTER_ROWS, CHUNK } = plan.variant;
              const groups = plan.threads / 32 / GROUP_WARPS;
              assert.ok(REGISTER_ROWS <= ROWS && ROWS % CHUNK === 0 && ROWS <= 32);
              assert.ok(groups * ROWS * plan.blocksPerSolve >= stations);
              // A block without rows would read packets that may be overwritten.
              assert.ok(groups * ROWS * (plan.blocksPerSolve - 1) < stations);
              assert.ok(plan.sharedBytes <= card.sharedBytesPerBlock);
              const columns = Math.ceil(stations / (32 * GROUP_WARPS));
              const held = REGISTER_ROWS * columns * PAIR_NUMBERS[form] * plan.threads * 4;
              assert.ok(plan.sharedBytes + held >= 4 * PAIR_NUMBERS[form] * groups * ROWS * stations);
              // Some of 255 registers are needed for sums and gains.
              assert.ok(held <= plan.threads * 4 * 112);
              assert.ok(plan.waves * plan.solvesPerWave >= solves);
              if (plan.blocksPerSolve > 1) assert.ok(plan.blocks <= card.multiprocessors && rule === 'fixed');
              else assert.equal(plan.blocks, solves);
            }
    assert.ok(plans > 200, `${plans} plans`);
  });

  it('64 stations have a block to themselves whatever the model, 256 take many, 1000 do not fit', () => {
    for (const form of forms) {
      for (const rule of ['fixed', 'until'] as const)
        assert.equal(planFullChip({ stations: 64, solves: 384, form }, h200, rule)?.blocksPerSolve, 1);
      const many = planFullChip({ stations: 256, solves: 64, form }, h200, 'fixed');
      assert.ok(many && many.blocksPerSolve > 1 && many.waves > 1);
      assert.equal(planFullChip({ stations: 256, solves: 64, form }, h200, 'until'), undefined);
      assert.equal(planFullChip({ stations: 1000, solves: 1, form }, h200, 'fixed'), undefined);
    }
    assert.equal(planFullChip({ stations: 64, solves: 1, form: 2 }, { ...h200, capability: 61 }, 'fixed'), undefined); // prettier-ignore
  });
});
