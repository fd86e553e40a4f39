import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { packetFormatNamed, packetFormats, anyPacketFormats, recogniseDatagram } from './registry.js';
import { allStreams, payloadOf, placesOf, soundPacket, testStreams } from './testing/streams.js';
import { tryDamaged } from './testing/trial.js';
import { nativePlan, parseCodes, parseResultOf } from './parse-result.js';

describe('packet formats', () => {
  it('are registered under their own names and numbers', () => {
    for (const [name, { format }] of Object.entries(packetFormats)) assert.equal(format.name, name);
    const codes = Object.values(packetFormats).map(({ code }) => code);
    assert.equal(new Set(codes).size, codes.length);
    assert.throws(() => packetFormatNamed('chip'), /there is no packet format 'chip'; known are spead-feng,/);
  });

  for (const stream of allStreams) {
    const { plan } = stream;
    const format = packetFormatNamed(plan.format);

    it(`${plan.format}: every packet slot of a stream is encoded, recognised, decoded and written again`, () => {
      const seen = new Set<string>();
      for (const place of placesOf(stream, 5)) {
        const packet = soundPacket(stream, place);
        const facts = format.decode(packet, plan);
        assert.deepEqual(facts, { ...place, payload: payloadOf(stream, place) });
        assert.deepEqual(
          anyPacketFormats.filter((one) => one.recognise(packet)).map((one) => one.name),
          [plan.format],
        );
        assert.equal(recogniseDatagram(packet), format);
        const parsed = format.parse(packet);
        assert.ok(!('refused' in parsed));
        assert.deepEqual(format.write(parsed.header, parsed.payload), packet);
        // At any position in memory.
        const elsewhere = new Uint8Array(packet.length + 13).fill(0xee);
        elsewhere.set(packet, 5);
        assert.deepEqual(format.decode(elsewhere.subarray(5, 5 + packet.length), plan), facts);
        seen.add(Buffer.from(packet).toString('hex'));
      }
      assert.equal(seen.size, 5 * plan.sources.length * plan.fragments, 'no two packets are alike');
    });

    it(`${plan.format}: a plan can be guessed from its packets`, () => {
      const packets = placesOf(stream, 5).flatMap((place) => {
        const packet = format.parse(soundPacket(stream, place));
        return 'refused' in packet ? [] : [packet];
      });
      const guess = format.guess(packets, {});
      if (plan.format === 'spead-feng') {
        // Only a descriptor gives the layout of a heap.
        assert.ok('unknown' in guess && guess.unknown.includes('descriptor'));
        return;
      }
      assert.ok('options' in guess);
      const { tickRateHz, ...found } = format.plan(guess.options);
      const { tickRateHz: rate, ...expected } = plan;
      assert.deepEqual(found, expected);
      if (tickRateHz) assert.deepEqual(tickRateHz, rate);
    });

    it(`${plan.format}: ten thousand damaged packets, none of which throws`, () => {
      const tally = tryDamaged(stream, 1, 0, 10_000);
      assert.equal(
        Object.values(tally).reduce((sum, count) => sum + count, 0),
        10_000,
      );
      // Damage in the payload leaves a valid packet; most other damage is detected.
      assert.ok(
        tally.placed > 100 && tally.invalid > 1000 && tally.unknown_source > 10,
        JSON.stringify(tally),
      );
    });
  }
});

describe('results of parsers', () => {
  it('are numbers alone, with the place of the payload', () => {
    const stream = testStreams.snap2;
    const [place] = placesOf(stream, 1).slice(-1);
    const made = soundPacket(stream, place);
    // Within a buffer of several, as they are received.
    const packet = new Uint8Array(100 + made.length).subarray(100);
    packet.set(made);
    assert.deepEqual(parseResultOf(packet, stream.plan), {
      code: 0,
      tick: 9600n,
      sender: 2,
      fragment: 1,
      session: 1_700_000_000n,
      payloadAt: 32,
    });
    packet[31] = 1;
    const nothing = { tick: 0n, sender: 0, fragment: 0, session: 0n, payloadAt: 0 };
    assert.deepEqual(parseResultOf(packet, stream.plan), { code: parseCodes.unknown_source, ...nothing });
    assert.deepEqual(parseResultOf(packet.subarray(1), stream.plan), {
      code: parseCodes.invalid,
      ...nothing,
    });
  });

  it('plans are handed to native code as numbers', () => {
    assert.deepEqual(nativePlan(testStreams.chips.plan), {
      format: 6,
      senders: 3,
      fragments: 2,
      cellBytes: 96,
      ticksPerSlot: 1n,
      wrapBits: 64,
      numbers: BigInt64Array.of(3n, 1128n, 1n),
      sources: BigInt64Array.of(1n, 2n, 4n),
    });
  });
});
