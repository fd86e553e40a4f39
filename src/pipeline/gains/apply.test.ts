import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gainsCA } from '../../core/axes.js';
import type { GainsFile } from '../../formats/index.js';
import { trioGains } from '../../formats/testing/gain-subjects.js';
import { trio } from '../../formats/testing/trio.js';
import { matchGains } from './apply.js';

const match = (gains: GainsFile, ...frequenciesHz: readonly number[]) =>
  matchGains(gains, 'gains.json', trio, Float64Array.from(frequenciesHz));

describe('gains for the data at hand', () => {
  it('are those of the nearest channel, no farther than a channel away', () => {
    // Channels of 100 and 101 MHz; input 0 of the second has the gain 6 + 6.5i.
    const { gains, solved } = match(trioGains, 100.9e6, 101.4e6);
    assert.deepEqual([...gains.subarray(0, 2), ...gains.subarray(12, 14)], [6, 6.5, 6, 6.5]);
    assert.deepEqual([solved[0], solved[1]], [1, 0]);
    assert.throws(() => match(trioGains, 102.1e6), /no gains near 102\.1 MHz; they span 100 MHz to 101 MHz/);
  });

  it('of a single channel hold nearby alone', () => {
    const single = {
      ...trioGains,
      frequenciesHz: Float64Array.of(100e6),
      gains: gainsCA(trioGains.gains.slice(0, 12), 1, 6),
      solved: trioGains.solved.slice(0, 6),
    };
    assert.equal(match(single, 100.9e6).gains[3], 1.5);
    assert.throws(() => match(single, 101.1e6), /no gains near 101\.1 MHz/);
  });

  it('of another telescope are refused', () => {
    assert.throws(
      () => match({ ...trioGains, stations: ['x', 's1', 's2'] }, 100e6),
      /is for 3 stations of trio/,
    );
    assert.throws(
      () => match({ ...trioGains, polarisations: 1 }, 100e6),
      /is for 1 polarisations, the data have 2/,
    );
  });
});
