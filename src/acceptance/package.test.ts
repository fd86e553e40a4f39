/**
 * Contents of an install from the registry: everything that runs, everything that builds the native library, nothing
 * else.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { program } from './corella.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const packed = z.array(z.object({ files: z.array(z.object({ path: z.string() })) }));

const pinned = z.record(z.string(), z.string().regex(/^\d+\.\d+\.\d+$/));

const cycloneDx = z.object({
  bomFormat: z.string(),
  specVersion: z.string(),
  components: z.array(
    z.object({
      name: z.string(),
      version: z.string(),
      'bom-ref': z.string(),
      purl: z.string().optional(),
      hashes: z.array(z.object({ alg: z.literal('SHA-512'), content: z.string() })).optional(),
    }),
  ),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
});

const noLock = existsSync(`${root}/package-lock.json`) ? false : 'a bundle is not packed again';

describe('the package', () => {
  it('names every dependency by one version', () => {
    const manifest: unknown = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
    z.object({ dependencies: pinned, devDependencies: pinned }).parse(manifest);
  });

  it('takes no dependency that needs a newer Node than it does', { skip: noLock }, () => {
    const lock = z
      .object({
        packages: z.record(
          z.string(),
          z.object({ engines: z.object({ node: z.string().optional() }).optional() }),
        ),
      }) // prettier-ignore
      .parse(JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8')));
    const needed = (path: string): string => lock.packages[path].engines?.node ?? '*';
    const least = Number(/^>=(\d+)$/.exec(needed(''))?.[1]);
    // `>=18`, `^20.19.0`, `*`, and several of these with ||.
    const fits = (one: string): boolean => {
      const [, sign, major] = /^(>=|\^|~)?\s*v?(\d+)/.exec(one.trim()) ?? [];
      return one.trim() === '*' || (sign === '>=' ? Number(major) <= least : Number(major) === least);
    };
    const newer = Object.keys(lock.packages).filter((path) => !needed(path).split('||').some(fits));
    assert.deepEqual(newer, []);
  });

  it(
    'holds the program, its C++ and what builds it; no tests, no library of one machine',
    { skip: noLock },
    () => {
      const { stdout, status, stderr } = spawnSync(
        'npm',
        ['pack', '--dry-run', '--json', '--ignore-scripts'],
        {
          cwd: root,
          encoding: 'utf8',
        },
      );
      assert.equal(status, 0, stderr);
      const paths = packed.parse(JSON.parse(stdout))[0].files.map(({ path }) => path);
      for (const needed of [
        'dist/cli/main.js',
        // Declarations are written by a build that checks types, as before packing.
        ...(existsSync(`${root}/dist/.tsbuildinfo`) ? ['dist/index.d.ts'] : []),
        'dist/telescope/data/lwasv.csv',
        'dist/channelise/cuda/channelise-plain.cu',
        'src/channelise/cpu/channelise.cpp',
        'src/backend/cpu/native.h',
        'scripts/build-native.js',
        'scripts/targets.js',
        'scripts/processor.js',
        'LICENSE',
        'README.md',
      ])
        assert.ok(paths.includes(needed), `${needed} is not in it`);
      const spare = paths.filter((path) =>
        /\.test\.|testing|acceptance|dist\/native|tsbuildinfo|\.map$/.test(path),
      );
      assert.deepEqual(spare, []);
      // No remaining file needs one that was left out.
      const kept = new Set(paths);
      for (const path of paths.filter((one) => one.endsWith('.js') && one.startsWith('dist/'))) {
        const text = readFileSync(`${root}/${path}`, 'utf8');
        for (const [, to] of text.matchAll(/^(?:import|export) [^'\n]*from '(\.[^']+)'/gm)) {
          const wanted = new URL(to, `file:///${path}`).pathname.slice(1);
          assert.ok(kept.has(wanted), `${path} needs ${wanted}`);
        }
      }
    },
  );

  it('lists what of other people is shipped, the same bytes from the same lock file', (test) => {
    const script = `${root}/scripts/sbom.js`;
    if (!existsSync(script)) {
      test.skip('a bundle has no scripts');
      return;
    }
    const made = ['one', 'two'].map((name) => {
      const folder = join(temporaryFolder('sbom'), name);
      execFileSync(process.execPath, [script, '--out', folder, '--target', 'linux-x64']);
      const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
      return { bill: read('sbom.cdx.json'), notices: read('THIRD-PARTY-NOTICES.txt') };
    });
    assert.deepEqual(made[0], made[1]);
    const { bill, notices } = made[0];
    const { components, dependencies, ...head } = cycloneDx.parse(JSON.parse(bill));
    assert.deepEqual([head.bomFormat, head.specVersion], ['CycloneDX', '1.5']);
    const manifest = z
      .object({ dependencies: pinned })
      .parse(JSON.parse(readFileSync(`${root}/package.json`, 'utf8')));
    // lit and uplot are in the page's script, and h5wasm's licence is not in the SPDX list.
    const wanted = [
      ...Object.keys(manifest.dependencies),
      'lit',
      'lit-html',
      'uplot',
      '@koromix/koffi-linux-x64',
    ];
    for (const name of wanted) {
      const found = components.find((one) => one.name === name);
      assert.ok(found?.purl?.endsWith(`@${found.version}`) && found.hashes?.[0].content.length === 128, name);
      assert.ok(found && notices.includes(`${name} ${found.version}, `), name);
    }
    assert.ok(notices.includes('Copyright (c) 2011 Einar Otto Stangvik'), "ws's licence");
    const names = components.map(({ name }) => name);
    for (const absent of ['typescript', 'eslint', '@koromix/koffi-win32-x64'])
      assert.ok(!names.includes(absent));
    assert.ok(names.includes('node'));
    // Every reference resolves.
    const refs = new Set([...components.map((one) => one['bom-ref']), dependencies[0].ref]);
    for (const { ref, dependsOn } of dependencies)
      for (const one of [ref, ...dependsOn]) assert.ok(refs.has(one), one);
    assert.ok(dependencies[0].dependsOn.length >= Object.keys(manifest.dependencies).length + 2);
  });

  it('refuses an old Node in one line', () => {
    // The version that the process reports, set before the program reads it.
    const hook = 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"18.20.8"})';
    const { stdout, stderr, status } = spawnSync(process.execPath, ['--import', hook, program, 'demo'], {
      encoding: 'utf8',
    });
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.equal(stderr, 'corella: Node 18.20.8 is too old; install Node 20 or newer (https://nodejs.org)\n');
  });
});
