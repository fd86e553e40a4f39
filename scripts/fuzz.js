// Feeds damaged files to every reader: npm run fuzz [-- --inputs 10000 --seed 1 --only vdif,guppi]
// Each must end in a recording whose gaps and lengths add up, or in a CorellaError, within two seconds (ten through casacore),
// and may ask for no more memory at once than a small multiple of the file's own size. The slowest input and the largest request are told.
// The same seed makes the same inputs; a failure names the reader and the input's number.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parentPort, Worker, workerData } from 'node:worker_threads';

const TIME_LIMIT_MS = 60_000;
/** A hang is ended after a minute; an input that takes longer than this has failed. */
const SLOWEST_MS = 2000;
/** casacore itself is up to two seconds over a damaged table. */
const SLOWEST_CASACORE_MS = 10_000;
/**
 * What one array may take: buffers of a few megabytes that every reader has, and so much for each byte of the file. Samples of
 * one bit become floats of 32, and a block holds some hundred of them that a damaged header may say to be there.
 */
const BUFFER_BYTES = 16 * 2 ** 20;
const BYTES_PER_BYTE = 1024;
/** Making the sound files takes a busy machine a while. */
const START_LIMIT_MS = 120_000;
const THREADS = 2;

/** @typedef {{ name: string, folder: string, inputs: string, seed: string, first: string }} Task */
/** @typedef {{ failed: boolean, text: string }} Result */

/** @type {unknown} */
const given = workerData;
if (parentPort === null) await main();
else parentPort.postMessage(await fuzzOne(/** @type {Task & { progress: Int32Array }} */ (given)));

async function main() {
  const { values } = parseArgs({
    options: {
      inputs: { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
      first: { type: 'string', default: '0' },
    },
  });
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'corella-fuzz-'));
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true });
  });
  // What a reader's thread makes for itself lies there too: a thread that is ended clears nothing up.
  process.env.TMPDIR = join(folder, 'temporary');
  mkdirSync(process.env.TMPDIR);
  const { subjects } = await import('../dist/formats/testing/subjects.js');
  const names = (await subjects()).map(({ name }) => name);
  const chosen = values.only === '' ? names : values.only.split(',');
  const queue = [...chosen];
  let failures = 0;
  const started = performance.now();
  const next = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      const result = await run({ name, folder, ...values });
      failures += result.failed ? 1 : 0;
      console.log(`${result.failed ? 'FAILED' : 'ok    '} ${name.padEnd(10)} ${result.text}`);
    }
  };
  await Promise.all(Array.from({ length: THREADS }, next));
  console.log(
    `${failures === 0 ? 'every reader stood' : `${failures} readers fell`}, ${((performance.now() - started) / 1000).toFixed(0)} s`,
  );
  process.exit(failures === 0 ? 0 : 1);
}

/**
 * One reader in a thread of its own, so that a hang can be ended and told.
 * @param {Task} task
 * @returns {Promise<Result>}
 */
function run(task) {
  return new Promise((resolve) => {
    const progress = new Int32Array(new SharedArrayBuffer(4)).fill(-1);
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { ...task, progress },
      stderr: true,
      stdout: true,
    });
    let seen = -2;
    let since = performance.now();
    const watch = setInterval(() => {
      const now = Atomics.load(progress, 0);
      if (now !== seen) {
        seen = now;
        since = performance.now();
      } else if (performance.now() - since > (now < 0 ? START_LIMIT_MS : TIME_LIMIT_MS)) {
        done({
          failed: true,
          text: now < 0 ? 'did not start' : `input ${now} took longer than ${TIME_LIMIT_MS / 1000} s`,
        });
      }
    }, 250);
    /** @param {Result} result */
    const done = (result) => {
      clearInterval(watch);
      void worker.terminate();
      resolve(result);
    };
    worker.on('message', done);
    worker.on('error', (error) => {
      done({ failed: true, text: `input ${Atomics.load(progress, 0)}: ${error.stack}` });
    });
    worker.on('exit', (code) => {
      done({ failed: true, text: `ended with ${code} at input ${Atomics.load(progress, 0)}` });
    });
  });
}

