import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KurtosisTally, planKurtosis, type Judgement } from '../../kurtosis/index.js';
import { nightInterference } from './kurtosis-lines.js';
import { kurtosisWork } from './kurtosis-options.js';

/** One window of one channel and input, of which so many samples were taken. */
const judgement = (taken: number): Judgement =>
  ({
    ...{ edges: Int32Array.of(0, 256), everywhere: [], common: new Int32Array(0), unjudged: 0 },
    summed: { byWindow: [taken], byChannel: [taken], byInput: [taken], above: 0, below: 0 },
  }) as unknown as Judgement;

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
    // The second was prepared, and nothing came.
    for (const taken of [256, undefined, 64]) {
      const tally = new KurtosisTally(plan);
      work.asked.kurtosis?.onPlan?.(plan, tally);
      if (taken !== undefined) tally.add(judgement(taken), 0);
    }
    const { lines, facts } = nightInterference(work, 1e3);
    assert.deepEqual(
      facts.interference?.map((one) => (one as { taken: number }).taken),
      [256, 64],
    );
    const told = lines.join('\n');
    assert.match(
      told,
      /part 1 of the night:\ninterference: 100 % of[^]*part 2 of the night:\ninterference: 25 % of/,
    );
    assert.deepEqual(nightInterference(kurtosisWork({}), 1e3), { lines: [], facts: {} });
  });
});
