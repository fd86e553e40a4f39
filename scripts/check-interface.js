// Checks both sides of our own C interface. Every function that the native library and the benchmarks' peers export is
// compared word for word with its prototype in TypeScript, and the C++ compiler asserts the numbers that both sides use
// (codes, types, levels, sizes). Part of every build; needs dist/.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { arithmeticNumbers } from '../dist/backend/cpu/ceilings.js';
import { levelsOf } from '../dist/backend/cpu/levels.js';
import { errorBuffer, nativeCodes } from '../dist/backend/cpu/library.js';
import { spectraSizeOf, spectraTypeNumber } from '../dist/backend/cpu/spectra.js';
import { scalarNumbers } from '../dist/channelise/cpu/prepare.js';
import { packetFormats } from '../dist/packets/registry.js';
import { parseCodes } from '../dist/packets/parse-result.js';
import { outcomes } from '../dist/receive/ring.js';
import { exportedBy, nameOf, normal } from './prototypes.js';
import { levelsOf as builtLevels } from './targets.js';

const root = fileURLToPath(new URL('..', import.meta.url));
/** @type {string[]} */
const problems = [];

/**
 * @param {string} folder
 * @param {RegExp} ending
 */
const filesBelow = (folder, ending) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

/** Name and prototype of each function, and its location: { name: [{ prototype, place }] } */
class Prototypes {
  /** @type {Map<string, { prototype: string, place: string }[]>} */
  byName = new Map();

  /**
   * @param {string} text
   * @param {string} path
   */
  add(text, path) {
    const prototype = normal(text);
    const name = nameOf(prototype);
    if (name === undefined) throw new Error(`${relative(root, path)}: not a prototype: ${text}`);
    this.byName.set(name, [...(this.byName.get(name) ?? []), { prototype, place: relative(root, path) }]);
  }
}

