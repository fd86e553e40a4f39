import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Integration } from '../core/blocks.js';
import { writeIntegrations } from './visibilities.js';

/** A writer that notes what was asked of it. */
const notebook = () => {
  const notes: string[] = [];
  const note = (word: string) => (): Promise<void> => {
    notes.push(word);
    return Promise.resolve();
  };
  return { notes, append: note('append'), finish: note('finish'), abandon: note('abandon') };
};
async function* integrations(count: number, failure?: Error): AsyncGenerator<Integration> {
  for (let k = 0; k < count; k++) yield await Promise.resolve({} as Integration);
  if (failure) throw failure;
}

it('integrations are written one after the other, counted and finished', async () => {
  const writer = notebook();
  const counts: number[] = [];
  const written = await writeIntegrations(
    () => Promise.resolve(writer),
    integrations(3),
    (count) => void counts.push(count),
  );
  assert.equal(written, 3);
  assert.deepEqual(counts, [1, 2, 3]);
  assert.deepEqual(writer.notes, ['append', 'append', 'append', 'finish']);
});

it('what breaks off half-way is abandoned, and told', async () => {
  const writer = notebook();
  const broken = integrations(2, new Error('the disk is gone'));
  await assert.rejects(
    writeIntegrations(() => Promise.resolve(writer), broken),
    /the disk is gone/,
  );
  assert.deepEqual(writer.notes, ['append', 'append', 'abandon']);
});
