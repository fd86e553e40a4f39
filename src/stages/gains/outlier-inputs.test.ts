import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countsCB, gainsCA, visibilitiesCBPP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { instant } from '../../core/instant.js';
import { outliersByGain, outliersByPower } from './outlier-inputs.js';

/** Five stations of one polarisation, one channel, 10 samples; only autocorrelations matter. */
function powers(values: readonly number[], flags: readonly number[] = [0, 0, 0, 0, 0]): Integration {
  const visibilities = new Float64Array(2 * 15);
  values.forEach((value, s) => (visibilities[2 * ((s * (s + 1)) / 2 + s)] = 10 * value));
  return {
    start: instant(0),
    durationS: 1,
    channels: 1,
    stations: 5,
    polarisations: 1,
    visibilities: visibilitiesCBPP(visibilities, 1, 15, 1),
    counts: countsCB(new Float64Array(15).fill(10), 1, 15),
    flaggedInputs: Uint8Array.from(flags),
  };
}

describe('odd inputs', () => {
  it('are those far above or below the middle power', () => {
    // The median of 1, 1.2, 0.1, 9, 0.9 is 1: 0.1 is below 1/4, 9 above 4.
    assert.deepEqual(outliersByPower(powers([1, 1.2, 0.1, 9, 0.9]), 4), [
      { input: 2, level: 0.1, by: 'autocorrelation' },
      { input: 3, level: 9, by: 'autocorrelation' },
    ]);
  });

  it('are measured by their own polarisation', () => {
    // Three stations of X 1, 1.2, 0.9 and Y 50, 60, 5: only the last Y is far from the other Ys.
    const visibilities = visibilitiesCBPP(new Float64Array(2 * 6 * 4), 1, 6, 2);
    const levels = [1, 50, 1.2, 60, 0.9, 5];
    levels.forEach((level, a) => {
      const s = Math.floor(a / 2);
      visibilities[2 * (((s * (s + 1)) / 2 + s) * 4 + 3 * (a % 2))] = 10 * level;
    });
    const integration: Integration = {
      start: instant(0),
      durationS: 1,
      channels: 1,
      stations: 3,
      polarisations: 2,
      visibilities,
      counts: countsCB(new Float64Array(6).fill(10), 1, 6),
      flaggedInputs: new Uint8Array(6),
    };
    assert.deepEqual(outliersByPower(integration, 4), [{ input: 5, level: 0.1, by: 'autocorrelation' }]);
  });

  it('include a dead one, and leave flagged ones alone', () => {
    assert.deepEqual(
      outliersByPower(powers([1, 1, 0, 1, 1]), 4).map(({ input }) => input),
      [2],
    );
    assert.deepEqual(outliersByPower(powers([1, 1, 0, 1, 1], [0, 0, 1, 0, 0]), 4), []);
  });

  it('are not looked for where autocorrelations were not recorded', () => {
    const crossOnly = { ...powers([0, 0, 0, 0, 0]), counts: countsCB(new Float64Array(15), 1, 15) };
    assert.deepEqual(outliersByPower(crossOnly, 4), []);
  });

  it('are found by their gains too; unsolved ones are not looked at', () => {
    const gains = gainsCA(Float64Array.of(1, 0, 0, -1.1, 0.6, 0.8, 0, 0.1, NaN, NaN), 1, 5);
    const calibration = { gains, solved: Uint8Array.of(1, 1, 1, 1, 0), solutions: [], referenceStation: 0 };
    assert.deepEqual(
      outliersByGain(calibration, 1, 1, 4).map(({ input }) => input),
      [3],
    );
  });
});
