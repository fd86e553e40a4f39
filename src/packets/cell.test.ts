import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomStream } from '../core/random.js';
import { bytesOfCell, cellNumbers, packCell, unpackCell, type CellBits, type CellOrder } from './cell.js';
import { hex } from './testing/by-hand.js';
import { allStreams } from './testing/streams.js';

const order = (some: Partial<CellOrder>): CellOrder => ({
  axes: ['c', 't', 'a'],
  sizes: { c: 1, t: 1, a: 1 },
  parts: 2,
  bits: 8,
  code: 'twos-complement',
  bitsFrom: 'highest',
  levels: 'all',
  ...some,
});

const unpacked = (cell: CellOrder, bytes: Uint8Array): number[] => {
  const values = new Float32Array(cellNumbers(cell)).fill(Number.NaN);
  unpackCell(cell, bytes, values);
  return [...values];
};

describe('cells', () => {
  it('4 + 4 bits: the real part is the high nibble', () => {
    const cell = order({ bits: 4, sizes: { c: 1, t: 1, a: 3 } });
    // 0x7f: 7, −1. 0x91: −7, 1. 0x0e: 0, −2.
    assert.deepEqual(unpacked(cell, hex('7f 91 0e')), [7, -1, -7, 1, 0, -2]);
  });

  it('the lowest level is moved where blocks cannot hold it, and counted', () => {
    const values = new Int8Array(4);
    const nibbles = order({ bits: 4, sizes: { c: 1, t: 1, a: 2 }, levels: 'symmetric' });
    assert.equal(unpackCell(nibbles, hex('88 98'), values), 3);
    assert.deepEqual([...values], [-7, -7, -7, -7]);
    const bytes = order({ sizes: { c: 1, t: 1, a: 2 }, levels: 'symmetric' });
    assert.equal(unpackCell(bytes, hex('80 81 7f 00'), values), 1);
    assert.deepEqual([...values], [-127, -127, 127, 0]);
    assert.equal(unpackCell({ ...bytes, levels: 'all' }, hex('80 81 7f 00'), values), 0);
    assert.equal(values[0], -128);
  });

  it('10 bits without padding, the highest first', () => {
    const cell = order({ bits: 10, parts: 1, sizes: { c: 1, t: 4, a: 1 } });
    // 0000000001 1111111111 0111111111 1000000000
    assert.deepEqual(unpacked(cell, hex('00 7f f7 fe 00')), [1, -1, 511, -512]);
  });

  it('VDIF: offset binary, the lowest bits first', () => {
    const offset = { code: 'offset', bitsFrom: 'lowest', parts: 1 } as const;
    assert.deepEqual(
      unpacked(order({ ...offset, sizes: { c: 1, t: 3, a: 1 } }), hex('00 80 ff')),
      [-128, 0, 127],
    );
    assert.deepEqual(
      unpacked(order({ ...offset, bits: 16, sizes: { c: 1, t: 2, a: 1 } }), hex('0180 ffff')),
      [1, 32767],
    );
    assert.deepEqual(
      unpacked(order({ ...offset, bits: 4, sizes: { c: 1, t: 2, a: 1 } }), hex('f0')),
      [-8, 7],
    );
    const high = Math.fround(3.316505);
    // 0b11100100: 0, 1, 2, 3 from the lowest bits.
    assert.deepEqual(unpacked(order({ ...offset, bits: 2, sizes: { c: 1, t: 4, a: 1 } }), hex('e4')), [
      -high,
      -1,
      1,
      high,
    ]);
    assert.deepEqual(
      unpacked(order({ ...offset, bits: 1, sizes: { c: 1, t: 8, a: 1 } }), hex('0d')),
      [1, -1, 1, 1, -1, -1, -1, -1],
    );
  });

  it('axes: every order of the payload ends as [c][a][t]', () => {
    const sizes = { c: 2, t: 3, a: 2 };
    // Numbers the samples in memory order.
    const bytes = Uint8Array.from({ length: 12 }, (_, n) => n);
    const as = (...axes: ('c' | 't' | 'a')[]): number[] =>
      unpacked(order({ axes: axes as unknown as CellOrder['axes'], sizes, parts: 1 }), bytes);
    assert.deepEqual(as('c', 'a', 't'), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    // [c][t][a]: channel 0, input 0 has samples 0, 2, 4.
    assert.deepEqual(as('c', 't', 'a'), [0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11]);
    // [t][a][c]: sample 0 begins with input 0's two channels.
    assert.deepEqual(as('t', 'a', 'c'), [0, 4, 8, 2, 6, 10, 1, 5, 9, 3, 7, 11]);
  });

  it('land in their corner of a block, and nowhere else', () => {
    const cell = order({ axes: ['t', 'c', 'a'], sizes: { c: 2, t: 1, a: 2 }, parts: 1 });
    const block = new Int8Array(4 * 5 * 3).fill(99);
    unpackCell(cell, hex('01 02 03 04'), block, {
      firstChannel: 1,
      firstInput: 2,
      firstSample: 1,
      inputs: 5,
      samples: 3,
    });
    const at = (c: number, a: number, t: number): number => (c * 5 + a) * 3 + t;
    assert.deepEqual(
      [block[at(1, 2, 1)], block[at(1, 3, 1)], block[at(2, 2, 1)], block[at(2, 3, 1)]],
      [1, 2, 3, 4],
    );
    assert.equal(block.filter((value) => value === 99).length, 56);
  });

  it('are packed again as they were', () => {
    const random = randomStream(6, 'cells');
    for (const { plan } of allStreams) {
      const bytes = Uint8Array.from({ length: plan.cellBytes }, () => random.below(256));
      const cell = { ...plan.cell, levels: 'all' } as const;
      assert.deepEqual(packCell(cell, unpacked(cell, bytes)), bytes, plan.format);
    }
    for (const bits of [1, 2, 4, 8, 16] satisfies CellBits[]) {
      const cell = order({ bits, code: 'offset', bitsFrom: 'lowest', sizes: { c: 1, t: 16, a: 3 } });
      const bytes = Uint8Array.from({ length: bytesOfCell(cell) }, () => random.below(256));
      assert.deepEqual(packCell(cell, unpacked(cell, bytes)), bytes, `${bits} bits`);
    }
  });

  it('refuse other lengths, and numbers without a code', () => {
    const cell = order({ bits: 4 });
    assert.throws(() => unpackCell(cell, hex('00 00'), new Int8Array(4)), /2 bytes where its order makes 1/);
    assert.throws(() => packCell(cell, [8, 0]), /8 is no number of 4 bits/);
    assert.throws(() => packCell(cell, [0.5, 0]), /0.5 is no number/);
    assert.throws(() => packCell(order({ bits: 10 }), [0, 0]), /do not fill whole bytes/);
    assert.throws(
      () => packCell(order({ bits: 2, code: 'offset', sizes: { c: 1, t: 2, a: 1 } }), [2, 1, 1, 1]),
      /2 is no number of 2 bits/,
    );
  });
});
