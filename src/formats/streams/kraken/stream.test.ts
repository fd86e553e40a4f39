import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { secondsBetween, instant, type Instant } from '../../../core/instant.js';
import { ByteFeed } from '../../io/byte-feed.js';
import { KrakenClient } from './client.js';
import { KrakenStream, type KrakenOptions } from './stream.js';
import type { FrameKind } from './frame.js';
import { pretendKraken, type Sent } from './testing/server.js';
import { HEADER_BYTES, readHeader, writeHeader, type WrittenHeader } from './version1.js';
import { writeWords } from './version2.js';

const RATE_HZ = 1000;
const FREQUENCY_HZ = 1_575_420_000;
const SAMPLES = 4;
const STARTED_MS = 1_700_000_000_000;

/** Two channels of four samples; value t of channel a of frame n is (10 n + t, a). */
function frame(index: number, given: Partial<WrittenHeader> = {}): Uint8Array {
  const header = {
    kind: 'data' as FrameKind,
    channels: 2,
    samples: SAMPLES,
    frequencyHz: FREQUENCY_HZ,
    sampleRateHz: RATE_HZ,
    index,
    timeMs: STARTED_MS + 4 * index,
    ...given,
  };
  const { samples, channels } = header;
  const values = Float32Array.from({ length: 2 * channels * samples }, (_, n) => {
    const [a, t] = [Math.floor(n / 2 / samples), Math.floor(n / 2) % samples];
    return n % 2 === 0 ? 10 * index + t : a;
  });
  return Uint8Array.from([...writeHeader(header), ...new Uint8Array(values.buffer)]);
}

/** A header alone. */
const empty = (index: number, kind: FrameKind, given: Partial<WrittenHeader> = {}): Uint8Array =>
  frame(index, { kind, samples: 0, ...given });

interface Taken {
  readonly epochs: {
    readonly start: Instant;
    readonly blocks: { readonly atS: number; readonly first: number }[];
  }[];
  readonly stream: KrakenStream;
  readonly said: string[];
  readonly noise: (number | 'off')[];
  readonly clients: number;
}

/** Reads `blocks` blocks, then stops. */
async function take(
  script: readonly Sent[],
  blocks: number,
  options: Partial<KrakenOptions> = {},
  version: 1 | 2 = 1,
): Promise<Taken> {
  const server = await pretendKraken(script, version === 1 ? 'asked' : 'pushed');
  const said: string[] = [];
  const noise: (number | 'off')[] = [];
  const stream = new KrakenStream({
    address: { host: '127.0.0.1', port: server.port, version },
    polarisations: 1,
    say: (line) => said.push(line),
    onNoise: (one) => noise.push(one === 'off' ? one : (one.index ?? -1)),
    ...options,
  });
  const epochs: Taken['epochs'] = [];
  let left = blocks;
  try {
    for await (const source of stream.sources()) {
      const epoch = { start: source.start, blocks: [] as { atS: number; first: number }[] };
      epochs.push(epoch);
      for await (const block of source.blocks(SAMPLES)) {
        const atS = secondsBetween(source.start, block.start);
        epoch.blocks.push({ atS: Math.round(1e6 * atS) / 1e6, first: block.voltages[0] });
        if (--left === 0) stream.stop();
      }
    }
  } finally {
    await stream.close();
    await server.close();
  }
  return { epochs, stream, said, noise, clients: server.clients() };
}

describe('the header of a KrakenSDR', () => {
  it('has the layout of the C structure', () => {
    const header = frame(5, { overdriven: 3, kind: 'calibration' }).subarray(0, HEADER_BYTES);
    const view = new DataView(header.buffer, header.byteOffset);
    // Offsets of the structure with natural alignment: a 64-bit member is at a multiple of 8.
    assert.equal(view.getUint32(0, true), 0x2bf7b95a);
    assert.equal(view.getUint32(4, true), 3);
    assert.equal(view.getUint32(28, true), 2);
    assert.equal(view.getBigUint64(40, true), 1_575_420_000n);
    assert.equal(view.getBigUint64(56, true), 1000n);
    assert.equal(view.getUint32(64, true), 4);
    assert.equal(view.getBigUint64(72, true), 1_700_000_000_020n);
    assert.equal(view.getUint32(84, true), 5);
    assert.equal(view.getUint32(104, true), 3);
    assert.equal(view.getUint32(236, true), 1);
    assert.equal(view.getUint32(248, true), 1);
    assert.equal(view.getUint32(1020, true), 7);
    assert.equal(readHeader(header)?.overdriven, 3);
    header[0] ^= 1;
    assert.equal(readHeader(header), undefined);
  });
});

