// A manifest of command outputs: npm run manifest -- DIR runs the chains of scripts/manifest/chains.js, leaves their
// outputs in DIR and a digest of each, as `corella compare` sees it (without history), in DIR.json. npm run manifest --
// --check DIR.json [DIR2] runs them again and compares: what differs, and by how much if DIR still exists. --only
// live,image selects chains by name.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compareFiles } from '../dist/inspect/compare/compare-files.js';
import { digestFile } from '../dist/inspect/compare/digest-testing.js';
import { telescopeNames } from '../dist/telescope/registry.js';
import { chainsOf } from './manifest/chains.js';

/** @typedef {{ kind: string, format?: string, parts: Readonly<Record<string, string>> }} Digest */
/** @typedef {{ folder: string, codes: Record<string, number | undefined>, files: Record<string, Digest | undefined> }} Manifest */

const program = new URL('../dist/cli/main.js', import.meta.url).pathname;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    check: { type: 'string' },
    only: { type: 'string' },
    processes: { type: 'string', default: '2' },
  },
});
const before = values.check === undefined ? undefined : manifestIn(values.check);
const given = positionals.at(0);
if (given === undefined && !before) fail('name a folder for the outputs: npm run manifest -- DIR');
if (given !== undefined && existsSync(given) && readdirSync(given).length > 0)
  fail(`${given} is not empty: name a new folder`);
const folder = given === undefined ? mkdtempSync(join(tmpdir(), 'corella-manifest-')) : resolve(given);

const began = performance.now();
const only = values.only?.split(',');
const chains = chainsOf(telescopeNames()).filter(({ name }) => !only || only.includes(name));
if (chains.length === 0) fail(`--only ${values.only ?? ''}: there is no such chain`);
/** @type {Record<string, number>} */
const codes = {};
const waiting = [...chains];
await Promise.all(
  Array.from({ length: Number(values.processes) }, async () => {
    for (let chain = waiting.shift(); chain; chain = waiting.shift()) await runChain(chain);
  }),
);
/** @type {Manifest} */
const after = { folder, codes, files: await digests() };
const seconds = Math.round((performance.now() - began) / 1000);
console.log(
  `${Object.keys(codes).length} commands, ${Object.keys(after.files).length} files in ${folder}, ${seconds} s`,
);
if (before) {
  const faults = await differences(before, after);
  for (const fault of faults) console.error(fault);
  if (given === undefined) rmSync(folder, { recursive: true, force: true });
  if (faults.length > 0) process.exitCode = 1;
  else console.log('all as in the manifest');
} else {
  writeFileSync(`${folder}.json`, `${JSON.stringify(after, null, 1)}\n`);
  console.log(`digests in ${folder}.json`);
}

/**
 * @param {string} why
 * @returns {never}
 */
function fail(why) {
  console.error(`manifest: ${why}`);
  process.exit(2);
}

/**
 * @param {string} path
 * @returns {Manifest}
 */
function manifestIn(path) {
  /** @type {unknown} */
  const json = JSON.parse(readFileSync(path, 'utf8'));
  return /** @type {Manifest} */ (json);
}

/**
 * A failing line is part of the manifest by its exit code: a removed or new refusal is a difference.
 * @param {import('./manifest/chains.js').Chain} chain
 */
async function runChain({ name, lines, write = {} }) {
  const here = join(folder, name);
  mkdirSync(here, { recursive: true });
  for (const [path, text] of Object.entries(write)) writeFileSync(join(here, path), text);
  for (const line of lines) {
    // An underscore here is a blank within a position.
    const words = line.split(/ +/).map((word) => word.replaceAll('_', ' '));
    const { code, stderr } = await corella(here, words);
    codes[`${name}: ${line}`] = code;
    if (code !== 0)
      console.error(
        `${name}: corella ${line}: exit code ${code}\n  ${stderr.trim().split('\n').at(-1) ?? ''}`,
      );
  }
}

/**
 * @param {string} cwd
 * @param {readonly string[]} words
 * @returns {Promise<{ code: number, stderr: string }>}
 */
function corella(cwd, words) {
  return new Promise((settle, reject) => {
    const child = spawn(process.execPath, [program, ...words], { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (data) => (stderr += String(data)));
    child.on('error', reject);
    child.on('close', (code) => {
      settle({ code: code ?? -1, stderr });
    });
  });
}

/** Digests of every output, by its path in the folder. */
async function digests() {
  /** @type {Record<string, Digest>} */
  const files = {};
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.sigmf-data'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
  for (const path of paths) files[path] = await digestOf(join(folder, path));
  return files;
}

/**
 * @param {string} path
 * @returns {Promise<Digest>}
 */
async function digestOf(path) {
  if (/\.(?:uvh5|uvfits|sigmf-meta|fits|png|calh5)$|(?:gains|full)\.json$/.test(path))
    return digestFile(path);
  return { kind: 'bytes', parts: { bytes: createHash('sha256').update(readFileSync(path)).digest('hex') } };
}

/**
 * @param {Manifest} was
 * @param {Manifest} is
 */
async function differences(was, is) {
  /** @type {string[]} */
  const faults = [];
  for (const [line, code] of Object.entries(is.codes))
    if (was.codes[line] !== code)
      faults.push(`${line}: exit code ${code}, was ${was.codes[line] ?? 'not run'}`);
  const inChains = Object.keys(was.files).filter((path) =>
    chains.some(({ name }) => path.startsWith(`${name}/`)),
  );
  for (const path of new Set([...inChains, ...Object.keys(is.files)])) {
    const [one, other] = [was.files[path], is.files[path]];
    if (one === undefined || other === undefined)
      faults.push(`${path}: ${one === undefined ? 'is new' : 'is missing'}`);
    else if (JSON.stringify(one) !== JSON.stringify(other)) faults.push(await how(path, one, other, was, is));
  }
  return faults;
}

/**
 * @param {string} path
 * @param {Digest} one
 * @param {Digest} other
 * @param {Manifest} was
 * @param {Manifest} is
 */
async function how(path, one, other, was, is) {
  const parts = [...new Set([...Object.keys(one.parts), ...Object.keys(other.parts)])].filter(
    (name) => one.parts[name] !== other.parts[name],
  );
  const line = `${path}: ${parts.join(', ')} differ`;
  const old = join(was.folder, path);
  if (one.kind === 'bytes' || !existsSync(old)) return line;
  const { differences: found } = await compareFiles(old, join(is.folder, path));
  const words = found.map(
    ({ what, where, a, b, count, of, relative: part }) =>
      `    ${what}, ${where}: ${String(a)} was, ${String(b)} is; ${count} of ${of}${part === undefined ? '' : `, at most ${part.toPrecision(3)} of the largest`}`,
  );
  return [line, ...words.slice(0, 8)].join('\n');
}
