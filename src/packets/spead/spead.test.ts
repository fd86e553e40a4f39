import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { unpackCell } from '../cell.js';
import { changed, hex, join, placedBy, refusedBy } from '../testing/by-hand.js';
import { descriptorsOf } from './descriptors.js';
import { speadDigitiser } from './digitiser.js';
import { guessPlan } from '../guess-plan.js';
import { speadFeng } from './feng.js';
import { itemOf, parseSpead } from './packet.js';

/** One item: bit 63 immediate, 15 bits of id, 48 of value. */
const fengItems =
  '8001 000000000007  8002 000000000020  8003 000000000010  8004 000000000010 ' +
  '9600 010000002000  c101 000000000005  c103 000000000030  4300 000000000000';
const fengPacket = join(
  hex(`53 04 02 06 0000 0008 ${fengItems}`),
  // Channel 1: [spectrum 2][polarisation 2] of (re, im), and channel 2.
  hex('01 02 03 04 7f 81 80 ff  10 11 12 13 14 15 16 17'),
);
const fengOptions = {
  antennas: [4, 5],
  firstChannel: 48,
  channelsPerHeap: 4,
  spectraPerHeap: 2,
  ticksPerSpectrum: 4096,
  packetBytes: 16,
} as const;

describe('SPEAD by hand', () => {
  it('header and items', () => {
    const packet = parseSpead(fengPacket);
    assert.ok(!('refused' in packet));
    const { header, payload } = packet;
    assert.deepEqual([header.heap, header.heapBytes, header.offset], [7n, 32n, 16n]);
    assert.equal(header.items.length, 8);
    assert.deepEqual(header.items[4], { immediate: true, id: 0x1600, value: 0x0100_0000_2000n });
    assert.deepEqual(header.items[7], { immediate: false, id: 0x4300, value: 0n });
    assert.equal(itemOf(header, 0x4300), undefined);
    assert.equal(itemOf(header, 0x4300, 'address'), 0n);
    assert.equal(payload.length, 16);
  });

  it('is refused where it does not add up', () => {
    const why = (datagram: Uint8Array): string => {
      const packet = parseSpead(datagram);
      return 'refused' in packet ? packet.why : 'accepted';
    };
    assert.match(why(fengPacket.slice(0, 7)), /too few/);
    assert.match(why(changed(fengPacket, 2, '03 05')), /SPEAD-64-40, where SPEAD-64-48 is read/);
    assert.match(why(changed(fengPacket, 0, '52')), /no SPEAD header/);
    assert.match(why(changed(fengPacket, 4, '0001')), /reserved/);
    assert.match(why(changed(fengPacket, 6, 'ffff')), /65535 items do not fit/);
    assert.match(why(changed(fengPacket, 8, '8000')), /no heap number/);
    assert.match(why(changed(fengPacket, 38, '11')), /88 bytes where the header says 8 items and 4368 bytes/);
    assert.match(why(fengPacket.slice(0, -1)), /87 bytes where the header says 8 items and 16 bytes/);
    assert.match(why(join(fengPacket, hex('00'))), /89 bytes where/);
    assert.match(why(changed(fengPacket, 31, '11')), /bytes 17 to 33 of a heap of 32/);
  });

  it('where an item comes twice the last counts', () => {
    // feng_id changed into a second timestamp.
    const packet = parseSpead(changed(fengPacket, 48, '9600'));
    assert.ok(!('refused' in packet));
    assert.equal(itemOf(packet.header, 0x1600), 5n);
  });
});