describe('a KrakenSDR of version 1', () => {
  it('counts every frame: used, skipped, dummy, ramp, noise source, trigger, overdriven', async () => {
    const { epochs, stream, noise, said } = await take(
      [
        frame(0),
        frame(1),
        frame(4),
        frame(5, { overdriven: 2 }),
        empty(6, 'dummy'),
        frame(7, { kind: 'ramp' }),
        frame(8, { kind: 'calibration' }),
        empty(9, 'trigger-wait'),
        frame(10, { isSynchronised: false }),
        empty(11, 'empty'),
        frame(12),
      ],
      5,
    );
    assert.deepEqual(epochs, [
      {
        start: instant(STARTED_MS / 1000),
        blocks: [
          { atS: 0, first: 0 },
          { atS: 0.004, first: 10 },
          { atS: 0.016, first: 40 },
          { atS: 0.02, first: 50 },
          { atS: 0.048, first: 120 },
        ],
      },
    ]);
    const { account } = stream;
    assert.deepEqual(account.frames, {
      data: 6,
      dummy: 1,
      ramp: 1,
      calibration: 1,
      'trigger-wait': 1,
      empty: 1,
    });
    assert.equal(account.skippedFrames, 2);
    assert.equal(account.usedFrames, 5);
    assert.equal(account.usedSamples, 20);
    assert.equal(account.unsynchronisedFrames, 1);
    assert.deepEqual(account.overdrivenFrames, [0, 1]);
    // Everything that was sent: received and skipped.
    const received = Object.values(account.frames).reduce((sum, count) => sum + count, 0);
    assert.equal(received + account.skippedFrames, 13);
    assert.deepEqual(noise, [8, 'off']);
    assert.ok(said.some((line) => line.includes('2 frames skipped; samples')));
    assert.ok(said.some((line) => /overdriven from .*: channel 1;/.test(line)));
    assert.ok(said.some((line) => line.includes('not synchronised from')));
    assert.ok(said.some((line) => line.includes('synchronised again')));
  });

  it('leaves out what another tuning received, and reports that coherence was lost', async () => {
    const other = { frequencyHz: 1e9 };
    const { epochs, stream, said } = await take(
      [frame(0), empty(1, 'dummy', other), frame(2, other), frame(3), frame(4)],
      3,
    );
    assert.deepEqual(
      epochs.map(({ blocks }) => blocks.map(({ first }) => first)),
      [[0, 30, 40]],
    );
    assert.equal(stream.account.retunedFrames, 1);
    assert.equal(stream.account.retunings, 2);
    assert.ok(said.some((line) => line.includes('retuned to 1 GHz')));
    assert.ok(said.some((line) => line.includes('retuning lost the coherence')));
  });

  it('goes on after a damaged header, whose samples are missing', async () => {
    const damaged = frame(1);
    damaged[2] ^= 0xff;
    const { epochs, stream } = await take([frame(0), damaged, frame(2)], 2);
    assert.deepEqual(
      epochs.map(({ blocks }) => blocks),
      [
        [
          { atS: 0, first: 0 },
          { atS: 0.008, first: 20 },
        ],
      ],
    );
    assert.equal(stream.account.damagedHeaders, 1);
    assert.equal(stream.account.skippedFrames, 1);
  });

  it('is connected again after a cut; a counter that went on is followed, another begins anew', async () => {
    const { epochs, stream, clients } = await take(
      [
        frame(7),
        { cutAfter: frame(8).subarray(0, 1050) },
        frame(10),
        { cutAfter: frame(11).subarray(0, 10) },
        frame(0, { timeMs: STARTED_MS + 5000 }),
      ],
      3,
    );
    assert.deepEqual(
      epochs.map(({ start, blocks }) => [
        secondsBetween(instant(STARTED_MS / 1000), start),
        blocks.map(({ atS }) => atS),
      ]),
      [
        [0.028, [0, 0.012]],
        [5, [0]],
      ],
    );
    assert.equal(clients, 3);
    assert.equal(stream.account.cutFrames, 2);
    assert.equal(stream.account.restarts, 1);
    assert.equal(stream.account.skippedFrames, 2);
  });

  it('that changes its rate or its channels is refused, and so is what contradicts it', async () => {
    await assert.rejects(
      take([frame(0), frame(1, { sampleRateHz: 2000 }), frame(2, { sampleRateHz: 2000 })], 2),
      /changed its sample rate from 1 kHz to 2 kHz/,
    );
    await assert.rejects(
      take([frame(0), frame(1, { channels: 3 }), frame(2, { channels: 3 })], 2),
      /changed from 2 channels to 3/,
    );
    await assert.rejects(
      take([frame(0)], 1, { sampleRateHz: 5 }),
      /source\.rate: is 5 Hz, where the receiver/,
    );
    await assert.rejects(
      take([frame(0)], 1, { inputs: 5 }),
      /source\.inputs: is 5, where the receiver has 2/,
    );
  });

  it('counts samples anew where its frames change their length', async () => {
    const longer = [1, 2, 3].map((index) => frame(index, { samples: 8 }));
    const { epochs, stream } = await take([frame(0), ...longer], 5);
    assert.deepEqual(
      epochs.map(({ blocks }) => blocks.map(({ atS }) => atS)),
      [[0], [0, 0.004, 0.008, 0.012]],
    );
    assert.equal(stream.account.restarts, 1);
    // The first may have been damaged; the second confirmed it.
    assert.equal(stream.account.invalidFrames, 1);
  });
});

