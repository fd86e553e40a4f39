/** The whole path over loopback sockets: losses by sender, restarts, jumps, clock wrap, a slow consumer. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadNative } from '../backend/cpu/library.js';
import { rational } from '../core/clock/rational.js';
import { formatInstant, parseInstant, secondsBetween } from '../core/instant.js';
import { presentCells } from '../core/presence/plain-counts.testing.js';
import { speadFeng } from '../packets/spead/feng.js';
import { receivePackets, type ReceiveSettings, type Reception } from './index.js';
import {
  CELL_BYTES,
  CELLS,
  cellsBetween,
  FRAGMENTS,
  SENDER_CELLS,
  SENDERS,
  packetOf,
  packetsBetween,
  payloadByte,
  SLOTS,
  TICKS,
  TURN_SLOTS,
  type Cell,
} from './testing/array.js';
import { openSender, skipMulticast, skipSockets, type Sender } from './testing/sockets.js';

/** The array of testing/array.ts with a clock: a hundred slots per second. */
const SLOT_RATE = 100;
const stream = speadFeng.plan({
  antennas: [0, 1, 2, 3],
  firstChannel: 0,
  channelsPerHeap: FRAGMENTS,
  spectraPerHeap: 16,
  ticksPerSpectrum: TICKS / 16,
  packetBytes: CELL_BYTES,
  clockRateHz: rational(BigInt(SLOT_RATE * TICKS)),
});
const STARTED = parseInstant('2026-06-01T04:00:00Z');
const settings = {
  stream,
  epoch: { from: 'operator', at: STARTED, afterRestart: 'clock' },
  band: { frequenciesHz: Float64Array.of(50e6, 51e6), channelWidthHz: 1e6 },
  // The tests cause the timeouts themselves.
  ring: { slotsPerBlock: SLOTS, blocks: 12, skipTicks: 20 * SLOTS * TICKS, flushMs: 60_000 },
} as const satisfies Omit<ReceiveSettings, 'from'>;

interface Seen {
  readonly session: number;
  readonly startTick: bigint;
  readonly present: number;
  readonly start: string;
}

async function receiveFrom(
  by: 'native' | 'typescript',
  work: (sender: Sender, reception: Reception, seen: readonly Seen[]) => Promise<void>,
  { address = '127.0.0.1', hold }: { readonly address?: string; readonly hold?: () => Promise<void> } = {},
): Promise<{ readonly seen: Seen[]; readonly account: ReturnType<Reception['account']> }> {
  const group = address !== '127.0.0.1';
  const reception = await receivePackets({
    ...settings,
    by,
    from: {
      listen: { address, port: 0 },
      receiveBufferBytes: 2 ** 20,
      ...(group && { interface: '127.0.0.1' }),
    },
  });
  const port = reception.account().socket?.port ?? 0;
  const seen: Seen[] = [];
  /** Unless it is held, wait for the consumer too: a busy machine must not look like a slow consumer. */
  const received = (): number => {
    const { packets, blocks } = reception.account();
    return hold !== undefined || blocks - seen.length < 4 ? packets : -1;
  };
  const sender = await openSender(port, received, address);
  const consuming = (async () => {
    for await (const source of reception.sessions()) {
      assert.ok(source.kind === 'spectra');
      for await (const block of source.blocks(10_000)) {
        await hold?.();
        const start = formatInstant(block.start, 3);
        seen.push({
          session: source.session,
          startTick: block.startTick,
          present: presentCells(block.presence),
          start,
        });
        if (source.epochFrom === 'operator') {
          // No sample has a wrong time: the tick gives the time.
          const expected = Number(block.startTick) / (SLOT_RATE * TICKS);
          assert.ok(Math.abs(secondsBetween(STARTED, block.start) - expected) < 1e-6);
        }
        checkValues(block.spectra, block.samples, block.startTick);
        block.release();
      }
    }
  })();
  const finish = async (): Promise<ReturnType<Reception['account']>> => {
    reception.stop();
    await consuming;
    const account = reception.account();
    sender.close();
    await reception.close();
    return account;
  };
  // Open sockets would keep the process of a failed test running.
  await work(sender, reception, seen).catch(async (failure: unknown) => {
    await finish();
    throw failure;
  });
  const account = await finish();
  const sum = Object.values(account.outcomes).reduce((all, count) => all + count, 0);
  assert.equal(sum, account.packets, 'every packet once');
  assert.equal(
    account.outcomes.placed + account.missingCells,
    (account.blocks + account.skippedBlocks) * CELLS,
    'every cell once',
  );
  assert.equal(account.socket?.kernelDrops ?? 0, 0);
  return { seen, account };
}

