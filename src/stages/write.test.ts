import assert from 'node:assert/strict';
import { it } from 'node:test';
import { written, writtenBlocks } from './write.js';

/** A writer that records its calls. */
const notebook = () => {
  const notes: string[] = [];
  const note = (word: string) => (): Promise<void> => {
    notes.push(word);
    return Promise.resolve();
  };
  return { notes, append: note('append'), finish: note('finish'), abandon: note('abandon') };
};

it('what is appended is written in order and finished', async () => {
  const writer = notebook();
  const result = await written(
    () => Promise.resolve(writer),
    async (append) => {
      for (const item of [1, 2, 3]) await append(item);
      return 'all';
    },
  );
  assert.equal(result, 'all');
  assert.deepEqual(writer.notes, ['append', 'append', 'append', 'finish']);
});

it('what breaks off half-way is abandoned, with an error', async () => {
  const writer = notebook();
  const broken = written(
    () => Promise.resolve(writer),
    async (append) => {
      await append(1);
      throw new Error('the disk is gone');
    },
  );
  await assert.rejects(broken, /the disk is gone/);
  assert.deepEqual(writer.notes, ['append', 'abandon']);
});

it('a copy that a signal stops leaves nothing, and says so', async () => {
  const writer = notebook();
  async function* blocks(): AsyncGenerator<{ readonly samples: number }> {
    for (;;) yield await Promise.resolve({ samples: 5 });
  }
  const copied = writtenBlocks(
    () => Promise.resolve(writer),
    blocks(),
    () => 0,
    {
      path: 'copy.sigmf-meta',
      of: 100,
      // As if Ctrl-C was pressed; the test runner has its own answer to SIGINT.
      onProgress: ({ done }) => {
        if (done === 10) process.emit('SIGHUP', 'SIGHUP');
      },
    },
  );
  await assert.rejects(copied, {
    signal: 'SIGHUP',
    message: 'copy.sigmf-meta: stopped by SIGHUP; nothing was written',
  });
  assert.deepEqual(writer.notes, ['append', 'append', 'abandon']);
});
