import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countsCB, gainsCA, visibilitiesCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { instant } from '../core/instant.js';
import { oddByGain, oddByPower } from './odd-inputs.js';

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
    // The middle of 1, 1.2, 0.1, 9, 0.9 is 1: 0.1 lies below 1/4, 9 above 4.
    assert.deepEqual(oddByPower(powers([1, 1.2, 0.1, 9, 0.9]), 4), [
      { input: 2, level: 0.1, by: 'autocorrelation' },
      { input: 3, level: 9, by: 'autocorrelation' },
    ]);
  });

  it('include a dead one, and leave flagged ones alone', () => {
    assert.deepEqual(
      oddByPower(powers([1, 1, 0, 1, 1]), 4).map(({ input }) => input),
      [2],
    );
    assert.deepEqual(oddByPower(powers([1, 1, 0, 1, 1], [0, 0, 1, 0, 0]), 4), []);
  });

  it('are not looked for where autocorrelations were not recorded', () => {
    const crossOnly = { ...powers([0, 0, 0, 0, 0]), counts: countsCB(new Float64Array(15), 1, 15) };
    assert.deepEqual(oddByPower(crossOnly, 4), []);
  });

  it('are found by their gains too; unsolved ones are not looked at', () => {
    const gains = gainsCA(Float64Array.of(1, 0, 0, -1.1, 0.6, 0.8, 0, 0.1, NaN, NaN), 1, 5);
    const calibration = { gains, solved: Uint8Array.of(1, 1, 1, 1, 0), solutions: [], referenceStation: 0 };
    assert.deepEqual(
      oddByGain(calibration, 1, 1, 4).map(({ input }) => input),
      [3],
    );
  });
});
