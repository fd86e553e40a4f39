import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { describe, it } from 'node:test';
import { loadNative } from '../backend/cpu/library.js';
import { rational } from '../core/clock/rational.js';
import { formatInstant, instant, parseInstant } from '../core/instant.js';
import { presentCells } from '../core/presence/plain-counts.testing.js';
import { inTemporaryFolder } from '../core/testing/temporary-folder.js';
import { chips } from '../packets/chips.js';
import { snap2 } from '../packets/snap2.js';
import { speadFeng } from '../packets/spead/feng.js';
import { captureOf } from './testing/capture.js';
import { receivePackets, type EpochSetting, type ReceiveSettings, type Reception } from './index.js';

/** Two boards of three channels; 25 000 spectra per second, ten per block. */
const stream = chips.plan({ boards: [1, 2], channels: 3, firstChannel: 1000 });
const byte = (sender: number, tick: number): number => 0x10 * (1 + (tick % 7)) + sender + 1;
const packet = (sender: number, tick: number): Uint8Array =>
  chips.encode(
    { tick: BigInt(tick), sender, fragment: 0 },
    new Uint8Array(stream.cellBytes).fill(byte(sender, tick)),
    stream,
  );
const packetsOf = (first: number, end: number): Uint8Array[] =>
  Array.from({ length: end - first }, (_, n) => [packet(0, first + n), packet(1, first + n)]).flat();

/** Empty without the native library. */
const native: readonly 'native'[] = 'what' in loadNative() ? [] : ['native'];
const STARTED = parseInstant('2026-06-01T04:00:00Z');
const settings = {
  stream,
  epoch: { from: 'operator', at: STARTED },
  ring: { slotsPerBlock: 10, blocks: 6 },
} as const satisfies Omit<ReceiveSettings, 'from'>;

/** [session, start, samples, packets received, first element] of every block. */
async function received(given: ReceiveSettings, blockSamples = 1000) {
  const reception = await receivePackets(given);
  const seen: unknown[] = [];
  for await (const source of reception.sessions()) {
    assert.ok(source.kind === 'spectra');
    for await (const block of source.blocks(blockSamples)) {
      const at = formatInstant(block.start, 6).slice(17);
      seen.push([source.session, at, block.samples, presentCells(block.presence), block.spectra[0]]);
      block.release();
    }
  }
  const account = reception.account();
  await reception.close();
  return { seen, account };
}

