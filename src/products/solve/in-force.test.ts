import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gainsCA } from '../../core/axes.js';
import { addSeconds, instant } from '../../core/instant.js';
import { GainsInForce, type InForceSettings } from './in-force.js';
import type { NewSolution } from './solve.js';

const BEGIN = instant(1000);
/** One input with this gain, for an interval that ends this many seconds after the start. */
const solution = (gain: number, untilS: number, isLeftOut = false): NewSolution => {
  const calibration = { gains: gainsCA(Float64Array.of(gain, 0), 1, 1), solved: Uint8Array.of(1) };
  const one = { calibration, isLeftOut, check: { unexplained: 0.7 } };
  return { solution: one, alone: () => one, until: addSeconds(BEGIN, untilS) } as unknown as NewSolution;
};
const unused: string[] = [];
const inForce = (more: Partial<InForceSettings> = {}): GainsInForce =>
  new GainsInForce({
    channels: 1,
    inputs: 1,
    lagS: 2,
    data: 'arrive',
    ...more,
    onUnused: (why) => unused.push(why),
  });

describe('solved gains in force', () => {
  const gainOf = (gains: GainsInForce, startS: number, middleS = startS): number => {
    const { gains: values, solved } = gains.at(addSeconds(BEGIN, middleS), addSeconds(BEGIN, startS));
    return solved[0] === 1 ? values[0] : Number.NaN;
  };

  it('are those of data that begin after the interval and the lag, whatever is solved later', () => {
    const gains = inForce();
    gains.put(solution(3, 10), 1);
    gains.put(solution(5, 20), 1);
    assert.deepEqual(
      // Data that begin before the change keep their gains, even if their middle is after it.
      [
        gainOf(gains, 0),
        gainOf(gains, 11.9, 15),
        gainOf(gains, 12),
        gainOf(gains, 21.9, 23),
        gainOf(gains, 22),
      ],
      [NaN, NaN, 3, 3, 5],
    );
    const filed = inForce({
      before: { gains: gainsCA(Float64Array.of(7, 0), 1, 1), solved: Uint8Array.of(1) },
    });
    filed.put(solution(3, 10), 1);
    assert.deepEqual([gainOf(filed, 11), gainOf(filed, 12)], [7, 3]);
  });

  it('stay where a solution is late in real time, or of another sky; both are reported', () => {
    const gains = inForce();
    gains.put(solution(3, 10), 2);
    gains.put(solution(5, 20), 2.1);
    gains.put(solution(6, 30, true), 0.1);
    assert.deepEqual([gainOf(gains, 25), gainOf(gains, 40), gains.used, gains.unused], [3, 3, 1, 2]);
    assert.match(unused[0], /took 2\.1 s to solve, longer than gains\.lag of 2 s/);
    assert.match(unused[1], /explains 30 % of the sky's power in .*1970-01-01T00:17:10\.000Z/);
    // Data that wait, or that have no lag, wait for the solution.
    for (const waiting of [inForce({ data: 'wait' }), inForce({ lagS: 0 })]) {
      waiting.put(solution(5, 20), 100);
      assert.equal(gainOf(waiting, 22), 5);
    }
  });
});
