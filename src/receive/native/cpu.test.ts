import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadNative } from '../../backend/cpu/library.js';
import { allStreams, placesOf, soundPacket } from '../../packets/testing/streams.js';
import { chips } from '../../packets/chips.js';
import { damaged } from '../../packets/testing/damage.js';
import { randomStream } from '../../core/random.js';
import { parseResultOf } from '../../packets/parse-result.js';
import { ringCases } from '../cases.js';
import { ReferenceRing } from '../reference.js';
import { smallPlan, timedPlan } from '../testing/array.js';
import { jumpTrials } from '../testing/jump-cases.js';
import { compareRings } from '../testing/compare-rings.js';
import { tryRingCase } from '../testing/try-case.js';
import { openNativeRing } from './native-ring.js';
import { nativeParser } from './parser.js';
import { tryTurn } from '../testing/try-turn.js';
import { nativeTurn } from './turn.js';

const library = loadNative();
const skip = 'what' in library ? library.what : false;

describe('the native ring', { skip }, () => {
  for (const one of ringCases) it(one.name, () => tryRingCase(one, openNativeRing));

  for (const [name, plan] of [
    ['', smallPlan],
    [', with a clock', timedPlan],
  ] as const)
    for (let seed = 1; seed <= 12; seed++) {
      it(`does what the reference does with random losses, restarts and jumps${name}, seed ${seed}`, async () => {
        const ring = openNativeRing(plan, 0xaa);
        compareRings(ring, new ReferenceRing(plan, undefined, 0x55), seed, 3000);
        await ring.close();
      });
    }
  for (const [name, tryIt] of jumpTrials) it(name, () => tryIt(openNativeRing));
});

describe("the corner turn in C++ is unpackCell's", { skip }, () => {
  // Large enough to be split over threads: 70 slots of 3 boards, 160 channels.
  const large = chips.plan({ boards: [1, 2, 3], channels: 80, firstChannel: 0, subbands: 2 });
  const named = [
    ...allStreams.map(({ plan }) => [plan.format, plan] as const),
    ['chips, shared', large] as const,
  ];
  for (const [name, plan] of named) {
    it(name, () =>
      tryTurn(plan, (ringPlan) => {
        const turn = nativeTurn(ringPlan);
        assert.ok(!('what' in turn));
        return turn;
      }),
    );
  }
});

describe('the native parser agrees with the decoders', { skip }, () => {
  for (const stream of allStreams) {
    it(stream.plan.format, () => {
      const parse = nativeParser(stream.plan);
      assert.ok(!('what' in parse));
      const sound = placesOf(stream, 4).map((place) => soundPacket(stream, place));
      for (const packet of sound) assert.deepEqual(parse(packet), parseResultOf(packet, stream.plan));
      for (let k = 0; k < 2000; k++) {
        const random = randomStream(3, stream.plan.format, k);
        const packet = damaged(sound[random.below(sound.length)], random);
        assert.deepEqual(parse(packet), parseResultOf(packet, stream.plan), `packet ${k}`);
      }
    });
  }
});