describe('invalid frames of a KrakenSDR of version 1', () => {
  const bad: readonly (readonly [string, Uint8Array])[] = [
    ['an impossible time', frame(1, { timeMs: 2 ** 62 })],
    ['an impossible time of a dummy frame', empty(1, 'dummy', { timeMs: 2 ** 62 })],
    ['no samples, and the noise source on', frame(1, { kind: 'calibration', samples: 0 })],
    ['no samples', frame(1, { samples: 0 })],
    ['a rate of 0', frame(1, { sampleRateHz: 0 })],
    ['another rate', frame(1, { sampleRateHz: 2000 })],
    ['other channels', frame(1, { channels: 3 })],
    ['a count before', frame(0)],
    ['a count long before', frame(2 ** 32 - 5)],
    ['a count far ahead of its clock', frame(2 ** 20, { timeMs: STARTED_MS + 4 })],
    ['a count far ahead, and no clock', frame(2 ** 20, { timeMs: 0 })],
    ['another length', frame(1, { samples: 8 })],
  ];
  for (const [name, one] of bad)
    it(`with ${name} are counted, and the others used`, async () => {
      const { epochs, stream, said } = await take([frame(0), one, frame(2), frame(3)], 3);
      assert.deepEqual(
        epochs.map(({ blocks }) => blocks.map(({ atS, first }) => [atS, first])),
        [
          [
            [0, 0],
            [0.008, 20],
            [0.012, 30],
          ],
        ],
      );
      assert.equal(stream.account.invalidFrames, 1);
      assert.equal(stream.account.restarts, 0);
      assert.equal(said.filter((line) => line.includes('such frames are left out')).length, 1);
    });

  it('with counts that jump each time begin no stream epochs', async () => {
    const jumping = Array.from({ length: 50 }, (_, n) =>
      frame(n % 2 === 0 ? 2 ** 31 + 10_000 * n : 10_000 * (50 - n), { timeMs: STARTED_MS }),
    );
    const { epochs, stream } = await take([frame(0), ...jumping, frame(1)], 2);
    assert.equal(epochs.length, 1);
    assert.equal(stream.account.invalidFrames, 50);
  });

  it('whose rest never comes are given up: the connection is made anew', async () => {
    // The header promises a thousand times what follows.
    const long = Uint8Array.from([...frame(0, { samples: 4000 }).subarray(0, HEADER_BYTES + 32)]);
    const server = await pretendKraken([long, frame(1)], 'asked');
    const events: string[] = [];
    const address = { host: '127.0.0.1', port: server.port, version: 1 } as const;
    const client = new KrakenClient(address, ({ kind }) => events.push(kind), 0);
    for await (const { index } of client.frames()) {
      assert.equal(index, 1);
      break;
    }
    await client.stop();
    await server.close();
    assert.deepEqual(events, ['connected', 'silent', 'cut', 'connected']);
  });

  it('of 16 bits among others are drained', async () => {
    const short = frame(1).slice(0, HEADER_BYTES + 16);
    new DataView(short.buffer).setUint32(100, 16, true);
    const { stream } = await take([frame(0), short, frame(2)], 2);
    assert.equal(stream.account.damagedHeaders, 1);
  });
});

