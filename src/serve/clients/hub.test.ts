import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { Allowance } from './allowance.js';
import { Hub } from './hub.js';

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** A hub behind a server, its clients, and the server's side of their sockets. */
async function opened() {
  const hub = new Hub(() => undefined);
  const server = createServer();
  const sides: Duplex[] = [];
  server.on('upgrade', (request, socket: Duplex, head: Buffer) => {
    sides.push(socket);
    hub.accept(request, socket, head);
  });
  await new Promise<void>((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      resolve();
    }),
  );
  const { port } = server.address() as AddressInfo;
  const sockets: WebSocket[] = [];
  return {
    hub,
    sides,
    client: async (asks: string): Promise<WebSocket> => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/`, ['corella']);
      await new Promise((resolve) => socket.once('open', resolve));
      sockets.push(socket);
      socket.send(asks);
      return socket;
    },
    close: async (): Promise<void> => {
      for (const socket of sockets) socket.terminate();
      hub.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) =>
        server.close(() => {
          resolve();
        }),
      );
    },
  };
}

describe('the hub', () => {
  it('drops and counts messages of a client that does not read, without delaying the others', async () => {
    const { hub, sides, client, close } = await opened();
    const [reader, sleeper] = [await client('{"subscribe":["sky"]}'), await client('{"subscribe":["sky"]}')];
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
    while (hub.count < 2 || !hub.hasListeners('sky')) await turn();
    const values = new Float32Array(2 ** 17);
    const all = 100;
    let mostWaiting = 0;
    for (let number = 0; number < all; number++) {
      values[1] = number;
      const delivered = new Promise<void>((resolve) => (arrived = resolve));
      hub.publishArray('sky', { shape: [values.length], number }, values);
      await delivered;
      mostWaiting = Math.max(mostWaiting, ...sides.map(({ writableLength }) => writableLength));
    }
    assert.equal(received, all);
    // 50 MB were offered to the stalled client; one message may wait here, plus the kernel's buffers.
    assert.ok(hub.dropped > all / 2 && hub.dropped < all, `${hub.dropped} dropped`);
    assert.ok(mostWaiting < 1.01 * values.byteLength, `${mostWaiting} bytes waiting`);
    await close();
  });

  it('sends a baseline only to clients that show it', async () => {
    const { hub, client, close } = await opened();
    const seen: string[] = [];
    for (const [name, asks] of [
      ['first', '{"pair":[2,5],"subscribe":["baseline"]}'],
      ['second', '{"pair":[3,1],"subscribe":["baseline"]}'],
    ] as const)
      (await client(asks)).on('message', (data: Buffer) => {
        const length = data.readUInt32LE(0);
        seen.push(
          `${name} ${(JSON.parse(data.subarray(8, 8 + length).toString()) as { pair: number[] }).pair.join()}`,
        );
      });
    while (hub.pairs().length < 2) await turn();
    assert.deepEqual(hub.pairs(), [
      [5, 2],
      [3, 1],
    ]);
    for (const pair of hub.pairs()) hub.publishArray('baseline', { pair, shape: [1] }, Float32Array.of(1));
    while (seen.length < 2) await turn();
    // Any other message would have arrived before this.
    hub.publishArray('baseline', { pair: [5, 2], shape: [1] }, Float32Array.of(1));
    while (seen.length < 3) await turn();
    assert.deepEqual(seen.sort(), ['first 5,2', 'first 5,2', 'second 3,1']);
    await close();
  });
});

describe('an allowance', () => {
  it('lets so many pass at once, and so many a second after that', () => {
    let nowMs = 0;
    const allowance = new Allowance({ atOnce: 3, perSecond: 2, nowMs: () => nowMs });
    const passed = (): number => Array.from({ length: 10 }, () => allowance.take()).filter(Boolean).length;
    assert.equal(passed(), 3);
    nowMs = 1000;
    assert.equal(passed(), 2);
    nowMs = 100_000;
    assert.equal(passed(), 3);
  });
  it('makes others wait for one that took more than was left', () => {
    let nowMs = 0;
    const allowance = new Allowance({ atOnce: 1, perSecond: 1, nowMs: () => nowMs });
    assert.ok(allowance.take(5));
    nowMs = 4000;
    assert.ok(!allowance.take());
    nowMs = 4500;
    assert.ok(allowance.take());
  });
});
