/** A stream epoch on a card against the reference: sums and counts bit for bit. Skipped without a card. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeCuda, openCuda, type CudaBackend } from '../backend/cuda/cuda.js';
import { openReference } from '../backend/reference.js';
import type { ImagePlan } from '../image/index.js';
import { fourAntennas, twoBoards } from '../receive/testing/trial-source.js';
import { boards, madeBy, type LiveTrial } from './compare-testing.js';

/** Relative to the largest value of a channel; half precision leaves a thousandth before the taper correction. */
const tolerances = { visibilities: 1e-9, direct: 1e-3, none: 0 } as const;

const trials: Readonly<Record<string, LiveTrial>> = {
  'boards, by visibilities': { ...boards, stream: twoBoards, by: 'visibilities' },
  'boards, by visibilities, uniform weight, with gains and flags': {
    ...boards,
    stream: twoBoards,
    by: 'visibilities',
    weight: 'uniform',
    gains: 'random',
    flagged: [3, 10, 11],
  },
  'boards, directly, with gains': { ...boards, stream: twoBoards, by: 'direct', gains: 'random' },
  'boards, directly, nothing missing': { ...boards, stream: twoBoards, by: 'direct', missingPercent: 0 },
  'boards, by visibilities, interference taken': {
    ...boards,
    stream: twoBoards,
    by: 'visibilities',
    flagged: [3],
    kurtosis: { spectraPerWindow: 50, sigmas: 5 },
  },
  'boards, directly, interference taken': {
    ...boards,
    stream: twoBoards,
    by: 'direct',
    gains: 'random',
    kurtosis: { spectraPerWindow: 50, sigmas: 5 },
  },
  'boards, by visibilities, steered': {
    ...boards,
    stream: twoBoards,
    by: 'visibilities',
    gains: 'random',
    steered: { input: 7, fromSpectrum: 600 },
  },
  'boards, directly, steered': {
    ...boards,
    stream: twoBoards,
    by: 'direct',
    steered: { input: 7, fromSpectrum: 600 },
  },
  'boards, no images, flags': { ...boards, stream: twoBoards, by: 'none', flagged: [4, 5] },
  'antennas with heaps of 16 spectra, which cuts divide': {
    ...boards,
    stream: fourAntennas,
    by: 'visibilities',
    slotsPerBlock: 20,
  },
};

const presence = describeCuda();
if (!presence.present) {
  it('a stream epoch on a card', { skip: `${presence.reason}; ${presence.fix}` }, () => undefined);
} else {
  describe('a stream epoch on a card', onCard);
}

function onCard(): void {
  let backend: CudaBackend;
  before(async () => {
    backend = await openCuda();
  });
  after(() => backend.close());

  for (const [name, trial] of Object.entries(trials)) {
    it(name, async () => {
      const wanted = await madeBy(openReference(), trial);
      const ours = await madeBy(backend, trial);
      assert.deepEqual(ours.account, wanted.account);
      assert.equal(ours.integrations.length, wanted.integrations.length);
      wanted.integrations.forEach((one, k) => {
        const { visibilities, counts, flaggedInputs, start, durationS } = ours.integrations[k];
        assert.deepEqual(flaggedInputs, one.flaggedInputs);
        assert.deepEqual(visibilities, one.visibilities, `sums of integration ${k}`);
        assert.deepEqual(counts, one.counts, `counts of integration ${k}`);
        assert.deepEqual([start, durationS], [one.start, one.durationS]);
      });
      assert.deepEqual(ours.interference, wanted.interference);
      if (trial.kurtosis) assert.ok((wanted.interference?.flagged ?? 0) > 0, 'nothing was taken');
      assert.equal(ours.images.length, wanted.images.length);
      wanted.images.forEach(({ image, plan, start }, k) => {
        const found = ours.images[k];
        assert.deepEqual(found.start, start);
        const { channels } = plan;
        const { correction } = plan as ImagePlan;
        const size = image.length / channels;
        for (let c = 0; c < channels; c++) {
          let [largest, worst] = [0, 0];
          for (let at = c * size; at < (c + 1) * size; at++) {
            assert.equal(Number.isNaN(found.image[at]), Number.isNaN(image[at]), `pixel ${at} is NaN in one`);
            if (Number.isNaN(image[at])) continue;
            const by = trial.by === 'direct' ? 1 / correction[at % correction.length] : 1;
            largest = Math.max(largest, Math.abs(image[at]) * by);
            worst = Math.max(worst, Math.abs(found.image[at] - image[at]) * by);
          }
          assert.ok(
            worst <= tolerances[trial.by] * largest,
            `image ${k}, channel ${c} differs by ${worst / largest}`,
          );
        }
      });
    });
  }
}
