/** Many pages at once, and one that sends requests without end: none may keep the server from its work. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { openPage, type Page } from '../index.js';

const PIXELS = 256;
let page: Page;
/** Number of times the status was made. */
let statusesMade = 0;
const folder = temporaryFolder('flood');

before(async () => {
  page = await openPage({
    host: '127.0.0.1',
    port: 0,
    stop: () => undefined,
    say: () => undefined,
    facts: {
      get description() {
        statusesMade++;
        return 'a test';
      },
      backend: 'none',
      version: '0',
      isLive: true,
      folder,
    },
  });
  page.state.show({
    unixS: 1_782_014_400,
    plane: new Float32Array(PIXELS * PIXELS),
    head: {
      topic: 'sky',
      shape: [PIXELS, PIXELS],
      time: '',
      durationS: 1,
      everyS: 1,
      number: 1,
      ageS: 0,
      pixelSize: 2 / PIXELS,
      halfWidth: 1,
      unit: 'counts',
      method: 'visibilities',
      low: 0,
      high: 1,
      peak: 1,
      sources: [],
    },
  });
});
after(() => page.close());

const opened = (): Promise<WebSocket> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`${page.url.replace(/^http/, 'ws')}live`, ['corella']);
    socket.on('open', () => {
      resolve(socket);
    });
    socket.on('error', reject);
  });
const topicsTo = (socket: WebSocket): string[] => {
  const topics: string[] = [];
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    topics.push(isBinary ? 'sky' : (JSON.parse(data.toString()) as { topic: string }).topic);
  });
  return topics;
};
/** Resolves when it arrives; earlier requests are answered earlier. */
const came = (socket: WebSocket, topic: string): Promise<void> =>
  new Promise((resolve) => {
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (!isBinary && data.toString().startsWith(`{"topic":"${topic}"`)) resolve();
    });
    socket.on('close', () => {
      resolve();
    });
  });

describe('a page that asks again and again', () => {
  it('gets the state of a topic once, not once for each subscribe', async () => {
    const socket = await opened();
    const topics = topicsTo(socket);
    const last = came(socket, 'journal');
    for (let k = 0; k < 30; k++) socket.send('{"subscribe":["sky","alarms"]}');
    socket.send('{"subscribe":["journal"]}');
    await last;
    // The journal is shorter than the sky: by now both are on their way, and nothing else.
    while (!topics.includes('sky')) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(topics.filter((topic) => topic === 'sky').length, 1);
    assert.equal(topics.filter((topic) => topic === 'alarms').length, 1);
    socket.terminate();
  });

  it('gets it again after an unsubscribe', async () => {
    const socket = await opened();
    const topics = topicsTo(socket);
    for (let k = 1; k <= 3; k++) {
      socket.send('{"subscribe":["sky"]}');
      while (topics.length < k) await new Promise((resolve) => setImmediate(resolve));
      socket.send('{"unsubscribe":["sky"]}');
    }
    assert.deepEqual(topics, ['sky', 'sky', 'sky']);
    socket.terminate();
  });

  it('is disconnected when it does not stop', async () => {
    const socket = await opened();
    const code = new Promise<number>((resolve) => {
      socket.on('close', resolve);
      socket.on('error', () => undefined);
      void came(socket, 'journal').then(() => {
        resolve(0);
      });
    });
    for (let k = 0; k < 2000; k++) {
      socket.send('{"unsubscribe":["alarms"]}');
      socket.send('{"subscribe":["alarms"]}');
    }
    socket.send('{"subscribe":["journal"]}');
    assert.equal(await code, 1008);
    socket.terminate();
  });
});

describe('many pages that open at once', () => {
  it('share one message: the state is made once for all of them', async () => {
    const sockets = await Promise.all(Array.from({ length: 200 }, opened));
    const answered = sockets.map((socket) => came(socket, 'status'));
    statusesMade = 0;
    for (const socket of sockets) socket.send('{"subscribe":["status"]}');
    await Promise.all(answered);
    // One every quarter of a second, and the one sent to all once per second.
    assert.ok(statusesMade >= 1 && statusesMade < 40, `made ${statusesMade} times`);
    for (const socket of sockets) socket.terminate();
  });
});

describe('a program that asks by HTTP without end', () => {
  it('is refused for a while, and whoever has the token is not', async () => {
    const { host, port } = new URL(page.url);
    const socket = connect(Number(port), '127.0.0.1');
    const ALL = 10_000;
    const request = `GET /api/v1/alarms HTTP/1.1\r\nhost: ${host}\r\n\r\n`;
    let text = '';
    for await (const part of socket.on('connect', () => socket.write(request.repeat(ALL)))) {
      text += String(part);
      if (text.includes('HTTP/1.1 503') || text.split('HTTP/1.1 200').length > ALL) break;
    }
    assert.match(text, /^HTTP\/1\.1 200/);
    assert.match(text, /answers 100 requests a second/);
    const [, token] = page.steerUrl.split('#token=');
    const trusted = await fetch(`${page.url}api/v1/alarms`, {
      headers: { authorization: `Bearer ${token}` },
    });
    assert.equal(trusted.status, 200);
  });
});
