import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryFolder } from '../../../core/testing/temporary-folder.js';
import { startWriting } from './writing-process.js';

it('a process that dies while it writes a set ends that set alone, with its last words', async () => {
  const path = join(temporaryFolder('writing'), 'x.ms');
  const growing = `${path}.growing`;
  const writing = startWriting(path, growing, new URL('./aborting.testing.js', import.meta.url));
  await writing.call('ms_create');
  assert.ok(existsSync(growing));
  const why = {
    where: path,
    kind: 'file.unwritable',
    what: /cannot be written by casacore \(.*SIGABRT: terminate called after.*it is broken\); what was written of this set is removed/,
  };
  await assert.rejects(writing.call('ms_append'), why);
  await assert.rejects(writing.call('ms_close'), why);
  await writing.end();
  assert.ok(!existsSync(growing));
});
