import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { filesOfFolder } from './folder.js';

it('data sets of other programs are named, and other folders are listed', async () => {
  const folder = temporaryFolder('inspect-folder');
  const made = (name: string, parts: readonly string[]): string => {
    mkdirSync(join(folder, name));
    for (const part of parts) writeFileSync(join(folder, name, part), '');
    return join(folder, name);
  };
  await assert.rejects(
    filesOfFolder(made('a.uv', ['visdata', 'vartable', 'header'])),
    /is a MIRIAD data set.*fits op=uvout/,
  );
  await assert.rejects(
    filesOfFolder(made('sma', ['in_read', 'bl_read', 'sch_read', 'sp_read'])),
    /is a MIR data set of the SMA/,
  );
  const plain = made('plain', ['b.uvfits', 'a.uvh5', 'notes.txt']);
  assert.deepEqual(await filesOfFolder(plain), [join(plain, 'a.uvh5'), join(plain, 'b.uvfits')]);
});
