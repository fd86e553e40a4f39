// First light, and one test file of each module, on other versions of Node, from npm's registry (cached in
// build/packages/): npm run test:nodes [-- 22 24]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unpackPackage } from './bundle-parts.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const asked = process.argv.slice(2);
const majors = (asked.length > 0 ? asked : ['22', '24']).filter(
  (major) => !process.versions.node.startsWith(`${major}.`),
);

/** Of each module the test of the file with its name, or the first that needs no real files. */
const files = readdirSync(dist, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'acceptance')
  .flatMap(({ name }) => {
    const tests = readdirSync(join(dist, name), { recursive: true })
      .map(String)
      .filter((file) => file.endsWith('.test.js'))
      .filter(
        (file) => !/real-?files|TEST_DATA|skipCaptures/i.test(readFileSync(join(dist, name, file), 'utf8')),
      )
      .sort();
    const first = tests.find((file) => basename(file) === `${name}.test.js`) ?? tests.at(0);
    return first === undefined ? [] : [join(name, first)];
  });

const folder = mkdtempSync(join(tmpdir(), 'corella-nodes-'));
process.once('exit', () => {
  rmSync(folder, { recursive: true, force: true });
});
for (const major of majors) {
  const node = join(unpackPackage(`node-${process.platform}-${process.arch}`, major), 'bin', 'node');
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  console.log(`== Node ${version}`);
  /** @param {readonly string[]} words */
  const must = (...words) => {
    if (spawnSync(node, words, { cwd: folder, stdio: 'inherit' }).status !== 0) process.exitCode = 1;
  };
  must(join(dist, 'cli', 'main.js'), 'demo', '-o', major);
  must(join(root, 'scripts', 'run-tests.js'), ...files);
}
