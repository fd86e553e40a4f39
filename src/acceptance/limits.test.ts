/**
 * Effects of shells, files and names on a command: it ends with a sentence, never a stack trace, and no terminal codes.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { program } from './corella.js';

const folder = temporaryFolder('limits');

/** In a shell with a limit on open files. */
function ran(files: number, ...words: readonly string[]): { code: number | null; all: string } {
  const script = `ulimit -n ${files}; exec "$@"`;
  const { status, stdout, stderr } = spawnSync(
    'sh',
    ['-c', script, 'sh', process.execPath, program, ...words],
    { cwd: folder, encoding: 'utf8' },
  );
  return { code: status, all: stdout + stderr };
}

describe('commands under limits', { skip: process.platform === 'win32' && 'no ulimit' }, () => {
  it('with few open files allowed: they work, or report in a sentence what to do', () => {
    for (const files of [128, 24]) {
      for (const words of [
        ['sample', 'station', '--overwrite'],
        ['correlate', 'voltages.sigmf-meta', '--channels', '16', '-o', 'v.uvh5', '--overwrite'],
        ['inspect', 'v.uvh5'],
      ]) {
        const { code, all } = ran(files, ...words);
        assert.doesNotMatch(
          all,
          /\n\s+at |an error in corella|node:internal/,
          `${files}: ${words.join(' ')}\n${all}`,
        );
        if (code !== 0) assert.match(all, /corella: .+; /, `${files}: ${words.join(' ')}\n${all}`);
        if (files === 128) assert.equal(code, 0, all);
      }
    }
  });

  it('a null byte in a name that a file gives is a sentence', () => {
    writeFileSync(
      join(folder, 'null.json'),
      JSON.stringify({
        corella: 1,
        source: { recording: 'a\0b.sigmf-meta' },
        products: [{ visibilities: 'v.uvh5' }],
      }),
    );
    const { code, all } = ran(256, 'check', 'null.json');
    assert.notEqual(code, 0);
    assert.match(all, /null byte/);
    assert.doesNotMatch(all, /\n\s+at |\0/, all);
  });

  it('control characters of a name are shown, not obeyed', () => {
    const { code, all } = ran(256, 'inspect', 'a\u001b[31mred\u0007.uvh5');
    assert.notEqual(code, 0);
    assert.doesNotMatch(all, /[\u0000-\u0008\u000e-\u001f]/);
    assert.match(all, /red/);
  });
});
