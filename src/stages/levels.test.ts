import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { voltagesAT } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import { instant } from '../core/instant.js';
import type { VoltageSource } from '../core/sources.js';
import { chooseLevel } from './levels.js';

const start = instant(0);
const settings = { channels: 8, taps: 8, outputType: 'ci4' } as const;

/** One input; each block is so many samples of one value, of which the first few arrived. */
const sourceOf = (
  ...blocks: readonly { readonly value: number; readonly came: number; readonly samples: number }[]
): VoltageSource => ({
  kind: 'voltages',
  type: 'ci8',
  inputs: 1,
  polarisations: 1,
  sampleRateHz: 1e6,
  start,
  centreFrequencyHz: 58e6,
  close: () => Promise.resolve(),
  async *blocks(): AsyncGenerator<VoltageBlock> {
    for (const { value, came, samples } of blocks) {
      const numbers = new Int8Array(2 * samples).fill(value, 0, 2 * came);
      const gap = { firstInput: 0, endInput: 1, firstSample: came, endSample: samples };
      yield await Promise.resolve({
        type: 'ci8' as const,
        inputs: 1,
        samples,
        start,
        gaps: came < samples ? [gap] : [],
        voltages: voltagesAT(numbers, 'ci8', 1, samples),
      });
    }
  },
});

describe('the level of a recording’s first samples', () => {
  it('is of enough that came, whatever is missing or silent before', async () => {
    const full = { value: 10, came: 1e5, samples: 1e5 };
    for (const [source, silentSamples] of [
      [sourceOf(full), 0],
      [sourceOf({ value: 100, came: 3, samples: 1e5 }, { value: 0, came: 0, samples: 1e5 }, full), 0],
      [sourceOf({ value: 0, came: 5000, samples: 5000 }, full), 5000],
    ] as const) {
      const level = await chooseLevel(source, settings);
      assert.ok(level);
      assert.ok(Math.abs(level.inputRms / 10 - 1) < 2e-3, String(level.inputRms));
      assert.deepEqual([level.silentSamples, level.silentInputs], [silentSamples, 0]);
    }
  });

  it('is none where nothing is received: the nominal gain, with silent inputs counted', async () => {
    const level = await chooseLevel(sourceOf({ value: 0, came: 100, samples: 100 }), settings);
    assert.deepEqual([level?.inputRms, level?.follows, level?.silentInputs], [0, 'nominal', 1]);
    assert.equal((await chooseLevel(sourceOf(), { ...settings, gain: 2 }))?.gain, 2);
  });
});
