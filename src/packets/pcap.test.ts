import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomStream } from '../core/random.js';
import { isCapture, readCapture, type CaptureEnd, type CaptureRecord } from './pcap.js';
import { writeCapture } from './pcap-write.js';
import { changed, hex, join } from './testing/by-hand.js';
import { damaged } from './testing/damage.js';

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) {
    await Promise.resolve();
    yield bytes.subarray(at, at + size);
  }
}

interface Read {
  readonly kind: string;
  readonly records: CaptureRecord[];
  readonly ended: CaptureEnd | undefined;
}
async function read(bytes: Uint8Array, size = 7): Promise<Read> {
  const capture = await readCapture('test.pcap', inPieces(bytes, size));
  const records: CaptureRecord[] = [];
  for await (const batch of capture.batches) records.push(...batch);
  const all = { kind: capture.kind, records, ended: capture.ended() };
  assert.deepEqual(await readInPlace(bytes, size), all, 'by way of memory that is used again');
  return all;
}
/** Every chunk is overwritten when the next is requested, and so is every batch. */
async function readInPlace(bytes: Uint8Array, size: number): Promise<Read> {
  async function* again(): AsyncGenerator<Uint8Array> {
    const room = new Uint8Array(size);
    for await (const piece of inPieces(bytes, size)) {
      room.set(piece);
      yield room.subarray(0, piece.length);
      room.fill(0xee);
    }
  }
  const capture = await readCapture('test.pcap', again(), { memory: 'reused' });
  const records: CaptureRecord[] = [];
  for await (const batch of capture.batches)
    for (const record of batch) records.push({ ...record, frame: record.frame.slice() });
  return { kind: capture.kind, records, ended: capture.ended() };
}

/** Each 32- and 16-bit field with its bytes reversed. */
const swapped = (text: string): Uint8Array =>
  join(
    ...text
      .trim()
      .split(/\s+/)
      .map((word) => hex(word).reverse()),
  );

describe('pcap', () => {
  const header = 'a1b2c3d4 0002 0004 00000000 00000000 0000ffff 00000001';
  const record = '65537880 0001e240 00000003 00000005';
  const big = join(hex(header), hex(record), hex('aabbcc'), hex('65537881 00000000 00000000 00000000'));
  const little = join(
    swapped(header),
    swapped(record),
    hex('aabbcc'),
    swapped('65537881 00000000 00000000 00000000'),
  );

  it('by hand, in both byte orders and any pieces', async () => {
    for (const bytes of [big, little]) {
      for (const size of [1, 5, 16, 1000]) {
        const { kind, records, ended } = await read(bytes, size);
        assert.deepEqual([kind, ended], ['pcap', undefined]);
        assert.deepEqual(records, [
          { unixNs: 1_699_969_152_123_456_000n, link: 1, frame: hex('aabbcc'), originalBytes: 5 },
          { unixNs: 1_699_969_153_000_000_000n, link: 1, frame: hex(''), originalBytes: 0 },
        ]);
      }
    }
  });

  it('in nanoseconds', async () => {
    for (const magic of ['a1b23c4d', '4d3cb2a1']) {
      const bytes = changed(magic.startsWith('a') ? big : little, 0, magic);
      assert.equal((await read(bytes)).records[0].unixNs, 1_699_969_152_000_123_456n);
    }
  });

  it('cut short or damaged: what comes before, and where it ended', async () => {
    const cut = await read(big.subarray(0, big.length - 1));
    assert.equal(cut.records.length, 1);
    assert.deepEqual(cut.ended, { cause: 'cut', atByte: 24 + 19, why: 'the capture ends inside a record' });
    const wild = await read(changed(big, 24 + 19 + 8, '7fffffff'));
    assert.equal(wild.records.length, 1);
    assert.deepEqual(wild.ended, { cause: 'damaged', atByte: 24 + 19, why: 'a record of 2147483647 bytes' });
  });

  it('anything else is refused', async () => {
    await assert.rejects(read(hex('00'.repeat(100))), /test\.pcap: is no capture/);
    await assert.rejects(read(hex('')), /is no capture/);
    await assert.rejects(read(big.subarray(0, 20)), /ends inside its header/);
    assert.ok(isCapture(big) && isCapture(little) && !isCapture(hex('53040206')) && !isCapture(hex('')));
  });

  it('written, and read again', async () => {
    const parts: Uint8Array[] = [];
    const writer = writeCapture({
      write: (bytes) => {
        parts.push(bytes);
        return Promise.resolve();
      },
    });
    const frames = Array.from({ length: 300 }, (_, n) => new Uint8Array(8000 + n).fill(n));
    for (const [n, frame] of frames.entries())
      await writer.append(1_750_000_000_000_000_001n + BigInt(n) * 40_000n, frame);
    await writer.finish();
    assert.ok(
      parts.length > 1 && parts.every((part) => part.length <= 2 ** 20),
      'no more than a megabyte is kept',
    );
    const { records, ended } = await read(join(...parts), 2 ** 16);
    assert.equal(ended, undefined);
    assert.deepEqual(
      records.map(({ frame }) => frame),
      frames,
    );
    assert.equal(records[299].unixNs, 1_750_000_000_011_960_001n);
    await assert.rejects(writer.append(-1n, frames[0]), /captures reach from 1970/);
    await assert.rejects(writer.append(2n ** 62n, frames[0]), /do not fit 32 bits/);
    await assert.rejects(writer.append(0n, new Uint8Array(300_000)), /a frame of 300000 bytes/);
  });

  it('an empty one is a header alone', async () => {
    const parts: Uint8Array[] = [];
    const writer = writeCapture({ write: (bytes) => Promise.resolve(void parts.push(bytes)) });
    await writer.finish();
    assert.deepEqual(join(...parts), swapped('a1b23c4d 0002 0004 00000000 00000000 00040000 00000001'));
    assert.deepEqual((await read(join(...parts))).records, []);
  });
});

