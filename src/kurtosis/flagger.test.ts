import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCpu } from '../backend/cpu/cpu.js';
import { loadNative } from '../backend/cpu/library.js';
import { openReference } from '../backend/reference.js';
import type { SpectraCAT } from '../core/axes.js';
import { randomStream } from '../core/random.js';
import { prepareFlagger } from './index.js';
import { planKurtosis } from './plan.js';
import { noisySpectra } from './samples.testing.js';

describe('the two halves of a flagger', () => {
  const shape = { type: 'ci8', channels: 2, inputs: 4, polarisations: 2 } as const;
  const plan = planKurtosis({ ...shape, spectraPerWindow: 64 });

  it('decide as the whole does, and in no other order', async () => {
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
    await flagger.summed();
    await flagger.summed();
    assert.deepEqual(await block.read(), spectra);
    assert.deepEqual(await flagger.finish(), wanted);
    await flagger.summed();
    assert.deepEqual(await block.read(), zeroed);
    await assert.rejects(flagger.finish(), /no block was begun/);
    await flagger.close();
  });

  const library = loadNative();
  it('of blocks that are begun one behind the other keep them apart', async (t) => {
    if ('what' in library) {
      t.skip(library.what);
      return;
    }
    const cpu = await openCpu({ threads: 2 });
    const flagger = await prepareFlagger(plan, cpu);
    assert.equal(flagger.mostBegun, 3);
    const blocks = [0, 1, 2, 3].map(() => cpu.allocateSpectra({ ...shape, capacity: 128 }));
    const given = blocks.map((_, n) =>
      noisySpectra({ ...shape, samples: 128 - 30 * n }, randomStream(n, 'apart'), (c, a, at) => ({
        noise: c === 1 && a === n && at % 40 < 4 ? 4 : 1,
        carrier: 0,
      })),
    );
    const fill = async (): Promise<void> => {
      for (const [n, block] of blocks.entries()) await block.write(given[n], 128 - 30 * n);
    };
    const read = (): Promise<SpectraCAT[]> => Promise.all(blocks.map((block) => block.read()));
    await fill();
    const wanted = [];
    for (const block of blocks) wanted.push(await flagger.run(block));
    const zeroed = await read();
    assert.ok(wanted[0].mask.includes(1) && wanted[1].mask.includes(1));
    assert.notDeepEqual(wanted[0].mask, wanted[1].mask);
    await fill();
    const [a, b, c, d] = blocks;
    for (const block of [a, b, c]) flagger.begin(block);
    assert.throws(() => {
      flagger.begin(d);
    }, /3 blocks were begun and not finished/);
    const first = flagger.finish();
    // Its sums are still being read.
    assert.throws(() => {
      flagger.begin(d);
    }, /3 blocks were begun and not finished/);
    assert.deepEqual(await first, wanted[0]);
    flagger.begin(d);
    for (const n of [1, 2, 3]) assert.deepEqual(await flagger.finish(), wanted[n]);
    assert.deepEqual(await read(), zeroed);
    // All requested at once.
    await fill();
    for (const block of [a, b, c]) flagger.begin(block);
    const three = await Promise.all([flagger.finish(), flagger.finish(), flagger.finish()]);
    assert.deepEqual(three, wanted.slice(0, 3));
    assert.deepEqual((await read()).slice(0, 3), zeroed.slice(0, 3));
    await flagger.close();
    for (const block of blocks) await block.close();
    await cpu.close();
  });
});
