import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { baselineCount, countsCB, type CountsCB } from '../axes.js';
import { randomStream, type RandomStream } from '../random.js';
import type { SpectraGap } from './gap-boxes.js';
import { pairCounts, type PairShape } from './pair-counts.js';
import { addPlainCounts } from './plain-counts.testing.js';
import { emptyPresence, gapsOfPresence, markSlots, type CellLayout, type Presence } from './presence.js';

const emptyCounts = ({ channels, stations }: PairShape, garbage = 0): CountsCB => {
  const baselines = baselineCount(stations);
  return countsCB(new Float64Array(channels * baselines).fill(garbage), channels, baselines);
};

function randomPresence(random: RandomStream, layout: CellLayout, slots: number, loss: number): Presence {
  const presence = emptyPresence(layout.lanes.length, layout.fragments, slots);
  for (let row = 0; row < layout.lanes.length * layout.fragments; row++) {
    for (let slot = 0; slot < slots; slot++) {
      if (random.uniform() >= loss) markSlots(presence, row, slot, slot + 1, 'present');
    }
  }
  return presence;
}

/** The samples from `from` to before `to` of a block's gaps. */
const cut = (gaps: readonly SpectraGap[], from: number, to: number): SpectraGap[] =>
  gaps
    .map((gap) => ({
      ...gap,
      firstSample: Math.max(gap.firstSample, from) - from,
      endSample: Math.min(gap.endSample, to) - from,
    }))
    .filter((gap) => gap.endSample > gap.firstSample);

