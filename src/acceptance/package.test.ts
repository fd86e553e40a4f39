/** What an install from the registry brings: all that runs, all that builds the native library, and nothing else. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { program } from './corella.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const packed = z.array(z.object({ files: z.array(z.object({ path: z.string() })) }));

const pinned = z.record(z.string(), z.string().regex(/^\d+\.\d+\.\d+$/));

describe('the package', () => {
  it('names every dependency by one version', () => {
    const manifest: unknown = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
    z.object({ dependencies: pinned, devDependencies: pinned }).parse(manifest);
  });

  it('holds the program, its C++ and what builds it; no tests, no library of one machine', () => {
    const { stdout, status, stderr } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    const paths = packed.parse(JSON.parse(stdout))[0].files.map(({ path }) => path);
    for (const needed of [
      'dist/cli/main.js',
      'dist/index.d.ts',
      'dist/telescope/data/lwasv.csv',
      'dist/channelise/cuda/channelise-plain.cu',
      'src/channelise/cpu/channelise.cpp',
      'src/backend/cpu/native.h',
      'scripts/build-native.js',
      'scripts/targets.js',
      'LICENSE',
      'README.md',
    ])
      assert.ok(paths.includes(needed), `${needed} is not in it`);
    const spare = paths.filter((path) =>
      /\.test\.|testing|acceptance|dist\/native|tsbuildinfo|\.map$/.test(path),
    );
    assert.deepEqual(spare, []);
    // Nothing that stays asks for what was left out.
    const kept = new Set(paths);
    for (const path of paths.filter((one) => one.endsWith('.js') && one.startsWith('dist/'))) {
      const text = readFileSync(`${root}/${path}`, 'utf8');
      for (const [, to] of text.matchAll(/^(?:import|export) [^'\n]*from '(\.[^']+)'/gm)) {
        const wanted = new URL(to, `file:///${path}`).pathname.slice(1);
        assert.ok(kept.has(wanted), `${path} needs ${wanted}`);
      }
    }
  });

  it('tells an old Node in one line', () => {
    // The version that this one says it is, before the program looks.
    const hook = 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"18.20.8"})';
    const { stdout, stderr, status } = spawnSync(process.execPath, ['--import', hook, program, 'demo'], {
      encoding: 'utf8',
    });
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.equal(stderr, 'corella: Node 18.20.8 is too old; install Node 20 or newer (https://nodejs.org)\n');
  });
});
