/** Every value of every capture against its formula. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatInstant } from '../core/instant.js';
import { instantOfTick } from '../core/clock/tick-clock.js';
import { unpackCell } from './cell.js';
import { chips } from './chips.js';
import { mwa } from './mwa.js';
import type { PacketFacts, PacketFormat, StreamPlan } from './packet-format.js';
import { anyPacketFormats, type PacketFormatName } from './registry.js';
import { snap2 } from './snap2.js';
import { descriptorsOf } from './spead/descriptors.js';
import { speadDigitiser } from './spead/digitiser.js';
import { speadFeng } from './spead/feng.js';
import { itemOf, parseSpead } from './spead/packet.js';
import { datagramsOf, mod, skipCaptures } from './testing/captures.js';
import { vdif, vdifVtp } from './vdif/vdif.js';

/** The plan guessed from the packets alone. */
function guessed<Header, Options, Names extends string>(
  format: PacketFormat<Header, Options, Names>,
  datagrams: readonly Uint8Array[],
): StreamPlan<Names> {
  const packets = datagrams.flatMap((datagram) => {
    const packet = format.parse(datagram);
    return 'refused' in packet ? [] : [packet];
  });
  const guess = format.guess(packets, {});
  assert.ok('options' in guess, JSON.stringify(guess));
  return format.plan(guess.options);
}

/** Each datagram as placed; encode(decode(x)) = x through its header. */
function decodeAll<Header, Options, Names extends string>(
  format: PacketFormat<Header, Options, Names>,
  plan: StreamPlan<Names>,
  datagrams: readonly Uint8Array[],
): (PacketFacts | 'control')[] {
  return datagrams.map((datagram, n) => {
    const packet = format.parse(datagram);
    assert.ok(!('refused' in packet));
    assert.deepEqual(format.write(packet.header, packet.payload), datagram, `datagram ${n}`);
    const facts = format.decode(datagram, plan);
    if (facts !== 'control' && 'refused' in facts) assert.fail(`datagram ${n}: ${facts.why}`);
    return facts;
  });
}

const data = (all: readonly (PacketFacts | 'control')[]): PacketFacts[] =>
  all.filter((one) => one !== 'control');

/** Checks each value of a packet's payload: expected(c, a, t, part), with indices inside the payload. */
function checkCell(
  plan: StreamPlan,
  facts: PacketFacts,
  expected: (c: number, a: number, t: number, part: number) => number,
): void {
  const { sizes, parts } = plan.cell;
  const values = new Int16Array(sizes.c * sizes.a * sizes.t * parts).fill(-32768);
  assert.equal(unpackCell(plan.cell, facts.payload, values), 0);
  let at = 0;
  for (let c = 0; c < sizes.c; c++) {
    for (let a = 0; a < sizes.a; a++) {
      for (let t = 0; t < sizes.t; t++) {
        for (let part = 0; part < parts; part++) {
          const value = values[at++];
          if (value !== expected(c, a, t, part)) {
            assert.fail(
              `tick ${facts.tick}, sender ${facts.sender}: [${c}][${a}][${t}][${part}] is ${value}`,
            );
          }
        }
      }
    }
  }
}

/** LWA's two formats use the same formula. */
const nibbles = (c: number, a: number, s: number, part: number): number =>
  part === 0 ? mod(3 * c + 5 * a + 7 * s, 15) - 7 : mod(5 * c + 11 * a + 2 * s, 15) - 7;
const bytes = (n: number, who: number, part: number): number =>
  part === 0 ? mod(3 * n + 5 * who, 255) - 127 : mod(7 * n + 11 * who, 255) - 127;

