// Runs compiled tests on all cores:
//   npm test                     those beside the code, and one acceptance file for each command and product (DAILY)
//   npm run test:acceptance      the other acceptance files
//   npm test -- correlate        every test with 'correlate' in its path
//   npm test -- --apart [WORD…]  each file in a process of its own
// The files of a folder share a process, since starting one costs more than most of them take; acceptance tests, which
// start the program many times, have one each. Failures are printed in full, passes in a line. Every process has its
// own temporary folder and fails if it leaves files in it. Times are those of the clock and of all processors.
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { test } from 'node:test';

const self = fileURLToPath(import.meta.url);
const dist = join(dirname(self), '..', 'dist');
const HERE = '--in-this-process';
const COUNTED = /** @type {const} */ (['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo']);

/** Short files with many runs. */
const LONGEST = ['acceptance/every-option-voltages', 'acceptance/every-option-spectra', 'compose'];

/** @typedef {Map<typeof COUNTED[number], number>} Totals */
/** @typedef {{ title: string, files: string[], bytes: number }} Batch */
/** A test that waits for what never comes is ended, and what it started. */
const LONGEST_MS = 30 * 60_000;
/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();

/** @typedef {{ text: string, code: number | null, signal: string | null, left: string[], seconds: number, cpuS: number }} Ran */

/** Acceptance files of npm test: one for each command and product. */
const DAILY = [
  'apply',
  'beams',
  'bench',
  'cables',
  'compare',
  'direct-images',
  'east-is-east',
  'ended-early',
  'fine-channels',
  'flagged-sky',
  'gains-observation',
  'inspect-capture',
  'inspect-picture',
  'json',
  'library',
  'live-equals-batch',
  'live-refusals',
  'measurement-sets',
  'messages',
  'output',
  'package',
  'page',
  'sample',
  'sky',
  'view',
  'visibilities-observation',
];

const words = process.argv.slice(2);
if (words[0] === HERE) await importAll(words.slice(1));
else process.exitCode = await main(words);

/**
 * A file that cannot be loaded is a failed test, and the others still run.
 * @param {readonly string[]} files
 */
