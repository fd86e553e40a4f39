import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Closers } from './closers.js';

describe('closers', () => {
  it('let go of everything once, the youngest first', async () => {
    const gone: string[] = [];
    const closers = new Closers();
    const first = { close: () => void gone.push('first') };
    assert.equal(closers.keep(first), first);
    const held = { free: () => void gone.push('held') };
    assert.equal(closers.hold(held), held);
    closers.keep({
      close: async () => {
        await Promise.resolve();
        gone.push('slow');
      },
    });
    await closers.close();
    await closers.close();
    assert.deepEqual(gone, ['slow', 'held', 'first']);
  });

  it('go on when one fails, and tell the first failure', async () => {
    const gone: string[] = [];
    const closers = new Closers();
    const fails = (name: string) => ({
      close: () => {
        gone.push(name);
        throw new Error(name);
      },
    });
    closers.keep(fails('old'));
    closers.hold({ free: () => void gone.push('between') });
    closers.keep(fails('young'));
    await assert.rejects(closers.close(), /young/);
    assert.deepEqual(gone, ['young', 'between', 'old']);
  });
});
