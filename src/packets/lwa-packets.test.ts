import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatInstant } from '../core/instant.js';
import { rational } from '../core/clock/rational.js';
import { instantOfTick } from '../core/clock/tick-clock.js';
import { unpackCell } from './cell.js';
import { chips } from './chips.js';
import { snap2 } from './snap2.js';
import { changed, hex, join, placedBy, refusedBy } from './testing/by-hand.js';

describe('CHIPS by hand', () => {
  // Board 2 of 16, tuning 1, 2 channels, subband 0 of 1, first channel 1128, sequence 25001.
  const header = hex('02 01 02 01 00 10 0468 00000000000061a9');
  const payload = Uint8Array.from({ length: 64 }, (_, n) => (n === 0 ? 0x7f : n === 33 ? 0x91 : 0));
  const datagram = join(header, payload);
  const plan = chips.plan({ boards: [1, 2], channels: 2, firstChannel: 1128 });

  it('every field', () => {
    const packet = chips.parse(datagram);
    assert.ok(!('refused' in packet));
    assert.deepEqual(packet.header, {
      board: 2,
      tuning: 1,
      channels: 2,
      subbands: 1,
      subband: 0,
      boards: 16,
      firstChannel: 1128,
      sequence: 25_001n,
    });
    assert.deepEqual(packet.payload, payload);
    assert.deepEqual(chips.write(packet.header, packet.payload), datagram);
  });

  it('is placed: sequence numbers count from 1, or from 0 where that is given', () => {
    const facts = placedBy(chips, datagram, plan);
    assert.deepEqual([facts.tick, facts.sender, facts.fragment, facts.session], [25_000n, 1, 0, undefined]);
    const from0 = chips.plan({ boards: [1, 2], channels: 2, firstChannel: 1128, sequenceFrom: 0 });
    assert.equal(placedBy(chips, datagram, from0).tick, 25_001n);
    // [c][input 32]: byte 0 is channel 0, input 0; byte 33 channel 1, input 1.
    const values = new Int8Array(2 * 32 * 2);
    unpackCell(plan.cell, facts.payload, values);
    assert.deepEqual([values[0], values[1], values[66], values[67]], [7, -1, -7, 1]);
    assert.equal(values.filter((value) => value !== 0).length, 4);
  });

  it('the plan gives the place of the 32 inputs of each board', () => {
    assert.deepEqual(plan.senders, [
      { firstInput: 0, endInput: 32, firstChannel: 0, endChannel: 2 },
      { firstInput: 32, endInput: 64, firstChannel: 0, endChannel: 2 },
    ]);
    assert.deepEqual([plan.tickRateHz, plan.wrapBits, plan.ticksPerSlot], [rational(25_000n), 64, 1]);
  });

  it('is what a sender writes', () => {
    const sent = chips.encode({ tick: 25_000n, sender: 1, fragment: 0 }, payload, plan);
    assert.deepEqual(sent, join(hex('02 00 02 01 00 02 0468 00000000000061a9'), payload));
  });

  it('subbands are fragments', () => {
    const both = chips.plan({ boards: [2], channels: 2, firstChannel: 1126, subbands: 2 });
    assert.equal(placedBy(chips, datagram, both).fragment, 1);
    assert.equal(both.channels, 4);
  });

  it('is refused', () => {
    refusedBy(chips, datagram.slice(0, 15), plan, 'invalid', /15 bytes are too few/);
    refusedBy(chips, datagram.slice(0, 79), plan, 'invalid', /79 bytes do not hold 2 channels/);
    refusedBy(chips, changed(datagram, 2, '00'), plan, 'invalid', /do not hold 0 channels/);
    refusedBy(chips, changed(datagram, 0, '03'), plan, 'unknown_source', /3/);
    refusedBy(chips, changed(datagram, 6, '046a'), plan, 'invalid', /channels from 1130 are not planned/);
    refusedBy(chips, changed(datagram, 8, '0000000000000000'), plan, 'invalid', /tick -1/);
    refusedBy(chips, changed(datagram, 8, 'ffffffffffffffff'), plan, 'invalid', /tick 18446744073709551614/);
    const wide = chips.plan({ boards: [2], channels: 3, firstChannel: 1128 });
    refusedBy(chips, datagram, wide, 'invalid', /2 channels where 3 are planned/);
  });

  it('plans that cannot be', () => {
    const options = { boards: [1], channels: 2, firstChannel: 0 };
    assert.throws(() => chips.plan({ ...options, boards: [1, 1] }), /sender 1 is named twice/);
    assert.throws(() => chips.plan({ ...options, boards: [0] }), /a board's number is 0/);
    assert.throws(() => chips.plan({ ...options, boards: [] }), /senders is 0/);
    assert.throws(() => chips.plan({ ...options, channels: 256 }), /channels is 256/);
  });
});

describe('SNAP2 by hand', () => {
  // Sequence 9600, sync time 1700000000, 4 of 12 signals, 3 of 6 channels, block 1, from channel 1003 and signal 8.
  const header = hex('0000000000002580 6553f100 0004 000c 0003 0006 00000001 000003eb 00000008');
  const payload = hex('7f 91 00 00  00 00 00 12  00 00 00 00');
  const datagram = join(header, payload);
  const options = {
    signals: 12,
    signalsPerPacket: 4,
    channels: 6,
    channelsPerPacket: 3,
    firstChannel: 1000,
    spectrumRateHz: rational(196_000_000n, 8192n),
  };
  const plan = snap2.plan(options);

  it('every field', () => {
    const packet = snap2.parse(datagram);
    assert.ok(!('refused' in packet));
    assert.deepEqual(packet.header, {
      sequence: 9600n,
      syncTime: 1_700_000_000,
      signals: 4,
      signalsInAll: 12,
      channels: 3,
      channelsInAll: 6,
      block: 1,
      firstChannel: 1003,
      firstSignal: 8,
    });
    assert.deepEqual(snap2.write(packet.header, packet.payload), datagram);
  });

  it('is placed, in the stream epoch of its sync time', () => {
    const facts = placedBy(snap2, datagram, plan);
    assert.deepEqual(
      [facts.tick, facts.sender, facts.fragment, facts.session],
      [9600n, 2, 1, 1_700_000_000n],
    );
    const values = new Int8Array(3 * 4 * 2);
    unpackCell(plan.cell, facts.payload, values);
    // [channel][signal]: byte 7 is channel 1, signal 3.
    assert.deepEqual([...values.subarray(0, 4)], [7, -1, -7, 1]);
    assert.deepEqual([...values.subarray(14, 16)], [1, 2]);
  });

  it('carries UTC: 9600 spectra of 8192 samples at 196 MHz after the sync time', () => {
    assert.ok(snap2.epoch.from === 'packet' && plan.tickRateHz);
    const clock = { epoch: snap2.epoch.of(1_700_000_000n), tickRateHz: plan.tickRateHz };
    // 9600 · 8192 / 196e6 = 0.401240816… s
    assert.equal(formatInstant(instantOfTick(clock, 9600n), 9), '2023-11-14T22:13:20.401240816Z');
  });

  it('is refused', () => {
    refusedBy(snap2, changed(datagram, 8, '00000000'), plan, 'invalid', /a stream without epoch/);
    refusedBy(snap2, changed(datagram, 28, '00000007'), plan, 'unknown_source', /7/);
    refusedBy(
      snap2,
      changed(datagram, 24, '000003ec'),
      plan,
      'invalid',
      /channels from 1004 are not planned/,
    );
    refusedBy(
      snap2,
      changed(datagram, 24, '000003ee'),
      plan,
      'invalid',
      /channels from 1006 are not planned/,
    );
    refusedBy(snap2, changed(datagram, 12, '0003'), plan, 'invalid', /do not hold 3 channels of 3 signals/);
    refusedBy(
      snap2,
      changed(datagram, 12, '0003 000c 0004'),
      plan,
      'invalid',
      /4 channels of 3 signals where 3 of 4/,
    );
    refusedBy(snap2, datagram.slice(0, 31), plan, 'invalid', /too few/);
    assert.throws(
      () => snap2.plan({ ...options, signals: 10 }),
      /10 signals are no whole number of packets of 4/,
    );
  });

  it('is what a sender writes, who must know the sync time', () => {
    const sent = snap2.encode(
      { tick: 9600n, sender: 2, fragment: 1, session: 1_700_000_000n },
      payload,
      plan,
    );
    assert.deepEqual(sent, datagram);
    assert.throws(() => snap2.encode({ tick: 0n, sender: 0, fragment: 0 }, payload, plan), /no sync time/);
  });
});
