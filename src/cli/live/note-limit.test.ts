import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NoteLimit } from './note-limit.js';

describe('notes of a live run', () => {
  it('that differ in numbers alone are shown ten times a minute, and the others counted', () => {
    let nowMs = 0;
    const limit = new NoteLimit(() => nowMs);
    let shown = 0;
    for (let n = 0; n < 23_000; n++) {
      nowMs += 0.002;
      assert.deepEqual(limit.takeLeft(), []);
      if (limit.isShown(`stream epoch ${n}, from 2026-11-20T00:00:0${n % 10}Z`)) shown++;
    }
    assert.equal(shown, 10);
    assert.ok(limit.isShown('another'));
    nowMs += 60_000;
    const [line, ...more] = limit.takeLeft();
    assert.match(line, /^22990 more notes within a minute like this one: stream epoch 0,/);
    assert.equal(more.length, 0);
    assert.ok(limit.isShown('stream epoch 23000, from 2026-11-20T00:01:00Z'));
    assert.deepEqual(limit.takeLeft('end'), []);
  });

  it('are counted at the end', () => {
    const limit = new NoteLimit(() => 0);
    for (let n = 0; n < 12; n++) limit.isShown(`note ${n}`);
    assert.deepEqual(limit.takeLeft('end'), ['2 more notes within a minute like this one: note 0']);
  });
});
