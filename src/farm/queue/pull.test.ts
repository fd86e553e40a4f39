import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import type { Consumer, JsMsg } from '@nats-io/jetstream';
import { nextMessage } from './pull.js';

describe('a pull', () => {
  it('leaves no listener of the stop behind, whether a message came or the server went', async () => {
    const { signal } = new AbortController();
    const message = {} as JsMsg;
    const quick = { next: () => Promise.resolve(message) } as unknown as Consumer;
    const gone = { next: () => Promise.reject(new Error('gone')) } as unknown as Consumer;
    for (let n = 0; n < 12; n++) {
      assert.equal(await nextMessage(quick, signal), message);
      await assert.rejects(nextMessage(gone, signal), /gone/);
    }
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });
});
