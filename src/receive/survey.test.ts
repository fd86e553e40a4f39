/** A socket is surveyed, then received from: one account holds every datagram. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { describe, it } from 'node:test';
import { rational } from '../core/clock/rational.js';
import { parseInstant } from '../core/instant.js';
import { speadFeng } from '../packets/spead/feng.js';
import { receivePackets } from './index.js';
import { canListenNatively, openSurveySocket } from './survey-socket.js';
import { CELL_BYTES, FRAGMENTS, packetsBetween, SLOTS, TICKS } from './testing/array.js';
import { openSender, skipSockets } from './testing/sockets.js';

const stream = speadFeng.plan({
  antennas: [0, 1, 2, 3],
  firstChannel: 0,
  channelsPerHeap: FRAGMENTS,
  spectraPerHeap: 16,
  ticksPerSpectrum: TICKS / 16,
  packetBytes: CELL_BYTES,
  clockRateHz: rational(100n * BigInt(TICKS)),
});
const settings = {
  stream,
  epoch: { from: 'operator', at: parseInstant('2026-06-01T04:00:00Z') },
  band: { frequenciesHz: Float64Array.of(50e6, 51e6), channelWidthHz: 1e6 },
  ring: { slotsPerBlock: SLOTS, blocks: 12, flushMs: 60_000 },
} as const;
const from = { listen: { address: '127.0.0.1', port: 0 }, receiveBufferBytes: 2 ** 20 };

async function sendAll(packets: readonly Uint8Array[], port: number): Promise<void> {
  const socket = createSocket('udp4');
  for (const packet of packets)
    await new Promise<void>((resolve) => {
      socket.send(packet, port, '127.0.0.1', () => {
        resolve();
      });
    });
  socket.close();
}

const skip = await skipSockets();
for (const by of ['node', ...(canListenNatively() ? (['native'] as const) : [])] as const)
  describe(`a socket that is surveyed, ${by}`, { skip }, () => {
    for (const [name, bufferBytes, datagrams] of [
      ['', 2 ** 20, 10],
      [', of a buffer that overflows meanwhile', 4096, 1],
    ] as const)
      it(`counts what came before receiving began once, and what comes after once${name}`, async () => {
        const socket = await openSurveySocket({ ...from, receiveBufferBytes: bufferBytes }, by);
        const first = packetsBetween(0, 2);
        const surveying = socket.survey({ datagrams, seconds: 20 });
        await sendAll(first, socket.port);
        const some = await surveying;
        assert.deepEqual(some.map((one) => Buffer.from(one)), first.slice(0, datagrams).map((one) => Buffer.from(one))); // prettier-ignore
        // During preparation: 512 packets.
        const meanwhile = packetsBetween(2, 66);
        await sendAll(meanwhile, socket.port);
        const reception = await receivePackets({
          ...settings,
          by: by === 'native' ? 'native' : 'typescript',
          from: { ...from, socket },
        });
        const { surveyed } = reception.account();
        assert.ok(surveyed && surveyed.seconds > 0);
        // Node reads waiting datagrams when it can: those not surveyed are received.
        const sent = first.length + meanwhile.length;
        const counted = (): number => {
          const { packets, socket: facts } = reception.account();
          return surveyed.packets + packets + (facts?.kernelDrops ?? 0) - sent;
        };
        const sender = await openSender(socket.port, counted);
        await sender.send(packetsBetween(66, 66 + 4 * SLOTS));
        assert.equal(counted(), packetsBetween(66, 66 + 4 * SLOTS).length);
        reception.stop();
        let blocks = 0;
        for await (const source of reception.sessions())
          for await (const block of source.blocks(10_000)) {
            blocks++;
            block.release();
          }
        assert.ok(blocks >= 4);
        sender.close();
        await reception.close();
        await socket.close();
      });

    it('gives what came when the time is over, and may be closed without a ring', async () => {
      const socket = await openSurveySocket(from, by);
      assert.deepEqual(await socket.survey({ datagrams: 10, seconds: 0.05 }), []);
      await sendAll(packetsBetween(0, 1).slice(0, 3), socket.port);
      assert.equal((await socket.survey({ datagrams: 10, seconds: 0.2 })).length, 3);
      const { port } = socket;
      await socket.close();
      const again = await openSurveySocket({ ...from, listen: { address: '127.0.0.1', port } }, by);
      await again.close();
    });
  });
