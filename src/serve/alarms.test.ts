import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AlarmBook, type Fault } from './alarms.js';

const fault = (id: string, more: Partial<Fault> = {}): Fault => ({
  id,
  severity: 'warning',
  what: `${id} is wrong`,
  where: 'x',
  fix: 'y',
  ...more,
});
const ids = (book: AlarmBook): string[] => book.all.map(({ id }) => id);

describe('alarms', () => {
  it('keep their beginning and whether someone saw them for as long as they last', () => {
    const changes: string[] = [];
    const book = new AlarmBook(({ id }, isUp) => changes.push(`${id} ${isUp ? 'up' : 'over'}`));
    assert.ok(book.judge([fault('disk')], 100));
    assert.ok(book.acknowledge('disk')?.acknowledged);
    assert.ok(!book.judge([fault('disk')], 160), 'nothing changed');
    assert.deepEqual([book.all[0].sinceUnixS, book.all[0].acknowledged], [100, true]);
    assert.ok(book.judge([], 170));
    assert.ok(book.judge([fault('disk')], 180));
    assert.deepEqual([book.all[0].sinceUnixS, book.all[0].acknowledged], [180, false], 'a new one');
    assert.deepEqual(changes, ['disk up', 'disk over', 'disk up']);
    assert.equal(book.acknowledge('other'), undefined);
  });

  it('list the worst first, then the oldest, and consequences under their cause', () => {
    const book = new AlarmBook();
    book.judge([fault('old')], 1);
    book.judge([fault('old'), fault('young')], 2);
    const alarm = fault('late-alarm', { severity: 'alarm' });
    book.judge([fault('young'), fault('old'), alarm], 3);
    assert.deepEqual(ids(book), ['late-alarm', 'old', 'young']);
    // A cause together with its alarm counts as one.
    book.judge([fault('old'), fault('cause'), { ...alarm, because: 'cause' }, fault('young')], 4);
    assert.deepEqual(ids(book), ['cause', 'late-alarm', 'old', 'young']);
    // A cause that is over explains nothing.
    book.judge([fault('old'), { ...alarm, because: 'cause' }], 5);
    assert.deepEqual(ids(book), ['late-alarm', 'old']);
    assert.deepEqual([book.count('alarm'), book.count('warning')], [1, 1]);
  });
});
