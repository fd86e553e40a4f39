/** Files that the system does not let us reach are refused in a sentence. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openFile } from './registry.js';

describe('files out of reach', () => {
  const folder = temporaryFolder('unreachable');
  const at = (name: string): string => join(folder, name);

  it('behind links that lead in a circle, and of names that are too long', async () => {
    symlinkSync('b.uvh5', at('a.uvh5'));
    symlinkSync('a.uvh5', at('b.uvh5'));
    await assert.rejects(openFile(at('a.uvh5')), {
      name: 'CorellaError',
      where: at('a.uvh5'),
      what: /links that lead in a circle/,
    });
    const long = at(`${'x'.repeat(300)}.uvh5`);
    await assert.rejects(openFile(long), { name: 'CorellaError', where: long, what: /longer than the file/ });
  });

  const isRoot = process.geteuid?.() === 0;
  const mayTry = process.platform !== 'win32';
  it('in folders that may not be entered or listed', { skip: !mayTry && 'no permissions here' }, async () => {
    mkdirSync(at('closed'));
    mkdirSync(at('unlisted'));
    writeFileSync(at('closed/a.uvh5'), 'x');
    chmodSync(folder, 0o755);
    chmodSync(at('closed'), 0);
    chmodSync(at('unlisted'), 0o311);
    // Root may enter everywhere.
    if (isRoot) process.seteuid?.(65534);
    try {
      for (const name of ['closed/a.uvh5', 'unlisted'])
        await assert.rejects(openFile(at(name)), {
          name: 'CorellaError',
          where: at(name),
          what: /may not be read/,
        });
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(at('closed'), 0o755);
      chmodSync(at('unlisted'), 0o755);
    }
  });
});
