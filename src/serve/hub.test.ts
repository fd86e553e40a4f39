import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { Hub } from './hub.js';

describe('the hub', () => {
  it('drops messages for whoever does not read, counts them, and keeps nobody else waiting', async () => {
    const hub = new Hub({ greet: () => undefined });
    const server = createServer();
    server.on('upgrade', (request, socket, head: Buffer) => {
      hub.accept(request, socket, head);
    });
    await new Promise<void>((resolve) =>
      server.listen(0, '127.0.0.1', () => {
        resolve();
      }),
    );
    const { port } = server.address() as AddressInfo;
    const client = async (): Promise<WebSocket> => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/`, ['corella']);
      await new Promise((resolve) => socket.once('open', resolve));
      socket.send('{"subscribe":["sky"]}');
      return socket;
    };
    const [reader, sleeper] = [await client(), await client()];
    let received = 0;
    let arrived: () => void = () => undefined;
    reader.on('message', (data: Buffer) => {
      // u32 length, u32 0, the head, the numbers
      const length = data.readUInt32LE(0);
      const head = JSON.parse(data.subarray(8, 8 + length).toString()) as { number: number; topic: string };
      assert.deepEqual([head.topic, head.number], ['sky', received]);
      assert.equal(data.readFloatLE(8 + 8 * Math.ceil(length / 8) + 4), head.number);
      received++;
      arrived();
    });
    sleeper.pause();
    while (hub.count < 2 || !hub.hasListeners('sky')) await new Promise((resolve) => setImmediate(resolve));
    const values = new Float32Array(2 ** 17);
    const all = 100;
    for (let number = 0; number < all; number++) {
      values[1] = number;
      const heard = new Promise<void>((resolve) => (arrived = resolve));
      hub.publishArray('sky', { shape: [values.length], number }, values);
      await heard;
    }
    assert.equal(received, all);
    // 50 MB were offered to the sleeper; it may have 4 MiB here, and what the kernel holds.
    assert.ok(hub.dropped > all / 2 && hub.dropped < all, `${hub.dropped} dropped`);
    sleeper.terminate();
    reader.terminate();
    hub.close();
    server.closeAllConnections();
    await new Promise<void>((resolve) =>
      server.close(() => {
        resolve();
      }),
    );
  });
});
