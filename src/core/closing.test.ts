import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Closers, closes, closingAfter, nothingToClose, preparing, type Closable } from './closing.js';

/** Closables that record when they are closed. */
function witness() {
  const gone: string[] = [];
  const thing = (name: string, outcome: 'well' | 'badly' = 'well'): Closable => ({
    close: async () => {
      await Promise.resolve();
      gone.push(name);
      if (outcome === 'badly') throw new Error(`${name} would not close`);
    },
  });
  return { gone, thing };
}

describe('closers', () => {
  it('close everything once, the youngest first', async () => {
    const { gone, thing } = witness();
    const closers = new Closers();
    const first = thing('first');
    assert.equal(closers.keep(first), first);
    closers.keep(thing('second'));
    closers.keep({ close: closes(() => void gone.push('at once')) });
    closers.keep({ close: nothingToClose });
    await closers.close();
    await closers.close();
    assert.deepEqual(gone, ['at once', 'second', 'first']);
  });

  it('go on when one fails, and report the first failure', async () => {
    const { gone, thing } = witness();
    const closers = new Closers();
    closers.keep(thing('old', 'badly'));
    closers.keep(thing('between'));
    closers.keep(thing('young', 'badly'));
    await assert.rejects(closers.close(), /young would not close/);
    assert.deepEqual(gone, ['young', 'between', 'old']);
  });

  it('keep what is made side by side, and wait for all of it before they fail', async () => {
    const { gone, thing } = witness();
    const closers = new Closers();
    const slowly = async (name: string): Promise<Closable> => {
      for (let n = 0; n < 5; n++) await Promise.resolve();
      gone.push(`${name} made`);
      return thing(name);
    };
    const [a, b] = await closers.keepAll([slowly('a'), slowly('b')]);
    assert.notEqual(a, b);
    const failing = closers.keepAll([Promise.reject<Closable>(new Error('no room')), slowly('c')]);
    await assert.rejects(failing, /no room/);
    await closers.close();
    assert.deepEqual(gone, ['a made', 'b made', 'c made', 'c', 'b', 'a']);
  });
});

describe('closing', () => {
  it('at once reports a failure as a rejection', async () => {
    const close = closes(() => {
      throw new Error('stuck');
    });
    await assert.rejects(close(), /stuck/);
  });

  it('of what a preparation had opened when it failed', async () => {
    const { gone, thing } = witness();
    const failing = preparing((closers) => {
      closers.keep(thing('one'));
      closers.keep(thing('two', 'badly'));
      throw new Error('no memory for three');
    });
    // The first error is reported, not one from closing.
    await assert.rejects(failing, /no memory for three/);
    assert.deepEqual(gone, ['two', 'one']);
    const made = await preparing((closers) => closers.keep(thing('three')));
    assert.deepEqual(gone, ['two', 'one']);
    await made.close();
    assert.deepEqual(gone, ['two', 'one', 'three']);
  });

  it('after work that went well or badly', async () => {
    const { gone, thing } = witness();
    const result = await closingAfter((closers) => {
      closers.keep(thing('one'));
      return Promise.resolve(7);
    });
    assert.equal(result, 7);
    await assert.rejects(
      closingAfter((closers) => {
        closers.keep(thing('two', 'badly'));
        throw new Error('lost the thread');
      }),
      /lost the thread/,
    );
    await assert.rejects(
      closingAfter((closers) => {
        closers.keep(thing('three', 'badly'));
      }),
      /three would not close/,
    );
    assert.deepEqual(gone, ['one', 'two', 'three']);
  });
});
