import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { randomStream } from '../core/random.js';
import { prepareFlagger } from './index.js';
import { planKurtosis } from './plan.js';
import { noisySpectra } from './samples.testing.js';

describe('the two halves of a flagger', () => {
  const shape = { type: 'ci8', channels: 2, inputs: 4, polarisations: 2 } as const;
  const plan = planKurtosis({ ...shape, spectraPerWindow: 64 });

  it('judge as the whole does, and in no other order', async () => {
    const reference = openReference();
    const flagger = await prepareFlagger(plan, reference);
    const block = reference.allocateSpectra({ ...shape, capacity: 128 });
    const spectra = noisySpectra({ ...shape, samples: 128 }, randomStream(3, 'halves'), (c, a, t) => ({
      noise: c === 1 && a === 2 && t % 40 < 4 ? 4 : 1,
      carrier: 0,
    }));
    await block.write(spectra, 128);
    const wanted = await flagger.run(block);
    assert.ok(wanted.mask.includes(1));
    const zeroed = await block.read();
    await block.write(spectra, 128);
    flagger.begin(block);
    assert.deepEqual(await block.read(), spectra);
    assert.throws(() => {
      flagger.begin(block);
    }, /1 blocks were begun and not finished/);
    await assert.rejects(flagger.run(block), /another block was begun/);
    assert.deepEqual(await flagger.finish(), wanted);
    assert.deepEqual(await block.read(), zeroed);
    await assert.rejects(flagger.finish(), /no block was begun/);
    await flagger.close();
  });
});
