// The native library on other processors, in qemu's emulators: calls recorded from the shared cases are repeated at
// every level there, and must give the same results.
//   npm run test:machines                            for the installed compilers and emulators; a minute or two
//   npm run test:machines -- --unless-passed         the same, unless it has passed (stamps.js)
//   npm run test:machines -- --whole linux-x64 WORD  whole test files in that machine's own Node, out of its bundle
//                                                    (npm run bundle -- --target linux-x64); many minutes
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildReplay, record } from './replay/recordings.js';
import { nativeSources, stampOf, versionOf } from './stamps.js';
import { here, levelsOf, targets } from './targets.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @typedef {NonNullable<(typeof targets)[keyof typeof targets]>} Target */

/**
 * Processors of qemu and the best level that must be detected on each; qemu has no AVX-512 or AMX.
 * @type {Record<string, Record<string, string> | undefined>}
 */
const processors = {
  'linux-x64': { max: 'avx2', qemu64: 'portable' },
  'linux-arm64': { max: 'i8mm', 'neoverse-n1': 'dotprod', 'cortex-a72': 'portable' },
};

/** @param {string} program */
const runs = (program) => spawnSync(program, ['--version']).status === 0;
/**
 * @param {Target} target
 * @param {string} level
 */
const numberOf = (target, level) => Object.keys(levelsOf[target.architecture] ?? {}).indexOf(level);
/**
 * The command line that runs a program in an emulator.
 * @param {Target} target
 * @param {string} cpu
 * @param {string[]} words
 */
const emulated = (target, cpu, words) => {
  const sysroot = existsSync(target.sysroot) ? ['-L', target.sysroot] : [];
  return ['-cpu', cpu, ...sysroot, ...words];
};
/**
 * @param {string} name
 * @returns {Target | undefined}
 */
const targetOf = (name) => Object.entries(targets).find(([key]) => key === name)?.[1];

/**
 * @param {string} name
 * @param {Target} target
 */
const compilerOf = (name, target) => (name === here ? 'g++' : `${target.prefix}g++`);
/**
 * Builds for a machine; returns the programs to run in its emulator.
 * @param {string} name
 * @param {Target} target
 * @param {string[]} recordings
 * @returns {{ title: string, program: string, words: string[] }[]}
 */
function planMachine(name, target, recordings) {
  const own = name === here;
  const compiler = compilerOf(name, target);
  if (!runs(compiler) || !runs(target.emulator)) {
    console.log(`${name} is left out: apt install ${own ? 'g++' : target.compilerPackage} qemu-user`);
    return [];
  }
  if (!own) {
    const env = { ...process.env, CORELLA_ARCH: target.architecture };
    execFileSync(process.execPath, [join(root, 'scripts', 'build-native.js')], { stdio: 'inherit', env });
  }
  const library = join(root, 'dist', own ? 'native' : `native-${target.architecture}`);
  const file = join(library, `libcorella-${target.architecture}.so`);
  const program = buildReplay(compiler, target.architecture);
  // npm test covers the levels of this processor.
  const tried = own ? nativeLevel() + 1 : 0;
  return Object.entries(processors[name] ?? {}).flatMap(([cpu, best]) => {
    // One processor has every level; the others must detect and respect their own.
    const all = cpu === 'max';
    const least = all ? tried : numberOf(target, best);
    return (all ? recordings : recordings.slice(0, 1)).map((recording) => ({
      title: `${name}, ${cpu}, ${basename(recording, '.bin')}`,
      program: target.emulator,
      words: emulated(target, cpu, [program, file, `${numberOf(target, best)}`, `${least}`, recording]),
    }));
  });
}

/**
 * As many at a time as there are cores; the output of each is printed in one piece.
 * @param {ReturnType<typeof planMachine>} tasks
 */
async function runAll(tasks) {
  const queue = [...tasks];
  const worker = async () => {
    for (let task = queue.shift(); task; task = queue.shift()) {
      const { stdout } = await promisify(execFile)(task.program, task.words);
      console.log(`${task.title}:\n${stdout.trimEnd()}`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

/** The number of this processor's best level. */
function nativeLevel() {
  const library = new URL('../dist/backend/cpu/library.js', import.meta.url).href;
  const levels = new URL('../dist/backend/cpu/levels.js', import.meta.url).href;
  const program = `const { best } = (await import('${library}')).loadNative();
    console.log((await import('${levels}')).isaNumber(best));`;
  const words = ['--input-type=module', '-e', program];
  return Number(execFileSync(process.execPath, words, { encoding: 'utf8' }));
}

/**
 * @param {string} name
 * @param {string[]} words
 */
function testWhole(name, words) {
  const target = targetOf(name);
  const bundle = join(root, 'build', 'bundle');
  const made = existsSync(join(bundle, 'target'))
    ? readFileSync(join(bundle, 'target'), 'utf8').trim()
    : 'nothing';
  if (target === undefined || made !== name) {
    console.error(`build/bundle is for ${made}: npm run bundle -- --target ${name}`);
    process.exit(1);
  }
  const dist = join(bundle, 'app', 'dist');
  const files = readdirSync(dist, { recursive: true })
    .map(String)
    .filter(
      (file) =>
        file.endsWith('cpu.test.js') && (words.length === 0 || words.some((word) => file.includes(word))),
    );
  for (const file of files) {
    console.log(`${name}, ${file}:`);
    // node --test would start children outside the emulator; a single file runs in its own process.
    execFileSync(target.emulator, emulated(target, 'max', [join(bundle, 'node'), join(dist, file)]), {
      stdio: 'inherit',
      env: { ...process.env, QEMU_SET_ENV: `LD_LIBRARY_PATH=${join(bundle, 'lib')}` },
    });
  }
}

const [first, ...rest] = process.argv.slice(2);
/** @type {[string, Target | undefined][]} */
const known = Object.entries(targets);
if (first === '--whole') testWhole(rest[0], rest.slice(1));
else if (known.some(([, target]) => target && runs(target.emulator))) {
  const machines = known.flatMap(([name, target]) => (target ? [{ name, target }] : []));
  // Those that are left out are reported, and no part of the stamp.
  const tools = machines
    .map(({ name, target }) => [compilerOf(name, target), target.emulator])
    .filter((both) => both.every(runs))
    .flat();
  const stamp = stampOf('machines', [...new Set(tools)].map(versionOf), nativeSources());
  if (first === '--unless-passed' && stamp.hasPassed()) process.exit(0);
  const recordings = record();
  await runAll(machines.flatMap(({ name, target }) => planMachine(name, target, recordings)));
  stamp.write();
} else console.log('no other machine is tried: apt install qemu-user');
