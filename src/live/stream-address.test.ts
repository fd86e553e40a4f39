import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isStreamName, parseStreamAddress } from './stream-address.js';

describe('names of streams', () => {
  it('have a scheme, a host and a port, the default one where there is one', () => {
    const addresses: readonly (readonly [string, string, string, number])[] = [
      ['tcp://a:12', 'tcp', 'a', 12],
      ['kraken:b', 'kraken', 'b', 5000],
      ['kraken2:b:9', 'kraken2', 'b', 9],
      ['rtl_tcp:192.168.1.7', 'rtl_tcp', '192.168.1.7', 1234],
      ['rtl_tcp://[::1]:4', 'rtl_tcp', '::1', 4],
      ['zmq:radio:5555', 'zmq', 'radio', 5555],
    ];
    for (const [text, scheme, host, port] of addresses) {
      assert.ok(isStreamName(text));
      assert.deepEqual(parseStreamAddress(text), { scheme, host, port });
    }
    assert.ok(isStreamName('-') && !isStreamName('zmq.bin') && !isStreamName('tcp:a:1'));
  });

  it('without a port where there is no default, or with one that is none, are refused', () => {
    for (const text of ['zmq:radio', 'tcp://a', 'rtl_tcp:a:99999', 'kraken:'])
      assert.throws(() => parseStreamAddress(text), /names no host and port|is no port/, text);
  });
});
