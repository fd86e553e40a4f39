import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AlarmState, type Fault } from './alarms.js';

const fault = (id: string, more: Partial<Fault> = {}): Fault => ({
  id,
  severity: 'warning',
  what: `${id} is wrong`,
  where: 'x',
  fix: 'y',
  ...more,
});
const ids = (alarms: AlarmState): string[] => alarms.all.map(({ id }) => id);

describe('alarms', () => {
  it('keep their beginning and whether someone saw them for as long as they last', () => {
    const changes: string[] = [];
    const alarms = new AlarmState(({ id }, isUp) => changes.push(`${id} ${isUp ? 'up' : 'over'}`));
    assert.ok(alarms.update([fault('disk')], 100));
    assert.ok(alarms.acknowledge('disk')?.acknowledged);
    assert.ok(!alarms.update([fault('disk')], 160), 'nothing changed');
    assert.deepEqual([alarms.all[0].sinceUnixS, alarms.all[0].acknowledged], [100, true]);
    assert.ok(alarms.update([], 170));
    assert.ok(alarms.update([fault('disk')], 180));
    assert.deepEqual([alarms.all[0].sinceUnixS, alarms.all[0].acknowledged], [180, false], 'a new one');
    assert.deepEqual(changes, ['disk up', 'disk over', 'disk up']);
    assert.equal(alarms.acknowledge('other'), undefined);
  });

  it('list the worst first, then the oldest, and consequences under their cause', () => {
    const alarms = new AlarmState();
    alarms.update([fault('old')], 1);
    alarms.update([fault('old'), fault('young')], 2);
    const alarm = fault('late-alarm', { severity: 'alarm' });
    alarms.update([fault('young'), fault('old'), alarm], 3);
    assert.deepEqual(ids(alarms), ['late-alarm', 'old', 'young']);
    // A cause together with its alarm counts as one.
    alarms.update([fault('old'), fault('cause'), { ...alarm, because: 'cause' }, fault('young')], 4);
    assert.deepEqual(ids(alarms), ['cause', 'late-alarm', 'old', 'young']);
    // A cause that is over explains nothing.
    alarms.update([fault('old'), { ...alarm, because: 'cause' }], 5);
    assert.deepEqual(ids(alarms), ['late-alarm', 'old']);
    assert.deepEqual([alarms.count('alarm'), alarms.count('warning')], [1, 1]);
  });
});
