// Builds casacore/measurement-set.cpp, which reads and writes Measurement Sets through casacore, into build/casacore/,
// and casacore/try-set.cpp, which opens one in a separate process. If casacore is not installed, prints one line with
// what to install, and fails. Takes about a minute of one core.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'casacore', 'measurement-set.cpp');
const target = join(root, 'build', 'casacore');
const library = join(target, 'measurement-set.so');
const trialSource = join(root, 'casacore', 'try-set.cpp');
const trial = join(target, 'try-set');

/**
 * @param {string} why
 * @returns {never}
 */
function fail(why) {
  console.error(why);
  process.exit(1);
}

/**
 * @param {string} made
 * @param {string} of
 */
const isNewer = (made, of) => existsSync(made) && statSync(made).mtimeMs >= statSync(of).mtimeMs;
if (isNewer(library, source) && isNewer(trial, trialSource)) process.exit(0);
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
/**
 * @param {string} what
 * @param {readonly string[]} words
 */
function compile(what, words) {
  const { status, stderr, error } = spawnSync(compiler, [...extra, '-std=c++17', '-O2', ...words], {
    encoding: 'utf8',
  });
  if (error) fail('there is no C++ compiler: apt install g++');
  if (status === 0) return;
  fail(
    /fatal error: (\S+): No such file|cannot find -l/.test(stderr)
      ? `casacore is not installed: apt install ${debian}`
      : `${what} does not compile: ${stderr}`,
  );
}
if (!isNewer(library, source))
  compile('casacore/measurement-set.cpp', [
    ...[
      '-shared',
      '-fPIC',
      '-Wl,-soname,measurement-set.so',
      '-I/usr/include/casacore',
      source,
      '-o',
      library,
    ],
    ...links.map((link) => `-l${link}`),
  ]);
compile('casacore/try-set.cpp', [trialSource, library, '-Wl,-rpath,$ORIGIN', '-o', trial]);
