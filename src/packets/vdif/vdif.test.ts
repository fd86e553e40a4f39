import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatInstant } from '../../core/instant.js';
import { instantOfTick } from '../../core/clock/tick-clock.js';
import { namedRateHz, stationName } from '../../core/vdif-header.js';
import { unpackCell } from '../cell.js';
import { changed, hex, join, placedBy, refusedBy } from '../testing/by-hand.js';
import { vdif, vdifVtp } from './vdif.js';

describe('VDIF by hand', () => {
  // Words are little-endian. Seconds 13046400 (1 June 2025 in epoch 50), frame 3, two channels, frames of 48 bytes,
  // complex, 8 bits, thread 5, station "Co".
  const words = '8012c700 03000032 06000001 6f43059c';
  const payload = hex('80 81 7f 00 ff 80 80 80  80 80 80 80 80 80 80 80');
  const datagram = join(hex(`${words} 00000000 00000000 00000000 00000000`), payload);
  const options = {
    threads: [
      { thread: 4, station: 0x436f },
      { thread: 5, station: 0x436f },
    ],
    channels: 2,
    parts: 2,
    bits: 8,
    frameBytes: 48,
    sampleRateHz: 4 * 25,
  } as const;
  const plan = vdif.plan(options);

  it('every field', () => {
    const packet = vdif.parse(datagram);
    assert.ok(!('refused' in packet));
    assert.deepEqual(packet.header, {
      marked: 'valid',
      legacy: false,
      seconds: 13_046_400,
      epoch: 50,
      frame: 3,
      version: 0,
      log2Channels: 1,
      frameBytes: 48,
      parts: 2,
      bits: 8,
      thread: 5,
      station: 0x436f,
      unassigned: 0,
      extension: [0, 0, 0, 0],
    });
    assert.equal(stationName(packet.header.station), 'Co');
    assert.deepEqual(vdif.write(packet.header, packet.payload), datagram);
  });

  it('is placed: 25 frames a second of 4 samples', () => {
    const facts = placedBy(vdif, datagram, plan);
    assert.deepEqual([facts.tick, facts.sender, facts.session], [13_046_400n * 25n + 3n, 1, 50n]);
    const values = new Int8Array(16);
    unpackCell(plan.cell, facts.payload, values);
    // Input 0 has (0, 1), (127, 0), …; input 1 (−1, −128), (0, 0), ….
    assert.deepEqual([...values.subarray(0, 4)], [0, 1, 127, 0]);
    assert.deepEqual([...values.subarray(8, 12)], [-1, -128, 0, 0]);
    assert.ok(vdif.epoch.from === 'packet' && plan.tickRateHz);
    const clock = { epoch: vdif.epoch.of(facts.session), tickRateHz: plan.tickRateHz };
    assert.equal(formatInstant(instantOfTick(clock, facts.tick), 3), '2025-06-01T00:00:00.120Z');
  });

  it('is what a sender writes', () => {
    const place = { tick: 13_046_400n * 25n + 3n, sender: 1, fragment: 0, session: 50n };
    assert.deepEqual(vdif.encode(place, payload, plan), datagram);
    // Twice the slots plus sender 1: 2 · 326160003 + 1 = 652320007.
    const behind = vdifVtp.encode(place, payload, vdifVtp.plan(options));
    assert.deepEqual(behind, join(hex('079de12600000000'), datagram));
  });

  it('legacy headers have 16 bytes', () => {
    // Seconds with bit 30 set, frames of 32 bytes.
    const legacy = join(hex('8012c740 03000032 04000001 6f43059c'), payload);
    const old = vdif.plan({ ...options, frameBytes: 32, header: 'legacy' });
    assert.equal(placedBy(vdif, legacy, old).tick, 13_046_400n * 25n + 3n);
    const packet = vdif.parse(legacy);
    assert.ok(!('refused' in packet) && packet.header.legacy);
    assert.deepEqual(vdif.write(packet.header, packet.payload), legacy);
    const whole = vdif.plan({ ...options, frameBytes: 32 + 16 });
    refusedBy(vdif, legacy, whole, 'invalid', /not as planned/);
  });

  it('behind VTP: a little-endian number before the frame', () => {
    const behind = join(hex('4d00000000000000'), datagram);
    const packet = vdifVtp.parse(behind);
    assert.ok(!('refused' in packet));
    assert.equal(packet.header.sequence, 77n);
    assert.deepEqual(vdifVtp.write(packet.header, packet.payload), behind);
    assert.equal(placedBy(vdifVtp, behind, vdifVtp.plan(options)).tick, 13_046_400n * 25n + 3n);
    assert.ok(!vdif.recognise(behind) && vdifVtp.recognise(behind));
    assert.ok(vdif.recognise(datagram) && !vdifVtp.recognise(datagram));
  });

  it('extensions name the rate', () => {
    // Extension 1: unit bit 23 set for MHz, 16 MHz of complex samples; kHz without.
    const at = (text: string): number | undefined => {
      const packet = vdif.parse(changed(datagram, 16, text));
      assert.ok(!('refused' in packet));
      return namedRateHz(packet.header);
    };
    assert.equal(at('10008001'), 16e6);
    assert.equal(at('10000003'), 16e3);
    assert.equal(at('10000002'), undefined);
    const real = vdif.parse(changed(changed(datagram, 16, '10008001'), 15, '1c'));
    assert.ok(!('refused' in real));
    assert.equal(namedRateHz(real.header), 32e6, 'real samples come at twice the bandwidth');
    assert.equal(at('00000001'), undefined);
  });

  it('is refused', () => {
    refusedBy(vdif, changed(datagram, 3, '80'), plan, 'invalid', /marked it invalid/);
    refusedBy(vdif, changed(datagram, 4, '19'), plan, 'invalid', /frame 25 of a second of 25/);
    refusedBy(vdif, changed(datagram, 14, '06'), plan, 'unknown_source', /.*/);
    refusedBy(vdif, changed(datagram, 12, '70'), plan, 'unknown_source', /.*/);
    refusedBy(vdif, changed(datagram, 8, '07'), plan, 'invalid', /48 bytes where the header says 56/);
    refusedBy(
      vdif,
      changed(datagram, 11, '02'),
      plan,
      'invalid',
      /4 channels, 8 bits, complex: not as planned/,
    );
    refusedBy(vdif, changed(datagram, 15, '1c'), plan, 'invalid', /real: not as planned/);
    refusedBy(vdif, datagram.slice(0, 15), plan, 'invalid', /too few/);
    refusedBy(vdifVtp, datagram.slice(0, 7), vdifVtp.plan(options), 'invalid', /too few for VTP/);
    assert.throws(
      () => vdif.plan({ ...options, sampleRateHz: 99 }),
      /99 samples a second are not a whole number of frames/,
    );
    assert.throws(() => vdif.plan({ ...options, channels: 3 }), /give a power of two/);
    assert.throws(
      () => vdif.encode({ tick: 0n, sender: 0, fragment: 0 }, payload, plan),
      /no reference epoch/,
    );
  });

  it('an unknown rate is asked for', () => {
    const packet = vdif.parse(datagram);
    assert.ok(!('refused' in packet));
    assert.ok('unknown' in vdif.guess([packet], {}));
    const guess = vdif.guess([packet], { rateHz: 100 });
    assert.ok('options' in guess && guess.concluded === undefined);
    assert.deepEqual(guess.options.threads, [{ thread: 5, station: 0x436f }]);
  });
});
