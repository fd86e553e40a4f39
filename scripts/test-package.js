// Packs the project, installs the tarball into empty folders like users, and tests it: `npm install -g` with a C++
// compiler and without one, and `npx`, on Node 20, 22 and 24; Node 18 must be refused in one line. Prints a table.
// Needs the npm registry, for the runtimes (cached in build/packages/) and the dependencies.
//   node scripts/test-package.js               npm run test:package builds first
//   node scripts/test-package.js --docs        also runs every command line of every page on each installation
//   node scripts/test-package.js --nodes 20,24
// The library does not depend on Node's version: it is compiled once, and that installation is tested on each.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { unpackPackage } from './bundle-parts.js';

/** @typedef {{ status: number | null, stdout: string, stderr: string }} Ran */
/** @typedef {[string, string, string, string]} Row */

const root = fileURLToPath(new URL('..', import.meta.url));
const { values: options } = parseArgs({
  options: { docs: { type: 'boolean', default: false }, nodes: { type: 'string', default: '20,22,24' } },
});
const majors = options.nodes.split(',');
const OLD = '18';
const scratch = mkdtempSync(join(tmpdir(), 'corella-package-'));
const usualPath = process.env.PATH ?? '';
/** @type {Row[]} */
const rows = [];

try {
  const tarball = pack();
  const without = folderOfTools();
  const compiled = install('compiled', tarball, pathOf(majors[0], usualPath));
  report(`Node ${majors[0]}, compiler`, 'npm install -g', compiled.status === 0, lastLine(compiled.stderr));
  for (const major of majors) tryOut(major, 'compiler', compiled.corella, pathOf(major, usualPath));
  for (const major of majors) {
    const path = pathOf(major, without);
    const plain = install(`plain-${major}`, tarball, path);
    report(`Node ${major}, none`, 'npm install -g', plain.status === 0, lastLine(plain.stderr));
    tryOut(major, 'none', plain.corella, path);
  }
  const empty = join(scratch, 'empty');
  mkdirSync(empty);
  for (const major of majors) {
    const ran = run(
      'npx',
      ['--yes', '--package', tarball, '--', 'corella', '--version'],
      pathOf(major, without),
      empty,
    );
    report(
      `Node ${major}, none`,
      'npx',
      ran.status === 0 && /^\d+\.\d+\.\d+\n$/.test(ran.stdout),
      ran.stdout || ran.stderr,
    );
  }
  const old = run(compiled.corella, ['devices'], pathOf(OLD, usualPath), empty);
  const oneLine = /^corella: Node 18[.\d]+ is too old; install Node 20 or newer[^\n]*\n$/.test(old.stderr);
  report(`Node ${OLD}`, 'corella devices', old.status === 1 && oneLine, old.stderr);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column].length)));
for (const row of rows)
  console.log(
    row
      .map((cell, k) => cell.padEnd(widths[k] ?? 0))
      .join('  ')
      .trimEnd(),
  );
if (rows.some(([outcome]) => outcome !== 'ok')) process.exit(1);

/** The tarball's path. Scripts are skipped: the project is already built. */
function pack() {
  const { status, stderr } = run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', scratch], usualPath, root); // prettier-ignore
  const name = readdirSync(scratch).find((file) => file.endsWith('.tgz'));
  if (status !== 0 || name === undefined) throw new Error(`npm pack: ${stderr}`);
  return join(scratch, name);
}

/**
 * @param {string} name
 * @param {string} tarball
 * @param {string} path
 */
function install(name, tarball, path) {
  const prefix = join(scratch, name);
  mkdirSync(prefix);
  const words = ['install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', tarball];
  return { ...run('npm', words, path, prefix), corella: join(prefix, 'bin', 'corella') };
}

/**
 * The first steps of a user: list the backends, and make an image of a sample.
 * @param {string} major
 * @param {'compiler' | 'none'} compiler
 * @param {string} corella
 * @param {string} path
 */
