import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chooseHopperVariant, hopperVariants, launchShape, planXEngine } from './plan.js';
import { mostInt32Samples } from './prepare.js';

describe('planning the X-engine for a card', () => {
  it('int32 holds 66,572 samples of 8 bits: 2·127² = 32,258 each, (2³¹ − 1) / 32,258 = 66,572.1', () => {
    assert.equal(mostInt32Samples.ci8, 66_572);
    assert.ok(mostInt32Samples.ci8 * 32_258 < 2 ** 31 && (mostInt32Samples.ci8 + 1) * 32_258 > 2 ** 31);
    assert.ok(mostInt32Samples.ci4 * 98 < 2 ** 31);
  });

  it('takes one tile where all inputs fit, pairs above', () => {
    assert.deepEqual([1, 64, 65, 128, 129, 1024].map(chooseHopperVariant), [
      'single64',
      'single64',
      'single128',
      'single128',
      'pairs',
      'pairs',
    ]);
    assert.throws(
      () => planXEngine({ inputs: 66, polarisations: 2 }, 'hopper', { mode: 'add', variant: 'single64' }),
      /'single64' takes at most 64 inputs, not 66/,
    );
  });

  it('the plan becomes defines', () => {
    const planned = planXEngine({ inputs: 66, polarisations: 2 }, 'hopper', { mode: 'add' });
    const { request } = planned;
    const { mostInputs, fetchBytes, ...variant } = hopperVariants.single128;
    assert.equal(mostInputs, 128);
    assert.equal(planned.fetchBytes, fetchBytes);
    assert.deepEqual(request.defines, { INPUTS: 66, POLARISATIONS: 2, ADD: 1, ...variant });
    for (const name of request.source.matchAll(/#include "(.*)"/g))
      assert.ok(name[1] in request.headers, name[1]);
  });

  it('counts tiles and blocks: 1024 inputs are 8 tiles a side', () => {
    // Lower triangle of 8 × 8 tiles: 36. In pairs: 4 row pairs, the i-th with 2i items of two tiles and a triangle: 16.
    const shape = { inputs: 1024, polarisations: 2 } as const;
    const tiles = planXEngine(shape, 'hopper', { mode: 'replace', variant: 'tiles' });
    const pairs = planXEngine(shape, 'hopper', { mode: 'replace' });
    assert.equal(tiles.itemsPerChannel, 36);
    assert.equal(pairs.itemsPerChannel, 16);
    // One channel: fewer items than multiprocessors. Many: persistent blocks, in pairs.
    assert.deepEqual(launchShape(pairs, 1, 132).grid, [32, 1]);
    assert.deepEqual(launchShape(pairs, 100, 132).grid, [132, 1]);
    assert.deepEqual(launchShape(pairs, 100, 131).grid, [130, 1]);
    assert.equal(pairs.threads, 384);
    assert.deepEqual(launchShape(planXEngine(shape, 'dp4a', { mode: 'add' }), 2, 132).grid, [2 * 136, 1]);
    assert.throws(() => launchShape(tiles, 2 ** 27, 132), /more than one launch can count/);
  });

  it('stays within the shared memory of the cards each path is for', () => {
    for (const inputs of [1, 64, 65, 128, 129, 2048]) {
      const shape = { inputs, polarisations: 1 } as const;
      assert.ok(planXEngine(shape, 'hopper', { mode: 'add' }).sharedBytes <= 232_448);
      assert.ok(planXEngine(shape, 'tensor', { mode: 'add' }).sharedBytes <= 101_376); // sm_86, sm_89, sm_120
      assert.ok(planXEngine(shape, 'dp4a', { mode: 'add' }).sharedBytes <= 49_152);
    }
  });
});
