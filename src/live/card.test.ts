/** The chain on a simulated card whose kernels do nothing: tests what is opened and that all of it is closed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openPaper } from '../backend/cuda/testing.js';
import { openReference } from '../backend/reference.js';
import type { Integration } from '../core/blocks.js';
import { twoBoards } from '../receive/testing/trial-source.js';
import { boards, madeBy, type LiveTrial } from './compare-testing.js';

const trials: Readonly<Record<string, LiveTrial>> = {
  'by visibilities': { ...boards, stream: twoBoards, by: 'visibilities', gains: 'random' },
  directly: { ...boards, stream: twoBoards, by: 'direct' },
  'without images': { ...boards, stream: twoBoards, by: 'none' },
  steered: {
    ...boards,
    stream: twoBoards,
    by: 'visibilities',
    steered: { input: 7, fromSpectrum: 600 },
  },
};

/** Counts, flags and times come from the host. */
const withoutSums = (one: Integration): Partial<Integration> =>
  Object.fromEntries(Object.entries(one).filter(([name]) => name !== 'visibilities'));

describe('a stream epoch on a card', () => {
  for (const [name, trial] of Object.entries(trials))
    it(`${name}: every sample is counted, and nothing stays allocated`, async () => {
      const { backend, held } = await openPaper('hopper');
      backend.meter.begin();
      const { account, integrations } = await madeBy(backend, trial);
      // The card keeps memory for copies.
      assert.ok(held() <= 2, `${held()} pieces are left`);
      const wanted = await madeBy(openReference(), trial);
      assert.deepEqual({ ...account, images: 0 }, { ...wanted.account, images: 0 });
      assert.deepEqual(integrations.map(withoutSums), wanted.integrations.map(withoutSums));
      const card = backend.meter.account();
      assert.equal((card?.seconds.image ?? 0) >= 0 && card?.seconds.image !== undefined, trial.by !== 'none');
      assert.equal(card?.blocks, 4);
      await backend.close();
      assert.equal(held(), 0);
    });
});