for (const by of ['typescript', ...native] as const)
  describe(`receiving a capture, ${by}`, () => {
    it('blocks with their own times, gaps where nothing came', () =>
      inTemporaryFolder('receive', async (folder) => {
        // Tick 25000 is one second after the start; board 1 loses three packets.
        const packets = packetsOf(25_000, 25_030).filter((_, n) => ![2, 4, 6].includes(n));
        const capture = await captureOf(folder, packets);
        const { seen, account } = await received({ ...settings, by, from: { capture } });
        assert.deepEqual(seen, [
          [0, '01.000000Z', 10, 17, byte(0, 25_000)],
          [0, '01.000400Z', 10, 20, byte(0, 25_010)],
          [0, '01.000800Z', 10, 20, byte(0, 25_020)],
        ]);
        assert.equal(account.outcomes.placed, 57);
        assert.deepEqual(
          account.senders.map(({ name, missingCells, newestTick }) => [name, missingCells, newestTick]),
          [
            ['board 1', 3, 25_029n],
            ['board 2', 0, 25_029n],
          ],
        );
      }));

    it('spectra [c][a][t], gaps as ranges, in parts where shorter blocks are asked for', () =>
      inTemporaryFolder('receive', async (folder) => {
        const capture = await captureOf(
          folder,
          packetsOf(0, 10).filter((_, n) => n !== 9),
        );
        const reception = await receivePackets({ ...settings, by, from: { capture } });
        const starts: string[] = [];
        for await (const source of reception.sessions()) {
          assert.ok(source.kind === 'spectra');
          assert.deepEqual(
            [source.channels, source.inputs, source.polarisations, source.type, source.spectrumRateHz],
            [3, 64, 2, 'ci4', 25_000],
          );
          assert.deepEqual([...source.frequenciesHz], [25.0e6, 25.025e6, 25.05e6]);
          // At most 4 of 10: parts of 4, 4 and 2.
          for await (const block of source.blocks(4)) {
            starts.push(`${formatInstant(block.start, 6).slice(17)} ${block.samples}`);
            const first = Number(block.startTick);
            for (let c = 0; c < 3; c++) {
              for (const a of [0, 31, 32, 63]) {
                for (let t = 0; t < block.samples; t++) {
                  const sender = a >> 5;
                  const there = !(sender === 1 && first + t === 4);
                  const at = (c * 64 + a) * block.samples + t;
                  assert.equal(block.spectra[at], there ? byte(sender, first + t) : 0);
                }
              }
            }
            assert.deepEqual(
              block.gaps,
              first === 4
                ? [
                    {
                      firstInput: 32,
                      endInput: 64,
                      firstChannel: 0,
                      endChannel: 3,
                      firstSample: 0,
                      endSample: 1,
                    },
                  ]
                : [],
            );
            block.release();
          }
        }
        assert.deepEqual(starts, ['00.000000Z 4', '00.000160Z 4', '00.000320Z 2']);
        await reception.close();
      }));

    it('a slow consumer of a capture loses nothing', () =>
      inTemporaryFolder('receive', async (folder) => {
        const capture = await captureOf(folder, packetsOf(0, 200));
        const { seen, account } = await received({ ...settings, by, from: { capture } });
        assert.equal(seen.length, 20);
        assert.deepEqual([account.outcomes.placed, account.outcomes.ring_full], [400, 0]);
      }));

    it('a stream epoch of unknown time begins once its time is given; times of others are refused', () =>
      inTemporaryFolder('receive', async (folder) => {
        const capture = await captureOf(folder, [...packetsOf(250_000, 250_020), ...packetsOf(0, 30)]);
        const answers: unknown[] = [];
        const reception: Reception = await receivePackets({
          ...settings,
          by,
          from: { capture },
          onEvent: ({ kind }) => {
            answers.push(kind);
            // Tick 10, the first of the next block, was at 05:00 UTC.
            if (kind !== 'untimed') return;
            const { at, tick } = reception.setEpoch(10n, parseInstant('2026-06-01T05:00:00Z'));
            answers.push(tick, formatInstant(at, 9));
          },
        });
        const starts: string[] = [];
        for await (const source of reception.sessions()) {
          assert.throws(() => reception.setEpoch(0n, STARTED), /no stream epoch waits/);
          for await (const block of source.blocks(1000)) {
            starts.push(`${block.startTick} ${formatInstant(block.start, 6).slice(11)}`);
            block.release();
          }
        }
        assert.deepEqual(starts, [
          '250000 04:00:10.000000Z',
          '250010 04:00:10.000400Z',
          '10 05:00:00.000000Z',
          '20 05:00:00.000400Z',
        ]);
        assert.deepEqual(answers, ['session', 'untimed', 10n, '2026-06-01T05:00:00.000000000Z']);
        assert.equal(reception.account().untimedBlocks, 1);
        await reception.close();
      }));

    it('boards that restart begin a new source, whose time must be given', () =>
      inTemporaryFolder('receive', async (folder) => {
        const capture = await captureOf(folder, [...packetsOf(250_000, 250_020), ...packetsOf(0, 20)]);
        const events: unknown[] = [];
        const given = {
          ...settings,
          by,
          from: { capture },
          onEvent: (event: unknown) => {
            events.push(event);
          },
        };
        const { seen, account } = await received(given);
        assert.deepEqual(
          seen.map((one) => (one as unknown[]).slice(0, 3)),
          [
            [0, '10.000000Z', 10],
            [0, '10.000400Z', 10],
          ],
        );
        assert.deepEqual(events, [
          { kind: 'session', session: 1, startTick: 0n },
          { kind: 'untimed', session: 1, startTick: 0n },
        ]);
        assert.deepEqual([account.resyncs, account.untimedBlocks], [1, 2]);
        // The wall clock is the capture's: 1 780 000 000.00004 s.
        const clocked = await received({
          ...given,
          epoch: { from: 'operator', at: STARTED, afterRestart: 'clock' },
        });
        assert.deepEqual(
          clocked.seen.map((one) => (one as unknown[]).slice(0, 3)),
          [
            [0, '10.000000Z', 10],
            [0, '10.000400Z', 10],
            [1, '40.000000Z', 10],
            [1, '40.000400Z', 10],
          ],
        );
        // After a forward jump beyond the limit the clock runs on.
        const ahead = await captureOf(folder, [...packetsOf(0, 20), ...packetsOf(500_000, 500_020)], (n) =>
          n < 40 ? 0 : 20,
        );
        const on = await received({ ...given, by, from: { capture: ahead } });
        assert.deepEqual(
          on.seen.map((one) => (one as unknown[]).slice(0, 2)),
          [
            [0, '00.000000Z'],
            [0, '00.000400Z'],
            [1, '20.000000Z'],
            [1, '20.000400Z'],
          ],
        );
      }));

    it('what is missing before the first packet and after the last is counted apart from losses', () =>
      inTemporaryFolder('receive', async (folder) => {
        // Blocks of ten slots and two boards: three slots before, four after; two packets lost in the first block, one
        // in the last, and one board's gap at the end.
        const lostOnes = [2, 5, 82, 85];
        const packets = packetsOf(3, 46).filter((_, n) => !lostOnes.includes(n));
        const from = { capture: await captureOf(folder, packets) };
        const { account } = await received({ ...settings, by, from });
        assert.deepEqual([account.missingCells, account.edgeCells], [18, 14]);
        // Two sessions: the slots at both ends of both, and the one that reveals the restart.
        const twice = {
          capture: await captureOf(folder, [...packetsOf(250_001, 250_018), ...packetsOf(3, 20)]),
        };
        const both = (await received({ ...settings, by, from: twice })).account;
        assert.deepEqual([both.resyncs, both.missingCells, both.edgeCells], [1, 14, 14]);
      }));

    it('a counter that was reset to a higher value is a new one, by the wall clock', () =>
      inTemporaryFolder('receive', async (folder) => {
        const packets = [
          ...packetsOf(0, 20),
          ...packetsOf(1_000_000, 1_000_020),
          // A stream that continues from there has unknown time too; the first clock is known again when it returns.
          ...packetsOf(1_500_000, 1_500_020),
          ...packetsOf(1_250_000, 1_250_020),
        ];
        const from = {
          capture: await captureOf(folder, packets, (n) => [0, 13, 33, 50][Math.floor(n / 40)]),
        };
        const events: string[] = [];
        const { seen, account } = await received({
          ...settings,
          by,
          from,
          onEvent: ({ kind, session }) => events.push(`${kind} ${session}`),
        });
        assert.deepEqual(
          seen.map((one) => (one as unknown[]).slice(0, 2)),
          [
            [0, '00.000000Z'],
            [0, '00.000400Z'],
            [3, '50.000000Z'],
            [3, '50.000400Z'],
          ],
        );
        assert.deepEqual(
          events.filter((one) => one.startsWith('untimed')),
          ['untimed 1', 'untimed 2'],
        );
        assert.equal(account.untimedBlocks, 4);
      }));

    it('a given time that contradicts the packets is refused, and both are stated', () =>
      inTemporaryFolder('receive', async (folder) => {
        const withTime = snap2.plan({
          signals: 2,
          signalsPerPacket: 2,
          channels: 2,
          channelsPerPacket: 2,
          firstChannel: 1000,
          spectrumRateHz: rational(25_000n),
        });
        const packets = Array.from({ length: 20 }, (_, tick) =>
          snap2.encode(
            { tick: BigInt(tick), sender: 0, fragment: 0, session: 1_780_000_000n },
            new Uint8Array(withTime.cellBytes).fill(0x11),
            withTime,
          ),
        );
        const from = { capture: await captureOf(folder, packets) };
        const begin = (epoch: EpochSetting): ReturnType<typeof received> =>
          received({ ...settings, stream: withTime, by, from, epoch });
        const at = instant(1_780_000_000);
        for (const epoch of [{ from: 'operator', at }, { from: 'clock' }, { from: 'packet' }] as const)
          assert.equal((await begin(epoch)).seen.length, 2);
        await assert.rejects(
          begin({ from: 'operator', at: parseInstant('2020-01-01T00:00:00Z') }),
          /source\.epoch: is 2020-01-01T00:00:00.*packets say that their tick 0 was 2026-05-28T20:26:40/,
        );
        const late = { capture: await captureOf(folder, packets, () => 60) };
        await assert.rejects(
          received({ ...settings, stream: withTime, by, from: late, epoch: { from: 'clock' } }),
          /source\.epoch: clock makes tick 0 .*20:27:40.*20:26:40/,
        );
      }));

    it('missing facts are asked for', async () => {
      const from = { capture: 'none.pcap' };
      await assert.rejects(
        receivePackets({ ...settings, from, epoch: { from: 'packet' } }),
        /give it with source\.epoch/,
      );
      const feng = {
        antennas: [0],
        firstChannel: 0,
        channelsPerHeap: 4,
        spectraPerHeap: 4,
        packetBytes: 64,
        ticksPerSpectrum: 8,
      };
      await assert.rejects(
        receivePackets({ ...settings, from, stream: speadFeng.plan(feng) }),
        /do not carry their rate; give it with source\.rate/,
      );
      const rated = speadFeng.plan({ ...feng, clockRateHz: rational(1000n) });
      await assert.rejects(
        receivePackets({ ...settings, from, stream: rated }),
        /do not carry their sky frequency; give it with source\.frequency/,
      );
      await assert.rejects(
        receivePackets({
          ...settings,
          from,
          stream: rated,
          band: { frequenciesHz: Float64Array.of(1, 2), channelWidthHz: 1 },
        }),
        /2 frequencies for 4 channels/,
      );
    });
  });

for (const by of ['typescript', ...native] as const)
  describe(`receiving by a socket, ${by}`, () => {
    it('what is sent arrives, and a silence hands on what was begun', async () => {
      const reception = await receivePackets({
        ...settings,
        by,
        ring: { ...settings.ring, flushMs: 500 },
        from: { listen: { address: '127.0.0.1', port: 0 }, receiveBufferBytes: 2 ** 18 },
      });
      const port = reception.account().socket?.port ?? 0;
      const sender = createSocket('udp4');
      for (const one of packetsOf(0, 15)) sender.send(one, port, '127.0.0.1');
      const present: number[] = [];
      for await (const source of reception.sessions()) {
        for await (const block of source.blocks(1000)) {
          present.push(presentCells(block.presence));
          block.release();
          if (present.length === 2) reception.stop();
        }
      }
      sender.close();
      assert.deepEqual(present, [20, 10]);
      const { socket, outcomes } = reception.account();
      assert.equal(outcomes.placed, 30);
      assert.equal(socket?.receiveBufferBytes, 2 ** 18);
      await reception.close();
    });
  });
