// Builds casacore/measurement-set.cpp, which reads and writes Measurement Sets through casacore, into build/casacore/.
// Where casacore is not installed it says what to install, in one line, and fails. About a minute of one core, once.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'casacore', 'measurement-set.cpp');
const target = join(root, 'build', 'casacore');
const library = join(target, 'measurement-set.so');

/**
 * @param {string} why
 * @returns {never}
 */
function fail(why) {
  console.error(why);
  process.exit(1);
}

if (existsSync(library) && statSync(library).mtimeMs >= statSync(source).mtimeMs) process.exit(0);
const text = readFileSync(source, 'utf8');
const links = (/^\/\/ libraries:(.*)$/m.exec(text)?.[1] ?? '').trim().split(/\s+/);
const debian = /^\/\/ package: (.+)$/m.exec(text)?.[1] ?? 'casacore-dev';
const asked = process.env.CXX?.trim() ?? '';
const [compiler, ...extra] = (asked === '' ? 'g++' : asked).split(/\s+/);
try {
  mkdirSync(target, { recursive: true });
} catch {
  fail(`cannot write ${target}`);
}
const { status, stderr, error } = spawnSync(
  compiler,
  [
    ...[...extra, '-std=c++17', '-O2', '-shared', '-fPIC', '-I/usr/include/casacore', source, '-o', library],
    ...links.map((link) => `-l${link}`),
  ],
  { encoding: 'utf8' },
);
if (status === 0) process.exit(0);
if (error) fail('there is no C++ compiler: apt install g++');
fail(
  /fatal error: (\S+): No such file|cannot find -l/.test(stderr)
    ? `casacore is not installed: apt install ${debian}`
    : `casacore/measurement-set.cpp does not compile: ${stderr}`,
);
