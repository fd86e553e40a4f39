import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomStream } from '../random.js';
import {
  emptyPresence,
  fragmentRange,
  gapsOfPresence,
  holesOf,
  isPresent,
  markSlots,
  popcount,
  rowOf,
  type CellLayout,
} from './presence.js';
import { presentCells } from './plain-counts.testing.js';

/** Two boards of two stands, two polarisations each; three packets of four channels; two samples a packet. */
const layout: CellLayout = {
  senders: [
    { firstInput: 0, endInput: 4, firstChannel: 0, endChannel: 4 },
    { firstInput: 4, endInput: 8, firstChannel: 0, endChannel: 4 },
  ],
  fragments: 3,
  samplesPerSlot: 2,
};

describe('presence bits', () => {
  it('count as many ones as a word has', () => {
    assert.deepEqual([0, 1, 0x80000000, 0xffffffff, 0xf0f0, 0x12345678].map(popcount), [0, 1, 1, 32, 8, 13]);
    const random = randomStream(1, 'popcount');
    for (let k = 0; k < 1000; k++) {
      const word = random.below(2 ** 32);
      assert.equal(popcount(word), word.toString(2).replaceAll('0', '').length);
    }
  });

  it('stand in rows of whole 64-bit words, lowest bit first', () => {
    const presence = emptyPresence(2, 3, 65);
    assert.equal(presence.rowWords, 4);
    assert.equal(presence.bits.length, 2 * 3 * 4);
    // Source 1, fragment 2 is the sixth row: words 20…23. Slot 33 is bit 1 of its second word, slot 64 bit 0 of its
    // third.
    markSlots(presence, rowOf(presence, 1, 2), 33, 34, 'present');
    markSlots(presence, rowOf(presence, 1, 2), 64, 65, 'present');
    const expected = new Uint32Array(24);
    expected[21] = 2;
    expected[22] = 1;
    assert.deepEqual(presence.bits, expected);
    assert.ok(isPresent(presence, 5, 33) && isPresent(presence, 5, 64) && !isPresent(presence, 5, 32));
    assert.equal(presentCells(presence), 2);
  });

  it('are set and cleared in any range, and nowhere else', () => {
    const random = randomStream(2, 'ranges');
    for (let k = 0; k < 300; k++) {
      const slots = 1 + random.below(200);
      const presence = emptyPresence(1, 3, slots);
      const plain = new Array<boolean>(slots).fill(false);
      for (let n = 0; n < 6; n++) {
        const from = random.below(slots + 1);
        const to = from + random.below(slots + 1 - from);
        const as = random.below(2) === 0 ? 'present' : 'missing';
        markSlots(presence, 1, from, to, as);
        plain.fill(as === 'present', from, to);
      }
      assert.deepEqual(
        plain.map((_, slot) => isPresent(presence, 1, slot)),
        plain,
      );
      assert.equal(presentCells(presence), plain.filter(Boolean).length, 'other rows and the padding stay 0');
      const holes = plain.flatMap((there, slot) => (there ? [] : [slot]));
      assert.deepEqual(
        holesOf(presence, 1).flatMap(([from, to]) => Array.from({ length: to - from }, (_, n) => from + n)),
        holes,
      );
    }
  });

  it('refuse what is outside, and memory of another size', () => {
    const presence = emptyPresence(1, 1, 10);
    assert.throws(() => {
      markSlots(presence, 0, 5, 11, 'present');
    }, /outside/);
    assert.throws(() => {
      markSlots(presence, 1, 0, 1, 'present');
    }, /outside/);
    assert.throws(
      () => emptyPresence(1, 1, 65, new Uint32Array(3)),
      /3 words where 1 × 1 rows of 65 bits take 4/,
    );
  });
});

describe('gaps from presence bits', () => {
  const whole = (): ReturnType<typeof emptyPresence> => {
    const presence = emptyPresence(2, 3, 5);
    for (let row = 0; row < 6; row++) markSlots(presence, row, 0, 5, 'present');
    return presence;
  };

  it('name the box of each missing cell', () => {
    assert.equal(presentCells(whole()), 2 * 3 * 5);
    assert.deepEqual(gapsOfPresence(whole(), layout), []);
    const presence = whole();
    // Source 1, fragment 2, slots 1 and 2: inputs 4…7, channels 8…11, samples 2…5.
    markSlots(presence, rowOf(presence, 1, 2), 1, 3, 'missing');
    assert.deepEqual(gapsOfPresence(presence, layout), [
      { firstInput: 4, endInput: 8, firstChannel: 8, endChannel: 12, firstSample: 2, endSample: 6 },
    ]);
  });

  it('join fragments of a sender, and senders that miss the same', () => {
    const presence = whole();
    for (let row = 0; row < 6; row++) markSlots(presence, row, 4, 5, 'missing');
    markSlots(presence, 0, 0, 1, 'missing');
    markSlots(presence, 1, 0, 1, 'missing');
    assert.deepEqual(gapsOfPresence(presence, layout), [
      { firstInput: 0, endInput: 4, firstChannel: 0, endChannel: 8, firstSample: 0, endSample: 2 },
      { firstInput: 0, endInput: 8, firstChannel: 0, endChannel: 12, firstSample: 8, endSample: 10 },
    ]);
  });

  it('cover each missing sample once, and no other', () => {
    const random = randomStream(3, 'round trip');
    for (let k = 0; k < 200; k++) {
      const [slots, loss] = [1 + random.below(150), random.uniform()];
      const presence = emptyPresence(2, 3, slots);
      for (let row = 0; row < 6; row++) {
        for (let slot = 0; slot < slots; slot++) {
          if (random.uniform() >= loss) markSlots(presence, row, slot, slot + 1, 'present');
        }
      }
      const gaps = gapsOfPresence(presence, layout);
      const covered = new Map<string, number>();
      for (const gap of gaps) {
        for (let a = gap.firstInput; a < gap.endInput; a++) {
          for (let c = gap.firstChannel; c < gap.endChannel; c++) {
            for (let t = gap.firstSample; t < gap.endSample; t++) {
              const key = `${a} ${c} ${t}`;
              covered.set(key, (covered.get(key) ?? 0) + 1);
            }
          }
        }
      }
      assert.equal(covered.size, (6 * slots - presentCells(presence)) * 4 * 4 * 2);
      assert.ok([...covered.values()].every((times) => times === 1));
      for (let row = 0; row < 6; row++) {
        const { firstInput, firstChannel } = fragmentRange(layout, Math.floor(row / 3), row % 3);
        for (let slot = 0; slot < slots; slot++)
          assert.equal(
            covered.has(`${firstInput} ${firstChannel} ${2 * slot}`),
            !isPresent(presence, row, slot),
          );
      }
    }
  });
});
