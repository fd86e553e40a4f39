import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { baselineCount, countsCB, type CountsCB } from '../axes.js';
import { randomStream, type RandomStream } from '../random.js';
import type { SpectraGap } from '../gaps.js';
import { addPlainCounts, addSampleCounts } from './plain-counts.testing.js';
import { SampleCounts, type PairShape } from './sample-counts.js';

const emptyCounts = ({ channels, stations }: PairShape, garbage = 0): CountsCB => {
  const baselines = baselineCount(stations);
  return countsCB(new Float64Array(channels * baselines).fill(garbage), channels, baselines);
};

function range(random: RandomStream, end: number): [number, number] {
  const first = random.below(end);
  return [first, first + 1 + random.below(end - first)];
}

function randomGap(random: RandomStream, shape: PairShape, samples: number): SpectraGap {
  const [firstInput, endInput] = range(random, shape.stations * shape.polarisations);
  const [firstChannel, endChannel] =
    random.below(2) === 0 ? [0, shape.channels] : range(random, shape.channels);
  const [firstSample, endSample] = range(random, samples);
  return { firstInput, endInput, firstChannel, endChannel, firstSample, endSample };
}

describe('sample counts', () => {
  it('are bit for bit those of counting sample by sample', () => {
    const random = randomStream(5, 'counts');
    for (let k = 0; k < 200; k++) {
      const shape: PairShape = {
        channels: 1 + random.below(6),
        stations: 1 + random.below(12),
        polarisations: random.below(2) === 0 ? 1 : 2,
      };
      const flags = Uint8Array.from({ length: shape.stations * shape.polarisations }, () =>
        random.below(5) === 0 ? 1 : 0,
      );
      const [once, summed, plain] = [emptyCounts(shape, 7), emptyCounts(shape, 7), emptyCounts(shape, 7)];
      const blocks = new SampleCounts(shape);
      for (let block = 0; block < 4; block++) {
        const samples = 1 + random.below(130);
        const gaps = Array.from({ length: [0, 1, 3, 20][random.below(4)] }, () =>
          randomGap(random, shape, samples),
        );
        addSampleCounts(once, { ...shape, samples }, gaps, flags);
        addPlainCounts(plain, { ...shape, samples }, gaps, flags);
        blocks.add(samples, gaps);
      }
      blocks.spread(summed, flags);
      assert.deepEqual(once, plain, `case ${k}`);
      assert.deepEqual(summed, plain, `case ${k}, spread once`);
    }
  });

  it('start again when cleared', () => {
    const shape = { channels: 2, stations: 2, polarisations: 1 } as const;
    const counts = new SampleCounts(shape);
    counts.add(10, []);
    counts.add(5, [
      { firstInput: 0, endInput: 1, firstChannel: 1, endChannel: 2, firstSample: 1, endSample: 4 },
    ]);
    const spread = emptyCounts(shape);
    counts.spread(spread);
    assert.deepEqual([...spread], [15, 15, 15, 12, 12, 15]);
    counts.clear();
    counts.add(0, []);
    counts.add(3, []);
    spread.fill(0);
    counts.spread(spread);
    assert.deepEqual([...spread], [3, 3, 3, 3, 3, 3]);
  });
});
