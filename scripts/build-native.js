// Builds the native library of the cpu backend: every .cpp under src/, once, or once for each instruction-set level
// named in its first line, into dist/native/. Objects are cached by the hash of all their inputs, so a second build
// costs nothing. A first line `// rounding: every step` prevents fused multiply-adds. The same sources, flags and
// compiler make the same bytes in any folder. The library contains the hash of its inputs (`corella_build`), so that an
// older one with a newer build.json is refused (src/backend/cpu/library.ts). Without a compiler the install still
// succeeds: dist/native/build.json gives the reason, and `corella devices` repeats it.
//
//   node scripts/build-native.js             the library, with all instruction-set levels of this architecture
//   node scripts/build-native.js --lenient   for an installation: the levels that this processor uses (all of them with
//                                            CORELLA_LEVELS=all, of current servers with =servers); a failure is reported and recorded, and the install goes on
//   node scripts/build-native.js --own       for tests: the same levels; a failure is a failure
//   node scripts/build-native.js --strict    all levels; a compiler's warning is a failure, as in CI
//   node scripts/build-native.js --sanitize  the same with AddressSanitizer and UndefinedBehaviorSanitizer,
//                                            into dist/native-sanitize/
//   node scripts/build-native.js --threads   the same with ThreadSanitizer, into dist/native-threads/
// An installation that finds the compiled library of an optional package (scripts/packages.js) compiles nothing.
// With CORELLA_ARCH=x64 or arm64 it is built for that processor by Debian's cross compiler, or by CXX, into
// dist/native-x64/ or dist/native-arm64/.
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, availableParallelism, platform } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exportedBy, nameOf } from './prototypes.js';
import { ownLevels, usedOf } from './processor.js';
import { levelsOf, targets } from './targets.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const sanitize = /** @type {const} */ (['sanitize', 'threads']).find((flavour) =>
  process.argv.includes(`--${flavour}`),
);
const strict = process.argv.includes('--strict');
const lenient = process.argv.includes('--lenient');
const isOwn = lenient || process.argv.includes('--own');
/** The package contains only the C++ sources. */
const buildCommand = existsSync(join(root, 'tsconfig.json')) ? 'npm run build' : 'npm rebuild corella';
const asked = process.env.CORELLA_ARCH?.trim() ?? '';
const architecture = asked === '' ? arch() : asked;
/** Tools for other processors. */
const cross =
  architecture === arch()
    ? undefined
    : Object.values(targets).find((known) => known?.architecture === architecture);
if (architecture !== arch() && cross === undefined) {
  console.error(`corella: CORELLA_ARCH is '${architecture}'; choose ${Object.keys(levelsOf).join(' or ')}`);
  process.exit(1);
}
const flavour = ['native', ...(sanitize ? [sanitize] : []), ...(cross ? [architecture] : [])].join('-');
const objectFolder = join(root, 'build', flavour);
const target = join(root, 'dist', flavour);

const system = cross ? 'linux' : platform();
const extension = system === 'darwin' ? 'dylib' : system === 'win32' ? 'dll' : 'so';
const libraryName = `libcorella-${architecture}.${extension}`;

/** @typedef {{ program: string, extra: string[], title: string }} Compiler */
/** @typedef {{ source: string, level: string | undefined, object: string, args: string[] }} Unit */

const levels = levelsOf[architecture] ?? { portable: [] };
const named = process.env.CORELLA_LEVELS?.trim() ?? '';
const wantedLevels = named !== '' ? named : isOwn ? 'own' : 'all';
if (wantedLevels !== 'own' && wantedLevels !== 'all' && wantedLevels !== 'servers') {
  console.error(`corella: CORELLA_LEVELS is '${wantedLevels}'; choose own, servers or all`);
  process.exit(1);
}
/** Levels to compile. */
const built =
  wantedLevels === 'servers'
    ? usedOf(architecture, Object.keys(levels))
    : wantedLevels === 'own' && !cross && !sanitize
      ? ownLevels()
      : Object.keys(levels);

