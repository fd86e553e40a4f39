import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Decision, KurtosisTally, planKurtosis } from '../../kurtosis/index.js';
import { messagesIn } from '../../messages/index.js';
import { runInterference, type FlaggedSpectra } from './kurtosis.js';

describe('what is flagged in a run', () => {
  it('is reported of every stream epoch', () => {
    const epochs: FlaggedSpectra[] = [];
    const plan = planKurtosis({
      type: 'ci8',
      channels: 1,
      inputs: 1,
      polarisations: 1,
      spectraPerWindow: 256,
    });
    // Four windows of one channel and input, some flagged.
    const edges = Int32Array.of(0, 64, 128, 192, 256);
    for (const codes of [
      [1, 1, 1, 1],
      [0, 2, 0, 0],
    ]) {
      const tally = new KurtosisTally(plan);
      tally.add(new Decision(plan, edges, Uint8Array.from(codes), new Uint8Array(4), undefined), 0);
      epochs.push({ plan, account: tally.account() });
    }
    const { lines, facts } = runInterference(epochs, 1e3);
    assert.deepEqual(
      facts.interference?.map((one) => (one as { flagged: number }).flagged),
      [256, 64],
    );
    assert.deepEqual(
      messagesIn(lines)
        .filter(({ code }) => code === 'kurtosis.flagged')
        .map(({ data }) => (data as { part: number }).part),
      [1, 0.25],
    );
    assert.deepEqual(runInterference(undefined, 1e3), { lines: [], facts: {} });
  });

  it('has the seconds of each burst, from the first spectrum of the run', () => {
    const plan = planKurtosis({
      type: 'ci8',
      channels: 4,
      inputs: 1,
      polarisations: 1,
      spectraPerWindow: 256,
    });
    const burst = { firstSpectrum: 512, endSpectrum: 768, fromChannel: 0, toChannel: 4, channels: 3, fate: 'kept' } as const; // prettier-ignore
    const kinds = ['everywhere', 'sweep'] as const;
    const episodes = kinds.map((kind) => ({ ...burst, kind }));
    const account = { ...new KurtosisTally(plan).account(), episodes, episodeCount: 2 };
    const { lines, facts } = runInterference([{ plan, account }], 1e3);
    const times = { startS: 0.512, durationS: 0.256 };
    const reported = messagesIn(lines).filter(({ code }) => /burst|sweep/.test(code));
    assert.equal(reported.length, 2);
    for (const { data } of reported) assert.deepEqual({ ...data, ...times }, data);
    const [{ episodes: found }] = facts.interference as [{ episodes: object[] }];
    for (const one of found) assert.deepEqual({ ...one, ...times }, one);
    assert.equal(found.length, 2);
  });
});
