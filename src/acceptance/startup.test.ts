/** Modules loaded by a command line: few for simple requests. npm run bench:startup measures the time. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { commands } from '../cli/commands.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { program } from './corella.js';

const folder = temporaryFolder('startup');
const modules = join(folder, 'modules.mjs');

/** Runs it in a process that prints every ES module it loads, and its own output. */
async function loading(
  ...words: readonly string[]
): Promise<{ readonly loaded: string[]; readonly stdout: string }> {
  await writeFile(
    join(folder, 'hooks.mjs'),
    "export const load = (url, context, next) => { process._rawDebug('loads ' + url); return next(url, context); };",
  );
  await writeFile(
    modules,
    `import { register } from 'node:module'; register(${JSON.stringify(pathToFileURL(join(folder, 'hooks.mjs')).href)});`,
  );
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    '--import',
    modules,
    program,
    ...words,
  ]);
  const loaded = [...stderr.matchAll(/^loads (file:.+)$/gm)].map(([, url]) => url);
  return { loaded: loaded.filter((url) => !url.endsWith('/modules.mjs')), stdout };
}

/** The light part, joined into a few files or not. */
const light =
  /\/cli\/(?:main|program|commands|joined\/(?:program|chunk-\w+)|startup\/renamed|report\/(?:version|escaped))\.js$|\/node_modules\/commander\//;
/** Of the joined files together: commander is 56 kB of it; the smallest command with what it needs is more. */
const MOST_JOINED_BYTES = 100e3;

async function joinedBytes(loaded: readonly string[]): Promise<number> {
  const joined = loaded.filter((url) => url.includes('/cli/joined/'));
  const sizes = await Promise.all(joined.map(async (url) => (await stat(fileURLToPath(url))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

describe('starting', () => {
  it('takes the joined modules that a build made', async () => {
    const dist = fileURLToPath(new URL('..', import.meta.url));
    const [joined, compiled] = await Promise.all(
      ['cli/joined/program.js', '.tsbuildinfo'].map((name) => stat(join(dist, name)).catch(() => undefined)),
    );
    assert.ok(joined, 'npm run build joins the modules of the command line');
    const { loaded } = await loading('--version');
    // After tsc alone they would be outdated.
    const isOld = compiled !== undefined && compiled.mtimeMs > joined.mtimeMs;
    assert.equal(
      loaded.some((url) => url.endsWith('/cli/joined/program.js')),
      !isOld,
    );
  });

  for (const words of [['--version'], ['--help'], ['help']])
    it(`corella ${words.join(' ')} loads no command`, async () => {
      const { loaded, stdout } = await loading(...words);
      assert.ok(loaded.length > 0);
      assert.deepEqual(
        loaded.filter((url) => !light.test(url)),
        [],
      );
      assert.ok((await joinedBytes(loaded)) < MOST_JOINED_BYTES);
      if (words[0] !== '--version')
        for (const [name, { summary }] of Object.entries(commands)) {
          const listed = stdout.replaceAll(/\s+/g, ' ');
          assert.ok(listed.includes(` ${name} ${summary}`), `${name} is in the list, with its summary`);
        }
    });

  it('a command loads neither what serves pages nor what talks to NATS for its help', async () => {
    for (const name of ['live', 'farm', 'view', 'worker']) {
      const { loaded, stdout } = await loading(name, '--help');
      assert.match(stdout, new RegExp(`^Usage: corella ${name}`));
      assert.ok(stdout.replaceAll(/\s+/g, ' ').includes(commands[name].about));
      assert.deepEqual(
        loaded.filter((url) => /\/node_modules\/(?:ws|prom-client|@nats-io|h5wasm)\//.test(url)),
        [],
      );
    }
  });
});