const common = [
  '-std=c++17',
  ...['-O3', '-g1', '-fPIC', '-pthread', '-fvisibility=hidden'],
  // No code reads errno or floating-point exceptions; a·b+c may be fused where supported.
  ...['-fno-math-errno', '-fno-trapping-math', '-ffp-contract=fast'],
  // GCC 12 reports its own intrinsics, which start from an undefined vector, as uninitialised.
  ...[
    '-Wall',
    '-Wextra',
    '-Wno-psabi',
    '-Wno-unknown-pragmas',
    '-Wno-uninitialized',
    '-Wno-maybe-uninitialized',
  ],
  // Relative to the project's folder, so that the bytes do not depend on its path.
  '-Isrc',
];
/** Packets come from untrusted sources: their parsers are hardened. Sanitizers check more. */
const hardened = sanitize ? [] : ['-U_FORTIFY_SOURCE', '-D_FORTIFY_SOURCE=2'];
/** Not in kernels of an instruction-set level: their arrays are internal, and their loops are time-critical. */
const guardedStack = sanitize ? [] : ['-fstack-protector-strong'];
/** Debug information names sources relative to this folder. */
const samePaths = [`-ffile-prefix-map=${root}=./`, `-ffile-prefix-map=${root.replace(/\/$/, '')}=.`];
/**
 * The table of imported functions is filled at load time and then read-only. The library is never unloaded: a process
 * that ends without closing its backend still has threads in it.
 */
const linking =
  system === 'linux' ? ['-Wl,-z,relro', '-Wl,-z,now', '-Wl,-z,nodelete', '-Wl,--build-id=none'] : [];
const sanitizersOf = {
  sanitize: ['-fsanitize=address,undefined', '-fno-sanitize-recover=undefined', '-fno-omit-frame-pointer'],
  threads: ['-fsanitize=thread', '-fno-omit-frame-pointer'],
};
const sanitizers = sanitize ? sanitizersOf[sanitize] : [];
const flags = sanitize ? [...common.filter((flag) => flag !== '-O3'), '-O1', ...sanitizers] : common;

/**
 * The first available compiler that is new enough, or why there is none.
 * @returns {Compiler | { problem: string, fix: string }}
 */
function findCompiler() {
  const asked = process.env.CXX?.trim();
  const seen = [];
  const usual = cross ? [`${cross.prefix}g++`] : ['g++', 'clang++', 'c++'];
  for (const command of asked ? [asked] : usual) {
    const [program, ...extra] = command.split(/\s+/);
    const probe = spawnSync(program, [...extra, '-dM', '-E', '-x', 'c++', '-'], {
      input: '',
      encoding: 'utf8',
    });
    if (probe.error || probe.status !== 0) {
      seen.push(`${command} does not run`);
      continue;
    }
    /** @param {string} name */
    const macro = (name) => Number(new RegExp(`#define ${name} (\\d+)`).exec(probe.stdout)?.[1] ?? 0);
    const isClang = probe.stdout.includes('__clang_major__');
    const { kind, least } = isClang ? { kind: 'clang', least: 12 } : { kind: 'gcc', least: 10 };
    const version = macro(isClang ? '__clang_major__' : '__GNUC__');
    if (version < least) {
      seen.push(`${command} is ${kind} ${version}, older than ${least}`);
      continue;
    }
    const full = spawnSync(program, [...extra, '--version'], { encoding: 'utf8' }).stdout.split('\n')[0];
    return { program, extra, title: full };
  }
  return {
    problem: `no C++17 compiler was found at install (${seen.join('; ')})`,
    fix: `install g++ 10 or clang++ 12 or newer (Debian: apt install ${cross?.compilerPackage ?? 'g++'}), then ${buildCommand}`,
  };
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {Promise<{ stdout: string, stderr: string }>}
 */
function run(program, args) {
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd: root, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (stderr) process.stderr.write(stderr);
      if (error) reject(new Error(`${program} failed on ${args.at(-1)}`));
      else resolve({ stdout, stderr });
    });
  });
}

/**
 * Runs the tasks, a few at a time.
 * @param {readonly (() => Promise<void>)[]} tasks
 */
