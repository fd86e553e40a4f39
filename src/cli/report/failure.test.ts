import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { open } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CorellaError } from '../../core/errors.js';
import { failureText } from './failure.js';

const program = fileURLToPath(new URL('../main.js', import.meta.url));

describe('what is said of a failure', () => {
  it('holds no control characters of names and files', () => {
    const told = failureText(
      new CorellaError({ where: 'a\x1b[2J\x07\u009b31m\u202e.dat', what: 'is\rgone' }),
    );
    assert.equal(told, 'corella: a\\x1b[2J\\x07\\x9b31m\\u202e.dat: is\\x0dgone\n');
    assert.ok(!failureText(new Error('a\x1bb')).includes('\x1b'));
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
  it(
    'is a sentence where not even the program itself can be loaded',
    { skip: process.platform === 'win32' },
    () => {
      const { status, stderr } = spawnSync(
        'sh',
        ['-c', `ulimit -n 40; "${process.execPath}" "${program}" inspect nowhere`],
        {
          encoding: 'utf8',
        },
      );
      assert.equal(status, 1);
      assert.match(stderr, /^corella: too many files are open at once; .*ulimit -n 1024\n$/);
    },
  );
});
