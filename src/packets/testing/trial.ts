/** Checks of a decoder with damaged packets, for every format: used by tests and the fuzzer. */
import assert from 'node:assert/strict';
import { randomStream } from '../../core/random.js';
import { MOST_TICK, type RefusalReason } from '../packet-format.js';
import { anyPacketFormats, packetFormatNamed } from '../registry.js';
import { damaged } from './damage.js';
import { placesOf, soundPacket, type TestStream } from './streams.js';

export type TrialTally = Record<'placed' | 'control' | RefusalReason, number>;

/**
 * Decodes `count` damaged packets of a stream, starting with number `first`; throws at the first violation. `also`
 * receives each packet: another decoder, which must agree.
 */
export function tryDamaged(
  stream: TestStream,
  seed: number,
  first: number,
  count: number,
  also: (packet: Uint8Array, where: string) => void = () => undefined,
): TrialTally {
  const { plan } = stream;
  const format = packetFormatNamed(plan.format);
  const sound = placesOf(stream, 4).map((place) => soundPacket(stream, place));
  const tally: TrialTally = { placed: 0, control: 0, invalid: 0, unknown_source: 0, misaligned: 0 };
  for (let k = first; k < first + count; k++) {
    const random = randomStream(seed, plan.format, k);
    const packet = damaged(sound[random.below(sound.length)], random);
    const where = `${plan.format}, packet ${k} of seed ${seed}`;
    const before = packet.slice();
    const facts = format.decode(packet, plan);
    also(packet, where);
    assert.ok(Buffer.compare(packet, before) === 0, `${where} was changed`);
    if (facts === 'control') tally.control++;
    else if ('refused' in facts) {
      tally[facts.refused]++;
      assert.ok(facts.why.length > 0, where);
    } else {
      tally.placed++;
      const { tick, sender, fragment, payload } = facts;
      assert.ok(tick >= 0n && tick <= MOST_TICK && tick % BigInt(plan.ticksPerSlot) === 0n, where);
      assert.ok(sender >= 0 && sender < plan.senders.length, where);
      assert.ok(Number.isInteger(fragment) && fragment >= 0 && fragment < plan.fragments, where);
      assert.equal(payload.length, plan.cellBytes, where);
    }
    // Writing a parsed packet reproduces it; now and then this is checked for every format.
    for (const any of k % 8 === 0 ? anyPacketFormats : [format]) {
      const parsed = any.parse(packet);
      any.recognise(packet);
      if (!('refused' in parsed)) {
        const again = any.write(parsed.header, parsed.payload);
        assert.ok(Buffer.compare(again, packet) === 0, `${where} as ${any.name}`);
      }
    }
  }
  return tally;
}
