/** Output of `corella inspect` for captured packets: for a generated capture, and for sample files if present. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { writeCapture } from '../packets/pcap-write.js';
import { capturePath, skipCaptures } from '../packets/testing/captures.js';
import { placesOf, soundPacket, testStreams, type TestStream } from '../packets/testing/streams.js';
import { buildFrame } from '../packets/udp.js';
import { corella, withFolder } from './corella.js';

interface StreamJson {
  readonly format: string | null;
  readonly destination: string;
  readonly datagrams: number;
  readonly lost: number;
  readonly duplicates: number;
  readonly reordered: number;
  readonly strays: number;
  readonly control: number;
  readonly refused: Record<string, number>;
  readonly unknown?: string;
  readonly startUtc?: string;
  readonly plan: { readonly sources: number[]; readonly inputs: number; readonly channels: number };
  readonly bySender: { readonly source: number; readonly lost: number }[];
}
interface CaptureJson {
  readonly kind: string;
  readonly frames: number;
  readonly leftOut: Record<string, number>;
  readonly endsEarly?: { readonly why: string };
  readonly streams: StreamJson[];
}

async function inspected(path: string, ...flags: string[]): Promise<CaptureJson> {
  const { code, stdout, stderr } = await corella('.', 'inspect', path, '--json', ...flags);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as CaptureJson;
}

async function captureOf(frames: readonly Uint8Array[]): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const writer = writeCapture({ write: (bytes) => Promise.resolve(void parts.push(bytes)) });
  for (const [n, frame] of frames.entries())
    await writer.append(1_750_000_000_000_000_000n + BigInt(n) * 1000n, frame);
  await writer.finish();
  return Buffer.concat(parts);
}

const framed = (datagram: Uint8Array, port: number): Uint8Array =>
  buildFrame(
    { source: { address: '10.0.0.1', port: 40_000 }, destination: { address: '239.1.2.3', port } },
    datagram,
  );
const packetsOf = (stream: TestStream, slots: number): Uint8Array[] =>
  placesOf(stream, slots).map((place) => soundPacket(stream, place));

describe('inspect of a capture', () => {
  it('two formats, faults, and what is not UDP', async () => {
    await withFolder(async (folder) => {
      const path = join(folder, 'capture.pcap');
      // SNAP2: 3 boards × 2 blocks of channels, 20 slots. The second packet of slot 5 and all of slot 7 are lost; one
      // is duplicated.
      const snap2 = packetsOf(testStreams.snap2, 20).filter((_, n) => n !== 31 && (n < 42 || n >= 48));
      const doubled = [...snap2, snap2[100]];
      const digitiser = packetsOf(testStreams['spead-digitiser'], 10);
      const swapped = [
        ...digitiser.slice(0, 4),
        ...digitiser.slice(8, 12),
        ...digitiser.slice(4, 8),
        ...digitiser.slice(12),
      ];
      const arp = new Uint8Array(42);
      arp.set([8, 6], 12);
      const cut = framed(new Uint8Array(100), 5000).subarray(0, 60);
      const frames = [
        ...doubled.map((packet) => framed(packet, 10_000)),
        ...swapped.map((packet) => framed(packet, 7148)),
        arp,
        cut,
        framed(Uint8Array.of(1, 2, 3), 53),
      ];
      await writeFile(path, await captureOf(frames));
      const {
        kind,
        frames: count,
        leftOut,
        streams,
        endsEarly,
      } = await inspected(path, '--rate', '23925.78125');
      assert.deepEqual([kind, count, endsEarly], ['packets', frames.length, undefined]);
      assert.deepEqual(leftOut, { cut: 1, fragment: 0, other: 1 });
      assert.deepEqual(
        streams.map(({ format, destination }) => [format, destination]),
        [
          ['snap2', '239.1.2.3:10000'],
          ['spead-digitiser', '239.1.2.3:7148'],
          [null, '239.1.2.3:53'],
        ],
      );
      const [first, second] = streams;
      assert.deepEqual([first.datagrams, first.lost, first.duplicates, first.reordered], [114, 7, 1, 0]);
      // Packet 31 is the first board's second block in slot 5.
      assert.deepEqual(
        first.bySender.map(({ source, lost }) => [source, lost]),
        [
          [0, 3],
          [4, 2],
          [8, 2],
        ],
      );
      assert.equal(first.startUtc, '2023-11-14T22:13:20.401240816Z');
      assert.deepEqual([second.lost, second.reordered, second.plan.inputs], [0, 4, 4]);
      // A truncated capture gives what comes before the cut.
      const whole = await captureOf(frames);
      await writeFile(path, whole.subarray(0, whole.length - 20));
      const short = await inspected(path);
      assert.equal(short.frames, frames.length - 1);
      assert.match(short.endsEarly?.why ?? '', /inside a record/);
    });
  });

  it('in words, and what is refused', async () => {
    await withFolder(async (folder) => {
      const path = join(folder, 'capture.pcap');
      await writeFile(
        path,
        await captureOf(packetsOf(testStreams.chips, 3).map((packet) => framed(packet, 4015))),
      );
      const { code, stdout } = await corella(folder, 'inspect', 'capture.pcap');
      assert.equal(code, 0);
      assert.match(stdout, /stream +chips, to 239\.1\.2\.3:4015/);
      assert.match(stdout, /senders +3: board 1, board 2, board 4/);
      assert.match(stdout, /ticks +25000 to 25002 in steps of 1, 25 kHz/);
      assert.match(
        stdout,
        /time +not in the packets: tick 0 is the second at which the F-engines were started/,
      );
      assert.match(stdout, /lost +none/);
      const picture = await corella(folder, 'inspect', 'capture.pcap', '--picture', 'x.png');
      assert.equal(picture.code, 1);
      assert.match(picture.stderr, /--picture: is not for captured packets/);
      const other = await corella(folder, 'inspect', 'capture.pcap', '--format', 'chip');
      assert.match(other.stderr, /--format: "chip" is not allowed; give .*chips/);
      const forced = await inspected(path, '--format', 'mwa');
      assert.match(forced.streams[0].unknown ?? '', /no datagram is such a packet/);
      const correlate = await corella(folder, 'correlate', 'capture.pcap', '-o', 'x.uvh5');
      assert.match(correlate.stderr, /is a capture of packets; corella inspect says what is in it/);
    });
  });

  const samples: readonly [string, string | null, Partial<StreamJson>][] = [
    ['chips.pcap', 'chips', { datagrams: 158, lost: 3, duplicates: 1, reordered: 2, strays: 0 }],
    ['snap2.pcap', 'snap2', { datagrams: 48, lost: 0, duplicates: 0 }],
    ['spead-feng.pcap', 'spead-feng', { datagrams: 66, lost: 0, control: 2 }],
    ['spead-feng-multicast.pcap', 'spead-feng', { datagrams: 66, lost: 0, control: 2 }],
    ['spead-digitiser.pcap', 'spead-digitiser', { datagrams: 12, lost: 0 }],
    ['mwa.pcap', 'mwa', { lost: 0, startUtc: '2025-03-03T01:19:49.996800000Z' }],
    ['vdif.pcap', 'vdif', { lost: 1, refused: { invalid: 1, unknown_source: 0, misaligned: 0 } }],
    ['vdif-vtp.pcap', 'vdif-vtp', { lost: 1, startUtc: '2025-06-01T00:00:00.999812500Z' }],
    ['spead-xeng.pcap', null, { datagrams: 6 }],
  ];
  for (const [name, format, says] of samples) {
    it(name, { skip: skipCaptures }, async () => {
      const { streams } = await inspected(capturePath(name));
      assert.equal(streams.length, 1);
      assert.equal(streams[0].format, format);
      for (const [key, value] of Object.entries(says))
        assert.deepEqual(streams[0][key as keyof StreamJson], value, key);
    });
  }
});
