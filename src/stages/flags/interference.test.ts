import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { baselineCount, countsCB, visibilitiesCBPP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { instant } from '../../core/instant.js';
import { randomStream } from '../../core/random.js';
import { findInterference } from './interference.js';

const [TIMES, CHANNELS, STATIONS] = [60, 64, 4];
const BASELINES = baselineCount(STATIONS);
const [CARRIER, BURST] = [20, 17];

/** Noise of 1, a carrier of 20 σ from 5 s to 45 s, and a burst of 10 σ and one second. */
function integrations(): Integration[] {
  const random = randomStream(4, 'visibilities');
  return Array.from({ length: TIMES }, (_, t) => {
    const values = new Float64Array(2 * CHANNELS * BASELINES);
    for (let n = 0; n < values.length; n++) values[n] = random.gaussian();
    for (let c = 0; c < CHANNELS; c++)
      for (let b = 0; b < BASELINES; b++) {
        if (c === CARRIER && t >= 5 && t < 45) values[2 * (c * BASELINES + b)] += 20;
        if (t === BURST) values[2 * (c * BASELINES + b)] += 10;
      }
    return {
      start: instant(t),
      durationS: 1,
      channels: CHANNELS,
      stations: STATIONS,
      polarisations: 1,
      visibilities: visibilitiesCBPP(values, CHANNELS, BASELINES, 1),
      counts: countsCB(new Float64Array(CHANNELS * BASELINES).fill(1), CHANNELS, BASELINES),
      flaggedInputs: new Uint8Array(STATIONS),
    };
  });
}

describe('a burst across a carrier in visibilities', () => {
  const frequenciesHz = Float64Array.from({ length: CHANNELS }, (_, c) => 100e6 + 1e5 * c);
  for (const bursts of ['keep', 'take'] as const)
    it(`${bursts}: the carrier is flagged where the burst crosses it, and the burst lasts a second`, () => {
      const found = findInterference(integrations(), frequenciesHz, { sigma: 6, bursts });
      assert.deepEqual(
        found.bursts.map(({ firstTime, lastTime }) => [firstTime, lastTime]),
        [[BURST, BURST]],
      );
      const flagged = (t: number, c: number): number =>
        found.masks[t].subarray(c * BASELINES, (c + 1) * BASELINES).reduce((sum, one) => sum + one, 0);
      for (let t = 5; t < 45; t++) assert.equal(flagged(t, CARRIER), BASELINES, `time ${t}`);
      for (let c = 0; c < CHANNELS; c++)
        if (c !== CARRIER) assert.equal(flagged(BURST, c), bursts === 'keep' ? 0 : BASELINES, `channel ${c}`);
    });
});
