import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gainsCA } from '../../core/axes.js';
import { leaveOutOutliers, outlierGains } from './outlier-channels.js';

/** Five channels of three inputs, one polarisation: gains of 1 but for those given. */
function calibration(changed: Readonly<Record<string, number>>, residuals = [0.1, 0.1, 0.1, 0.1, 0.1]) {
  const gains = new Float64Array(2 * 15);
  for (let at = 0; at < 15; at++) gains[2 * at + 1] = changed[`${Math.floor(at / 3)},${at % 3}`] ?? 1;
  return {
    gains: gainsCA(gains, 5, 3),
    solved: new Uint8Array(15).fill(1),
    referenceStation: 0,
    solutions: residuals.map((residual, channel) => ({
      channel,
      polarisation: 0,
      iterations: 10,
      converged: true,
      lastChange: 0,
      residual,
      leftOut: [],
    })),
  };
}

describe('odd gains', () => {
  it('of a whole channel, of a single input, and of a channel the model does not explain', () => {
    // Channel 1 is ten times the others; input 2 is 0.1 in channel 3 alone; channel 4 is not the model's sky: the model
    // explains 1 − 0.9² = 0.19 of it, and 0.99 of the others.
    const found = calibration({ '1,0': 10, '1,1': 10, '1,2': 10, '3,2': 0.1 }, [0.1, 0.1, 0.1, 0.1, 0.9]);
    const odd = outlierGains(found, 5, 4);
    assert.deepEqual(
      odd.channels.map(({ channel, by }) => [channel, by]),
      [[1, 'gain'], [4, 'residual']], // prettier-ignore
    );
    assert.deepEqual(
      odd.gains.map(({ channel, input, level }) => [channel, input, Math.round(100 * level)]),
      [[3, 2, 10]],
    );
    const { solved, gains } = leaveOutOutliers(found, 5, odd);
    assert.deepEqual([...solved], [1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0]);
    assert.ok(Number.isNaN(gains[2 * 11]) && gains[1] === 1);
  });

  it('are not an input that is weak everywhere, nor channels of a sky that noise hides', () => {
    const weak = calibration({ '0,1': 0.1, '1,1': 0.1, '2,1': 0.1, '3,1': 0.1, '4,1': 0.1 });
    assert.deepEqual(outlierGains(weak, 5, 4), { channels: [], gains: [] });
    const noise = calibration({}, [0.98, 0.98, 0.98, 0.98, 0.999]);
    assert.deepEqual(outlierGains(noise, 5, 4), { channels: [], gains: [] });
  });
});