describe("F-engine's heaps by hand", () => {
  const plan = speadFeng.plan(fengOptions);

  it('are placed by feng_id and offset', () => {
    const facts = placedBy(speadFeng, fengPacket, plan);
    assert.deepEqual([facts.tick, facts.sender, facts.fragment], [0x0100_0000_2000n, 1, 1]);
    const values = new Int8Array(16);
    assert.equal(unpackCell(plan.cell, facts.payload, values), 1, '0x80 becomes −127');
    // [c][p][t]: X of spectra 0 and 1, then Y.
    assert.deepEqual([...values.subarray(0, 8)], [1, 2, 127, -127, 3, 4, -127, -1]);
    assert.deepEqual(plan.senders[1], { firstInput: 2, endInput: 4, firstChannel: 0, endChannel: 2 });
    assert.deepEqual([plan.fragments, plan.ticksPerSlot, plan.wrapBits], [2, 8192, 48]);
  });

  it('are what a sender writes', () => {
    // Slot 134217729 of two F-engines: heap number 2 · 134217729 + 1 = 0x10000003.
    const sent = speadFeng.encode(
      { tick: 0x0100_0000_2000n, sender: 1, fragment: 1 },
      fengPacket.slice(72),
      plan,
    );
    assert.deepEqual(sent, changed(fengPacket, 12, '10000003'));
  });

  it('several heaps side by side in frequency', () => {
    const wide = speadFeng.plan({ ...fengOptions, firstChannel: 40, heaps: 3 });
    // Channels 48…51 are the third heap of 40…51.
    assert.equal(placedBy(speadFeng, fengPacket, wide).fragment, 5);
    refusedBy(
      speadFeng,
      changed(fengPacket, 56 + 7, '34'),
      wide,
      'invalid',
      /channels from 52 are not planned/,
    );
    refusedBy(
      speadFeng,
      changed(fengPacket, 56 + 7, '2a'),
      wide,
      'invalid',
      /channels from 42 are not planned/,
    );
  });

  it('control: descriptors, stream control, heaps of another length that name no sender', () => {
    // Two more items: the four, then stream control 2 and a null item at address 0; a heap of one byte.
    const stop = hex(
      '53040206 0000 0006 8001000000000024 8002000000000001 8003000000000000 8004000000000001 8006000000000002 0000000000000000 00',
    );
    assert.equal(speadFeng.decode(stop, plan), 'control');
    // With a data heap's length, but with stream control in place of the time.
    assert.equal(speadFeng.decode(changed(fengPacket, 40, '8006'), plan), 'control');
    // The length of data, without time: the sender does not repeat items.
    refusedBy(speadFeng, changed(fengPacket, 40, '9601'), plan, 'invalid', /must repeat the items/);
    const other = speadFeng.plan({ ...fengOptions, channelsPerHeap: 8, packetBytes: 16 });
    assert.equal(speadFeng.decode(changed(fengPacket, 40, '9601'), other), 'control');
    refusedBy(speadFeng, fengPacket, other, 'invalid', /a heap of 32 bytes where 64 are planned/);
  });

  it('are refused', () => {
    refusedBy(speadFeng, changed(fengPacket, 48 + 7, '06'), plan, 'unknown_source', /6/);
    refusedBy(speadFeng, changed(fengPacket, 40 + 7, '01'), plan, 'misaligned', /no multiple of 8192/);
    refusedBy(speadFeng, changed(fengPacket, 64 + 7, '04'), plan, 'invalid', /0x4300 is not at the start/);
    refusedBy(
      speadFeng,
      changed(fengPacket, 24 + 7, '08'),
      plan,
      'invalid',
      /16 bytes at 8 where packets of 16/,
    );
    refusedBy(speadFeng, changed(fengPacket, 56, 'c104'), plan, 'invalid', /no frequency/);
  });

  it('plans that cannot be', () => {
    assert.throws(() => speadFeng.plan({ ...fengOptions, packetBytes: 12 }), /do not hold whole channels/);
    assert.throws(() => speadFeng.plan({ ...fengOptions, packetBytes: 24 }), /do not fill a heap/);
    assert.throws(
      () => speadFeng.plan({ ...fengOptions, ticksPerSpectrum: 1000 }),
      /do not divide the turn of a 48-bit clock/,
    );
  });

  it('4 bits', () => {
    const nibbles = speadFeng.plan({ ...fengOptions, packetBytes: 8, bits: 4 });
    assert.deepEqual([nibbles.type, nibbles.cell.sizes.c, nibbles.numbers.heapBytes], ['ci4', 2, 16]);
  });

  it('descriptors: shape and format, or a numpy header', () => {
    // One descriptor at address 0: id immediate; name "x", shape (3, any), format i16.
    const inner = hex(
      '53040206 0000 0008 8001000000000001 8002000000000012 8003000000000000 8004000000000012 8014000000004300' +
        '0010000000000000 0012000000000001 001300000000000f 78 00000000000003 01000000000000 690010',
    );
    const length = inner.length.toString(16).padStart(12, '0');
    const outer = join(
      hex(
        `53040206 0000 0005 8001000000000001 8002${length} 8003000000000000 8004${length} 0005000000000000`,
      ),
      inner,
    );
    const packet = parseSpead(outer);
    assert.ok(!('refused' in packet));
    const [found] = descriptorsOf(packet);
    assert.deepEqual(found, { id: 0x4300, name: 'x', description: '', shape: [3, -1], type: 'int16' });
    // The configurations of two senders differ: neither is used.
    const other = changed(outer, outer.length - 11, '04');
    assert.match(
      guessPlan(speadFeng, [outer, other, outer]).unknown?.what ?? '',
      /\(3, -1\) of int16 by one descriptor, \(4, -1\) of int16 by another/,
    );
    assert.match(guessPlan(speadFeng, [outer, outer]).unknown?.what ?? '', /no descriptor of feng_raw came/);
    assert.equal(speadFeng.decode(outer, plan), 'control');
    // Damaged descriptors are omitted.
    const broken = parseSpead(changed(outer, 48, '00'));
    assert.ok(!('refused' in broken));
    assert.deepEqual(descriptorsOf(broken), []);
  });
});

