import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomStream } from '../core/random.js';
import { chips } from '../packets/chips.js';
import type { PacketFacts, StreamPlan } from '../packets/packet-format.js';
import { speadDigitiser } from '../packets/spead/digitiser.js';
import { StreamAccount } from './stream-account.js';

const plan = chips.plan({ boards: [1, 2, 3], channels: 4, firstChannel: 0, subbands: 2 });
const payload = new Uint8Array();
const facts = (tick: number | bigint, sender = 0, fragment = 0, session?: bigint): PacketFacts => ({
  tick: BigInt(tick),
  sender,
  fragment,
  payload,
  session,
});
function tallied(stream: StreamPlan, packets: readonly PacketFacts[]) {
  const account = new StreamAccount(stream);
  for (const packet of packets) account.add(packet);
  return account.tallies();
}

describe('the account of a stream', () => {
  it('by hand', () => {
    // Board 1 of one fragment: 10, 11, 13, 12, 13, 15. Its other fragment never arrives.
    const single = chips.plan({ boards: [1], channels: 4, firstChannel: 0 });
    const [one] = tallied(
      single,
      [10, 11, 13, 12, 13, 15].map((tick) => facts(tick)),
    );
    assert.deepEqual(one, {
      source: 1,
      packets: 6,
      lost: 1,
      duplicates: 1,
      reordered: 1,
      strays: 0,
      restarts: 0,
      firstTick: 10n,
      lastTick: 15n,
    });
    const [both] = tallied(
      plan,
      [10, 11, 12].map((tick) => facts(tick)),
    );
    assert.equal(both.lost, 3);
  });

  it('is that of counting every cell, with loss, doubles and changed places', () => {
    for (let seed = 0; seed < 20; seed++) {
      const random = randomStream(seed, 'account');
      const sent: { key: number; packet: PacketFacts }[] = [];
      const slots = 3000;
      for (let slot = 0; slot < slots; slot++) {
        for (let sender = 0; sender < 3; sender++) {
          for (let fragment = 0; fragment < 2; fragment++) {
            const edge = slot === 0 || slot === slots - 1;
            if (!edge && random.uniform() < 0.03) continue;
            const packet = facts(25_000 + slot, sender, fragment);
            sent.push({ key: slot + (edge ? 0 : random.uniform() * 40), packet });
            if (random.uniform() < 0.02) sent.push({ key: slot + random.uniform() * 40, packet });
          }
        }
      }
      sent.sort((x, y) => x.key - y.key);
      const cells = new Set(sent.map(({ packet }) => `${packet.tick} ${packet.sender} ${packet.fragment}`));
      const tallies = tallied(
        plan,
        sent.map(({ packet }) => packet),
      );
      const total = (of: (sender: (typeof tallies)[number]) => number): number =>
        tallies.reduce((sum, sender) => sum + of(sender), 0);
      assert.equal(
        total((sender) => sender.lost),
        3 * 2 * slots - cells.size,
      );
      assert.equal(
        total((sender) => sender.duplicates),
        sent.length - cells.size,
      );
      assert.equal(
        total((sender) => sender.packets),
        sent.length,
      );
      assert.equal(
        total((sender) => sender.strays + sender.restarts),
        0,
      );
    }
  });

  it('a damaged time is a stray, the first one too', () => {
    const single = chips.plan({ boards: [1], channels: 4, firstChannel: 0 });
    const [one] = tallied(
      single,
      [9100, 9101, 2n ** 40n, 9102, 50_000, 9103, 3, 9104].map((tick) => facts(tick)),
    );
    assert.deepEqual([one.strays, one.lost, one.restarts, one.lastTick], [3, 0, 0, 9104n]);
    const [other] = tallied(
      single,
      [2n ** 50n, 100, 101, 102].map((tick) => facts(tick)),
    );
    assert.deepEqual(
      [other.strays, other.lost, other.restarts, other.firstTick, other.packets],
      [1, 0, 0, 100n, 4],
    );
  });

  it('a hole of any length is loss; a clock that is set is a new beginning', () => {
    const single = chips.plan({ boards: [1], channels: 4, firstChannel: 0 });
    const [hole] = tallied(
      single,
      [0, 1, 50_000, 50_001].map((tick) => facts(tick)),
    );
    assert.deepEqual([hole.lost, hole.restarts, hole.packets], [49_998, 0, 4]);
    const [back] = tallied(
      single,
      [50_000, 50_001, 0, 1, 2].map((tick) => facts(tick)),
    );
    assert.deepEqual([back.lost, back.restarts, back.lastTick], [0, 1, 2n]);
    const [ahead] = tallied(
      single,
      [0, 1, 2n ** 40n, 2n ** 40n + 2n].map((tick) => facts(tick)),
    );
    assert.deepEqual([ahead.lost, ahead.restarts], [1, 1]);
    const [session] = tallied(single, [
      facts(5, 0, 0, 7n),
      facts(6, 0, 0, 7n),
      facts(7, 0, 0, 8n),
      facts(8, 0, 0, 8n),
    ]);
    assert.deepEqual([session.lost, session.restarts, session.strays], [0, 1, 0]);
  });

  it('goes on through a wrap', () => {
    const wrapping = speadDigitiser.plan({ digitisers: [0], samplesPerHeap: 64 });
    const turn = 2n ** 48n;
    const ticks = [-3n, -2n, -1n, 0n, 2n].map((heap) => (turn + heap * 64n) % turn);
    const [one] = tallied(
      wrapping,
      ticks.map((tick) => facts(tick)),
    );
    assert.deepEqual([one.lost, one.restarts, one.lastTick], [1, 0, turn + 128n]);
  });
});
