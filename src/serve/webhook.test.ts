import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { Alarm } from './messages.js';
import { Webhook } from './webhook.js';

const alarm = { id: 'disk', severity: 'alarm', where: '/data', what: '1 GB free', fix: 'make room' } as Alarm;
const at = new Date('2026-06-21T04:00:00Z');

describe('alarms to a web address', () => {
  it('come one after another, and a failure is reported once', async () => {
    const got: unknown[] = [];
    let code = 200;
    const server = createServer((request, response) => {
      let text = '';
      request.on('data', (part: Buffer) => (text += part.toString()));
      request.on('end', () => {
        got.push([request.method, request.url, JSON.parse(text)]);
        response.writeHead(code).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const said: string[] = [];
    const last = (): string => said[said.length - 1];
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    const webhook = new Webhook(url, (line) => said.push(line));
    webhook.alarm(alarm, true, at);
    webhook.alarm(alarm, false, at);
    await webhook.close();
    const body = { at: '2026-06-21T04:00:00.000Z', ...alarm };
    assert.deepEqual(got, [
      ['POST', '/hook', { ...body, state: 'up' }],
      ['POST', '/hook', { ...body, state: 'over' }],
    ]);
    assert.deepEqual(said, []);
    code = 503;
    webhook.alarm(alarm, true, at);
    webhook.alarm(alarm, false, at);
    await webhook.close();
    assert.deepEqual(said, [`page.alarm-url: ${url} answers 503; alarms are on the page`]);
    code = 200;
    webhook.alarm(alarm, true, at);
    await webhook.close();
    assert.equal(last(), 'page.alarm-url: takes alarms again');
    await new Promise((resolve) => server.close(resolve));
    webhook.alarm(alarm, true, at);
    await webhook.close();
    assert.match(last(), /does not answer/);
  });

  it('read no answer to its end, and are sent to no other address', async () => {
    let [elsewhere, sentBytes, isRedirecting] = [0, 0, false];
    const part = new Uint8Array(2 ** 20);
    const server = createServer((request, response) => {
      request.resume();
      if (request.url === '/elsewhere') {
        elsewhere++;
        response.end();
      } else if (isRedirecting) response.writeHead(307, { location: '/elsewhere' }).end();
      else {
        response.on('error', () => undefined);
        // 64 MB, where no more than the buffers on the way should be read.
        const more = (): void => {
          if (sentBytes >= 64 * part.length || response.destroyed) {
            response.end();
            return;
          }
          sentBytes += part.length;
          if (response.write(part)) setImmediate(more);
          else response.once('drain', more);
        };
        more();
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const said: string[] = [];
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    const webhook = new Webhook(url, (line) => said.push(line));
    webhook.alarm(alarm, true, at);
    await webhook.close();
    assert.deepEqual(said, []);
    assert.ok(sentBytes < 32 * part.length, `${sentBytes} bytes were read`);
    isRedirecting = true;
    webhook.alarm(alarm, false, at);
    await webhook.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    assert.equal(elsewhere, 0);
    assert.match(said.join(), /answers 307, and redirections are not followed/);
  });

  it('need a web address', () => {
    for (const url of ['example.org', 'ftp://example.org', 'http://', ''])
      assert.throws(() => new Webhook(url, () => undefined), /is not a web address; write it like https/);
  });
});
