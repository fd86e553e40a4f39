import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { randomStream } from '../core/random.js';
import { correlateCases } from './cases.js';
import { prepareCorrelator } from './index.js';
import { planCorrelation } from './plan.js';
import { randomSpectra } from './samples.testing.js';

correlateCases(() => Promise.resolve(openReference()));

describe('reference correlator', () => {
  it('refuses values outside the contract, saying where, and adds nothing', async () => {
    const backend = openReference();
    const refused = async (
      type: 'ci8' | 'ci4' | 'cf32',
      element: number,
      value: number,
      message: RegExp,
    ): Promise<void> => {
      const plan = planCorrelation({ stations: 2, polarisations: 1, channels: 2, type });
      const spectra = randomSpectra(plan, 3, randomStream(22, type));
      const block = backend.allocateSpectra({ type, channels: 2, inputs: 2, capacity: 3 });
      const correlator = await prepareCorrelator(plan, backend);
      spectra[element] = value;
      await block.write(spectra, 3);
      await assert.rejects(correlator.accumulate(block), message);
      const { visibilities, samples } = await correlator.finish();
      assert.ok(visibilities.every((sum) => sum === 0));
      assert.equal(samples, 0);
    };
    // Channel 1, input 0, sample 2 is complex number (1·2 + 0)·3 + 2 = 8.
    await refused('ci8', 17, -128, /channel 1, input 0, sample 2 holds −128; parts run from −127 to 127/);
    await refused('ci4', 8, 0x80, /channel 1, input 0, sample 2 holds −8/);
    await refused('ci4', 8, 0x38, /channel 1, input 0, sample 2 holds −8/);
    await refused('cf32', 16, NaN, /channel 1, input 0, sample 2 is not a finite number/);
    await refused('cf32', 0, Infinity, /channel 0, input 0, sample 0 is not a finite number/);
  });

  it("refuses another backend's block", async () => {
    const plan = planCorrelation({ stations: 1, polarisations: 1, channels: 1, type: 'ci8' });
    const backend = openReference();
    const correlator = await prepareCorrelator(plan, backend);
    const block = backend.allocateSpectra({ type: 'ci8', channels: 1, inputs: 1, capacity: 1 });
    await assert.rejects(correlator.accumulate({ ...block, home: 'cuda' }), /lives on backend 'cuda'/);
  });
});
