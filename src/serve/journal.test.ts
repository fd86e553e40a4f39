import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { Journal } from './journal.js';

const folder = temporaryFolder('journal');

it('every line of the journal has the time it was written', async () => {
  const path = join(folder, 'journal.jsonl');
  const journal = new Journal(
    () => undefined,
    path,
    (why) => assert.fail(why),
  );
  for (const what of ['first', 'second']) journal.add({ who: 'a test', what });
  await journal.close();
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  assert.equal(lines.length, 2);
  for (const line of lines) assert.match(String((JSON.parse(line) as { at?: string }).at), /^\d{4}-.*T.*Z$/);
});
