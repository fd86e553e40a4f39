// Runs every command line of README.md and docs/ in order, each page in an empty folder as a new user would, and fails
// if one fails or prints other lines than the page shows. docs/page.js describes how a page marks what cannot run here.
//   node scripts/test-docs.js                     all pages; npm run test:docs builds first
//   node scripts/test-docs.js live imaging        those with a word in their name
//   node scripts/test-docs.js --without live       all but those with this word
//   node scripts/test-docs.js --corella PATH      another installation's program, tests of the package use it
//   node scripts/test-docs.js --verbose           every command as it runs
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { inlineFaults, knownOptions } from './docs/inline.js';
import { linkFaults } from './docs/links.js';
import { notPrinted, parsePage } from './docs/page.js';

/** @typedef {import('./docs/page.js').Command} PageCommand */
/** @typedef {{ page: string, line: number, command: string, what: string }} Fault */

const root = fileURLToPath(new URL('..', import.meta.url));
const { values: options, positionals: words } = parseArgs({
  options: {
    corella: { type: 'string' },
    without: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
/** What programs of a page import. */
const library = options.corella === undefined ? root : join(realpathSync(options.corella), '..', '..', '..');
const MOST_MS = 180_000;
/** What a page may need that an installation without a compiler lacks. */
const COMPILED = 'the compiled library';

const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)]
  .filter((name) => options.without === undefined || !name.includes(options.without))
  .filter((name) => name.endsWith('.md') && (words.length === 0 || words.some((word) => name.includes(word))))
  // The longest first, so that all cores stay busy to the end.
  .sort((x, y) => Number(y.includes('first')) - Number(x.includes('first')) || x.localeCompare(y));
const scratch = mkdtempSync(join(tmpdir(), 'corella-docs-'));
const programs = join(scratch, 'bin');
mkdirSync(programs);
writeFileSync(
  join(programs, 'corella'),
  options.corella === undefined
    ? `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'dist', 'cli', 'main.js')}" "$@"\n`
    : `#!/bin/sh\nexec "${options.corella}" "$@"\n`,
);
chmodSync(join(programs, 'corella'), 0o755);
const hasLibrary = /^[➤✓] cpu/m.test(
  spawnSync(join(programs, 'corella'), ['devices'], { encoding: 'utf8' }).stdout,
);

/** @type {Fault[]} */
const faults = [];
/** @type {Map<string, string[]>} */
const leftOut = new Map();
let ran = 0;
const started = performance.now();
const seconds = (/** @type {number} */ since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

try {
  const known = await knownOptions();
  const queue = [...pages];
  const worker = async () => {
    for (let page = queue.shift(); page !== undefined; page = queue.shift()) await walk(page, known);
  };
  await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, worker));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
for (const [why, lines] of leftOut) {
  console.log(`left out, needs ${why}:`);
  for (const line of lines) console.log(`  ${line}`);
}
const leftCount = [...leftOut.values()].flat().length;
console.log(
  `${ran} command lines of ${pages.length} pages ran in ${seconds(started)}, ${leftCount} were left out, ${faults.length} failed`,
);
for (const { page, line, command, what } of faults) console.error(`\n${page}:${line}: ${command}\n${what}`);
if (faults.length > 0) process.exit(1);

/**
 * @param {string} page
 * @param {Map<string, Set<string>>} known
 */
async function walk(page, known) {
  const began = performance.now();
  const folder = join(scratch, basename(page, '.md'));
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  // For programs of the page, like npm link.
  symlinkSync(library, join(folder, 'node_modules', 'corella'));
  const text = readFileSync(join(root, page), 'utf8');
  const { items, faults: unmarked } = parsePage(text);
  for (const what of [...unmarked, ...inlineFaults(text, known), ...linkFaults(join(root, page))])
    faults.push({ page, line: Number(/\d+/.exec(what)?.[0]), command: '', what });
  /** @type {{ item: PageCommand, ending: () => Promise<string | undefined> }[]} */
  const terminals = [];
  let count = 0;
  for (const item of items) {
    if ('file' in item) {
      writeFileSync(join(folder, item.file), item.text);
      continue;
    }
    if (item.needs !== undefined && !bring(item.needs, folder)) {
      leftOut.set(item.needs, [
        ...(leftOut.get(item.needs) ?? []),
        `${page}:${item.line}: ${item.command.split('\n')[0]}`,
      ]);
      continue;
    }
    count++;
    if (options.verbose) console.log(`${page}:${item.line}: ${item.command}`);
    const running = start(item, folder);
    if (item.background) {
      terminals.push({ item, ending: running.interrupt });
      continue;
    }
    const what =
      item.until === undefined ? await running.ended() : await running.until(join(folder, item.until));
    if (what !== undefined) faults.push({ page, line: item.line, command: item.command, what });
  }
  for (const { item, ending } of terminals) {
    const what = await ending();
    if (what !== undefined) faults.push({ page, line: item.line, command: item.command, what });
  }
  ran += count;
  if (count > 0) console.log(`${page}: ${count} command lines, ${seconds(began)}`);
}

/**
 * Copies a file of a real telescope, if available, into the reader's folder.
 * @param {string} name
 * @param {string} folder
 */
function bring(name, folder) {
  if (name === COMPILED) return hasLibrary;
  const data = process.env.CORELLA_TEST_DATA;
  if (data === undefined || !/^\S+\.\w+$/.test(name)) return false;
  const found = readdirSync(data, { recursive: true, encoding: 'utf8' }).find(
    (path) => basename(path) === name,
  );
  if (found === undefined) return false;
  if (!existsSync(join(folder, name))) symlinkSync(join(data, found), join(folder, name));
  return true;
}

/**
 * A command line, run by a shell. Each way to wait for it resolves to the error, or undefined.
 * @param {PageCommand} item
 * @param {string} folder
 */
function start(item, folder) {
  const child = spawn('bash', ['-eu', '-o', 'pipefail', '-c', item.command], {
    cwd: folder,
    env: { ...process.env, PATH: `${programs}${delimiter}${process.env.PATH ?? ''}` },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate process group, which Ctrl-C reaches as a whole.
    detached: true,
  });
  let said = '';
  child.stdout.on('data', (/** @type {Buffer} */ data) => (said += data.toString()));
  child.stderr.on('data', (/** @type {Buffer} */ data) => (said += data.toString()));
  /** @param {NodeJS.Signals} signal */
  const signal = (signal) => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, signal);
  };
  let late = false;
  /** @type {NodeJS.Timeout | undefined} */
  let limit;
  const waitNoLonger = () => {
    clearTimeout(limit);
    limit = setTimeout(() => {
      late = true;
      signal('SIGKILL');
    }, MOST_MS).unref();
  };
  // A background terminal stays open until its page ends.
  if (!item.background) waitNoLonger();
  /** @type {Promise<string | undefined>} */
  const end = new Promise((resolve) => {
    child.on('close', (code) => {
      clearTimeout(limit);
      const missing = code === 0 ? notPrinted(item.output, said) : [];
      if (late) resolve(`did not end within ${MOST_MS / 1000} s\n${said}`);
      else if (code !== 0) resolve(`exit code ${code}\n${said}`);
      else if (missing.length > 0) resolve(`does not print\n  ${missing.join('\n  ')}\nbut\n${said}`);
      else resolve(undefined);
    });
  });
  const interrupt = () => {
    signal('SIGINT');
    waitNoLonger();
    return end;
  };
  return {
    ended: () => end,
    interrupt,
    /** @param {string} path */
    until: async (path) => {
      while (child.exitCode === null && !existsSync(path))
        await new Promise((resolve) => setTimeout(resolve, 50));
      return interrupt();
    },
  };
}
