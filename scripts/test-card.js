// npm run test:card: a bundle with every test for a machine with an NVIDIA card, and what to type there. Its native
// library has the instruction sets of current servers alone.
//   npm run test:card                          for x86-64
//   npm run test:card -- --target linux-arm64  for that one
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { here } from './targets.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { values } = parseArgs({ options: { target: { type: 'string', default: 'linux-x64' } } });
const foreign = values.target !== here;
const env = { ...process.env, CORELLA_LEVELS: 'servers' };
/** @param {readonly string[]} words */
const node = (...words) => {
  execFileSync(process.execPath, words, { cwd: root, stdio: 'inherit', env });
};
node('scripts/build.js', '--install');
// The bundle compiles another machine's library itself.
if (!foreign) node('scripts/build-native.js');
node('scripts/bundle.js', '--target', values.target);
console.log(`
Copy build/bundle.tar.xz to the machine with the card, and type there:

  tar xJf bundle.tar.xz && bundle/corella-test

It runs everything with the card, first light too: 8 minutes on 16 cores. The last line counts what passed.`);