describe('pair counts', () => {
  it('by hand: two boards of a stand each, five slots of three samples', () => {
    const layout: CellLayout = {
      lanes: [0, 1].map((n) => ({ firstInput: 2 * n, endInput: 2 * n + 2, firstChannel: 0, endChannel: 1 })),
      fragments: 2,
      samplesPerSlot: 3,
    };
    const shape = { channels: 2, stations: 2, polarisations: 2 } as const;
    const presence = emptyPresence(2, 2, 5);
    markSlots(presence, 0, 0, 5, 'present'); // board 0, channel 0: whole
    markSlots(presence, 1, 1, 4, 'present'); // board 0, channel 1: slots 1, 2, 3
    markSlots(presence, 2, 2, 5, 'present'); // board 1, channel 0: slots 2, 3, 4
    markSlots(presence, 3, 3, 5, 'present'); // board 1, channel 1: slots 3, 4
    const pairs = pairCounts(layout, shape);
    pairs.add(presence, 0, 15);
    const counts = emptyCounts(shape);
    pairs.spread(counts);
    // 00, 10, 11 of channel 0 and of channel 1
    assert.deepEqual([...counts], [15, 9, 9, 9, 3, 6]);
    // Samples 4…10 alone: two of slot 1, all of slot 2, two of slot 3.
    pairs.clear();
    pairs.add(presence, 4, 11);
    counts.fill(0);
    pairs.spread(counts);
    assert.deepEqual([...counts], [7, 5, 5, 7, 2, 2]);
    // Within one slot.
    pairs.clear();
    pairs.add(presence, 9, 11);
    pairs.add(presence, 11, 11);
    counts.fill(0);
    pairs.spread(counts);
    assert.deepEqual([...counts], [2, 2, 2, 2, 2, 2]);
  });

  it('lanes of one polarisation each: a station has what both have', () => {
    // Stations 0 and 1, inputs 0…3, a lane each.
    const layout: CellLayout = {
      lanes: [0, 1, 2, 3].map((a) => ({ firstInput: a, endInput: a + 1, firstChannel: 0, endChannel: 1 })),
      fragments: 1,
      samplesPerSlot: 1,
    };
    const shape = { channels: 1, stations: 2, polarisations: 2 } as const;
    const presence = emptyPresence(4, 1, 6);
    for (let row = 0; row < 4; row++) markSlots(presence, row, 0, 6, 'present');
    markSlots(presence, 0, 0, 2, 'missing'); // X of station 0
    markSlots(presence, 1, 1, 3, 'missing'); // Y of station 0: 0, 1 and 2 are gone for the station
    markSlots(presence, 3, 5, 6, 'missing'); // Y of station 1
    const pairs = pairCounts(layout, shape);
    pairs.add(presence, 0, 6);
    const counts = emptyCounts(shape);
    pairs.spread(counts);
    assert.deepEqual([...counts], [3, 2, 5]);
    // Station 0 flagged whole counts nothing; one input of two flagged counts.
    counts.fill(0);
    pairs.spread(counts, Uint8Array.from([1, 1, 0, 1]));
    assert.deepEqual([...counts], [0, 0, 5]);
  });

  it('stations that nobody sends have nothing', () => {
    const layout: CellLayout = {
      lanes: [{ firstInput: 0, endInput: 3, firstChannel: 1, endChannel: 2 }],
      fragments: 1,
      samplesPerSlot: 1,
    };
    const shape = { channels: 3, stations: 2, polarisations: 2 } as const;
    const pairs = pairCounts(layout, shape);
    const presence = emptyPresence(1, 1, 4);
    markSlots(presence, 0, 0, 4, 'present');
    pairs.add(presence, 0, 4);
    const counts = emptyCounts(shape);
    pairs.spread(counts);
    // Of station 1 only X comes: half a station is none. Channels 0 and 2 come from nobody.
    assert.deepEqual([...counts], [0, 0, 0, 4, 0, 0, 0, 0, 0]);
  });

  it('are those of counting sample by sample, over several blocks', () => {
    const random = randomStream(11, 'pairs');
    for (let k = 0; k < 120; k++) {
      const polarisations = random.below(2) === 0 ? 1 : 2;
      const stations = 1 + random.below(9);
      const inputs = stations * polarisations;
      const [fragments, channelsEach] = [1 + random.below(3), 1 + random.below(3)];
      const samplesPerSlot = 1 + random.below(4);
      const shape: PairShape = { channels: fragments * channelsEach, stations, polarisations };
      // Lanes of any width, through the middle of stations too.
      const widths: number[] = [];
      for (let left = inputs; left > 0; left -= widths.at(-1) ?? left) widths.push(1 + random.below(left));
      const lanes = widths.map((width, n) => {
        const firstInput = widths.slice(0, n).reduce((sum, one) => sum + one, 0);
        return { firstInput, endInput: firstInput + width, firstChannel: 0, endChannel: channelsEach };
      });
      const layout = { lanes, fragments, samplesPerSlot };
      const flags = Uint8Array.from({ length: inputs }, () => (random.below(6) === 0 ? 1 : 0));
      const pairs = pairCounts(layout, shape);
      const [counts, plain] = [emptyCounts(shape, 1000), emptyCounts(shape, 1000)];
      for (let block = 0; block < 3; block++) {
        const slots = 1 + random.below(140);
        const presence = randomPresence(random, layout, slots, [0, 0.02, 0.5, 1][random.below(4)]);
        const from = random.below(slots * samplesPerSlot + 1);
        const to = from + random.below(slots * samplesPerSlot + 1 - from);
        pairs.add(presence, from, to);
        const gaps = cut(gapsOfPresence(presence, layout), from, to);
        addPlainCounts(plain, { ...shape, samples: to - from }, gaps, flags);
      }
      pairs.spread(counts, flags);
      assert.deepEqual(counts, plain, `case ${k}`);
    }
  });

  it('refuse lanes that overlap or reach beyond, and samples that are not there', () => {
    const shape = { channels: 2, stations: 2, polarisations: 1 } as const;
    const lane = { firstInput: 0, endInput: 2, firstChannel: 0, endChannel: 1 };
    const plan = (lanes: CellLayout['lanes'], fragments = 1) =>
      pairCounts({ lanes, fragments, samplesPerSlot: 1 }, shape);
    assert.throws(() => plan([lane, { ...lane, firstInput: 1 }]), /two lanes hold input 1 of channel 0/);
    assert.throws(() => plan([lane], 3), /channel 2 of 2 inputs, 2 channels/);
    assert.throws(() => plan([{ ...lane, endInput: 3 }]), /input 2,/);
    assert.throws(() => {
      plan([lane]).add(emptyPresence(1, 1, 4), 0, 5);
    }, /to is 5/);
  });
});
