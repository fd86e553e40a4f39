import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Judgement, KurtosisTally, planKurtosis } from '../../kurtosis/index.js';
import { messagesIn } from '../../messages/index.js';
import { nightInterference } from './kurtosis-lines.js';
import { kurtosisWork } from './kurtosis-options.js';

describe('what a night took', () => {
  it('is told of every session, not of the last alone', () => {
    const work = kurtosisWork({ kurtosis: true });
    const plan = planKurtosis({
      type: 'ci8',
      channels: 1,
      inputs: 1,
      polarisations: 1,
      spectraPerWindow: 256,
    });
    // Four windows of one channel and input, some flagged. The second tally was prepared, and nothing came.
    const edges = Int32Array.of(0, 64, 128, 192, 256);
    for (const codes of [[1, 1, 1, 1], undefined, [0, 2, 0, 0]]) {
      const tally = new KurtosisTally(plan);
      work.asked.kurtosis?.onPlan?.(plan, tally);
      if (codes)
        tally.add(new Judgement(plan, edges, Uint8Array.from(codes), new Uint8Array(4), undefined), 0);
    }
    const { lines, facts } = nightInterference(work, 1e3);
    assert.deepEqual(
      facts.interference?.map((one) => (one as { taken: number }).taken),
      [256, 64],
    );
    assert.deepEqual(
      messagesIn(lines)
        .filter(({ code }) => code === 'kurtosis.flagged')
        .map(({ data }) => (data as { part: number }).part),
      [1, 0.25],
    );
    assert.deepEqual(nightInterference(kurtosisWork({}), 1e3), { lines: [], facts: {} });
  });
});