async function importAll(files) {
  process.once('exit', () => {
    console.log(`# cpu_seconds ${cpuSeconds()}`);
  });
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

/** Of this process and its ended children, in seconds: fields 14 to 17 of proc(5)'s stat, in clock ticks. */
function cpuSeconds() {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}

/**
 * In a bundle: test files that need what it has not, by name (scripts/bundle-parts.js). There every test is run.
 * @returns {Readonly<Record<string, string>> | undefined}
 */
function leftOutHere() {
  const path = join(dist, '..', 'left-out-tests.json');
  return existsSync(path)
    ? /** @type {Record<string, string>} */ (JSON.parse(readFileSync(path, 'utf8')))
    : undefined;
}

/** @param {string} file */
function titleOf(file) {
  return file.slice(0, -'.test.js'.length);
}

/** @param {string} file */
function isAcceptance(file) {
  return file.startsWith('acceptance/');
}

/** @param {string} file */
function isDaily(file) {
  return !isAcceptance(file) || DAILY.includes(titleOf(file).slice('acceptance/'.length));
}

/** @param {readonly string[]} given */
async function main(given) {
  const started = performance.now();
  const wanted = given.filter((word) => !word.startsWith('--'));
  const leftOut = leftOutHere();
  /** @param {string} file */
  const isWanted = (file) =>
    wanted.length > 0
      ? wanted.some((word) => file.includes(word))
      : given.includes('--acceptance')
        ? !isDaily(file)
        : leftOut !== undefined || isDaily(file);
  const batches = inBatches(
    (file) => isWanted(file) && leftOut?.[titleOf(file)] === undefined,
    given.includes('--apart'),
  );
  if (batches.length === 0) {
    console.error(`no tests match ${given.join(' ') || '(nothing is built: npm run build)'}`);
    return 1;
  }
  const scratch = mkdtempSync(join(tmpdir(), 'corella-tests-'));
  // A test that gives up root's rights for a while reaches its folder still.
  chmodSync(scratch, 0o711);
  process.once('exit', () => {
    rmSync(scratch, { recursive: true, force: true });
  });
  process.once('exit', () => {
    for (const child of running) end(child);
  });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM']))
    process.once(signal, () => process.exit(1));

  /** @type {Totals} */
  const totals = new Map(COUNTED.map((what) => [what, 0]));
  /** @type {Map<string, number>} */
  const skipped = new Map();
  for (const [title, reason] of Object.entries(leftOut ?? {})) {
    if (!isWanted(`${title}.test.js`)) continue;
    skipped.set(`${title}: ${reason}`, 1);
    totals.set('skipped', (totals.get('skipped') ?? 0) + 1);
  }
  let [ended, cpuS] = [0, 0];
  const queue = batches.map((batch, n) => ({ batch, folder: join(scratch, String(n)) }));
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const ran = await run(next.batch, next.folder);
      cpuS += ran.cpuS;
      report(next.batch, ran, totals, `${++ended}/${batches.length}`);
      for (const [, reason] of ran.text.matchAll(/^\s*ok .* # SKIP (.+)$/gm))
        skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  for (const [reason, count] of [...skipped].sort(([, a], [, b]) => b - a))
    console.log(`skipped ${count}×: ${reason}`);
  for (const [what, count] of totals) console.log(`# ${what} ${count}`);
  console.log(`# duration_ms ${Math.round(performance.now() - started)}`);
  console.log(`# cpu_seconds ${Math.round(cpuS + cpuSeconds())}`);
  /** @param {typeof COUNTED[number]} what */
  const total = (what) => totals.get(what) ?? 0;
  const failed = total('fail') + total('cancelled');
  console.log(`${total('pass')} passed, ${failed} failed, ${total('skipped')} skipped`);
  return failed === 0 ? 0 : 1;
}

/**
 * The longest first, so that all cores stay busy to the end: acceptance tests, then by size.
 * @param {(file: string) => boolean} isWanted
 * @param {boolean} apart
 * @returns {Batch[]}
 */
function inBatches(isWanted, apart) {
  /** @type {Map<string, Batch>} */
  const batches = new Map();
  const names = readdirSync(dist, { recursive: true }).map((name) => String(name).replaceAll('\\', '/'));
  for (const file of names.filter((name) => name.endsWith('.test.js')).sort()) {
    if (!isWanted(file)) continue;
    const title = apart || isAcceptance(file) ? titleOf(file) : dirname(file);
    const batch = batches.get(title) ?? { title, files: [], bytes: 0 };
    batch.files.push(file);
    batch.bytes += statSync(join(dist, file)).size;
    batches.set(title, batch);
  }
  /** @param {Batch} batch */
  const rank = ({ title, files }) => (LONGEST.includes(title) ? 2 : Number(isAcceptance(files[0])));
  return [...batches.values()].sort((a, b) => rank(b) - rank(a) || b.bytes - a.bytes);
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
      // A group of its own, with the processes that it starts.
      detached: process.platform !== 'win32',
    });
    running.add(child);
    const timer = setTimeout(() => {
      end(child);
    }, LONGEST_MS);
    /** @type {Buffer[]} */
    const output = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (/** @type {Buffer} */ data) => output.push(data));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      running.delete(child);
      const left = readdirSync(folder);
      rmSync(folder, { recursive: true, force: true });
      const seconds = (performance.now() - started) / 1000;
      const text = Buffer.concat(output).toString();
      const cpuS = Number(/^# cpu_seconds ([\d.]+)$/m.exec(text)?.[1] ?? 0);
      resolve({ text, code, signal, left, seconds, cpuS });
    });
  });
}

/** @param {import('node:child_process').ChildProcess} child */
function end(child) {
  try {
    if (child.pid !== undefined && process.platform !== 'win32') process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // It has ended.
  }
}

/**
 * @param {Batch} batch
 * @param {Ran} ran
 * @param {Totals} totals
 * @param {string} progress
 */
function report({ title, files }, { text, code, signal, left, seconds, cpuS }, totals, progress) {
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
  const times = `${seconds.toFixed(1).padStart(5)} s ${cpuS.toFixed(1).padStart(5)} CPU`;
  console.log([`${result} ${times}  ${progress.padStart(7)} ${title}: ${what}`, ...faults].join('; '));
}
