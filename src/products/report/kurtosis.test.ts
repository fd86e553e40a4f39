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
});
