/** The flagged fraction of pure noise, compared with theory: 0.27 % of the windows at 3 σ. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { randomStream } from '../core/random.js';
import { tail } from '../core/rounded-noise.js';
import { prepareFlagger } from './index.js';
import { planKurtosis } from './plan.js';
import { noisySpectra } from './samples.testing.js';

const INPUTS = 4;
/** Fewer than 8 channels: each input is tested on its own. From 8 on all rules apply. */
const [FEW, MANY] = [4, 32];

/** The fraction of windows that is flagged, of about so many. */
async function flaggedPart(
  type: 'ci4' | 'ci8' | 'cf32',
  spectraPerWindow: number,
  noise: number,
  windows: number,
  channels: number,
): Promise<number> {
  const shape = { type, channels, inputs: INPUTS };
  const plan = planKurtosis({ ...shape, polarisations: 1, spectraPerWindow, bursts: 'take' });
  const reference = openReference();
  const flagger = await prepareFlagger(plan, reference);
  const perBlock = 32;
  const samples = perBlock * spectraPerWindow;
  const block = reference.allocateSpectra({ ...shape, capacity: samples });
  const random = randomStream(17, `${type} ${spectraPerWindow} ${noise}`);
  let [flagged, tested] = [0, 0];
  while (tested < windows) {
    await block.write(
      noisySpectra({ ...shape, samples }, random, () => ({ noise, carrier: 0 })),
      samples,
    );
    const { mask } = await flagger.run(block);
    flagged += mask.reduce((sum, one) => sum + one, 0);
    tested += mask.length;
  }
  await flagger.close();
  return flagged / tested;
}

describe('false alarms of noise', () => {
  const theory = 2 * tail(3);
  // Levels: 2.5 of four bits and 20 of eight are nominal; 1.25 and 3.25 of four, 40 and 0.8 of eight are not.
  for (const [type, spectra, noise, windows, factor, channels] of [
    ['cf32', 32, 1, 40_000, 3, FEW],
    ['cf32', 64, 1, 24_000, 1.5, FEW],
    ['ci8', 32, 1, 40_000, 3, FEW],
    ['ci8', 64, 1, 24_000, 1.5, FEW],
    ['ci8', 64, 0.04, 24_000, 1.5, FEW],
    ['ci8', 64, 2, 24_000, 1.5, FEW],
    ['ci4', 32, 1, 40_000, 3, FEW],
    ['ci4', 32, 0.5, 40_000, 3, FEW],
    ['ci4', 64, 1, 24_000, 1.5, FEW],
    ['ci4', 64, 0.5, 24_000, 1.5, FEW],
    ['ci4', 64, 1.3, 24_000, 1.5, FEW],
    ['ci4', 256, 1, 12_000, 1.5, FEW],
    ['cf32', 32, 1, 40_000, 3, MANY],
    ['ci8', 64, 1, 24_000, 1.5, MANY],
    ['ci4', 32, 1, 40_000, 3, MANY],
    ['ci4', 64, 1, 24_000, 1.5, MANY],
  ] as const)
    it(`${type}, ${channels} channels, ${spectra} spectra, level ${noise}: within ${factor} of theory`, async () => {
      const part = await flaggedPart(type, spectra, noise, windows, channels);
      // Plus two standard deviations of the count: the factor is the error of the limits.
      const chance = 2 * Math.sqrt(theory / windows);
      assert.ok(
        part <= factor * theory + chance && part >= theory / factor - chance,
        `${(100 * part).toFixed(3)} % where theory says ${(100 * theory).toFixed(3)} %`,
      );
    });
});