/** The first spectrum of each slot, for every input and channel: the sent value, or 0. */
function checkValues(spectra: ArrayLike<number>, samples: number, startTick: bigint): void {
  for (let c = 0; c < FRAGMENTS; c++) {
    for (let a = 0; a < 2 * SENDERS; a++) {
      for (let slot = 0; slot < samples / 16; slot++) {
        const value = spectra[2 * ((c * 2 * SENDERS + a) * samples + 16 * slot)];
        const cell = { sender: a >> 1, slot: Number(startTick / BigInt(TICKS)) + slot, fragment: c };
        // As int8; the lowest level becomes the next.
        const sent = Math.max(-127, (payloadByte(cell) << 24) >> 24);
        assert.ok(value === 0 || value === sent, `slot ${cell.slot}: ${value}, sent ${sent}`);
      }
    }
  }
}

const moved = (first: number, end: number, move: (cell: Cell) => Cell): Uint8Array[] =>
  cellsBetween(first, end).map((cell) => packetOf(move(cell)));

const GROUP = '239.255.77.1';
const skip = await skipSockets();
const skipGroup = await skipMulticast(GROUP);
const natives: readonly 'native'[] = 'what' in loadNative() || process.platform !== 'linux' ? [] : ['native'];
for (const by of ['typescript', ...natives] as const) {
  describe(`by sockets, the ring in ${by === 'native' ? 'C++' : 'TypeScript'}`, { skip }, () => {
    it('all that is sent arrives', async () => {
      const { seen, account } = await receiveFrom(by, (sender) => sender.send(packetsBetween(0, 25 * SLOTS)));
      assert.equal(seen.length, 25);
      assert.ok(seen.every(({ present }) => present === CELLS));
      assert.deepEqual([account.outcomes.placed, account.packets], [25 * CELLS, 25 * CELLS]);
    });

    it('a port in use is refused: the last to bind would get every packet', async () => {
      await receiveFrom(by, async (_, reception) => {
        const port = reception.account().socket?.port ?? 0;
        const from = { listen: { address: '127.0.0.1', port }, receiveBufferBytes: 2 ** 20 };
        const second = receivePackets({ ...settings, by, from });
        // An unexpected socket must not keep the test waiting.
        second.then((one) => one.close()).catch(() => undefined);
        await assert.rejects(second, /is in use by another program/);
      });
    });

    it('by multicast too', { skip: skipGroup }, async () => {
      const { seen } = await receiveFrom(by, (sender) => sender.send(packetsBetween(0, 3 * SLOTS)), {
        address: GROUP,
      });
      assert.deepEqual(
        seen.map(({ present }) => present),
        [CELLS, CELLS, CELLS],
      );
    });

    it('a sender silent from 5 s to 8 s misses exactly 3 s, the others nothing', async () => {
      const { account } = await receiveFrom(by, (sender) =>
        sender.send(
          cellsBetween(0, 10 * SLOT_RATE)
            .filter(({ sender, slot }) => sender !== 3 || slot < 5 * SLOT_RATE || slot >= 8 * SLOT_RATE)
            .map((cell) => packetOf(cell)),
        ),
      );
      assert.deepEqual(
        account.senders.map(({ name, missingCells }) => [name, missingCells / FRAGMENTS / SLOT_RATE]),
        [
          ['feng_id 0', 0],
          ['feng_id 1', 0],
          ['feng_id 2', 0],
          ['feng_id 3', 3],
        ],
      );
    });

    it('all boards restart: one new session, at most two packets of a sender lost', async () => {
      const { seen, account } = await receiveFrom(by, async (sender) => {
        await sender.send(packetsBetween(5000, 5000 + 3 * SLOTS));
        await sender.send(packetsBetween(0, 3 * SLOTS));
      });
      assert.equal(account.resyncs, 1);
      assert.deepEqual(
        seen.map(({ session, startTick }) => [session, Number(startTick) / TICKS]),
        [
          [0, 5000],
          [0, 5008],
          [0, 5016],
          [1, 0],
          [1, 8],
          [1, 16],
        ],
      );
      for (const { outcomes } of account.senders) assert.ok(outcomes.late + outcomes.early <= 2);
      assert.equal(account.outcomes.placed + account.outcomes.late, account.packets);
    });

    it('one board restarts, or runs ahead: no new session, the others lose nothing', async () => {
      for (const [shift, outcome] of [
        [-4000, 'late'],
        [400, 'early'],
      ] as const) {
        const { account } = await receiveFrom(by, (sender) =>
          sender.send(
            moved(5000, 5000 + 6 * SLOTS, (cell) =>
              cell.sender === 1 && cell.slot >= 5000 + 3 * SLOTS
                ? { ...cell, slot: cell.slot + shift }
                : cell,
            ),
          ),
        );
        assert.equal(account.resyncs, 0);
        assert.deepEqual(
          account.senders.map(({ missingCells, outcomes }) => [missingCells, outcomes[outcome]]),
          [
            [0, 0],
            [3 * SENDER_CELLS, 3 * SENDER_CELLS],
            [0, 0],
            [0, 0],
          ],
        );
      }
    });

    it('a jump of two hours in no time: a new session, for which the wall clock is asked', async () => {
      const { seen, account } = await receiveFrom(by, async (sender) => {
        await sender.send(packetsBetween(0, 2 * SLOTS));
        await sender.send(packetsBetween(720_000, 720_000 + 2 * SLOTS));
      });
      assert.equal(account.resyncs, 1);
      assert.deepEqual(
        seen.map(({ session }) => session),
        [0, 0, 1, 1],
      );
      assert.deepEqual(
        seen.slice(0, 2).map(({ start }) => start),
        ['2026-06-01T04:00:00.000Z', '2026-06-01T04:00:00.080Z'],
      );
      assert.ok(Math.abs(Date.parse(seen[2].start) - Date.now()) < 60_000, seen[2].start);
      assert.equal(Date.parse(seen[3].start) - Date.parse(seen[2].start), 80);
    });

    it('the clock wraps: no gap at all', async () => {
      const { seen, account } = await receiveFrom(by, (sender) =>
        sender.send(packetsBetween(TURN_SLOTS - 2 * SLOTS, TURN_SLOTS + 2 * SLOTS)),
      );
      assert.deepEqual(
        seen.map(({ startTick, present }) => [Number(startTick) / TICKS - TURN_SLOTS, present]),
        [-2 * SLOTS, -SLOTS, 0, SLOTS].map((slot) => [slot, CELLS]),
      );
      assert.deepEqual([account.resyncs, account.missingCells], [0, 0]);
    });

    it('packets after the end are not counted as lost', async () => {
      const reception = await receivePackets({
        ...settings,
        by,
        from: { listen: { address: '127.0.0.1', port: 0 }, receiveBufferBytes: 4096 },
      });
      const port = reception.account().socket?.port ?? 0;
      reception.stop();
      for await (const source of reception.sessions()) assert.fail(`session ${source.session} of nothing`);
      const sender = await openSender(port, () => Infinity);
      await sender.send(packetsBetween(0, 20 * SLOTS));
      assert.equal(reception.account().socket?.kernelDrops ?? 0, 0);
      sender.close();
      await reception.close();
    });

    it('a consumer that stops for a while: counted as ring_full, and reception goes on', async () => {
      let goOn: () => void = () => undefined;
      const held = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      const { seen: all, account } = await receiveFrom(
        by,
        async (sender, reception, seen) => {
          await sender.send(packetsBetween(0, 40 * SLOTS));
          assert.ok(reception.account().outcomes.ring_full > 0);
          goOn();
          // The ring is empty again before the next packet arrives.
          while (reception.account().blocks > seen.length)
            await new Promise((resolve) => setTimeout(resolve, 1));
          for (let first = 40 * SLOTS; first < 60 * SLOTS; first += SLOTS) {
            await sender.send(packetsBetween(first, first + SLOTS));
            while (reception.account().blocks > seen.length)
              await new Promise((resolve) => setTimeout(resolve, 1));
          }
        },
        { hold: () => held },
      );
      assert.ok(account.skippedBlocks > 0);
      const last = all.slice(-5);
      assert.ok(
        last.every(({ present }) => present === CELLS),
        'after catching up nothing is lost',
      );
      assert.deepEqual(
        last.map(({ startTick }) => Number(startTick) / TICKS),
        [55, 56, 57, 58, 59].map((block) => block * SLOTS),
      );
    });
  });
}
