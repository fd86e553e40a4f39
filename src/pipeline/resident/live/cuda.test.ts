/** A night's chain on a card against the reference's stages: sums and counts bit for bit. Skipped without a card. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeCuda, openCuda, type CudaBackend } from '../../../backend/cuda/cuda.js';
import { addSeconds } from '../../../core/instant.js';
import { fourAntennas, twoBoards } from '../../../receive/testing/trial-source.js';
import { boards, byCard, byReference, type LiveTrial } from './compare-testing.js';

/** Of the largest value of a channel; halves leave a thousandth before the taper is taken out. */
const tolerances = { visibilities: 1e-9, direct: 1e-3, none: 0 } as const;

const trials: Readonly<Record<string, LiveTrial>> = {
  'boards, by visibilities': { ...boards, stream: twoBoards, road: 'visibilities' },
  'boards, by visibilities, uniform weight, with gains and flags': {
    ...{ ...boards, stream: twoBoards, road: 'visibilities', weight: 'uniform', gains: 'random' },
    flagged: [3, 10, 11],
  },
  'boards, directly, with gains': { ...boards, stream: twoBoards, road: 'direct', gains: 'random' },
  'boards, directly, nothing missing': { ...boards, stream: twoBoards, road: 'direct', missingPercent: 0 },
  'boards, by visibilities, interference taken': {
    ...{ ...boards, stream: twoBoards, road: 'visibilities', flagged: [3] },
    kurtosis: { spectraPerWindow: 50, sigmas: 5 },
  },
  'boards, directly, interference taken': {
    ...{ ...boards, stream: twoBoards, road: 'direct', gains: 'random' },
    kurtosis: { spectraPerWindow: 50, sigmas: 5 },
  },
  'boards, no images, flags': { ...boards, stream: twoBoards, road: 'none', flagged: [4, 5] },
  'antennas with heaps of 16 spectra, which cuts divide': {
    ...{ ...boards, stream: fourAntennas, road: 'visibilities', slotsPerBlock: 20 },
  },
};

const presence = describeCuda();
if (!presence.present) {
  it('a night on a card', { skip: `${presence.reason}; ${presence.fix}` }, () => undefined);
} else {
  describe('a night on a card', onCard);
}

function onCard(): void {
  let backend: CudaBackend;
  before(async () => {
    backend = await openCuda();
  });
  after(() => backend.close());

  for (const [name, trial] of Object.entries(trials)) {
    it(name, async () => {
      const wanted = await byReference(trial);
      // The reference plans its images for the middle of the first: a millisecond turns the axes by 5e-10.
      const first = wanted.images.at(0);
      const about = first && addSeconds(first.start, first.durationS / 2);
      const ours = await byCard(trial, backend, about);
      const { integrations } = wanted;
      assert.deepEqual(ours.account, { ...wanted.account, integrations: integrations.length });
      assert.equal(ours.integrations.length, wanted.integrations.length);
      wanted.integrations.forEach((one, k) => {
        const { visibilities, counts, start, durationS } = ours.integrations[k];
        assert.deepEqual(visibilities, one.visibilities, `sums of integration ${k}`);
        assert.deepEqual(counts, one.counts, `counts of integration ${k}`);
        assert.deepEqual([start, durationS], [one.start, one.durationS]);
      });
      assert.deepEqual(ours.interference, wanted.interference);
      if (trial.kurtosis) assert.ok((wanted.interference?.taken ?? 0) > 0, 'nothing was taken');
      assert.equal(ours.images.length, wanted.images.length);
      wanted.images.forEach(({ image, plan, start }, k) => {
        const found = ours.images[k];
        assert.deepEqual(found.start, start);
        const { correction, channels } = plan;
        const size = image.length / channels;
        for (let c = 0; c < channels; c++) {
          let [largest, worst] = [0, 0];
          for (let at = c * size; at < (c + 1) * size; at++) {
            assert.equal(Number.isNaN(found.image[at]), Number.isNaN(image[at]), `pixel ${at} is NaN in one`);
            if (Number.isNaN(image[at])) continue;
            const by = trial.road === 'direct' ? 1 / correction[at % correction.length] : 1;
            largest = Math.max(largest, Math.abs(image[at]) * by);
            worst = Math.max(worst, Math.abs(found.image[at] - image[at]) * by);
          }
          assert.ok(
            worst <= tolerances[trial.road] * largest,
            `image ${k}, channel ${c} differs by ${worst / largest}`,
          );
        }
      });
    });
  }
}
