import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatInstant } from '../core/instant.js';
import { instantOfTick } from '../core/clock/tick-clock.js';
import { unpackCell } from './cell.js';
import { mwa } from './mwa.js';
import { changed, hex, join, placedBy, refusedBy } from './testing/by-hand.js';

describe('MWA packets by hand', () => {
  // Critically sampled, coarse channel 137, tile 12 Y, GPS second 1425000008, packet 624, from 1, token 0x1234.
  const header = hex('20 89 0019 54efc648 0270 00 01 1234 00 00');
  const payload = new Uint8Array(4096);
  payload.set(hex('7f 81 80 01'), 2);
  const datagram = join(header, payload);
  const plan = mwa.plan({ coarseChannel: 137, inputs: [24, 25] });

  it('every field', () => {
    const packet = mwa.parse(datagram);
    assert.ok(!('refused' in packet));
    assert.deepEqual(packet.header, {
      kind: 'critical',
      coarseChannel: 137,
      input: 25,
      gpsSecond: 1_425_000_008,
      packet: 624,
      sender: 1,
      token: 0x1234,
      spare: [0, 0, 0],
    });
    assert.deepEqual(mwa.write(packet.header, packet.payload), datagram);
    // Spare bytes are preserved.
    const odd = changed(changed(datagram, 10, 'aa'), 14, 'bbcc');
    const again = mwa.parse(odd);
    assert.ok(!('refused' in again));
    assert.deepEqual(mwa.write(again.header, again.payload), odd);
  });

  it('is placed, and carries UTC', () => {
    const facts = placedBy(mwa, datagram, plan);
    assert.deepEqual([facts.tick, facts.sender, facts.fragment], [1_425_000_008n * 625n + 624n, 1, 0]);
    const values = new Int8Array(4096);
    assert.equal(unpackCell(plan.cell, facts.payload, values), 0);
    assert.deepEqual([...values.subarray(0, 8)], [0, 0, 127, -127, -128, 1, 0, 0]);
    assert.ok(mwa.epoch.from === 'packet' && plan.tickRateHz);
    const clock = { epoch: mwa.epoch.of(undefined), tickRateHz: plan.tickRateHz };
    // 1425000008 + 315964800 − 18 leap seconds, and 624/625 s.
    assert.equal(formatInstant(instantOfTick(clock, facts.tick), 4), '2025-03-03T01:19:50.9984Z');
  });

  it('is what a sender writes', () => {
    const place = { tick: 1_425_000_008n * 625n + 624n, sender: 1, fragment: 0 };
    assert.deepEqual(
      mwa.encode(place, payload, plan),
      join(hex('20 89 0019 54efc648 0270 00 00 0000 00 00'), payload),
    );
  });

  it('oversampled packets have 800 a second', () => {
    const over = changed(changed(datagram, 0, '30'), 8, '031f');
    const fine = mwa.plan({ kind: 'oversampled', coarseChannel: 137, inputs: [25] });
    assert.equal(placedBy(mwa, over, fine).tick, 1_425_000_008n * 800n + 799n);
    refusedBy(mwa, over, plan, 'invalid', /^oversampled packets are not planned/);
    refusedBy(mwa, datagram, fine, 'invalid', /^critically sampled packets are not planned/);
  });

  it('is refused', () => {
    refusedBy(mwa, changed(datagram, 8, '0271'), plan, 'invalid', /packet 625 of a second of 625/);
    refusedBy(mwa, changed(datagram, 1, '88'), plan, 'invalid', /coarse channel 136 where 137 is planned/);
    refusedBy(mwa, changed(datagram, 2, '001a'), plan, 'unknown_source', /26/);
    refusedBy(mwa, changed(datagram, 0, '21'), plan, 'invalid', /0x21/);
    refusedBy(mwa, datagram.slice(0, 4111), plan, 'invalid', /4111 bytes where MWA's packets have 4112/);
  });
});
