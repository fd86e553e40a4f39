/** A night's chain on a card of paper: when images and integrations end, and what is counted, needs no card. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertClosesAll, openPaper } from '../../../backend/cuda/testing.js';
import { trialSource, fourAntennas, twoBoards } from '../../../receive/testing/trial-source.js';
import { loadTelescope } from '../../../telescope/load.js';
import { selectStations } from '../../../telescope/select.js';
import { prepareLiveCard } from './card.js';
import { boards, byCard, byReference, type LiveTrial, type Made } from './compare-testing.js';

const trials: Readonly<Record<string, LiveTrial>> = {
  'boards, by visibilities': { ...boards, stream: twoBoards, road: 'visibilities' },
  'boards, directly': { ...boards, stream: twoBoards, road: 'direct', flagged: [3] },
  'boards, no images': { ...boards, stream: twoBoards, road: 'none', flagged: [4, 5] },
  'antennas with heaps of 16 spectra, which cuts divide': {
    ...{ ...boards, stream: fourAntennas, road: 'visibilities', slotsPerBlock: 20 },
  },
};

const about = ({ images, integrations, account }: Made): unknown => ({
  images: images.map(({ start, durationS }) => ({ start, durationS })),
  integrations: integrations.map(({ start, durationS, flaggedInputs }) => ({
    ...{ start, durationS, flaggedInputs },
  })),
  // By visibilities the stages count every image's own integration among them.
  account: { ...account, integrations: integrations.length },
});

describe('a night on a card cuts, counts and accounts as the stages do', () => {
  for (const [name, trial] of Object.entries(trials)) {
    it(name, async () => {
      const { backend } = await openPaper('hopper');
      const ours = await byCard(trial, backend);
      const reference = await byReference(trial);
      assert.deepEqual(about(ours), about(reference));
      assert.equal(ours.account.integrations, ours.integrations.length);
      assert.ok(reference.integrations.length >= 3);
      assert.equal(reference.images.length > 0, trial.road !== 'none');
      reference.integrations.forEach(({ counts }, k) => {
        assert.deepEqual(ours.integrations[k].counts, counts, `counts of integration ${k}`);
      });
      await backend.close();
    });
  }

  it('closes all it opened, also where it cannot be prepared', async () => {
    const source = trialSource({ ...boards, stream: twoBoards });
    const telescope = selectStations(await loadTelescope('lwasv'), source.inputs / 2);
    for (const road of ['visibilities', 'direct'] as const) {
      const places = await assertClosesAll(async (backend) => {
        const card = await prepareLiveCard({
          ...{ backend, telescope, frequenciesHz: source.frequenciesHz, ring: source.ring },
          ...{ polarisations: 2, about: source.start, integrationS: 1, align: 'utc', say: () => undefined },
          imaging: {
            ...{ everyS: 0.1, road, weight: 'natural' },
            image: { pixels: 64, field: { kind: 'all-sky' }, kernelSize: 3 },
          },
        });
        assert.ok(card);
        return card;
      });
      assert.ok(places > 40);
    }
  });
});
