/** The native library has the same bytes on every build machine. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../core/testing/temporary-folder.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Two sources, one of them with a header of another folder, are enough: their paths are in the debug information. */
const sources = ['src/backend/cpu/processor.cpp', 'src/receive/native/send.cpp'];
const scripts = ['build-native.js', 'processor.js', 'prototypes.js', 'targets.js'].map(
  (name) => `scripts/${name}`,
);

describe('the native library', () => {
  it('is built to the same bytes in any folder', (test) => {
    if (!existsSync(join(root, 'src')) || spawnSync(process.env.CXX ?? 'g++', ['--version']).error) {
      test.skip('needs the sources and a C++ compiler');
      return;
    }
    const headers = ['backend/cpu', 'receive/native'].flatMap((folder) =>
      readdirSync(join(root, 'src', folder))
        .filter((name) => name.endsWith('.h'))
        .map((name) => `src/${folder}/${name}`),
    );
    const built = ['here', 'somewhere/further/away'].map((name) => {
      const folder = join(temporaryFolder('reproducible'), name);
      for (const path of [...sources, ...headers, ...scripts, 'package.json']) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        cpSync(join(root, path), join(folder, path));
      }
      execFileSync(process.execPath, [join(folder, 'scripts/build-native.js')], { cwd: '/' });
      const target = join(folder, 'dist/native');
      const library = readdirSync(target).find((file) => file.startsWith('libcorella')) ?? '';
      const bytes = readFileSync(join(target, library));
      assert.ok(!bytes.includes(folder), 'the folder is named in it');
      return { bytes, record: readFileSync(join(target, 'build.json'), 'utf8') };
    });
    assert.ok(built[0].bytes.length > 10_000);
    assert.ok(built[0].bytes.equals(built[1].bytes));
    assert.equal(built[0].record, built[1].record);
  });
});