/**
 * @param {Task & { progress: Int32Array }} task
 * @returns {Promise<Result>}
 */
async function fuzzOne({ name, folder, inputs, seed, first, progress }) {
  const { subjects } = await import('../dist/formats/testing/subjects.js');
  const { mutate } = await import('../dist/formats/testing/mutate.js');
  const { tryReading } = await import('../dist/formats/testing/trial.js');
  const { randomStream } = await import('../dist/core/random.js');
  const subject = (await subjects()).find((one) => one.name === name);
  if (!subject) return { failed: true, text: 'there is no such reader' };
  // Libraries are loaded by a sound file, which is no part of any input's time.
  const sound = join(folder, `${name}-sound${subject.extension}`);
  writeFileSync(sound, subject.bytes);
  await tryReading(subject, sound);
  const asked = countAllocations();
  const most = { ms: 0, bytes: 0, timesTheFile: 0 };
  const tally = { refused: 0, read: 0 };
  for (let k = Number(first); k < Number(inputs); k++) {
    Atomics.store(progress, 0, k);
    // A file of its own for each: libhdf5 knows a file again that it failed to close.
    const path = join(folder, `${name}-${k}${subject.extension}`);
    const damaged = mutate(subject.bytes, randomStream(Number(seed), name, k));
    writeFileSync(path, damaged);
    asked.largest = 0;
    try {
      const started = performance.now();
      const before = process.cpuUsage();
      tally[await tryReading(subject, path)]++;
      const { user, system } = process.cpuUsage(before);
      // On a busy machine the clock runs on while nothing is done: then what the processor spent counts.
      const ms = Math.min(performance.now() - started, (user + system) / 1000);
      most.ms = Math.max(most.ms, ms);
      most.bytes = Math.max(most.bytes, asked.largest);
      most.timesTheFile = Math.max(most.timesTheFile, (asked.largest - BUFFER_BYTES) / damaged.length);
      if (ms > (name === 'ms' ? SLOWEST_CASACORE_MS : SLOWEST_MS))
        throw new Error(`took ${ms.toFixed(0)} ms`);
      if (asked.largest > BUFFER_BYTES + BYTES_PER_BYTE * Math.max(damaged.length, subject.bytes.length))
        throw new Error(`asked for ${asked.largest} bytes at once for a file of ${damaged.length}`);
    } catch (error) {
      return {
        failed: true,
        text: `input ${k}: ${error instanceof Error ? error.stack : String(error)}`,
      };
    }
    for (const one of readdirSync(folder))
      if (one.startsWith(`${name}-${k}.`)) rmSync(join(folder, one), { recursive: true });
  }
  const megabytes = (most.bytes / 2 ** 20).toFixed(1);
  return {
    failed: false,
    text: `${inputs} inputs: ${tally.read} read, ${tally.refused} refused, slowest ${most.ms.toFixed(0)} ms, largest array ${megabytes} MiB`,
  };
}

/**
 * Every array that is made from now on is seen: the largest of them in bytes.
 * @returns {{ largest: number }}
 */
function countAllocations() {
  const seen = { largest: 0 };
  const names = [
    'Uint8Array',
    'Int8Array',
    'Uint16Array',
    'Int16Array',
    'Uint32Array',
    'Int32Array',
    'Float32Array',
    'Float64Array',
    'BigUint64Array',
  ];
  /** @typedef {new (...words: unknown[]) => { byteLength: number }} ArrayKind */
  const everything = /** @type {Record<string, ArrayKind>} */ (/** @type {unknown} */ (globalThis));
  for (const name of names) {
    const own = everything[name];
    /** @type {ProxyHandler<ArrayKind>} */
    const handler = {
      construct: (target, words, as) => {
        /** @type {unknown} */
        const built = Reflect.construct(target, words, as === everything[name] ? target : as);
        const made = /** @type {{ byteLength: number }} */ (built);
        // Views of what is there already take nothing.
        if (!(words[0] instanceof ArrayBuffer) && !(words[0] instanceof SharedArrayBuffer))
          seen.largest = Math.max(seen.largest, made.byteLength);
        return made;
      },
    };
    everything[name] = new Proxy(own, handler);
  }
  return seen;
}
