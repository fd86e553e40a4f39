/** Any counter and epoch that a board may start with: none stops a run, and no wrong time goes unnoticed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadNative } from '../backend/cpu/library.js';
import { rational } from '../core/clock/rational.js';
import { formatInstant, instant, parseInstant, secondsBetween } from '../core/instant.js';
import { inTemporaryFolder } from '../core/testing/temporary-folder.js';
import { chips } from '../packets/chips.js';
import { snap2 } from '../packets/snap2.js';
import { receivePackets, type ReceiveEvent, type ReceiveSettings } from './index.js';
import { CAPTURED_S, captureOf } from './testing/capture.js';
import { openSender, skipSockets } from './testing/sockets.js';

/** Two boards; 25 000 spectra per second, ten per block. */
const stream = chips.plan({ boards: [1, 2], channels: 3, firstChannel: 1000 });
const counted = (first: bigint, slots: number): Uint8Array[] =>
  Array.from({ length: slots }, (_, n) =>
    [0, 1].map((sender) =>
      chips.encode(
        { tick: first + BigInt(n), sender, fragment: 0 },
        new Uint8Array(stream.cellBytes).fill(0x11),
        stream,
      ),
    ),
  ).flat();
const settings = { stream, ring: { slotsPerBlock: 10, blocks: 6 } } as const;
const STARTED = parseInstant('2026-06-01T04:00:00Z');

async function received(given: Omit<ReceiveSettings, 'onEvent'>) {
  const events: string[] = [];
  const reception = await receivePackets({
    ...given,
    onEvent: ({ kind, session }) => events.push(`${kind} ${session}`),
  });
  const starts: string[] = [];
  for await (const source of reception.sessions())
    for await (const block of source.blocks(1000)) {
      starts.push(formatInstant(block.start, 3));
      block.release();
    }
  const account = reception.account();
  await reception.close();
  return { events, starts, account };
}

const natives: readonly 'native'[] = 'what' in loadNative() ? [] : ['native'];
const skip = await skipSockets();
for (const by of ['typescript', ...natives] as const)
  describe(`epochs, the ring in ${by === 'native' ? 'C++' : 'TypeScript'}`, () => {
    it('a random counter and the wall clock: the time of arrival, leap seconds counted', () =>
      inTemporaryFolder('epochs', async (folder) => {
        // 44.6 years at 25 kHz, 18 leap seconds; 11 000 years and 11.7 million years, outside the calendar.
        for (const counter of [2n ** 45n, 2n ** 53n, 2n ** 63n - 100n]) {
          const from = { capture: await captureOf(folder, counted(counter - (counter % 10n), 20)) };
          const { starts } = await received({ ...settings, by, from, epoch: { from: 'clock' } });
          assert.equal(starts.length, 2);
          const offS = secondsBetween(instant(CAPTURED_S), parseInstant(starts[0]));
          assert.ok(Math.abs(offS) <= 0.5, `${starts[0]} is ${offS} s off, counter ${counter}`);
        }
      }));

    it('a counter that the given epoch makes a time of no calendar is left out, and the run goes on', () =>
      inTemporaryFolder('epochs', async (folder) => {
        const packets = [...counted(2n ** 53n - 2n, 20), ...counted(0n, 20)];
        const from = { capture: await captureOf(folder, packets) };
        const { events, starts, account } = await received({
          ...settings,
          by,
          from,
          epoch: { from: 'operator', at: STARTED, afterRestart: 'clock' },
        });
        assert.deepEqual(events, ['undated 0', 'session 1']);
        assert.equal(starts.length, 2);
        assert.ok(account.untimedBlocks >= 2);
      }));

    it('a first epoch over a day from the wall clock is reported', { skip }, async () => {
      const rated = snap2.plan({
        signals: 2,
        signalsPerPacket: 2,
        channels: 2,
        channelsPerPacket: 2,
        firstChannel: 1000,
        spectrumRateHz: rational(25_000n),
      });
      const nowS = Math.floor(Date.now() / 1000);
      for (const [syncS, expected] of [
        [nowS - 3 * 86_400, ['far']],
        [nowS, []],
      ] as const) {
        const events: ReceiveEvent[] = [];
        const reception = await receivePackets({
          ...settings,
          stream: rated,
          by,
          epoch: { from: 'packet' },
          from: { listen: { address: '127.0.0.1', port: 0 }, receiveBufferBytes: 2 ** 18 },
          onEvent: (event) => events.push(event),
        });
        const sender = await openSender(
          reception.account().socket?.port ?? 0,
          () => reception.account().packets,
        );
        await sender.send(
          Array.from({ length: 20 }, (_, tick) =>
            snap2.encode(
              { tick: BigInt(tick), sender: 0, fragment: 0, session: BigInt(syncS) },
              new Uint8Array(rated.cellBytes).fill(0x11),
              rated,
            ),
          ),
        );
        reception.stop();
        let blocks = 0;
        for await (const source of reception.sessions())
          for await (const block of source.blocks(1000)) {
            blocks++;
            block.release();
          }
        sender.close();
        await reception.close();
        assert.equal(blocks, 2);
        assert.deepEqual(
          events.map(({ kind }) => kind),
          expected,
        );
        if (expected.length > 0) assert.equal(events[0].start?.unixSeconds, syncS);
      }
    });
  });
