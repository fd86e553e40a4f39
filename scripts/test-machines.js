// The native library on processors that are not this one, in qemu's emulators: calls recorded from the shared cases are
// made again at every level there, and must give the same.
//   npm run test:machines                            what compilers and emulators are here for; a minute or two
//   npm run test:machines -- --whole linux-x64 WORD  whole test files in that machine's own Node, out of its bundle
//                                                    (npm run bundle -- --target linux-x64); many minutes
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildReplay, record } from './replay/recordings.js';
import { here, levelsOf, targets } from './targets.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Processors that qemu knows and the best level that must be found there; AVX-512 and AMX are in no qemu. */
const processors = {
  'linux-x64': { max: 'avx2', qemu64: 'portable' },
  'linux-arm64': { max: 'i8mm', 'neoverse-n1': 'dotprod', 'cortex-a72': 'portable' },
};

const runs = (program) => spawnSync(program, ['--version']).status === 0;
const numberOf = (target, level) => Object.keys(levelsOf[target.architecture]).indexOf(level);
const emulate = (target, cpu, words, options) =>
  execFileSync(
    target.emulator,
    ['-cpu', cpu, ...(existsSync(target.sysroot) ? ['-L', target.sysroot] : []), ...words],
    {
      stdio: 'inherit',
      ...options,
    },
  );

function testMachine(name, recordings) {
  const target = targets[name];
  const own = name === here;
  const compiler = own ? 'g++' : `${target.prefix}g++`;
  if (!runs(compiler) || !runs(target.emulator)) {
    console.log(`${name} is left out: apt install ${own ? 'g++' : target.compilerPackage} qemu-user`);
    return;
  }
  if (!own) {
    const env = { ...process.env, CORELLA_ARCH: target.architecture };
    execFileSync(process.execPath, [join(root, 'scripts', 'build-native.js')], { stdio: 'inherit', env });
  }
  const library = join(root, 'dist', own ? 'native' : `native-${target.architecture}`);
  const file = join(library, `libcorella-${target.architecture}.so`);
  const program = buildReplay(compiler, target.architecture);
  // What this very processor has, npm test has tried.
  const tried = own ? JSON.parse(nativeLevel()) + 1 : 0;
  for (const [cpu, best] of Object.entries(processors[name])) {
    console.log(`${name}, ${cpu}:`);
    const all = cpu === 'max';
    const least = all ? tried : numberOf(target, best);
    const words = [numberOf(target, best), least, ...(all ? recordings : recordings.slice(0, 1))];
    emulate(target, cpu, [program, file, ...words.map(String)]);
  }
}

/** The number of this processor's best level. */
function nativeLevel() {
  const library = new URL('../dist/backend/cpu/library.js', import.meta.url).href;
  const levels = new URL('../dist/backend/cpu/levels.js', import.meta.url).href;
  const program = `const { best } = (await import('${library}')).loadNative();
    console.log((await import('${levels}')).isaNumber(best));`;
  return execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
}

function testWhole(name, words) {
  const target = targets[name];
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
        /cpu\.test\.js$/.test(file) && (words.length === 0 || words.some((word) => file.includes(word))),
    );
  for (const file of files) {
    console.log(`${name}, ${file}:`);
    // node --test would start children that no emulator catches; a file by itself is run where it is.
    emulate(target, 'max', [join(bundle, 'node'), join(dist, file)], {
      env: { ...process.env, QEMU_SET_ENV: `LD_LIBRARY_PATH=${join(bundle, 'lib')}` },
    });
  }
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--whole') testWhole(rest[0], rest.slice(1));
else if (Object.values(targets).some(({ emulator }) => runs(emulator))) {
  const recordings = record();
  for (const name of Object.keys(targets)) testMachine(name, recordings);
} else console.log('no other machine is tried: apt install qemu-user');