async function inParallel(tasks) {
  const queue = [...tasks];
  const worker = async () => {
    for (let task = queue.shift(); task; task = queue.shift()) await task();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

/** @param {RegExp} ending */
function sourcesWith(ending) {
  return readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** @param {readonly string[]} parts */
const hashOf = (...parts) => createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 16);

/**
 * A source and all of our headers that it includes, directly or not.
 * @param {string} source
 * @param {string[]} seen
 */
function withHeaders(source, seen = []) {
  if (seen.includes(source)) return seen;
  seen.push(source);
  for (const [, name] of readFileSync(source, 'utf8').matchAll(/^\s*#\s*include "(.+)"/gm)) {
    const header = [join(dirname(source), name), join(root, 'src', name)].find((path) => existsSync(path));
    if (header === undefined)
      throw new Error(`${relative(root, source)} includes ${name}, which is not there`);
    withHeaders(header, seen);
  }
  return seen;
}

/**
 * For sources that select the code of a level: which levels are left out (native.h).
 * @param {readonly string[]} included
 */
function leftOut(included) {
  const plain = included.filter((level) => level !== 'amx');
  return [
    ...(architecture === 'x64' && plain.length === 1 ? [`-DCORELLA_ONLY=${plain[0]}`] : []),
    ...['amx', 'dotprod', 'i8mm']
      .filter((level) => level in levels && !included.includes(level))
      .map((level) => `-DCORELLA_NO_${level.toUpperCase()}`),
  ];
}

/**
 * Every object to be made: its source, its flags, and its file, named by the hash of all its inputs.
 * @param {Compiler} compiler
 * @param {readonly string[]} included the levels
 * @returns {Unit[]}
 */
function planObjects(compiler, included) {
  return sourcesWith(/\.cpp$/).flatMap((source) => {
    const text = readFileSync(source, 'utf8');
    const wanted = /^\/\/ levels: (.+)$/m.exec(text.slice(0, text.indexOf('\n') + 1))?.[1].split(' ');
    for (const level of wanted ?? []) {
      if (!Object.values(levelsOf).some((known) => known !== undefined && level in known))
        throw new Error(`${relative(root, source)} names the unknown level '${level}'`);
    }
    const here = wanted ? wanted.filter((level) => included.includes(level)) : [undefined];
    const picking = /CORELLA_PICK(?:_BYTES|_MATRIX)?\(/.test(text) ? leftOut(included) : [];
    const rounding = text.startsWith('// rounding: every step\n') ? ['-ffp-contract=off'] : [];
    return here.map((level) => {
      const own =
        level === undefined
          ? [...guardedStack, ...rounding, ...picking]
          : [`-DCORELLA_LEVEL=${level}`, ...levels[level]];
      const all = [...compiler.extra, ...flags, ...hardened, ...own];
      const hash = hashOf(
        compiler.title,
        ...withHeaders(source).map((path) => readFileSync(path, 'utf8')),
        ...all,
      );
      const object = join(objectFolder, `${basename(source, '.cpp')}-${level ?? 'once'}-${hash}.o`);
      return { source, level, object, args: [...all, ...samePaths, '-c', relative(root, source), '-o'] };
    });
  });
}

/**
 * Two objects may contain the same inline function, compiled for different levels, and the linker keeps only one:
 * portable code could then run AVX-512. Therefore code of a level may not export a shared symbol without the level's
 * name in it.
 * @param {Unit} unit
 */
async function checkSymbols({ object, level, source }) {
  const nm = `${cross?.prefix ?? ''}nm`;
  if (level === undefined || spawnSync(nm, ['--version']).error) return;
  const shared = (await run(nm, ['--defined-only', object])).stdout
    .split('\n')
    .map((line) => line.trim().split(' '))
    .filter((words) => words.length === 3 && /^[VWu]$/.test(words[1]) && !words[2].startsWith('DW.ref.'))
    .map(([, , name]) => name)
    .filter((name) => !name.includes(`${level.length}${level}`));
  if (shared.length > 0) {
    throw new Error(
      `${relative(root, source)} at level ${level} leaves ${shared.join(', ')}, which other levels could pick up; ` +
        'put it into namespace corella::CORELLA_LEVEL or an anonymous one',
    );
  }
}

/**
 * @param {Compiler} compiler
 * @param {Unit} unit
 */
async function compile(compiler, unit) {
  if (existsSync(unit.object)) return;
  const half = `${unit.object}.${process.pid}.o`;
  try {
    const { stderr } = await run(compiler.program, [...unit.args, half]);
    if (stderr) writeFileSync(warningsOf(unit.object), stderr);
    await checkSymbols({ ...unit, object: half });
    renameSync(half, unit.object);
  } finally {
    rmSync(half, { force: true });
  }
}

/**
 * The compiler's warnings for an object are stored beside it, so that a later strict build reports them too.
 * @param {string} object
 */
const warningsOf = (object) => `${object}.warnings`;

/** @param {readonly Unit[]} units */
function refuseWarnings(units) {
  const warned = units.filter(({ object }) => existsSync(warningsOf(object)));
  for (const { object } of warned) process.stderr.write(readFileSync(warningsOf(object), 'utf8'));
  if (warned.length === 0) return;
  const names = [...new Set(warned.map(({ source }) => relative(root, source)))];
  console.error(
    `corella: ${names.join(', ')}: the compiler warns, see above; a strict build must compile without`,
  );
  process.exit(1);
}

/** Code that binds a function compares its prototype with these (src/backend/cpu/library.ts). */
function exportedFunctions() {
  const prototypes = sourcesWith(/\.cpp$/).flatMap((source) => exportedBy(readFileSync(source, 'utf8')));
  /** @type {Record<string, string>} */
  const byName = {};
  for (const prototype of prototypes) byName[nameOf(prototype) ?? prototype] = prototype;
  return byName;
}

/** @param {object} entry */
function record(entry) {
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'build.json'), `${JSON.stringify(entry, null, 2)}\n`);
}

/** @returns {unknown} */
function recordedHash() {
  try {
    /** @type {unknown} */
    const entry = JSON.parse(readFileSync(join(target, 'build.json'), 'utf8'));
    return typeof entry === 'object' && entry !== null && 'hash' in entry ? entry.hash : undefined;
  } catch {
    return undefined;
  }
}

/** Whether npm has installed the compiled library of this version and machine beside us (scripts/packages.js). */
function isPackaged() {
  try {
    const require = createRequire(import.meta.url);
    /** @param {string} name */
    const packageOf = (name) => {
      /** @type {unknown} */
      const found = require(name);
      return /** @type {{ version: string }} */ (found);
    };
    const name = `@corella/${platform()}-${arch()}/package.json`;
    return packageOf(name).version === packageOf('../package.json').version;
  } catch {
    return false;
  }
}

async function main() {
  // `npm rebuild corella` compiles all the same.
  if (lenient && !cross && named === '' && process.env.npm_command !== 'rebuild' && isPackaged()) return;
  const compiler = findCompiler();
  const library = join(target, libraryName);
  if ('problem' in compiler) {
    rmSync(library, { force: true });
    record(compiler);
    console.error(`corella: the cpu backend is left out: ${compiler.problem}; ${compiler.fix}`);
    if (cross) process.exitCode = 1; // a library for another processor was requested explicitly
    return;
  }
  mkdirSync(objectFolder, { recursive: true });
  mkdirSync(target, { recursive: true });
  const functions = exportedFunctions();
  /** @param {readonly Unit[]} units */
  const hashOfAll = (units) =>
    hashOf(...units.map(({ object }) => basename(object)), ...linking, JSON.stringify(functions));
  const units = planObjects(compiler, built);
  const objects = units.map((unit) => unit.object);
  const hash = hashOfAll(units);
  // An installation or a test accepts a library with more levels too: a developer has built it.
  const enough = isOwn ? [hash, hashOfAll(planObjects(compiler, Object.keys(levels)))] : [hash];
  if (enough.some((one) => one === recordedHash()) && existsSync(library)) {
    if (strict) refuseWarnings(units);
    return;
  }
  const began = performance.now();
  const missing = units.filter(({ object }) => !existsSync(object)).length;
  console.error(
    `corella: compiling the cpu backend for ${built.join(', ')}: ${missing} of ${units.length} files, by ${compiler.title}`,
  );
  await inParallel(units.map((unit) => () => compile(compiler, unit)));
  // A new file replaces the old name: programs that have the old library open keep it intact.
  const half = `${library}.${process.pid}`;
  const name = join(objectFolder, 'build.cpp');
  writeFileSync(
    name,
    `extern "C" __attribute__((visibility("default"))) const char *corella_build() { return "${hash}"; }\n`,
  );
  const link = ['-shared', '-fPIC', '-pthread', ...sanitizers, ...linking, ...samePaths];
  await run(compiler.program, [...compiler.extra, ...link, relative(root, name), ...objects, '-o', half]);
  renameSync(half, library);
  record({ library: libraryName, compiler: compiler.title, levels: built, hash, functions });
  console.error(
    `corella: the cpu backend is compiled (${((performance.now() - began) / 1000).toFixed(0)} s)`,
  );
  const kept = new Set(objects.flatMap((object) => [basename(object), basename(warningsOf(object))]));
  for (const name of readdirSync(objectFolder)) if (!kept.has(name)) rmSync(join(objectFolder, name));
  if (strict) refuseWarnings(units);
}

try {
  await main();
} catch (error) {
  const why = error instanceof Error ? error.message : String(error);
  record({
    problem: `the native library did not compile: ${why}`,
    fix: `look at the compiler’s messages: ${buildCommand}`,
  });
  console.error(`corella: ${why}`);
  process.exit(lenient ? 0 : 1);
}