describe("digitiser's heaps by hand", () => {
  // Timestamp 16, digitiser 3, status: saturated, 2 samples; 8 samples of 10 bits.
  const packet = join(
    hex(
      '53040206 0000 0008 8001000000000001 800200000000000a 8003000000000000 800400000000000a ' +
        '9600000000000010 b101000000000003 b102000200000002 3300000000000000',
    ),
    hex('00 7f f7 fe 00 00 00 00 00 01'),
  );
  const plan = speadDigitiser.plan({ digitisers: [2, 3], samplesPerHeap: 8 });

  it('are placed', () => {
    const facts = placedBy(speadDigitiser, packet, plan);
    assert.deepEqual([facts.tick, facts.sender, facts.fragment], [16n, 1, 0]);
    const values = new Int16Array(8);
    unpackCell(plan.cell, facts.payload, values);
    assert.deepEqual([...values], [1, -1, 511, -512, 0, 0, 0, 1]);
  });

  it('are what a sender writes, without saturation', () => {
    // Slot 2 of two digitisers: heap number 2 · 2 + 1.
    const sent = speadDigitiser.encode({ tick: 16n, sender: 1, fragment: 0 }, packet.slice(72), plan);
    assert.deepEqual(sent, changed(changed(packet, 15, '05'), 58, '000000000000'));
  });

  it('are refused', () => {
    refusedBy(speadDigitiser, changed(packet, 40 + 7, '11'), plan, 'misaligned', /17 is no multiple of 8/);
    refusedBy(speadDigitiser, changed(packet, 48 + 7, '04'), plan, 'unknown_source', /4/);
    const long = speadDigitiser.plan({ digitisers: [3], samplesPerHeap: 16 });
    refusedBy(speadDigitiser, packet, long, 'invalid', /a heap of 10 bytes where 20 are planned/);
    assert.throws(
      () => speadDigitiser.plan({ digitisers: [0], samplesPerHeap: 2 }),
      /bytes of a cell is 2.5/,
    );
  });
});
