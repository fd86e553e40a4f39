import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { commands } from './commands.js';
import { completionOf } from './completion.js';

describe('completion', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'corella-completion-'));
    await writeFile(join(folder, 'bash'), await completionOf('bash', commands));
  });
  after(() => rm(folder, { recursive: true }));

  /** The completions that bash offers for the last word. */
  async function offered(...words: readonly string[]): Promise<string[]> {
    const script = `source ${join(folder, 'bash')}; COMP_WORDS=(corella "$@"); COMP_CWORD=$#; _corella; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await promisify(execFile)('bash', ['-c', script, 'corella', ...words]);
    return stdout.split('\n').filter((word) => word !== '');
  }

  it('offers commands, their own commands, options and values', async () => {
    assert.deepEqual(await offered('corr'), ['correlate']);
    assert.deepEqual(await offered('farm', 'subm'), ['submit']);
    assert.deepEqual(await offered('correlate', '--integ'), ['--integration']);
    assert.ok((await offered('correlate', 'x.sigmf-meta', '--backend', '')).includes('reference'));
    assert.deepEqual(await offered('farm', 'submit', 'correlate', '--kurtosis-o'), ['--kurtosis-over']);
    assert.deepEqual(await offered('help', 'calibrate.leak'), ['calibrate.leakage-high']);
    assert.deepEqual(await offered('help', 'corr'), ['correlate']);
    // A path: the shell's own files.
    assert.deepEqual(await offered('correlate', '--out', ''), []);
  });

  it('knows the options of both kinds of images', async () => {
    assert.deepEqual(await offered('image', '--loop'), ['--loop-gain']);
    assert.deepEqual(await offered('image', '--tap'), ['--taper', '--taps']);
  });

  it('for zsh is that of bash, and for fish states what each option is', async () => {
    assert.ok((await completionOf('zsh', commands)).startsWith('#compdef corella\n'));
    const fish = await completionOf('fish', commands);
    assert.match(fish, /^complete -c corella .*seen_subcommand_from correlate' -l backend -x -a '[^']*cpu/m);
  });
});
