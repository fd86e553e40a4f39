import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { writeCapture } from '../packets/pcap-write.js';
import { placesOf, soundPacket, testStreams } from '../packets/testing/streams.js';
import { buildFrame } from '../packets/udp.js';
import { address, immediate, speadHeader, writeSpead } from '../packets/spead/packet.js';
import { lookAtCapture, type CaptureLook } from './capture.js';

async function look(datagrams: readonly Uint8Array[]): Promise<CaptureLook> {
  const parts: Uint8Array[] = [];
  const writer = writeCapture({ write: (bytes) => Promise.resolve(void parts.push(bytes)) });
  const ends = { source: { address: '10.0.0.1', port: 1 }, destination: { address: '10.0.0.2', port: 2 } };
  for (const [n, datagram] of datagrams.entries()) await writer.append(BigInt(n), buildFrame(ends, datagram));
  await writer.finish();
  return lookAtCapture('test.pcap', pieces(parts));
}

async function* pieces(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield await Promise.resolve(part);
}

/** A heap of one descriptor: feng_raw in numpy's notation. */
function descriptor(shape: string): Uint8Array {
  const numpy = new TextEncoder().encode(`{'shape': (${shape}), 'fortran_order': False, 'descr': '|i1'}`);
  const inner = writeSpead(
    speadHeader({ heap: 1n, heapBytes: numpy.length, offset: 0, payloadBytes: numpy.length }, [
      immediate(0x14, 0x4300n),
      address(0x15, 0n),
    ]),
    numpy,
  );
  const outer = speadHeader({ heap: 1n, heapBytes: inner.length, offset: 0, payloadBytes: inner.length }, [
    address(5, 0n),
  ]);
  return writeSpead(outer, inner);
}

describe('a look at a capture', () => {
  const stream = testStreams['spead-feng'];
  const heaps = placesOf(stream, 400).map((place) => soundPacket(stream, place));

  it('waits for the descriptor, which comes long after the first heaps', async () => {
    assert.ok(heaps.length > 4000);
    const { streams } = await look([...heaps, descriptor('8, 4, 2, 2')]);
    const [{ plan, tallies, control, format, unknown }] = streams;
    assert.deepEqual([format?.name, unknown, control], ['spead-feng', undefined, 1]);
    const { tickRateHz, ...expected } = stream.plan;
    assert.ok(tickRateHz);
    assert.deepEqual(plan, expected);
    assert.deepEqual(
      tallies.map(({ packets, lost, restarts }) => [packets, lost, restarts]),
      [0, 1, 5].map(() => [1600, 0, 0]),
    );
  });

  it('reports what is not known without it', async () => {
    const { streams } = await look(heaps.slice(0, 100));
    assert.equal(streams[0].plan, undefined);
    assert.match(streams[0].unknown?.what ?? '', /no descriptor of feng_raw came/);
    assert.deepEqual([streams[0].datagrams, streams[0].tallies], [100, []]);
  });

  it('a stream is what most of its datagrams are; the others are refused', async () => {
    const chips = placesOf(testStreams.chips, 20).map((place) => soundPacket(testStreams.chips, place));
    const strangers = heaps.slice(0, 3);
    const { streams } = await look([...strangers, ...chips]);
    assert.deepEqual([streams.length, streams[0].format?.name, streams[0].refused.invalid], [1, 'chips', 3]);
    assert.equal(
      streams[0].tallies.reduce((sum, { packets }) => sum + packets, 0),
      chips.length,
    );
    assert.ok(streams[0].whys.length > 0);
  });

  it('of nothing', async () => {
    const { frames, streams, ended } = await look([]);
    assert.deepEqual([frames, streams, ended], [0, [], undefined]);
  });
});
