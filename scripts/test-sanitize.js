// Builds the native library with AddressSanitizer and UndefinedBehaviorSanitizer and runs the tests of the cpu backend
// against it: an index out of bounds or an overflow ends the run with a report. Then the pool under load, and, with
// ThreadSanitizer, the same calls without Node, which ThreadSanitizer does not support: a data race between two threads
// ends the run too.
//   npm run test:sanitize            every test of the cpu backend
//   npm run test:sanitize -- WORD    those whose path contains WORD; 'threads' for ThreadSanitizer, the pool, blocks that
//                                    are followed, the receive ring and the paced sender alone
//   npm run test:sanitize -- cpu --unless-passed   AddressSanitizer and UndefinedBehaviorSanitizer, unless the same has
//                                                  passed (stamps.js)
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildReplay, record } from './replay/recordings.js';
import { nativeSources, stampOf, versionOf } from './stamps.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const words = process.argv.slice(2).filter((word) => word !== '--unless-passed');

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} environment
 */
function run(program, args, environment = {}) {
  const { status } = spawnSync(program, args, { stdio: 'inherit', env: { ...process.env, ...environment } });
  if (status !== 0) process.exit(status ?? 1);
}

const compiler = process.env.CXX?.trim().split(/\s+/)[0] ?? 'g++';
const isWhole = words.length === 0 || words.join() === 'cpu';
const stamp = isWhole ? stampOf('sanitize', [versionOf(compiler)], nativeSources()) : undefined;
if (process.argv.includes('--unless-passed') && stamp?.hasPassed()) process.exit(0);
const threads = words.length === 0 || words.includes('threads');
if (threads) watchThreads();
if (words.length === 0 || words.some((word) => word !== 'threads')) await watchMemory();
if (process.exitCode === undefined) stamp?.write();

function watchThreads() {
  // ThreadSanitizer needs fixed memory addresses; a kernel with strong address randomisation may prevent this.
  const canHold = spawnSync('setarch', ['-R', 'true']).status === 0;
  /**
   * @param {string} program
   * @param {readonly string[]} args
   */
  const runSteady = (program, args = []) => {
    const [first, ...rest] = [...(canHold ? ['setarch', '-R'] : []), program, ...args];
    run(first, rest);
  };
  const ring = ['parse', 'ring', 'listen', 'socket'].map((name) => `src/receive/native/${name}.cpp`);
  /** @type {Record<string, string[]>} */
  const stresses = {
    'pool-stress': ['scripts/replay/pool_stress.cpp', 'src/backend/cpu/pool.cpp'],
    // A sender, the receive thread, a consumer and a reader of the counters.
    'ring-stress': ['scripts/replay/ring_stress.cpp', ...ring],
    'pace-stress': ['scripts/replay/pace_stress.cpp', 'src/receive/native/send.cpp'],
  };
  mkdirSync(join(root, 'build', 'replay'), { recursive: true });
  for (const [name, paths] of Object.entries(stresses)) stress(name, paths);

  /**
   * @param {string} name
   * @param {readonly string[]} paths
   */
  function stress(name, paths) {
    const sources = paths.map((path) => join(root, path));
    for (const sanitizer of ['thread', 'address,undefined']) {
      const program = join(root, 'build', 'replay', name);
      const flags = [
        '-std=c++17',
        '-O1',
        '-g1',
        '-pthread',
        `-fsanitize=${sanitizer}`,
        `-I${join(root, 'src')}`,
      ];
      run(compiler, [...flags, ...sources, '-o', program]);
      runSteady(program);
    }
  }
  run(process.execPath, [join(root, 'scripts', 'build-native.js'), '--threads']);
  const library = join(root, 'dist', 'native-threads', `libcorella-${process.arch}.so`);
  const program = buildReplay(compiler, 'threads', ['-fsanitize=thread']);
  runSteady(program, [library, '-1', '0', ...record()]);
}

async function watchMemory() {
  run(process.execPath, [join(root, 'scripts', 'build-native.js'), '--sanitize']);

  // Node itself is not instrumented, so the runtime must be loaded before it.
  const runtimes = ['libasan.so', 'libubsan.so'].map((name) =>
    spawnSync(compiler, [`-print-file-name=${name}`], { encoding: 'utf8' }).stdout.trim(),
  );
  const tests = readdirSync(join(root, 'dist'), { recursive: true })
    .map(String)
    .filter((name) => /(^|[-/])cpu([^/]*|\/.+)\.test\.js$/.test(name))
    .filter((name) => words.length === 0 || words.some((word) => name.includes(word)))
    .map((name) => join(root, 'dist', name))
    .sort();
  if (tests.length === 0) {
    console.error(
      `no test of the cpu backend matches ${words.join(' ') || '(nothing is built: npm run build)'}`,
    );
    process.exit(1);
  }
  const queue = [...tests];
  const worker = async () => {
    for (let test = queue.shift(); test; test = queue.shift()) {
      const { output, code, seconds } = await runTest(test, runtimes);
      if (code !== 0) process.stdout.write(output);
      console.log(
        `${code === 0 ? 'ok  ' : 'FAIL'} ${seconds.toFixed(1).padStart(5)} s  ${relative(join(root, 'dist'), test)} under the sanitizers`,
      );
      if (code !== 0) process.exitCode = 1;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

/**
 * Without --test a file runs in the process with the preloaded runtime. Node leaks by design at exit, so leaks are not
 * checked; a refused allocation must be reported as such and not end the run.
 * @param {string} test
 * @param {readonly string[]} runtimes
 * @returns {Promise<{ output: string, code: number | null, seconds: number }>}
 */
function runTest(test, runtimes) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(process.execPath, [test], {
      env: {
        ...process.env,
        CORELLA_NATIVE: join(root, 'dist', 'native-sanitize'),
        LD_PRELOAD: runtimes.join(':'),
        ASAN_OPTIONS: [
          'detect_leaks=0',
          'allocator_may_return_null=1',
          'detect_stack_use_after_return=0',
        ].join(':'),
        UBSAN_OPTIONS: 'print_stacktrace=1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (/** @type {Buffer} */ data) => (output += data.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ output, code, seconds: (performance.now() - started) / 1000 });
    });
  });
}
