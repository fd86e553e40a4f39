/** For any block lengths of a source, its samples go into packets in order. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { spectraCAT } from '../core/axes.js';
import type { CanonicalSpectra } from '../core/blocks.js';
import { nothingToClose } from '../core/closing.js';
import { instant } from '../core/instant.js';
import type { SpectraSource } from '../core/sources.js';
import { wholeSlots } from './whole-slots.js';

const [CHANNELS, INPUTS] = [2, 2];
const ROWS = CHANNELS * INPUTS;
const start = instant(0);

/** Sample t of row r is (10 r + t, −t); the last channel and input have gaps at these samples. */
function counting(lengths: readonly number[], missing: readonly number[] = []): SpectraSource {
  async function* blocks(): AsyncGenerator<CanonicalSpectra> {
    let from = 0;
    for (const samples of lengths) {
      const numbers = new Int8Array(2 * ROWS * samples);
      for (let row = 0; row < ROWS; row++)
        for (let t = 0; t < samples; t++)
          numbers.set([10 * row + from + t, -(from + t)], 2 * (row * samples + t));
      const [first, end] = [from, from + samples];
      yield await Promise.resolve({
        spectra: spectraCAT(numbers, 'ci8', CHANNELS, INPUTS, samples),
        samples,
        start,
        gaps: missing
          .filter((t) => t >= first && t < end)
          .map((t) => ({
            firstChannel: 1,
            endChannel: 2,
            firstInput: 1,
            endInput: 2,
            firstSample: t - first,
            endSample: t - first + 1,
          })),
      });
      numbers.fill(99);
      from = end;
    }
  }
  return {
    kind: 'spectra',
    type: 'ci8',
    channels: CHANNELS,
    inputs: INPUTS,
    polarisations: 1,
    start,
    blocks,
    spectrumRateHz: 1,
    frequenciesHz: new Float64Array(CHANNELS),
    channelWidthHz: 1,
    close: nothingToClose,
  };
}

async function cutUp(
  lengths: readonly number[],
  missing?: readonly number[],
): Promise<{ lengths: number[]; times: number[]; lost: number[] }> {
  const found = { lengths: [] as number[], times: [] as number[], lost: [] as number[] };
  let from = 0;
  for await (const { elements, samples, gaps } of wholeSlots(
    counting(lengths, missing),
    { samplesPerSlot: 4 },
    100,
  )) {
    found.lengths.push(samples);
    for (let t = 0; t < samples; t++) {
      for (let row = 0; row < ROWS; row++) {
        const at = 2 * (row * samples + t);
        assert.deepEqual([...elements.slice(at, at + 2)], [10 * row + from + t, -(from + t) || 0]);
      }
      found.times.push(from + t);
    }
    found.lost.push(...gaps.map(({ firstSample }) => from + firstSample));
    from += samples;
  }
  return found;
}

describe('blocks of a source, cut where packets are', () => {
  it('carries what fills no packet over to the next block', async () => {
    const { lengths, times, lost } = await cutUp([6, 3, 1, 8, 5], [5, 9, 17]);
    assert.deepEqual(lengths, [4, 4, 8, 4, 3]);
    assert.deepEqual(
      times,
      Array.from({ length: 23 }, (_, t) => t),
    );
    assert.deepEqual(lost, [5, 9, 17]);
  });

  it('hands blocks of whole packets on as they are', async () => {
    assert.deepEqual((await cutUp([8, 4, 4])).lengths, [8, 4, 4]);
  });

  it('hands on what is too short for any packet, once and last', async () => {
    assert.deepEqual((await cutUp([1, 1, 1])).lengths, [3]);
  });
});
