import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { decode, listen, open } from './wire.js';
import { takeToken, token } from './token.js';

/** A stand-in for the browser's WebSocket, as far as these modules use it. */
class FakeSocket {
  static readonly OPEN = 1;
  static made: FakeSocket[] = [];
  readonly said: unknown[] = [];
  readyState = 1;
  onopen: (() => void) | undefined;
  onmessage: ((event: { data: unknown }) => void) | undefined;
  constructor(
    readonly url: string,
    readonly protocols: readonly string[],
  ) {
    FakeSocket.made.push(this);
  }
  send(text: string): void {
    this.said.push(JSON.parse(text));
  }
}
const kept = new Map<string, string>();
const address = { origin: 'https://lwa.example:8443', hash: '', pathname: '/' };
const replaced: string[] = [];
Object.assign(globalThis, {
  WebSocket: FakeSocket,
  location: address,
  history: { replaceState: (_state: unknown, _title: string, url: string) => replaced.push(url) },
  sessionStorage: {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  },
});

/** A message as in docs/page.md: u32 length, u32 0, the head padded to 8 bytes, float32. */
function message(head: unknown, values: readonly number[]): ArrayBuffer {
  const text = new TextEncoder().encode(JSON.stringify(head));
  const at = 8 + 8 * Math.ceil(text.length / 8);
  const bytes = new Uint8Array(at + 4 * values.length);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, 8);
  bytes.set(new Uint8Array(Float32Array.from(values).buffer), at);
  return bytes.buffer;
}

describe('the page and its socket', () => {
  beforeEach(() => {
    FakeSocket.made = [];
    kept.clear();
    address.hash = '';
    replaced.length = 0;
  });

  it('reads numbers behind a head of any length', () => {
    for (let more = 0; more < 9; more++) {
      const head = { topic: 'sky', note: 'x'.repeat(more) };
      const found = decode(message(head, [1, -2.5, 1e30]));
      assert.deepEqual(found.head, head);
      assert.deepEqual([...found.values], [...Float32Array.of(1, -2.5, 1e30)], `${more} letters`);
    }
    assert.equal(decode(message({ topic: 'sky' }, [])).values.length, 0);
  });

  it('subscribes once for all listeners of a topic, and unsubscribes with the last of them', () => {
    open();
    const [socket] = FakeSocket.made;
    assert.equal(socket.url, 'wss://lwa.example:8443/live');
    const seen: unknown[] = [];
    const ends = [1, 2].map((k) => listen('alarms', (value) => seen.push([k, value])));
    assert.deepEqual(socket.said, [{ subscribe: ['alarms'] }]);
    socket.onmessage?.({ data: JSON.stringify({ topic: 'alarms', value: ['full disk'] }) });
    // A later listener gets the current value at once.
    ends.push(listen('alarms', (value) => seen.push([3, value])));
    assert.deepEqual(
      [...seen],
      [1, 2, 3].map((k) => [k, ['full disk']]),
    );
    ends[0]();
    ends[1]();
    assert.equal(socket.said.length, 1, 'one still listens');
    ends[2]();
    assert.deepEqual(socket.said[1], { unsubscribe: ['alarms'] });
    // Outdated values are not shown.
    listen('alarms', (value) => seen.push([4, value]))();
    assert.equal(seen.length, 3);
  });

  it('takes a token out of the address and sends it to the server alone', () => {
    address.hash = '#token=a%2Bb&x';
    takeToken();
    assert.equal(token(), 'a+b');
    assert.deepEqual(replaced, ['/'], 'it is not seen or bookmarked');
    open();
    assert.deepEqual(FakeSocket.made[0].protocols, ['corella', 'token.a+b']);
    assert.ok(!FakeSocket.made[0].url.includes('a+b'));
  });
});