function tryOut(major, compiler, corella, path) {
  const title = `Node ${major}, ${compiler}`;
  const folder = join(scratch, `${compiler}-${major}`);
  mkdirSync(folder);
  const devices = run(corella, ['devices'], path, folder);
  const line = devices.stdout.split('\n').find((one) => one.includes(' cpu ')) ?? '';
  const wanted =
    compiler === 'compiler' ? line.startsWith('➤') : line.includes('no C++17 compiler was found');
  report(title, 'corella devices', devices.status === 0 && wanted, line || devices.stderr);
  for (const words of [
    'simulate --stations 8 --rate 200kHz --duration 20ms -o voltages.sigmf-meta',
    'correlate voltages.sigmf-meta --channels 8 -o visibilities.uvh5',
    'calibrate visibilities.uvh5 -o gains.json',
    'image visibilities.uvh5 --gains gains.json --pixels 64',
  ]) {
    const { status, stdout, stderr } = run(corella, [...words.split(' '), '--quiet'], path, folder);
    report(
      title,
      `corella ${words.split(' ')[0]}`,
      status === 0,
      status === 0 ? stdout.split('\n')[0] : stderr,
    );
  }
  if (!options.docs) return;
  const walk = run(
    join(root, 'scripts', 'test-docs.js'),
    ['--corella', corella],
    path,
    folder,
    process.execPath,
  );
  report(title, 'every page', walk.status === 0, walk.status === 0 ? lastLine(walk.stdout) : walk.stderr);
}

/**
 * @param {string} what
 * @param {string} command
 * @param {boolean} good
 * @param {string} said
 */
function report(what, command, good, said) {
  rows.push([good ? 'ok' : 'FAILED', what, command, good ? lastLine(said) : said.trim()]);
  // Shows progress, since the whole takes long.
  console.error(`${rows.length}: ${what}: ${command}: ${good ? 'ok' : `FAILED\n${said.trim()}`}`);
}

/**
 * @param {string} program
 * @param {readonly string[]} words
 * @param {string} path
 * @param {string} cwd
 * @param {string} [interpreter]
 * @returns {Ran}
 */
function run(program, words, path, cwd, interpreter) {
  const [first, ...rest] = interpreter === undefined ? [program, ...words] : [interpreter, program, ...words];
  // Dependencies are fetched once, into a cache of this run.
  const env = { ...process.env, PATH: path, npm_config_cache: join(scratch, 'cache') };
  return spawnSync(first, rest, { cwd, env, encoding: 'utf8', maxBuffer: 2 ** 26 });
}

/**
 * A PATH whose `node` has that version.
 * @param {string} major
 * @param {string} others
 */
function pathOf(major, others) {
  const own = process.versions.node.startsWith(`${major}.`);
  const folder = own
    ? join(process.execPath, '..')
    : join(unpackPackage(`node-${process.platform}-${process.arch}`, major), 'bin');
  const named = join(scratch, `node-${major}`);
  if (!existsSync(named)) {
    mkdirSync(named);
    symlinkSync(join(folder, 'node'), join(named, 'node'));
  }
  return [named, others].join(delimiter);
}

/** A folder with the tools of npm and a shell, without a compiler. */
function folderOfTools() {
  const folder = join(scratch, 'tools');
  mkdirSync(folder);
  for (const name of [
    'sh',
    'bash',
    'env',
    'uname',
    'cat',
    'ls',
    'mkdir',
    'rm',
    'sed',
    'dirname',
    'npm',
    'npx',
  ]) {
    const from = usualPath.split(delimiter).map((one) => join(one, name)).find((one) => existsSync(one)); // prettier-ignore
    if (from !== undefined) symlinkSync(from, join(folder, name));
  }
  return folder;
}

/** @param {string} text */
function lastLine(text) {
  return text.trim().split('\n').at(-1) ?? '';
}