function checkPrototypes() {
  const exported = new Prototypes();
  for (const path of [...filesBelow('src', /\.cpp$/), ...filesBelow('bench', /\.cpp$/)])
    for (const prototype of exportedBy(readFileSync(path, 'utf8'))) exported.add(prototype, path);
  // casacore's wrapper exports everything in one block.
  for (const path of filesBelow('casacore', /\.cpp$/)) {
    const [, block = ''] = readFileSync(path, 'utf8').split('extern "C" {');
    for (const [, text] of block.matchAll(/^((?:int|void|const char) ?\*? ?ms_\w+\([^{};]*\)) \{/gm))
      exported.add(text, path);
  }
  const bound = new Prototypes();
  for (const path of filesBelow('src', /(?<!\.test)\.ts$/)) {
    // Literals, and those joined by +, that look like a prototype.
    for (const [, text] of readFileSync(path, 'utf8').matchAll(/`([\w* ]+\bcorella_\w+\([^`]*\))`/g))
      if (!path.endsWith('c-arguments.ts')) bound.add(text, path);
    for (const [, first, more] of readFileSync(path, 'utf8').matchAll(
      /'([\w* ]+\b(?:corella|peer|ms)_\w+\([^']*)'((?:\s*\+\s*'[^']*')*)/g,
    ))
      bound.add(first + [...more.matchAll(/'([^']*)'/g)].map(([, part]) => part).join(''), path);
  }
  if (exported.byName.size === 0 || bound.byName.size === 0) problems.push('no prototypes were found at all');
  for (const [name, here] of exported.byName) {
    const there = bound.byName.get(name);
    if (there === undefined) problems.push(`${here[0].place}: nobody binds ${name}`);
    for (const { prototype, place } of there ?? []) {
      if (prototype !== here[0].prototype)
        problems.push(`${name} differs:\n  ${here[0].place}  ${here[0].prototype}\n  ${place}  ${prototype}`);
    }
  }
  for (const [name, [{ place }]] of bound.byName)
    // The build itself writes corella_build.
    if (!exported.byName.has(name) && name !== 'corella_build')
      problems.push(`${place}: ${name} is exported by no C++ source`);
  return exported.byName.size;
}

/**
 * One of our names in its C++ form.
 * @param {string} name
 */
const camel = (name) =>
  name.replaceAll(/[-_](\w)/g, (_, /** @type {string} */ letter) => letter.toUpperCase());

/** Numbers that both sides use, as assertions for the compiler. */
function numberAssertions() {
  /**
   * @param {string} left
   * @param {number} right
   */
  const same = (left, right) =>
    `static_assert(static_cast<int64_t>(${left}) == ${right}, "${left.replaceAll('"', "'")} is not ${right}");`;
  const types = /** @type {const} */ (['ci8', 'ci4', 'cf32']);
  const shapes = [
    { channels: 3, inputs: 1, capacity: 1 },
    { channels: 2, inputs: 33, capacity: 130 },
  ];
  return [
    same('CORELLA_ERROR_BYTES', errorBuffer().length),
    ...Object.entries(nativeCodes).map(([name, code]) => same(name, code)),
    ...levelsOf(process.arch).map((level, n) => same(`Level::${level}`, n)),
    ...types.map((type) => same(`SpectraType::${type}`, spectraTypeNumber(type))),
    same('Scalar::i8', scalarNumbers.i8),
    same('Scalar::i16', scalarNumbers.i16),
    same('Scalar::f32', scalarNumbers.f32),
    same('Arithmetic::integers', arithmeticNumbers.integers),
    same('Arithmetic::floats', arithmeticNumbers.floats),
    ...outcomes.map((outcome, n) => same(`receive::Outcome::${camel(outcome)}`, n)),
    same('receive::OUTCOMES', outcomes.length),
    ...Object.entries(parseCodes).map(([name, code]) => same(`receive::ParseResult::${camel(name)}`, code)),
    same('std::size(receive::parsers)', Object.keys(packetFormats).length),
    ...Object.entries(packetFormats).flatMap(([name, { code, format }]) => {
      const { epoch, numbers } = format;
      const parser = `receive::parserNumbered(${code})`;
      // Every epoch of VDIF; some seconds of SNAP2.
      const epochs = epoch.from === 'packet' ? Array.from({ length: 64 }, (_, n) => n) : [];
      return [
        same(`std::string_view(${parser}->name) == "${name}"`, 1),
        same(`${parser}->numbers`, numbers.length),
        same(`${parser}->epochUnixSeconds != nullptr`, epoch.from === 'packet' ? 1 : 0),
        ...epochs.map((n) =>
          same(
            `${parser}->epochUnixSeconds(${n})`,
            epoch.from === 'packet' ? epoch.of(BigInt(n)).unixSeconds : 0,
          ),
        ),
      ];
    }),
    ...types.flatMap((type) =>
      shapes.map((shape) => {
        const { channels, inputs, capacity } = shape;
        const layout = `SpectraLayout{SpectraType::${type}, ${channels}, ${inputs}, ${capacity}}`;
        return same(`(${layout}).sizeBytes()`, spectraSizeOf({ type, ...shape }));
      }),
    ),
  ];
}

function checkNumbers() {
  const assertions = numberAssertions();
  const source = [
    ...['ceilings.h', 'context.h', 'spectra.h'].map((name) => `#include "backend/cpu/${name}"`),
    '#include "channelise/cpu/channelise_job.h"',
    '#include "receive/native/formats/registry.h"',
    '#include "receive/native/ring.h"',
    ...['iterator', 'string_view'].map((name) => `#include <${name}>`),
    'using namespace corella;',
    ...assertions,
    '',
  ].join('\n');
  // A passed check remains valid until its inputs change.
  const headers = filesBelow('src', /\.h$/).map((path) => readFileSync(path, 'utf8'));
  const hash = createHash('sha256')
    .update([source, ...headers].join('\0'))
    .digest('hex');
  const stamp = join(root, 'build', 'interface-checked');
  try {
    if (readFileSync(stamp, 'utf8') === hash) return assertions.length;
  } catch {
    // Never checked.
  }
  const asked = process.env.CXX?.trim() ?? '';
  const commands = asked === '' ? ['g++', 'clang++', 'c++'] : [asked];
  for (const command of commands) {
    const [program, ...extra] = command.split(/\s+/);
    const words = [...extra, '-std=c++17', '-fsyntax-only', `-I${join(root, 'src')}`, '-x', 'c++', '-'];
    const { error, status, stderr } = spawnSync(program, words, { input: source, encoding: 'utf8' });
    if (error) continue;
    if (status !== 0) problems.push(`numbers differ between C++ and TypeScript:\n${stderr}`);
    else {
      mkdirSync(join(root, 'build'), { recursive: true });
      writeFileSync(stamp, hash);
    }
    return assertions.length;
  }
  console.log('no C++ compiler here: the numbers that C++ and TypeScript share are not compared');
  return 0;
}

/** The levels that are built must be those that TypeScript requests. */
function checkLevels() {
  for (const [architecture, levels] of Object.entries(builtLevels)) {
    const [built, asked] = [Object.keys(levels ?? {}).join(', '), levelsOf(architecture).join(', ')];
    if (built !== asked)
      problems.push(
        `levels of ${architecture}: scripts/targets.js builds ${built}, levels.ts asks for ${asked}`,
      );
  }
}

const functions = checkPrototypes();
const numbers = checkNumbers();
checkLevels();
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
if (process.argv.includes('--reported'))
  console.log(`C interface: ${functions} prototypes and ${numbers} numbers agree`);
