import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { baselineCount, baselineIndex, countsCB, visibilitiesCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { instant } from '../core/instant.js';
import { loadTelescope } from '../telescope/load.js';
import { selectStations } from '../telescope/select.js';
import { AntennaPowers } from './antennas.js';

const stations = 5;
const channels = 2;
const baselines = baselineCount(stations);

/** Sums of `count` samples of these powers: [station], the same in both polarisations and all channels. */
function integration(powers: readonly number[], count: number, atS = 0): Integration {
  const visibilities = new Float64Array(channels * baselines * 4 * 2);
  const counts = new Float64Array(channels * baselines).fill(count);
  for (let c = 0; c < channels; c++)
    powers.forEach((power, s) => {
      const b = c * baselines + baselineIndex(s, s);
      if (power === 0) counts[b] = 0;
      for (const p of [0, 3]) visibilities[2 * (4 * b + p)] = power * count;
    });
  return {
    start: instant(1_700_000_000 + atS),
    durationS: 1,
    stations,
    channels,
    polarisations: 2,
    visibilities: visibilitiesCBPP(visibilities, channels, baselines, 2),
    counts: countsCB(counts, channels, baselines),
    flaggedInputs: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
  };
}

const health = (powers: AntennaPowers): string[] =>
  powers.rows(undefined).map(({ inputs }) => inputs.map((input) => input.health).join(' '));

describe('antennas by their own power', async () => {
  const telescope = selectStations(await loadTelescope('lwasv'), stations);

  it('are weak, strong or dead beside the array, and missing where nothing came', () => {
    const powers = new AntennaPowers(telescope, channels);
    // 10, 10·10^0.31 (+3.1 dB), 10·10^−0.29 (−2.9 dB), 0.1 (−20 dB), no data.
    powers.integration(integration([10, 20.4, 5.13, 0.1, 0], 100), 100);
    assert.deepEqual(health(powers), [
      'good good',
      'strong strong',
      'good good',
      'dead dead',
      'missing flagged',
    ]);
    powers.integration(integration([10, 10, 4.9, 10, 10], 100), 100);
    assert.deepEqual(health(powers), ['good good', 'good good', 'weak weak', 'good good', 'good flagged']);
  });

  it('give their mean power in dB, and how much of it was received', () => {
    const powers = new AntennaPowers(telescope, channels);
    const present = powers.integration(integration([100, 100, 100, 100, 100], 75), 100);
    assert.equal(present, 0.75);
    const [{ inputs }] = powers.rows(undefined);
    assert.deepEqual([inputs[0].levelDb, inputs[0].offArrayDb, inputs[0].presentPercent], [20, 0, 75]);
    assert.equal(powers.bandpass[0], 20);
  });

  it('have no known power in data without autocorrelations, and come where their pairs do', () => {
    const powers = new AntennaPowers(telescope, channels);
    const crosses = integration([1, 1, 1, 1, 1], 100);
    const baselines = crosses.counts.length / channels;
    for (let c = 0; c < channels; c++)
      for (let i = 0; i < stations; i++)
        for (let j = 0; j <= i; j++)
          crosses.counts[c * baselines + baselineIndex(i, j)] = i === j || i === 3 ? 0 : 100;
    // Of ten pairs, the three of station 3 with those before it are missing.
    assert.equal(powers.integration(crosses, 100), 0.7);
    assert.deepEqual(health(powers), [
      ...['unknown unknown', 'unknown unknown', 'unknown unknown', 'unknown unknown', 'unknown flagged'],
    ]);
    const [first, , , fourth] = powers.rows(undefined);
    assert.equal(first.inputs[0].levelDb, null);
    assert.equal(first.inputs[0].presentPercent, 75);
    assert.equal(fourth.inputs[0].presentPercent, 25);
  });

  it('have changed where they differ from their own last hour', () => {
    const powers = new AntennaPowers(telescope, channels);
    for (let n = 0; n < 10; n++) powers.integration(integration([1, 1, 1, 1, 1], 100, 20 * n), 100);
    assert.deepEqual(powers.changed(), []);
    powers.integration(integration([1, 1, 1, 3, 1], 100, 200), 100);
    assert.deepEqual(
      powers.changed().map(({ db }) => db.toFixed(2)),
      ['4.77', '4.77'],
    );
    assert.equal(health(powers)[3], 'changed changed');
  });
});
