import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsMsg } from '@nats-io/jetstream';
import { CHUNK_BYTES, Puzzle, sendResult } from './chunks.js';
import type { Queue } from './connect.js';

const message = (heads: Record<string, string>, data: readonly number[] = []): JsMsg =>
  ({
    headers: { has: (name: string) => name in heads, get: (name: string) => heads[name] ?? '' },
    data: Uint8Array.from(data),
    json: () => JSON.parse(Buffer.from(data).toString()) as unknown,
  }) as unknown as JsMsg;
const piece = (attempt: string, of: string, ...data: readonly number[]): JsMsg =>
  message({ 'Corella-Attempt': attempt, 'Corella-Piece': of }, data);

describe('results in pieces', () => {
  it('are whole when every piece has come, in any order and among others', () => {
    const puzzle = new Puzzle();
    assert.equal(puzzle.add(piece('a', '2/3', 5, 6)), undefined);
    assert.equal(puzzle.add(piece('b', '0/2', 9)), undefined);
    assert.equal(puzzle.add(piece('a', '0/3', 1, 2)), undefined);
    // Delivered twice: the same piece again.
    assert.equal(puzzle.add(piece('a', '0/3', 1, 2)), undefined);
    const whole = puzzle.add(piece('a', '1/3', 3, 4));
    assert.ok(whole?.kind === 'result');
    assert.deepEqual([...whole.bytes], [1, 2, 3, 4, 5, 6]);
    assert.equal(whole.messages.length, 4, 'all of them are let go with it');
    const other = puzzle.add(piece('b', '1/2', 10));
    assert.ok(other?.kind === 'result');
    assert.deepEqual([...other.bytes], [9, 10]);
  });

  it('of any length arrive as they were sent, though the server takes pieces of its size alone', async () => {
    for (const length of [0, 1, CHUNK_BYTES, 9 * CHUNK_BYTES + 7]) {
      const sent: JsMsg[] = [];
      const publish = (
        _subject: string,
        data: Uint8Array,
        { headers }: { readonly headers: JsMsg['headers'] },
      ) => {
        assert.ok(data.length <= CHUNK_BYTES);
        sent.push({ headers, data } as unknown as JsMsg);
        return Promise.resolve();
      };
      const bytes = Uint8Array.from({ length }, (_, n) => (n * 7 + (n >> 16)) % 251);
      await sendResult({ js: { publish } } as unknown as Queue, 'plan', 'attempt', bytes, {});
      const puzzle = new Puzzle();
      const whole = sent.map((one) => puzzle.add(one)).at(-1);
      assert.ok(whole?.kind === 'result');
      assert.equal(Buffer.compare(whole.bytes, bytes), 0, `${length} bytes`);
    }
  });

  it('are kept in memory of their own', () => {
    const puzzle = new Puzzle();
    const first = piece('a', '0/2', 1, 2);
    puzzle.add(first);
    first.data.fill(99);
    const whole = puzzle.add(piece('a', '1/2', 3));
    assert.ok(whole?.kind === 'result');
    assert.deepEqual([...whole.bytes], [1, 2, 3]);
  });

  it('that cannot be are damaged: no attempt, a place outside, another count than before', () => {
    const puzzle = new Puzzle();
    puzzle.add(piece('a', '0/2', 1));
    for (const wrong of [
      piece('', '0/2', 1),
      piece('b', '2/2', 1),
      piece('b', '-1/2', 1),
      piece('b', '0.5/2', 1),
      piece('b', '0/0', 1),
      piece('b', '0/1e9', 1),
      piece('b', 'x', 1),
      piece('a', '1/3', 2),
      message({}),
      message({ 'Corella-Failed': 'job' }, [123]),
    ])
      assert.equal(puzzle.add(wrong)?.kind, 'damaged');
    const failed = puzzle.add(message({ 'Corella-Failed': 'job' }, [...Buffer.from('{"job":"j"}')]));
    assert.deepEqual(failed?.kind === 'failed' && failed.json, { job: 'j' });
  });
});
