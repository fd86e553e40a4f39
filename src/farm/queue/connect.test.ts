import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectQueue } from './connect.js';
import { hasWaitedLong } from './worker.js';

describe('a server that does not answer', () => {
  it('is waited for as long as the caller bears, which is told, and then refused with a reason', async () => {
    const told: string[] = [];
    let attempts = 0;
    await assert.rejects(
      // Nobody listens on port 1.
      connectQueue({ server: 'nats://127.0.0.1:1' }, 'a test', {
        waits: true,
        onTrouble: (line) => told.push(line),
        givesUp: () => ++attempts > 1,
      }),
      /CorellaError: no server answers at nats:\/\/127\.0\.0\.1:1: .*given up; start the server/,
    );
    assert.equal(told.length, 1);
    assert.match(told[0], /trying on/);
  });

  it('is not what is told where a certificate cannot be read', async () => {
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