describe('pcapng', () => {
  // Section; Ethernet with nanoseconds; raw IP in units of 2⁻¹⁰ s from 1000 s on; packets of both.
  const blocks = (swap: (text: string) => Uint8Array): Uint8Array =>
    join(
      hex('0a0d0d0a'),
      swap('0000001c 1a2b3c4d 0001 0000 ffffffff ffffffff 0000001c'),
      swap('00000001 0000001c 0001 0000 00000000 0009 0001'),
      hex('09000000'),
      swap('0000001c'),
      swap('00000001 00000028 0065 0000 00000000 0009 0001'),
      hex('8a000000'),
      swap('000e 0008'),
      // 1000 s as 64 bits.
      swap('00000000000003e8'),
      swap('00000028'),
      // A statistics block, which holds no packet.
      swap('00000005 00000010 00000000 00000010'),
      swap('00000006 00000024 00000000 00000001 00000002 00000003 00000009'),
      hex('aabbcc00'),
      swap('00000024'),
      swap('00000006 00000024 00000001 00000000 00000c00 00000004 00000004'),
      hex('01020304'),
      swap('00000024'),
      swap('00000003 00000014 00000002'),
      hex('dead0000'),
      swap('00000014'),
    );
  const expected: CaptureRecord[] = [
    { unixNs: 2n ** 32n + 2n, link: 1, frame: hex('aabbcc'), originalBytes: 9 },
    { unixNs: 1_003_000_000_000n, link: 101, frame: hex('01020304'), originalBytes: 4 },
    { unixNs: 0n, link: 1, frame: hex('dead'), originalBytes: 2 },
  ];

  it('by hand, in both byte orders, sections one after the other', async () => {
    for (const swap of [swapped, hex]) {
      for (const size of [3, 1000]) {
        const { kind, records, ended } = await read(blocks(swap), size);
        assert.deepEqual([kind, ended], ['pcapng', undefined]);
        assert.deepEqual(records, expected);
      }
    }
    const { records } = await read(join(blocks(swapped), blocks(hex)));
    assert.deepEqual(records, [...expected, ...expected]);
  });

  it('damaged', async () => {
    const bytes = blocks(hex);
    assert.match(
      (await read(changed(bytes, bytes.length - 4, '00000015'))).ended?.why ?? '',
      /two lengths differ/,
    );
    assert.match((await read(changed(bytes, 8, '00000000'))).ended?.why ?? '', /no byte order/);
    assert.match((await read(changed(bytes, 28 + 4, '00000002'))).ended?.why ?? '', /a block of 2 bytes/);
    assert.match((await read(bytes.subarray(0, bytes.length - 3))).ended?.why ?? '', /ends inside a record/);
  });

  it('a thousand damaged captures, none of which breaks', async () => {
    const random = randomStream(8, 'captures');
    const classic = join(
      hex('a1b2c3d4 0002 0004 00000000 00000000 0000ffff 00000001'),
      hex('65537880 0001e240 00000003 00000005 aabbcc'),
    );
    for (let k = 0; k < 1000; k++) {
      const bytes = damaged(k % 2 === 0 ? blocks(hex) : classic, random);
      await read(bytes, 1 + random.below(64)).catch((error: unknown) => {
        assert.match(String(error), /CorellaError: test\.pcap: (is no capture|ends inside)/);
      });
    }
  });
});
