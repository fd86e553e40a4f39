import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { speadFeng } from '../packets/spead/feng.js';
import { blockBytesOf, planRing } from './plan.js';

/** Blocks of 40 ms: 4 packets of 64 spectra from each of 2 senders, 6400 spectra per second. */
const stream = speadFeng.plan({
  antennas: [0, 1],
  firstChannel: 0,
  channelsPerHeap: 2,
  spectraPerHeap: 64,
  ticksPerSpectrum: 8,
  packetBytes: 512,
  polarisations: 2,
  bits: 8,
  clockRateHz: { numerator: 51_200n, denominator: 1n },
});

describe('the depth of a ring', () => {
  const [{ blocks: shallow }, blockBytes] = [planRing(stream), blockBytesOf(planRing(stream))];
  it('is ten seconds where memory allows, two where it does not, and what fits between them', () => {
    assert.equal(shallow, 50);
    assert.equal(planRing(stream, { deepenBytes: 1e9 }).blocks, 250);
    assert.equal(planRing(stream, { deepenBytes: 120.5 * blockBytes }).blocks, 120);
    assert.equal(planRing(stream, { deepenBytes: 3 * blockBytes }).blocks, 50);
  });
  it('is what was asked for', () => {
    assert.equal(planRing(stream, { deepenBytes: 1e9, blocks: 20 }).blocks, 20);
  });
});
