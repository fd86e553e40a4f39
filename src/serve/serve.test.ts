import assert from 'node:assert/strict';
import { request as ask } from 'node:http';
import { connect } from 'node:net';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openPage, tokenOf, type Page } from './index.js';

const TOKEN = 'a-token-of-our-own';
let page: Page;
let port = 0;
let stops = 0;
const folder = temporaryFolder('serve');
const journal = join(folder, 'journal.jsonl');

before(async () => {
  page = await openPage({
    host: '127.0.0.1',
    port: 0,
    token: TOKEN,
    names: ['telescope.example'],
    journal,
    facts: { description: 'a test', backend: 'none', version: '0', isLive: true, folder },
    stop: () => {
      stops++;
    },
    say: () => undefined,
  });
  port = Number(new URL(page.url).port);
});
after(() => page.close());

interface Asked {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** `fetch` does not allow a forged Host or Origin. */
const asked = ({
  path,
  method = 'GET',
  headers = {},
  body,
}: Asked): Promise<{ code: number; text: string }> =>
  new Promise((resolve, reject) => {
    const request = ask({ port, host: '127.0.0.1', path, method, headers }, (response) => {
      let text = '';
      response.on('data', (part: Buffer) => (text += part.toString()));
      response.on('end', () => {
        resolve({ code: response.statusCode ?? 0, text });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
const codeOf = async (one: Asked): Promise<number> => (await asked(one)).code;
const bearer = { authorization: `Bearer ${TOKEN}` };
const post = (path: string, body: unknown, headers: Record<string, string> = bearer): Asked => ({
  path: `/api/v1/${path}`,
  method: 'POST',
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

const opened = (headers: Record<string, string>, protocols: string[] = ['corella'], path = '/live') =>
  new Promise<WebSocket | number>((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols, { headers });
    socket.on('open', () => {
      resolve(socket);
    });
    socket.on('unexpected-response', (_, response) => {
      resolve(response.statusCode ?? 0);
      socket.terminate();
    });
    socket.on('error', () => undefined);
  });

describe('who may ask', () => {
  it('reads without a token from this machine, and changes nothing', async () => {
    const { code, text } = await asked({ path: '/api/v1/status' });
    assert.equal(code, 200);
    assert.equal((JSON.parse(text) as { state: string }).state, 'waiting');
    assert.equal(await codeOf(post('stop', {}, {})), 401);
    assert.equal(await codeOf(post('stop', {}, { authorization: 'Bearer another' })), 401);
    assert.equal(stops, 0);
  });
  it('answers to its own names alone', async () => {
    for (const host of ['evil.example', `evil.example:${port}`, `127.0.0.1:${port + 1}`, '127.0.0.1'])
      assert.equal(await codeOf({ path: '/api/v1/status', headers: { host } }), 421, host);
    assert.equal(await codeOf({ path: '/', headers: { host: 'evil.example' } }), 421);
    assert.equal(await codeOf({ path: '/api/v1/status', headers: { host: `localhost:${port}` } }), 200);
  });
  it('wants a token of whoever comes by another name, for reading too', async () => {
    const host = 'telescope.example';
    assert.equal(await codeOf({ path: '/api/v1/status', headers: { host } }), 401);
    assert.equal(await codeOf({ path: '/metrics', headers: { host } }), 401);
    assert.equal(await codeOf({ path: '/api/v1/status', headers: { host, ...bearer } }), 200);
    assert.equal(await opened({ host }), 401);
    const socket = await opened({ host }, ['corella', `token.${TOKEN}`]);
    assert.ok(typeof socket !== 'number');
    assert.equal(socket.protocol, 'corella');
    socket.terminate();
  });
  it('wants a token of whoever comes through a proxy, whatever name the proxy asks by', async () => {
    const path = '/api/v1/status';
    for (const [name, value] of [
      ['x-forwarded-for', '203.0.113.9'],
      ['x-real-ip', '203.0.113.9'],
      ['forwarded', 'for=203.0.113.9'],
      ['via', '1.1 proxy'],
    ]) {
      assert.equal(await codeOf({ path, headers: { [name]: value } }), 401, name);
      assert.equal(await opened({ [name]: value }), 401, name);
      assert.equal(await codeOf({ path, headers: { [name]: value, ...bearer } }), 200, name);
    }
    // nginx's proxy_pass without further settings.
    const raw = connect(port, '127.0.0.1');
    raw.write(`GET ${path} HTTP/1.0\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
    let text = '';
    for await (const part of raw) text += String(part);
    assert.match(text, /^HTTP\/1\.1 401/);
  });
  it('gives no socket to a page from elsewhere', async () => {
    assert.equal(await opened({ origin: 'http://evil.example' }), 403);
    assert.equal(await opened({ origin: 'null' }), 403);
    assert.equal(await opened({ origin: `http://127.0.0.1:${port + 1}` }), 403);
    assert.equal(await opened({ host: 'evil.example' }), 403);
    assert.equal(await opened({}, ['corella'], '/other'), 404);
    const own = await opened({ origin: `http://localhost:${port}` });
    assert.ok(typeof own !== 'number');
    own.terminate();
  });
  it('lets no page from elsewhere steer, even with the token', async () => {
    assert.equal(await codeOf(post('stop', {}, { ...bearer, origin: 'http://evil.example' })), 403);
    assert.equal(stops, 0);
  });
});

describe('the address of a page', () => {
  it('works where it listens on all addresses of this machine', async () => {
    const wide = await openPage({
      host: '0.0.0.0',
      port: 0,
      token: TOKEN,
      stop: () => undefined,
      say: () => undefined,
      facts: { description: 'a test', backend: 'none', version: '0', isLive: true, folder },
    });
    try {
      assert.equal((await fetch(`${wide.url}api/v1/status`, { headers: bearer })).status, 200, wide.url);
      assert.deepEqual([wide.isLocal, page.isLocal], [false, true]);
    } finally {
      await wide.close();
    }
  });
});

describe('what is asked', () => {
  it('keeps paths inside, however they are written', async () => {
    for (const path of [
      '/../serve.test.js',
      '/..%2f..%2fpackage.json',
      '/%2e%2e/package.json',
      '//etc/passwd',
      '/page/../../package.json',
      '/index.html/..',
      '/\\..\\package.json',
      '/app.js%00',
    ]) {
      const { code, text } = await asked({ path });
      assert.ok(
        code === 404 || code === 400 || (code === 200 && text.includes('<corella-app>')),
        `${path}: ${code}`,
      );
      assert.ok(!text.includes('"name"'), path);
    }
    assert.equal(await codeOf({ path: '/api/v1/constructor' }), 404);
    assert.equal(await codeOf(post('__proto__', {})), 404);
  });
  it('refuses what is too large, no JSON, or not what a command takes, and reports what and how', async () => {
    assert.equal(await codeOf(post('flags', 'x'.repeat(2 ** 21))), 413);
    assert.equal(await codeOf(post('stop', '{')), 400);
    const { code, text } = await asked(post('stop', { now: true }));
    assert.equal(code, 400);
    assert.match(text, /has unknown field/);
    assert.equal(await codeOf({ path: '/api/v1/stop', method: 'DELETE', headers: bearer }), 405);
    assert.equal(await codeOf({ path: '/', method: 'POST' }), 405);
    assert.equal(await codeOf({ path: '/api/v1/images/at?unixS=x' }), 400);
    assert.equal(stops, 0);
    // no data arrive yet: nothing can be steered
    assert.match(
      (await asked(post('flags', { inputs: [0], flag: true }))).text,
      /there are no data to steer yet/,
    );
  });
  it('outlives bytes that are no HTTP, and sockets that send nonsense', async () => {
    await new Promise<void>((resolve) => {
      const raw = connect(port, '127.0.0.1', () => raw.write('\x00\x01nonsense\r\n\r\n'));
      raw.on('close', () => {
        resolve();
      });
      raw.on('error', () => undefined);
      raw.resume();
    });
    for (const nonsense of ['{', '[]', '{"subscribe":["everything"]}', '{"steer":1}', 'x'.repeat(5000)]) {
      const socket = await opened({});
      assert.ok(typeof socket !== 'number');
      const closed = new Promise<void>((resolve) =>
        socket.on('close', () => {
          resolve();
        }),
      );
      socket.send(nonsense);
      await closed;
    }
    assert.equal(await codeOf({ path: '/api/v1/status' }), 200);
  });
  it('sends a new subscriber what is known at once', async () => {
    const socket = await opened({});
    assert.ok(typeof socket !== 'number');
    const said = new Promise<string>((resolve) =>
      socket.once('message', (data: Buffer) => {
        resolve(data.toString());
      }),
    );
    socket.send('{"subscribe":["status"]}');
    const { topic, value } = JSON.parse(await said) as { topic: string; value: { word: string } };
    assert.equal(topic, 'status');
    assert.equal(value.word, 'Waiting for data');
    socket.terminate();
  });
  it('stops on request, and logs that', async () => {
    const { code, text } = await asked(post('stop', {}));
    assert.equal(code, 200);
    assert.equal((JSON.parse(text) as { journal: number }).journal, 1);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(stops, 1);
    assert.match((await asked({ path: '/api/v1/journal' })).text, /stopping/);
    for (let tries = 0; tries < 100; tries++) {
      const written = await readFile(journal, 'utf8').catch(() => '');
      if (written.endsWith('\n')) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.match(await readFile(journal, 'utf8'), /^\{"at":"[^"]+Z","number":1,.*"who":"127.0.0.1".*\}\n$/);
  });
  it('has metrics in Prometheus’ own words', async () => {
    const { code, text } = await asked({ path: '/metrics' });
    assert.equal(code, 200);
    assert.match(text, /^# TYPE corella_images_total counter$/m);
    assert.match(text, /^corella_alarms\{severity="alarm"\} 0$/m);
    assert.match(text, /^corella_http_request_seconds_count\{route="status"\} \d+$/m);
  });
});

describe('a token', () => {
  it('is made once, for its owner alone, and kept', async () => {
    const path = join(folder, 'token');
    const made = await tokenOf(path);
    assert.ok(made.length >= 16);
    assert.equal(await tokenOf(path), made);
    await assert.rejects(tokenOf(journal), /holds no token/);
  });
  it('is refused by name where its file is a folder, or can be neither read nor made', async () => {
    await assert.rejects(tokenOf(folder), /CorellaError: .*is a folder; name a file inside it/);
    await assert.rejects(
      tokenOf(join(folder, 'nowhere', 'token')),
      /CorellaError: .*no token can be written/,
    );
    await assert.rejects(
      tokenOf(join(folder, 'token', 'below')),
      /CorellaError: .*cannot be read \(ENOTDIR\)/,
    );
  });
});
