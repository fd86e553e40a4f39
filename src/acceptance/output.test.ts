/** Output of results: closed pipes, full disks, devices; and Ctrl-C, which leaves no partial file. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { corella, program, withFolder } from './corella.js';

const hasFull = await stat('/dev/full').then(
  () => true,
  () => false,
);
const ended = (child: ReturnType<typeof spawn>): Promise<number | string> =>
  new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve(code ?? signal ?? 'nothing');
    });
  });

describe('output', () => {
  it('whose reader has gone is no fault', async () => {
    const child = spawn(process.execPath, [program, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    child.stdout.destroy();
    assert.equal(await ended(child), 0);
    assert.equal(stderr, '');
  });

  it('on a full disk is one error line', { skip: hasFull ? false : 'no /dev/full here' }, async () => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [program, 'devices'], { stdio: ['ignore', full, 'pipe'] });
    closeSync(full);
    let stderr = '';
    child.stderr?.on('data', (data: Buffer) => (stderr += data.toString()));
    assert.equal(await ended(child), 1);
    assert.equal(stderr, 'corella: standard output: cannot be written (ENOSPC)\n');
  });

  it('never takes the place of a device', async () => {
    await withFolder(async (folder) => {
      await symlink('/dev/null', join(folder, 'null.png'));
      const ran = await corella(folder, 'channelise', '--response', '--channels', '16', '-o', 'null.png');
      assert.equal(ran.code, 1);
      assert.match(ran.stderr, /^corella: null\.png: .*not a plain file.*\n$/);
      assert.ok((await stat('/dev/null')).isCharacterDevice());
    });
  });

  it('is gone after Ctrl-C', async () => {
    await withFolder(async (folder) => {
      const words = ['simulate', '--duration', '20s', '--stations', '8', '--quiet'];
      const child = spawn(process.execPath, [program, ...words], { cwd: folder, stdio: 'ignore' });
      const end = ended(child);
      // A child that ends by itself writes no more: the test then fails below instead of waiting for it.
      while (child.exitCode === null && (await readdir(folder)).length === 0) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      child.kill('SIGINT');
      assert.equal(await end, 130);
      assert.deepEqual(await readdir(folder), []);
    });
  });

  it('errors of usage name the program and the way to help', async () => {
    await withFolder(async (folder) => {
      const ran = await corella(folder, 'demo', '--wrong');
      assert.equal(ran.code, 1);
      assert.equal(
        ran.stderr,
        "corella: unknown option '--wrong'\n(add --help for the options and examples)\n",
      );
      const number = await corella(folder, 'simulate', '--stations', 'many');
      assert.equal(
        number.stderr,
        'corella: --stations: "many" is not allowed; give a whole number, at least 1\n',
      );
    });
  });
});
