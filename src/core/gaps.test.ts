import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allocateSpectra, countsCB, elementsPerSpectra } from './axes.js';
import { channelSamplesIn, samplesIn, wholeStations, zeroGaps, type SpectraGap } from './gaps.js';
import { addSampleCounts } from './presence/plain-counts.testing.js';

const box = (
  channels: [number, number],
  inputs: [number, number],
  samples: [number, number],
): SpectraGap => ({
  firstChannel: channels[0],
  endChannel: channels[1],
  firstInput: inputs[0],
  endInput: inputs[1],
  firstSample: samples[0],
  endSample: samples[1],
});

describe('gaps', () => {
  it('widen to whole stations', () => {
    const gap = box([0, 1], [3, 4], [5, 6]);
    assert.deepEqual(wholeStations([gap], 1), [gap]);
    // Input 3 is the Y of station 1: inputs 2 and 3 become missing.
    assert.deepEqual(wholeStations([gap], 2), [box([0, 1], [2, 4], [5, 6])]);
    // Inputs 1…4 touch stations 0, 1 and 2.
    assert.deepEqual(wholeStations([box([0, 1], [1, 5], [0, 1])], 2), [box([0, 1], [0, 6], [0, 1])]);
  });

  it('leave the counts of every baseline they touch, in their channels alone', () => {
    // Two channels, three stations of one polarisation, ten samples.
    // Station 0 misses samples 0…3 (4 of them), station 2 misses 2…6 (5), both only in channel 1.
    const counts = countsCB(new Float64Array(2 * 6), 2, 6);
    const shape = { channels: 2, stations: 3, polarisations: 1, samples: 10 } as const;
    addSampleCounts(
      counts,
      shape,
      [box([1, 2], [0, 1], [0, 4]), box([1, 2], [2, 3], [2, 7])],
      new Uint8Array(3),
    );
    assert.deepEqual(
      [...counts],
      [
        10, 10, 10, 10, 10, 10,
        // 00: 10−4 · 10: 10−4 · 11: 10 · 20: samples 0…6 missing, 3 left · 21: 10−5 · 22: 10−5
        6, 6, 10, 3, 5, 5,
      ],
    );
  });

  it('add up over blocks, and overlapping ones are counted once', () => {
    const counts = countsCB(new Float64Array(1), 1, 1);
    const shape = { channels: 1, stations: 1, polarisations: 2, samples: 8 } as const;
    // X misses 0…3, Y misses 2…5: the station misses 0…5.
    addSampleCounts(
      counts,
      shape,
      [box([0, 1], [0, 1], [0, 4]), box([0, 1], [1, 2], [2, 6])],
      new Uint8Array(2),
    );
    assert.equal(counts[0], 2);
    addSampleCounts(counts, shape, [], new Uint8Array(2));
    assert.equal(counts[0], 10);
  });

  it('take both polarisations of any station, and no other', () => {
    // Three stations of two polarisations; station 1, inputs 2 and 3, misses samples 2…4 of 9.
    const shape = { channels: 1, stations: 3, polarisations: 2, samples: 9 } as const;
    for (const inputs of [
      [2, 4],
      [2, 3],
      [3, 4],
    ] as const) {
      const counts = countsCB(new Float64Array(6), 1, 6);
      addSampleCounts(counts, shape, [box([0, 1], [...inputs], [2, 5])], new Uint8Array(6));
      // 00 · 10 11 · 20 21 22
      assert.deepEqual([...counts], [9, 6, 6, 9, 6, 9], `inputs ${inputs.join('…')}`);
    }
  });

  it('hold the samples of all their inputs', () => {
    assert.equal(samplesIn([]), 0);
    assert.equal(channelSamplesIn([box([2, 5], [1, 4], [10, 15]), box([0, 1], [7, 8], [0, 2])]), 3 * 15 + 2);
    assert.equal(samplesIn([box([0, 1], [1, 4], [10, 15]), box([0, 1], [7, 8], [0, 2])]), 3 * 5 + 2);
  });

  it('are written as zeros, and nothing else is', () => {
    for (const type of ['ci4', 'ci8', 'cf32'] as const) {
      const [channels, inputs, samples] = [3, 4, 5];
      const spectra = allocateSpectra(type, channels, inputs, samples).fill(1);
      zeroGaps(spectra, { type, inputs, samples }, [
        box([1, 3], [2, 3], [1, 4]),
        box([0, 1], [0, 1], [0, 1]),
      ]);
      const width = elementsPerSpectra(type);
      spectra.forEach((value, n) => {
        const t = Math.floor(n / width) % samples;
        const row = Math.floor(n / width / samples);
        const [c, a] = [Math.floor(row / inputs), row % inputs];
        const gone = (c >= 1 && a === 2 && t >= 1 && t < 4) || (c === 0 && a === 0 && t === 0);
        assert.equal(value, gone ? 0 : 1, `${type}, channel ${c}, input ${a}, sample ${t}`);
      });
    }
  });

  it('stations flagged in all their inputs count nothing; in one of two, they count', () => {
    const counts = countsCB(new Float64Array(6), 1, 6);
    const shape = { channels: 1, stations: 3, polarisations: 2, samples: 7 } as const;
    addSampleCounts(counts, shape, [], Uint8Array.from([0, 1, 1, 1, 0, 0]));
    // Station 1 is left out: baselines 10, 11 and 21 stay zero.
    assert.deepEqual([...counts], [7, 0, 0, 7, 0, 7]);
  });

  it('a gap that covers everything leaves nothing', () => {
    const counts = countsCB(new Float64Array(3), 3, 1);
    const shape = { channels: 3, stations: 1, polarisations: 1, samples: 5 } as const;
    addSampleCounts(counts, shape, [box([0, 3], [0, 1], [0, 5])], new Uint8Array(1));
    assert.deepEqual([...counts], [0, 0, 0]);
  });
});
