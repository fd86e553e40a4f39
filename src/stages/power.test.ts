import assert from 'node:assert/strict';
import { it } from 'node:test';
import { countsCB, visibilitiesCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { instant } from '../core/instant.js';
import { runOne } from './run.js';
import { preparePower } from './power.js';

it('powers are autocorrelations over their counts, of each input by itself', async () => {
  // Two stations of X and Y in one channel: baselines (0,0), (1,0), (1,1), each XX, XY, YX, YY.
  const values = new Float64Array(2 * 3 * 4);
  const put = (b: number, product: number, re: number): number => (values[2 * (4 * b + product)] = re);
  put(0, 0, 50); // station 0, XX
  put(0, 3, 80); // station 0, YY
  put(1, 0, 999); // a cross-correlation, which is not used for power
  put(2, 0, 12); // station 1, XX
  put(2, 3, 33); // station 1, YY, flagged below
  const integration: Integration = {
    start: instant(7),
    durationS: 2,
    channels: 1,
    stations: 2,
    polarisations: 2,
    visibilities: visibilitiesCBPP(values, 1, 3, 2),
    counts: countsCB(Float64Array.of(10, 5, 4), 1, 3),
    flaggedInputs: Uint8Array.of(0, 0, 0, 1),
  };
  const { powers, start } = await runOne(preparePower(integration), integration);
  assert.deepEqual([...powers], [5, 8, 3, NaN]);
  assert.deepEqual(start, instant(7));
});
