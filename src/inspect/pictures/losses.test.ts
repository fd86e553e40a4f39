import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countsCB, countsCBPP, visibilitiesCBPP, weightsCBPP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { instant } from '../../core/instant.js';
import type { VisibilityFile } from '../../formats/index.js';
import { lossMap } from './losses.js';

/** Two stations of two polarisations, two channels; Y of station 1 lost half of channel 1. */
const integration = (lostY: number): Integration => {
  const own = new Float64Array(2 * 3 * 4).fill(100);
  // Pair (1, 1) of channel 1: XX, XY, YX, YY.
  own.set([100, 100 - lostY, 100 - lostY, 100 - lostY], 4 * (3 + 2));
  return {
    start: instant(0),
    durationS: 1,
    channels: 2,
    stations: 2,
    polarisations: 2,
    visibilities: visibilitiesCBPP(new Float64Array(2 * own.length), 2, 3, 2),
    counts: countsCB(new Float64Array(6).fill(100), 2, 3),
    productCounts: countsCBPP(own, 2, 3, 2),
    flaggedInputs: new Uint8Array(4),
  };
};
const file = {
  integrationCount: 2,
  telescope: { stations: [{ name: 'a' }, { name: 'b' }] },
  header: { frequenciesHz: Float64Array.of(1e8, 1.1e8), channelWidthHz: 1e7, polarisations: 2 },
} as unknown as VisibilityFile;
const frame = { left: 0, top: 0, width: 100, height: 100 };

describe('missing or flagged samples', () => {
  it('is given by channel and time, and by input and channel', () => {
    const map = lossMap(file);
    map.add(integration(50));
    map.add(integration(0));
    const { overTime, ofInputs } = map.shares();
    // One of four inputs lost half.
    assert.deepEqual(
      overTime.map((row) => [...row]),
      [
        [0, 0.125],
        [0, 0],
      ],
    );
    assert.deepEqual(
      ofInputs.map((row) => [...row]),
      [
        [0, 0],
        [0, 0],
        [0, 0],
        [0, 0.25],
      ],
    );
    assert.ok(map.draw(frame).length > 0);
  });

  it('does not mean what is flagged, which came', () => {
    const flagged = integration(50);
    const weights = Float64Array.from(flagged.productCounts ?? []);
    // All of channel 1, except Y of station 1, which never arrived.
    for (let at = 12; at < 24; at++) weights[at] *= -1;
    weights.fill(0, 21);
    const means = new Float64Array(2 * weights.length);
    const map = lossMap(file);
    map.add({
      ...flagged,
      passThrough: { means: visibilitiesCBPP(means, 2, 3, 2), weights: weightsCBPP(weights, 2, 3, 2) },
    });
    assert.deepEqual([...map.shares().overTime[0]], [0, 0.25]);
  });

  it('is not drawn where nothing is', () => {
    const map = lossMap(file);
    map.add(integration(0));
    assert.deepEqual(map.draw(frame), []);
  });
});
