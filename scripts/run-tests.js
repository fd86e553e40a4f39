// Runs every compiled test, or those whose path contains one of the given words, on all cores:
//   npm test                     every test
//   npm test -- correlate        those with 'correlate' in their path
//   npm test -- --apart [WORD…]  each file in a process of its own
// The files of a folder share a process, since starting one costs more than most of them take; acceptance tests, which
// start the program many times, have one each. Failures are printed in full, passes in a line. Every process has its
// own temporary folder and fails if it leaves files in it.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { test } from 'node:test';

const self = fileURLToPath(import.meta.url);
const dist = join(dirname(self), '..', 'dist');
const HERE = '--in-this-process';
const COUNTED = /** @type {const} */ (['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo']);

/** @typedef {Map<typeof COUNTED[number], number>} Totals */
/** @typedef {{ title: string, files: string[], bytes: number }} Batch */
/** @typedef {{ text: string, code: number | null, signal: string | null, left: string[], seconds: number }} Ran */

const words = process.argv.slice(2);
if (words[0] === HERE) await importAll(words.slice(1));
else process.exitCode = await main(words);

/**
 * A file that cannot be loaded is a failed test, and the others still run.
 * @param {readonly string[]} files
 */
async function importAll(files) {
  for (const file of files) {
    try {
      await import(pathToFileURL(join(dist, file)).href);
    } catch (error) {
      void test(file, () => {
        throw error;
      });
    }
  }
}

/** @param {readonly string[]} given */
async function main(given) {
  const started = performance.now();
  const batches = inBatches(
    given.filter((word) => word !== '--apart'),
    given.includes('--apart'),
  );
  if (batches.length === 0) {
    console.error(`no tests match ${given.join(' ') || '(nothing is built: npm run build)'}`);
    return 1;
  }
  const scratch = mkdtempSync(join(tmpdir(), 'corella-tests-'));
  process.once('exit', () => {
    rmSync(scratch, { recursive: true, force: true });
  });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM']))
    process.once(signal, () => process.exit(1));

  /** @type {Totals} */
  const totals = new Map(COUNTED.map((what) => [what, 0]));
  /** @type {Map<string, number>} */
  const skipped = new Map();
  const queue = batches.map((batch, n) => ({ batch, folder: join(scratch, String(n)) }));
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const ran = await run(next.batch, next.folder);
      report(next.batch, ran, totals);
      for (const [, reason] of ran.text.matchAll(/^\s*ok .* # SKIP (.+)$/gm))
        skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  for (const [reason, count] of skipped) console.log(`skipped ${count}×: ${reason}`);
  for (const [what, count] of totals) console.log(`# ${what} ${count}`);
  console.log(`# duration_ms ${Math.round(performance.now() - started)}`);
  return totals.get('fail') === 0 && totals.get('cancelled') === 0 ? 0 : 1;
}

/**
 * The longest first, so that all cores stay busy to the end: acceptance tests, then by size.
 * @param {readonly string[]} wanted
 * @param {boolean} apart
 * @returns {Batch[]}
 */
function inBatches(wanted, apart) {
  /** @type {Map<string, Batch>} */
  const batches = new Map();
  const names = readdirSync(dist, { recursive: true }).map((name) => String(name).replaceAll('\\', '/'));
  for (const file of names.filter((name) => name.endsWith('.test.js')).sort()) {
    if (wanted.length > 0 && !wanted.some((word) => file.includes(word))) continue;
    const title = apart || isLong(file) ? file.replace(/\.test\.js$/, '') : dirname(file);
    const batch = batches.get(title) ?? { title, files: [], bytes: 0 };
    batch.files.push(file);
    batch.bytes += statSync(join(dist, file)).size;
    batches.set(title, batch);
  }
  return [...batches.values()].sort(
    (a, b) => Number(isLong(b.files[0])) - Number(isLong(a.files[0])) || b.bytes - a.bytes,
  );
}

/** @param {string} file */
function isLong(file) {
  return file.startsWith('acceptance/');
}

/**
 * @param {Batch} batch
 * @param {string} folder for what is temporary
 * @returns {Promise<Ran>}
 */
function run({ files }, folder) {
  mkdirSync(folder);
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--test-reporter=tap', self, HERE, ...files], {
      // Memory that is handed back is filled with NaN: a view of it that is kept too long shows (src/core/lent.ts).
      env: { ...process.env, TMPDIR: folder, TMP: folder, TEMP: folder, CORELLA_FILL_RETURNED: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    /** @type {Buffer[]} */
    const output = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (/** @type {Buffer} */ data) => output.push(data));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const left = readdirSync(folder);
      rmSync(folder, { recursive: true, force: true });
      const seconds = (performance.now() - started) / 1000;
      resolve({ text: Buffer.concat(output).toString(), code, signal, left, seconds });
    });
  });
}

/**
 * @param {Batch} batch
 * @param {Ran} ran
 * @param {Totals} totals
 */
function report({ title, files }, { text, code, signal, left, seconds }, totals) {
  /** Node's own closing lines, the last of their kind. @param {string} what */
  const counted = (what) =>
    Number([...text.matchAll(new RegExp(`^# ${what} (\\d+)$`, 'gm'))].at(-1)?.[1] ?? 0);
  const faults = [
    ...(counted('fail') > 0 ? [`${counted('fail')} failed`] : []),
    ...(signal === null ? [] : [`ended by ${signal}`]),
    ...(signal === null && code !== 0 && counted('fail') === 0 ? [`ended with ${code}`] : []),
    ...(signal === null && counted('tests') === 0 ? ['no tests in it'] : []),
    ...(left.length === 0 ? [] : [`left in the temporary folder: ${left.join(', ')}`]),
  ];
  for (const [what, count] of totals) totals.set(what, count + counted(what));
  if (faults.length > 0 && counted('fail') === 0) {
    totals.set('tests', (totals.get('tests') ?? 0) + 1);
    totals.set('fail', (totals.get('fail') ?? 0) + 1);
  }
  // Without its closing lines, which would look like those of the whole run.
  if (faults.length > 0) process.stdout.write(text.replaceAll(/^# (?:\w+) [\d.]+\n/gm, ''));
  const what = `${files.length === 1 ? '' : `${files.length} files, `}${counted('tests')} ${counted('tests') === 1 ? 'test' : 'tests'}`;
  const result = faults.length === 0 ? 'ok  ' : 'FAIL';
  console.log([`${result} ${seconds.toFixed(1).padStart(5)} s  ${title}: ${what}`, ...faults].join('; '));
}
