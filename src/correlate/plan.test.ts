import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { allocateSpectra } from '../core/axes.js';
import type { SpectraGap } from '../core/gaps.js';
import { checkCorrelateBlock, MOST_INTEGER_SAMPLES, planCorrelation } from './plan.js';

describe('correlate plan', () => {
  it('counts inputs and baselines', () => {
    const plan = planCorrelation({ stations: 19, polarisations: 2, channels: 3, type: 'ci8' });
    assert.equal(plan.inputs, 38);
    assert.equal(plan.baselines, 190);
    assert.deepEqual(
      [...plan.flaggedInputs],
      Array.from({ length: 38 }, () => 0),
    );
  });

  it('refuses impossible shapes', () => {
    const good = { stations: 2, polarisations: 2, channels: 1, type: 'ci8' } as const;
    assert.throws(
      () => planCorrelation({ ...good, stations: 0 }),
      /stations is 0; give a whole number from 1/,
    );
    assert.throws(() => planCorrelation({ ...good, channels: 0 }), /channels is 0/);
    assert.throws(() => planCorrelation({ ...good, stations: 1.5 }), /stations is 1.5/);
    assert.throws(
      () => planCorrelation({ ...good, flaggedInputs: new Uint8Array(2) }),
      /2 input flags .* 4 inputs/,
    );
    assert.throws(
      () => planCorrelation({ ...good, flaggedInputs: Uint8Array.from([0, 0, 2, 0]) }),
      /flag of input 2 is 2/,
    );
  });

  it('refuses gaps that reach outside the block, are turned round, or split a station', async () => {
    const plan = planCorrelation({ stations: 2, polarisations: 2, channels: 3, type: 'ci4' });
    const block = openReference().allocateSpectra({ type: 'ci4', channels: 3, inputs: 4, capacity: 5 });
    const whole = {
      firstChannel: 0,
      endChannel: 3,
      firstInput: 0,
      endInput: 4,
      firstSample: 0,
      endSample: 5,
    };
    const check = async (changes: Partial<SpectraGap>): Promise<void> => {
      await block.write(allocateSpectra('ci4', 3, 4, 5), 5, [{ ...whole, ...changes }]);
      checkCorrelateBlock(plan, block, 0);
    };
    await check({});
    await check({ firstChannel: 3, firstInput: 4, firstSample: 5 });
    await assert.rejects(check({ endChannel: 4 }), /a gap's endChannel is 4; .* from 0 to 3/);
    await assert.rejects(check({ endInput: 6 }), /a gap's endInput is 6; .* from 0 to 4/);
    await assert.rejects(check({ endSample: 6 }), /a gap's endSample is 6; .* from 0 to 5/);
    await assert.rejects(check({ firstChannel: 2, endChannel: 1 }), /firstChannel is 2; .* from 0 to 1/);
    await assert.rejects(check({ firstInput: 4, endInput: 2 }), /firstInput is 4; .* from 0 to 2/);
    await assert.rejects(check({ firstSample: -1 }), /firstSample is -1/);
    // One polarisation may be missing: products have counts of their own.
    await check({ firstInput: 1 });
  });

  it('refuses blocks of another shape', () => {
    const plan = planCorrelation({ stations: 2, polarisations: 2, channels: 3, type: 'ci4' });
    for (const other of [{ channels: 2 }, { inputs: 2 }, { type: 'ci8' }] as const) {
      const shape = { type: 'ci4', channels: 3, inputs: 4, capacity: 5, ...other } as const;
      assert.throws(() => {
        checkCorrelateBlock(plan, openReference().allocateSpectra(shape), 0);
      }, /the block holds .* the plan takes 3 of 4 as ci4/);
    }
  });

  it('refuses the sample that could make a sum inexact', async () => {
    // 2⁵³ / (2·127²) = 9,007,199,254,740,992 / 32,258 = 279,223,735.34… thousand samples
    assert.equal(MOST_INTEGER_SAMPLES, 279_223_735_344);
    assert.ok(MOST_INTEGER_SAMPLES * 2 * 127 ** 2 <= 2 ** 53);
    assert.ok((BigInt(MOST_INTEGER_SAMPLES) + 1n) * 2n * 127n ** 2n > 2n ** 53n);
    const plan = planCorrelation({ stations: 1, polarisations: 1, channels: 1, type: 'ci8' });
    const block = openReference().allocateSpectra({ type: 'ci8', channels: 1, inputs: 1, capacity: 2 });
    await block.write(allocateSpectra('ci8', 1, 1, 2), 2);
    checkCorrelateBlock(plan, block, MOST_INTEGER_SAMPLES - 2);
    assert.throws(() => {
      checkCorrelateBlock(plan, block, MOST_INTEGER_SAMPLES - 1);
    }, /279\d+ samples in one integration could pass 2⁵³.*finish the integration/);
  });
});
