import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Deliveries } from './deliveries.js';

describe('deliveries', () => {
  it('hand on in order, one at a time, whatever takes long', async () => {
    const deliveries = new Deliveries();
    const seen: string[] = [];
    const gates = [0, 1].map(() => {
      let open: () => void = () => undefined;
      const opened = new Promise<void>((resolve) => (open = resolve));
      return { open, opened };
    });
    gates.forEach(({ opened }, n) => {
      deliveries.add(async () => {
        seen.push(`begin ${n}`);
        await opened;
        seen.push(`end ${n}`);
      });
    });
    await deliveries.room(3);
    const room = deliveries.room(2).then(() => seen.push('room'));
    gates[1].open();
    await Promise.resolve();
    gates[0].open();
    await room;
    await deliveries.settled();
    assert.deepEqual(seen.slice(0, 2), ['begin 0', 'end 0']);
    assert.ok(seen.indexOf('begin 1') > seen.indexOf('end 0'));
    assert.ok(seen.indexOf('room') > seen.indexOf('end 0'));
  });

  it('tell a failure to whoever asks for room next, and hand on nothing after it', async () => {
    const deliveries = new Deliveries();
    let after = 0;
    deliveries.add(() => Promise.reject(new Error('the disk is full')));
    deliveries.add(() => {
      after++;
      return Promise.resolve();
    });
    await deliveries.settled();
    await assert.rejects(deliveries.room(3), /the disk is full/);
    assert.equal(after, 0);
  });
});
