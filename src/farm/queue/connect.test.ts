import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectQueue, openServerWarning, type Queue } from './connect.js';
import { hasWaitedLong } from './worker.js';

describe('a server that does not answer', () => {
  it('is waited for until the timeout, which is reported, and then refused with a reason', async () => {
    const lines: string[] = [];
    let attempts = 0;
    await assert.rejects(
      // Port 1 has no listener.
      connectQueue({ server: 'nats://127.0.0.1:1' }, 'a test', {
        waits: true,
        onTrouble: (line) => lines.push(line),
        givesUp: () => ++attempts > 1,
      }),
      /CorellaError: no server answers at nats:\/\/127\.0\.0\.1:1: .*given up; start the server/,
    );
    assert.equal(lines.length, 1);
    assert.match(lines[0], /trying on/);
  });

  it('is not the reported cause where a certificate cannot be read', async () => {
    await assert.rejects(
      connectQueue({ server: 'nats://127.0.0.1:1', tlsCa: '/nowhere/ca.pem' }, 'a test', { waits: true }),
      /CorellaError: \/nowhere\/ca\.pem: cannot be read/,
    );
  });

  it('is waited for without an end by a worker that does not end by itself', () => {
    assert.equal(hasWaitedLong(performance.now() - 1e9, undefined), false);
    assert.equal(hasWaitedLong(performance.now() - 9000, 5), false);
    assert.equal(hasWaitedLong(performance.now() - 11_000, 5), true);
    assert.equal(hasWaitedLong(performance.now() - 11_000, 60), false);
  });
});

describe('a server that asks for no credentials', () => {
  const warned = (at: string, info: object): boolean =>
    openServerWarning({ connection: { getServer: () => at, info } as unknown as Queue['connection'] }) !==
    undefined;
  it('is warned about where others reach it', () => {
    assert.ok(warned('192.0.2.7:4222', {}));
    assert.ok(warned('head.example:4222', { auth_required: false }));
    assert.ok(warned('127.example.org:4222', {}));
    assert.ok(!warned('192.0.2.7:4222', { auth_required: true }));
    assert.ok(!warned('192.0.2.7:4222', { tls_verify: true }));
    for (const at of ['127.0.0.1:4222', 'localhost:4222', '[::1]:4222']) assert.ok(!warned(at, {}), at);
  });
});
