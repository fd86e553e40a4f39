import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countsCB, countsCBPP, visibilitiesCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { parseInstant } from '../core/instant.js';
import { joinChannels } from './join-channels.js';

/** One channel of two stations of two polarisations: three pairs of four products. */
const part = (value: number, count: number, more: Partial<Integration> = {}): Integration => ({
  start: parseInstant('2026-11-16T00:00:00Z'),
  durationS: 1,
  channels: 1,
  stations: 2,
  polarisations: 2,
  visibilities: visibilitiesCBPP(new Float64Array(24).fill(value), 1, 3, 2),
  counts: countsCB(new Float64Array(3).fill(count), 1, 3),
  flaggedInputs: new Uint8Array(4),
  ...more,
});

describe('parts of a band', () => {
  it('follow one another, with no samples where one is not there', () => {
    const joined = joinChannels([{ channels: 1, one: part(1, 5) }, { channels: 2 }, { channels: 1, one: part(2, 7) }], part(1, 5)); // prettier-ignore
    assert.deepEqual([...joined.counts], [5, 5, 5, 0, 0, 0, 0, 0, 0, 7, 7, 7]);
    assert.deepEqual([joined.visibilities[23], joined.visibilities[24], joined.visibilities[72]], [1, 0, 2]);
    assert.equal(joined.productCounts, undefined);
  });

  it('keep an input that only one of them flags', () => {
    const flagged = part(2, 7, { flaggedInputs: Uint8Array.of(0, 1, 0, 0) });
    const joined = joinChannels([{ channels: 1, one: part(1, 5) }, { channels: 1, one: flagged }], flagged); // prettier-ignore
    assert.deepEqual([...joined.flaggedInputs], [0, 0, 0, 0]);
    // Pair (0, 0): X alone is left in the second channel.
    assert.deepEqual([...(joined.productCounts ?? [])].slice(0, 4), [5, 5, 5, 5]);
    assert.deepEqual([...(joined.productCounts ?? [])].slice(12, 16), [7, 0, 0, 0]);
  });

  it('keep the counts of products where one has them', () => {
    const own = countsCBPP(Float64Array.from({ length: 12 }, (_, k) => k), 1, 3, 2); // prettier-ignore
    const joined = joinChannels([{ channels: 1, one: part(1, 5) }, { channels: 1, one: part(2, 11, { productCounts: own }) }], part(1, 5)); // prettier-ignore
    assert.deepEqual([...(joined.productCounts ?? [])], [...new Array<number>(12).fill(5), ...own]);
  });
});
