import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFile, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CorellaError } from '../../core/errors.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { failureText } from './failure.js';

const program = fileURLToPath(new URL('../main.js', import.meta.url));

describe('what is reported of a failure', () => {
  it('holds no control characters of names and files', () => {
    const printed = failureText(
      new CorellaError({ where: 'a\x1b[2J\x07\u009b31m\u202e.dat', what: 'is\rgone' }),
    );
    assert.equal(printed, 'corella: a\\x1b[2J\\x07\\x9b31m\\u202e.dat: is\\x0dgone\n');
    assert.ok(!failureText(new Error('a\x1bb')).includes('\x1b'));
    for (const code of ['EACCES', 'ELOOP', 'ENAMETOOLONG', 'EROFS', 'ENOSPC']) {
      const refusal = Object.assign(new Error(`${code}: in the words of the system`), { code, path: 'a/b' });
      assert.match(failureText(refusal), /^corella: a\/b: [^\n]*; [^\n]*\n$/, code);
    }
  });
  it('is a sentence for a null byte in a name', async () => {
    const error: unknown = await open('a\0b').catch((caught: unknown) => caught);
    assert.equal(
      failureText(error),
      'corella: a file name holds a null byte; check the names on the command line and in the files that name others\n',
    );
  });
  it('is a sentence for too few open files', () => {
    const error = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
    assert.match(failureText(error), /^corella: too many files are open at once; .*ulimit -n 1024\n$/);
  });
  it('is a sentence where not even the program itself can be loaded', async () => {
    // main.js with a program whose modules are too many to open; a build joins our own into two files.
    const folder = temporaryFolder('failure');
    await copyFile(program, join(folder, 'main.mjs'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await writeFile(
      join(folder, 'program.js'),
      "throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });",
    );
    const { status, stderr } = spawnSync(process.execPath, [join(folder, 'main.mjs')], { encoding: 'utf8' });
    assert.equal(status, 1);
    assert.match(stderr, /^corella: too many files are open at once; .*ulimit -n 1024\n$/);
  });
});
