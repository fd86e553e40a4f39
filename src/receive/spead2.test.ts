/** spead2 as a peer over loopback, both ways, if installed: CORELLA_PYTHON names a Python that has it. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { rational } from '../core/clock/rational.js';
import { parseInstant } from '../core/instant.js';
import { loadNative } from '../backend/cpu/library.js';
import { mod } from '../packets/testing/captures.js';
import { speadFeng } from '../packets/spead/feng.js';
import { receivePackets } from './index.js';

const python = process.env.CORELLA_PYTHON ?? 'python3';
const found = spawnSync(python, ['-c', 'import spead2, spead2.recv, spead2.send']);
const skip = found.status === 0 ? false : `${python} has no spead2`;
const script = fileURLToPath(new URL('../../src/receive/testing/spead2_peer.py', import.meta.url));

const stream = speadFeng.plan({
  antennas: [0, 1, 2, 3],
  firstChannel: 48,
  channelsPerHeap: 16,
  spectraPerHeap: 32,
  ticksPerSpectrum: 2048,
  packetBytes: 1024,
  clockRateHz: rational(1_712_000_000n),
});
const START = 2n ** 40n;

const natives: readonly 'native'[] = 'what' in loadNative() ? [] : ['native'];
describe('spead2', { skip }, () => {
  for (const by of ['typescript', ...natives] as const) {
    for (const address of ['127.0.0.1', '239.102.0.66']) {
      it(`sends to ${address}, the ring in ${by === 'native' ? 'C++' : 'TypeScript'} receives`, async () => {
        const group = address !== '127.0.0.1';
        const reception = await receivePackets({
          stream,
          by,
          from: {
            listen: { address, port: 0 },
            receiveBufferBytes: 2 ** 20,
            ...(group && { interface: '127.0.0.1' }),
          },
          epoch: { from: 'operator', at: parseInstant('2026-06-01T04:00:00Z') },
          band: { frequenciesHz: new Float64Array(16), channelWidthHz: 1 },
          ring: { slotsPerBlock: 4, flushMs: 5000 },
        });
        const port = reception.account().socket?.port ?? 0;
        const words = [script, 'send', `${address}:${port}`, String(START), ...(group ? ['127.0.0.1'] : [])];
        const sender = spawn(python, words, { stdio: 'inherit' });
        void once(sender, 'close').then(() => {
          reception.stop();
        });
        let heap = 0;
        for await (const source of reception.sessions()) {
          assert.ok(source.kind === 'spectra');
          for await (const block of source.blocks(1000)) {
            assert.equal(block.startTick, START + BigInt(heap) * 65536n);
            assert.deepEqual(block.gaps, []);
            for (let c = 0; c < 16; c++) {
              for (let a = 0; a < 8; a++) {
                for (let t = 0; t < 128; t++) {
                  const at = 2 * ((c * 8 + a) * 128 + t);
                  const value = c * 17 + (heap * 32 + t) * 5 + (a & 1) * 29 + (a >> 1) * 43;
                  assert.equal(block.spectra[at], mod(value, 255) - 127);
                  assert.equal(block.spectra[at + 1], mod(value + 101, 255) - 127);
                }
              }
            }
            heap += 4;
            block.release();
          }
        }
        const { outcomes } = reception.account();
        await reception.close();
        assert.equal(heap, 8);
        // Descriptors and the stop packet.
        assert.deepEqual([outcomes.placed, outcomes.control, outcomes.invalid], [64, 2, 0]);
      });
    }
  }

  it('receives what we send, packets out of order', async () => {
    const free = createSocket('udp4');
    await new Promise<void>((resolve) => free.bind(0, '127.0.0.1', resolve));
    const { port } = free.address();
    await new Promise<void>((resolve) => free.close(resolve));
    const peer = spawn(python, [script, 'recv', `127.0.0.1:${port}`, '4'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface(peer.stdout)[Symbol.asyncIterator]();
    assert.equal((await lines.next()).value, 'ready');
    const socket = createSocket('udp4');
    const expected: unknown[] = [];
    for (let sender = 0; sender < 4; sender++) {
      const payload = Uint8Array.from({ length: 2048 }, (_, n) => (n * 7 + sender * 13) & 255);
      const tick = START + 65536n;
      for (const fragment of [1, 0]) {
        const cell = payload.subarray(fragment * 1024, (fragment + 1) * 1024);
        const packet = speadFeng.encode({ tick, sender, fragment }, cell, stream);
        await new Promise((resolve) => {
          socket.send(packet, port, '127.0.0.1', resolve);
        });
      }
      const heap = Number((tick / 65536n) * 4n) + sender;
      const sum = createHash('sha256').update(payload).digest('hex');
      expected.push({ heap, '0x1600': Number(tick), '0x4101': sender, '0x4103': 48, '0x4300': sum });
    }
    const reported: unknown[] = [];
    for (let n = 0; n < 4; n++) reported.push(JSON.parse(String((await lines.next()).value)));
    socket.close();
    assert.deepEqual(reported, expected);
  });
});