describe('captures', { skip: skipCaptures }, () => {
  for (const name of ['spead-feng.pcap', 'spead-feng-multicast.pcap']) {
    it(name, async () => {
      const datagrams = await datagramsOf(name);
      assert.equal(datagrams.length, 66);
      const plan = guessed(speadFeng, datagrams);
      assert.deepEqual(
        [plan.inputs, plan.channels, plan.fragments, plan.cellBytes, plan.ticksPerSlot, plan.samplesPerSlot],
        [8, 16, 2, 1024, 65_536, 32],
      );
      const all = decodeAll(speadFeng, plan, datagrams);
      assert.deepEqual([all[0], all[65]], ['control', 'control']);
      const placed = data(all);
      assert.equal(placed.length, 64);
      const seen = new Set<string>();
      for (const facts of placed) {
        const heap = Number((facts.tick - 1_099_511_627_776n) / 65_536n);
        seen.add(`${heap} ${facts.sender} ${facts.fragment}`);
        checkCell(plan, facts, (c, p, t, k) => {
          const channel = 8 * facts.fragment + c;
          return mod(17 * channel + 5 * (32 * heap + t) + 29 * p + 101 * k + 43 * facts.sender, 255) - 127;
        });
      }
      assert.equal(seen.size, 8 * 4 * 2);
      const first = parseSpead(datagrams[0]);
      assert.ok(!('refused' in first));
      const described = descriptorsOf(first);
      assert.deepEqual(
        described.map(({ id, name: word, shape, type }) => [id, word, shape, type]),
        [
          [0x1600, 'timestamp', [], 'uint48'],
          [0x4101, 'feng_id', [], 'uint48'],
          [0x4103, 'frequency', [], 'uint48'],
          [0x4300, 'feng_raw', [16, 32, 2, 2], '|i1'],
        ],
      );
      // The stop heap: stream control 2.
      const last = parseSpead(datagrams[65]);
      assert.ok(!('refused' in last));
      assert.equal(itemOf(last.header, 6), 2n);
    });
  }

  it('spead-digitiser.pcap', async () => {
    const datagrams = await datagramsOf('spead-digitiser.pcap');
    assert.equal(datagrams.length, 12);
    const plan = guessed(speadDigitiser, datagrams);
    assert.deepEqual([plan.inputs, plan.samplesPerSlot, plan.cellBytes], [2, 4096, 5120]);
    data(decodeAll(speadDigitiser, plan, datagrams)).forEach((facts, n) => {
      const [heap, p] = [Math.floor(n / 2), n % 2];
      assert.deepEqual(
        [facts.tick, facts.sender],
        [(2n ** 48n - 12_288n + 4096n * BigInt(heap)) % 2n ** 48n, p],
      );
      checkCell(plan, facts, (_c, _a, s) => mod(37 * (s + 4096 * heap) + 211 * p, 1023) - 511);
    });
  });

  it('spead-xeng.pcap: sound SPEAD that no format takes for its own', async () => {
    const heaps = new Map<bigint, { timestamp: bigint | undefined; payload: Uint8Array }>();
    for (const datagram of await datagramsOf('spead-xeng.pcap')) {
      const packet = parseSpead(datagram);
      assert.ok(!('refused' in packet));
      const { header, payload } = packet;
      const timestamp = itemOf(header, 0x1600);
      const heap = heaps.get(header.heap) ?? { timestamp, payload: new Uint8Array(Number(header.heapBytes)) };
      heap.payload.set(payload, Number(header.offset));
      heaps.set(header.heap, heap);
      assert.ok(anyPacketFormats.every((format) => !format.recognise(datagram)));
    }
    let dumps = 0;
    for (const { timestamp, payload } of heaps.values()) {
      if (timestamp === undefined) continue;
      const dump = Number((timestamp - 1_099_511_627_776n) / 2n ** 25n);
      const view = new DataView(payload.buffer);
      for (let c = 0; c < 4; c++) {
        for (let a2 = 0; a2 < 4; a2++) {
          for (let a1 = 0; a1 <= a2; a1++) {
            for (let q = 0; q < 4; q++) {
              const product = 4 * ((a2 * (a2 + 1)) / 2 + a1) + q;
              const missing = dump === 1 && (a1 === 2 || a2 === 2);
              const value = (k: number): number => view.getInt32(((c * 40 + product) * 2 + k) * 4, true);
              const formula = (k: number): number =>
                mod(1_000_003 * c + 7919 * product + 104_729 * k + 31 * dump, 2_000_001) - 1_000_000;
              assert.deepEqual([value(0), value(1)], missing ? [-(2 ** 31), 1] : [formula(0), formula(1)]);
            }
          }
        }
      }
      dumps++;
    }
    assert.equal(dumps, 2);
  });

  it('chips.pcap', async () => {
    const datagrams = await datagramsOf('chips.pcap');
    assert.equal(datagrams.length, 158);
    const plan = guessed(chips, datagrams);
    assert.deepEqual([plan.inputs, plan.channels, plan.sources], [128, 12, [1, 2, 3, 4]]);
    const seen = new Map<string, number>();
    const order: string[] = [];
    for (const facts of data(decodeAll(chips, plan, datagrams))) {
      checkCell(plan, facts, (c, a, _t, part) => nibbles(c, 32 * facts.sender + a, Number(facts.tick), part));
      const key = `${facts.sender + 1} ${facts.tick}`;
      seen.set(key, (seen.get(key) ?? 0) + 1);
      order.push(key);
    }
    const all = Array.from({ length: 40 }, (_, n) =>
      [1, 2, 3, 4].map((board) => `${board} ${25_000 + n}`),
    ).flat();
    assert.deepEqual(
      all.filter((key) => !seen.has(key)),
      ['2 25007', '3 25007', '4 25020'],
    );
    assert.deepEqual(
      [...seen].filter(([, times]) => times > 1),
      [['3 25030', 2]],
    );
    assert.ok(order.indexOf('1 25012') > order.indexOf('2 25013'), 'two changed places');
  });

  it('snap2.pcap', async () => {
    const datagrams = await datagramsOf('snap2.pcap');
    assert.equal(datagrams.length, 48);
    const plan = guessed(snap2, datagrams);
    assert.deepEqual([plan.inputs, plan.channels, plan.fragments, plan.sources], [192, 48, 2, [0, 64, 128]]);
    const cells = new Set<string>();
    for (const facts of data(decodeAll(snap2, plan, datagrams))) {
      assert.equal(facts.session, 1_700_000_000n);
      cells.add(`${facts.tick} ${facts.sender} ${facts.fragment}`);
      checkCell(plan, facts, (c, a, _t, part) =>
        nibbles(24 * facts.fragment + c, 64 * facts.sender + a, Number(facts.tick), part),
      );
    }
    assert.equal(cells.size, 8 * 3 * 2);
    assert.ok(cells.has('9600 0 0') && cells.has('9607 2 1'));
  });

  it('mwa.pcap', async () => {
    const datagrams = await datagramsOf('mwa.pcap');
    assert.equal(datagrams.length, 16);
    const plan = guessed(mwa, datagrams);
    assert.deepEqual([plan.inputs, plan.sources, plan.samplesPerSlot], [4, [22, 23, 24, 25], 2048]);
    const all = data(decodeAll(mwa, plan, datagrams));
    all.forEach((facts, n) => {
      assert.equal(facts.tick, 1_425_000_007n * 625n + 623n + BigInt(Math.floor(n / 4)));
      const packet = Number(facts.tick % 625n);
      checkCell(plan, facts, (_c, _a, s, part) => bytes(2048 * packet + s, plan.sources[facts.sender], part));
    });
    assert.ok(mwa.epoch.from === 'packet' && plan.tickRateHz);
    // GPS 1425000008, eighteen leap seconds after 1980.
    const clock = { epoch: mwa.epoch.of(undefined), tickRateHz: plan.tickRateHz };
    assert.equal(formatInstant(instantOfTick(clock, all[8].tick), 6), '2025-03-03T01:19:50.000000Z');
  });

  for (const [name, format] of [
    ['vdif.pcap', vdif],
    ['vdif-vtp.pcap', vdifVtp],
  ] as const) {
    it(name, async () => {
      const datagrams = await datagramsOf(name);
      assert.equal(datagrams.length, 12);
      const plan = guessed(format as typeof vdif, datagrams);
      assert.deepEqual([plan.inputs, plan.samplesPerSlot, plan.tickRateHz?.numerator], [2, 2000, 16_000n]);
      datagrams.forEach((datagram, n) => {
        const [step, thread] = [Math.floor(n / 2), n % 2];
        const packet = format.parse(datagram);
        assert.ok(!('refused' in packet));
        assert.deepEqual(format.write(packet.header as never, packet.payload), datagram);
        if ('sequence' in packet.header) assert.equal(packet.header.sequence, BigInt(77 + n));
        const marked = step === 4 && thread === 1;
        const sound = datagram.slice();
        // The highest bit of the frame's first word; the word is little-endian, so this is its fourth byte.
        if (marked) sound[datagram.length - 4032 + 3] &= 0x7f;
        const decoded = format.decode(datagram, plan);
        assert.ok(
          !marked || (decoded !== 'control' && 'refused' in decoded && decoded.refused === 'invalid'),
        );
        const facts = format.decode(sound, plan);
        if (facts === 'control' || 'refused' in facts) assert.fail(JSON.stringify(facts));
        assert.deepEqual([facts.sender, facts.session], [thread, 50n]);
        const frame = 15_997 + step;
        assert.equal(facts.tick % 16_000n, BigInt(frame % 16_000));
        checkCell(plan, facts, (_c, _a, s, part) => bytes(2000 * frame + s, thread, part));
        if (n > 0) return;
        assert.ok(format.epoch.from === 'packet' && plan.tickRateHz);
        const clock = { epoch: format.epoch.of(facts.session), tickRateHz: plan.tickRateHz };
        const text = formatInstant(instantOfTick(clock, facts.tick), 9);
        assert.equal(text, '2025-06-01T00:00:00.999812500Z');
      });
    });
  }

  it('each datagram is recognised as its own format, and as no other', async () => {
    const kinds = {
      'spead-feng.pcap': 'spead-feng',
      'spead-digitiser.pcap': 'spead-digitiser',
      'chips.pcap': 'chips',
      'snap2.pcap': 'snap2',
      'mwa.pcap': 'mwa',
      'vdif.pcap': 'vdif',
      'vdif-vtp.pcap': 'vdif-vtp',
    } as const satisfies Record<string, PacketFormatName>;
    for (const [name, own] of Object.entries(kinds)) {
      const datagrams = await datagramsOf(name);
      datagrams.forEach((datagram, n) => {
        const names = anyPacketFormats
          .filter((format) => format.recognise(datagram))
          .map((format) => format.name);
        const isControl = own === 'spead-feng' && (n === 0 || n === datagrams.length - 1);
        assert.deepEqual(names, isControl ? [] : [own], `${name}, datagram ${n}`);
      });
    }
  });
});
