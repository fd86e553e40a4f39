import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { packetFormatNamed } from './registry.js';
import { payloadOf, placesOf, testStreams } from './testing/streams.js';
import { readField, setField } from './tick-fields.js';

describe('fields that follow the clock', () => {
  for (const stream of Object.values(testStreams)) {
    const { plan, firstTick } = stream;
    it(`${plan.format}: a packet of tick 0 becomes that of any other`, () => {
      const format = packetFormatNamed(plan.format);
      const fields = format.tickFields(plan);
      const last = plan.wrapBits < 64 ? 2n ** BigInt(plan.wrapBits) - BigInt(plan.ticksPerSlot) : firstTick;
      for (const tick of [firstTick, firstTick + 12_347n * BigInt(plan.ticksPerSlot), last]) {
        for (const place of placesOf(stream, 1)) {
          const cell = payloadOf(stream, place);
          const packet = format.encode({ ...place, tick: 0n }, cell, plan);
          const bases = fields.map((field) => readField(packet, field));
          const expected = format.encode({ ...place, tick }, cell, plan);
          // Like a packet sent before: the old content must not matter.
          for (const field of fields) packet.fill(0xee, field.atByte, field.atByte + field.bytes);
          fields.forEach((field, k) => {
            setField(packet, field, bases[k], tick);
          });
          assert.deepEqual(packet, expected, `tick ${tick}, sender ${place.sender}`);
        }
      }
    });
  }

  it('by hand: frame 1234 of a second of 1000 in VDIF', () => {
    const { plan } = testStreams.vdif;
    const [seconds, frame] = packetFormatNamed('vdif').tickFields(plan);
    const words = new Uint8Array(8);
    setField(words, seconds, 0x4000_0000n, 1234n);
    setField(words, frame, 0n, 1234n);
    assert.deepEqual([...words], [1, 0, 0, 0x40, 234, 0, 0, 0]);
  });
});
