import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { queued } from './queued.js';
import { passing } from './stage.js';

const nothing = (): Promise<void> => Promise.resolve();

describe('a queue before a product', () => {
  it('hands on in order, one at a time, and waits where it is full', async () => {
    const seen: string[] = [];
    const gates: (() => void)[] = [];
    const stage = queued(
      passing(async (n: number) => {
        seen.push(`begin ${n}`);
        await new Promise<void>((resolve) => gates.push(resolve));
        seen.push(`end ${n}`);
      }),
      2,
    );
    await stage.push(0, nothing);
    await stage.push(1, nothing);
    const third = stage.push(2, nothing).then(() => seen.push('room'));
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(seen, ['begin 0']);
    gates[0]();
    await third;
    gates[1]();
    await new Promise((resolve) => setImmediate(resolve));
    gates[2]();
    await stage.flush(nothing);
    assert.deepEqual(
      seen.filter((word) => word !== 'room'),
      ['begin 0', 'end 0', 'begin 1', 'end 1', 'begin 2', 'end 2'],
    );
    assert.ok(seen.indexOf('room') > seen.indexOf('end 0'));
  });

  it('throws what failed at the next push, and hands on nothing after it', async () => {
    const seen: number[] = [];
    const full = passing((n: number) => {
      seen.push(n);
      return n === 0 ? Promise.reject(new Error('the disk is full')) : Promise.resolve();
    });
    const stage = queued(full, 3);
    await stage.push(0, nothing);
    await stage.push(1, nothing);
    await assert.rejects(stage.flush(nothing), /the disk is full/);
    await assert.rejects(stage.push(2, nothing), /the disk is full/);
    await stage.close();
    assert.deepEqual(seen, [0]);
  });
});
