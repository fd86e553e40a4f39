/** Runs that end early keep their finished integrations, and report so. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { appendFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { corella, program, withFolder } from './corella.js';

const SHORT = ['--duration', '40ms', '--stations', '6', '--quiet'];
/** Many integrations, slowly. */
const CORRELATE = ['correlate', 'voltages.sigmf-meta', '--integration', '100us', '--backend', 'reference'];

interface Ended {
  readonly by: number | string;
  readonly stderr: string;
}

function start(folder: string, ...words: readonly string[]): { child: ChildProcess; end: Promise<Ended> } {
  const child = spawn(process.execPath, [program, ...words], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
  const end = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => {
      resolve({ by: code ?? signal ?? 'nothing', stderr });
    });
  });
  return { child, end };
}

/**
 * Waits until the hidden file has some integrations; a child that ends by itself makes the test fail instead of wait.
 */
async function someWritten(folder: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const [part] = (await readdir(folder)).filter((name) => name.endsWith('.part'));
    if (part && (await stat(join(folder, part)).catch(() => ({ size: 0 }))).size > 400_000) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const integrationsIn = async (folder: string, path: string): Promise<number> => {
  const ran = await corella(folder, 'inspect', path, '--json');
  assert.equal(ran.code, 0, ran.stderr);
  return (JSON.parse(ran.stdout) as { integrations: number }).integrations;
};

describe('ended early', () => {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    it(`by ${signal}: the finished integrations are a whole file, and a line states how many`, async () => {
      await withFolder(async (folder) => {
        await corella(folder, 'simulate', ...SHORT);
        const { child, end } = start(folder, ...CORRELATE, '-o', 'v.uvfits');
        await someWritten(folder, child);
        child.kill(signal);
        const { by, stderr } = await end;
        assert.equal(by, code, stderr);
        const match =
          /^corella: correlate: stopped by SIG[A-Z]+; v\.uvfits is whole and holds the (\d+) integrations that were finished\n$/m.exec(
            stderr,
          );
        assert.ok(match, stderr);
        assert.equal(await integrationsIn(folder, 'v.uvfits'), Number(match[1]));
        assert.deepEqual((await readdir(folder)).sort(), [
          'v.uvfits',
          'voltages.sigmf-data',
          'voltages.sigmf-meta',
        ]);
      });
    });

  it('by kill -9: the next run names what is left, and recover makes a file of it', async () => {
    await withFolder(async (folder) => {
      await corella(folder, 'simulate', ...SHORT);
      const { child, end } = start(folder, ...CORRELATE, '-o', 'v.uvh5');
      await someWritten(folder, child);
      child.kill('SIGKILL');
      await end;
      assert.ok(!(await readdir(folder)).includes('v.uvh5'));
      const next = await corella(folder, 'correlate', 'voltages.sigmf-meta', '-o', 'v.uvh5');
      assert.match(
        next.stderr,
        /an earlier run was killed while it wrote v\.uvh5; .* corella recover v\.uvh5/,
      );
      const refused = await corella(folder, 'recover', 'v.uvh5');
      assert.match(refused.stderr, /v\.uvh5: is there already; move it away, or give --overwrite/);
      const recovered = await corella(folder, 'recover', 'v.uvh5', '--overwrite');
      assert.equal(recovered.code, 0, recovered.stderr);
      const match = /^v\.uvh5: (\d+) integrations? recovered\n$/.exec(recovered.stdout);
      assert.ok(match, recovered.stdout);
      assert.ok(Number(match[1]) > 0);
      assert.equal(await integrationsIn(folder, 'v.uvh5'), Number(match[1]));
      // The state after live is killed in the middle of a write; and another run without finished integrations.
      const { size } = await stat(join(folder, 'v.uvh5'));
      await appendFile(join(folder, 'v.uvh5'), new Uint8Array(5000).fill(7));
      await writeFile(join(folder, '.v.uvh5.999999999-0123456789ab.part'), new Uint8Array(96));
      const repaired = await corella(folder, 'recover', 'v.uvh5');
      assert.match(
        repaired.stdout,
        new RegExp(`^v\\.uvh5: ${match[1]} integrations?, whole\n.*no integration was finished`),
      );
      assert.equal((await stat(join(folder, 'v.uvh5'))).size, size);
      await corella(folder, 'recover', 'v.uvh5', '--remove');
      assert.ok((await readdir(folder)).every((name) => !name.endsWith('.part')));
      const again = await corella(folder, 'recover', 'v.uvh5', '--remove');
      assert.equal(again.code, 0, 'nothing to do is no failure');
      assert.match(again.stdout, /no files of killed runs here; nothing to repair/);
      const none = await corella(folder, 'recover', 'none.uvh5');
      assert.equal(none.code, 1);
      assert.match(none.stderr, /none\.uvh5: is not there, and no killed run left anything of it/);
    });
  });

  it('recover refuses what holds no visibilities at all', () =>
    withFolder(async (folder) => {
      for (const [name, text, why] of [
        ['empty.uvh5', '', /empty\.uvh5: the file is empty/],
        ['hello.uvh5', 'hello', /hello\.uvh5: is named like UVH5 but does not hold it/],
        ['hello.uvfits', 'hello', /hello\.uvfits: is named like UVFITS but does not hold it/],
      ] as const) {
        await writeFile(join(folder, name), text);
        const { code, stderr } = await corella(folder, 'recover', name);
        assert.equal(code, 1);
        assert.match(stderr, why);
      }
    }));
});