describe('a stream that is not that of a KrakenSDR', () => {
  const [rubbish] = [new Uint8Array(2 ** 20).fill(77)];
  for (const version of [1, 2] as const) {
    it(`is refused after some megabytes as version ${version}`, async () => {
      const script = Array.from({ length: 20 }, () => rubbish);
      // Version 1 is sent one piece for each request: all of it at once.
      const all = version === 1 ? [Uint8Array.from(Buffer.concat(script))] : script;
      const reading = take(all, 1, { sampleRateHz: RATE_HZ }, version);
      await assert.rejects(reading, /sends no frames of a KrakenSDR: [\d.]+ M(i)?B without a header/);
    });
  }

  it('lets others work while it is searched for a header', async () => {
    // 4 MB take a moment, not a copy of what is left for each byte.
    let read = 0;
    const feed = new ByteFeed(
      {
        name: 'rubbish',
        next: () => Promise.resolve(read++ === 0 ? new Uint8Array(2 ** 22).fill(77) : 'ended'),
        close: () => Promise.resolve(),
      },
      1,
    );
    await feed.fill(new Uint8Array(32), 0);
    feed.putBack(new Uint8Array(31).fill(77));
    assert.equal(feed.skipTo(Buffer.from('MCHQ')), 2 ** 22 - 32 + 31 - 3);
  });

  it('has the magic word found where pieces meet', async () => {
    const pieces = ['xxMC', 'HQ12'].map((text) => Buffer.from(text));
    const feed = new ByteFeed(
      {
        name: 'pieces',
        next: () => Promise.resolve<Uint8Array | 'ended'>(pieces.shift() ?? 'ended'),
        close: () => Promise.resolve(),
      },
      1,
    );
    const three = new Uint8Array(3);
    await feed.fill(three, 0);
    feed.putBack(three.subarray(1));
    assert.equal(feed.skipTo(Buffer.from('MCHQ')), 0);
    const rest = new Uint8Array(7);
    await feed.fill(rest, 0);
    assert.equal(Buffer.from(rest).toString(), 'xMCHQ12');
  });
});

describe('a KrakenSDR of version 2', () => {
  const packet = (first: number, isNoise = false): Uint8Array =>
    Uint8Array.from([
      ...writeWords({ channels: 2, samples: SAMPLES, frequencyHz: FREQUENCY_HZ, isNoise }),
      ...Uint8Array.from({ length: 4 * SAMPLES }, (_, n) => 128 + first + n),
    ]);

  it('has samples that follow each other, and a loss that cannot be seen', async () => {
    const { epochs, stream } = await take(
      [packet(0), packet(1, true), packet(2)],
      2,
      { sampleRateHz: RATE_HZ, frequencyHz: FREQUENCY_HZ },
      2,
    );
    assert.deepEqual(
      epochs.map(({ blocks }) => blocks),
      [
        [
          { atS: 0, first: 0 },
          { atS: 0.008, first: 2 },
        ],
      ],
    );
    assert.equal(stream.account.skippedFrames, undefined);
    assert.equal(stream.account.frames.calibration, 1);
  });

  it('goes on after a damaged packet', async () => {
    const damaged = packet(1);
    damaged[0] ^= 1;
    const { epochs, stream } = await take([packet(0), damaged, packet(2)], 2, { sampleRateHz: RATE_HZ }, 2);
    assert.deepEqual(
      epochs.map(({ blocks }) => blocks.map(({ atS, first }) => [atS, first])),
      [
        [
          [0, 0],
          [0.008, 2],
        ],
      ],
    );
    assert.equal(stream.account.damagedHeaders, 1);
  });

  it('needs its rate, and is not taken for version 1', async () => {
    await assert.rejects(take([packet(0)], 1, {}, 2), /does not carry the sample rate/);
    const long = Uint8Array.from([...packet(0), ...new Uint8Array(2000)]);
    await assert.rejects(take([long], 1), /sends version 2 of the protocol/);
  });
});
