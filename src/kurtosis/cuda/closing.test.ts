/** Memory on a card of paper: all of it is closed, and blocks after the first ask for none. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertClosesAll, openPaper } from '../../backend/cuda/testing.js';
import type { SpectraGap } from '../../core/gaps.js';
import { prepareFlagger } from '../index.js';
import { flaggerBytes } from '../on-card.js';
import { planKurtosis, windowEdges } from '../plan.js';
import { pieceOf, powersLayout, ROOMS, sumsLaunch } from './plan.js';
import { cudaPowers } from './prepare.js';

const shape = { type: 'ci8', channels: 3, inputs: 34, polarisations: 2 } as const;
const plan = planKurtosis({ ...shape, spectraPerWindow: 64 });

describe('the flagger on a card of paper', () => {
  it('closes all it opened, also where it cannot be prepared', async () => {
    assert.ok((await assertClosesAll((backend) => prepareFlagger(plan, backend))) > 5);
  });

  it('asks for memory with its first blocks alone, and shorter ones lie in it', async () => {
    const { backend, asked, held } = await openPaper('hopper');
    const engine = await cudaPowers(plan, backend);
    const block = backend.allocateSpectra({ ...shape, capacity: 640 });
    const begin = (samples: number): void => {
      engine.begin?.(block, windowEdges(plan, samples), undefined);
    };
    for (let n = 0; n < ROOMS; n++) begin(640);
    const after = asked();
    for (const samples of [64, 64, 300, 640, 640, 64]) begin(samples);
    assert.equal(asked(), after);
    await engine.close();
    await block.close();
    assert.equal(held(), 0);
    await backend.close();
  });

  it('keeps so much on the card', () => {
    // 10 windows × 3 channels: 34 inputs of 16 bytes and a mark, 3 groups of 8 bytes and a mark.
    assert.equal(powersLayout(plan, 10).bytes, 10 * 3 * (34 * 17 + 3 * 9));
    assert.equal(flaggerBytes(plan, { capacity: 640 }), ROOMS * 10 * 3 * (34 * 17 + 3 * 9));
    // 102 rows by eight warps, 10 windows by fours.
    assert.deepEqual(sumsLaunch(plan, 10).grid, [13 * 3, 1]);
  });

  it('zeros boxes in pieces of 64 rows at the most', () => {
    const box = (endInput: number): SpectraGap => ({
      ...{ firstChannel: 0, endChannel: 9, firstInput: 0, endInput, firstSample: 0, endSample: 64 },
    });
    assert.deepEqual(pieceOf(box(1)), { inputs: 1, channels: 64 });
    assert.deepEqual(pieceOf(box(34)), { inputs: 34, channels: 1 });
    assert.deepEqual(pieceOf(box(500)), { inputs: 64, channels: 1 });
  });
});
