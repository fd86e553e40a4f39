// Feeds damaged files to every reader: npm run fuzz [-- --inputs 10000 --seed 1 --only vdif,guppi --processes 2] Each
// must end in a recording whose gaps and lengths add up, or in a CorellaError, within two seconds, and may allocate at
// once no more memory than a small multiple of the file's size. The slowest input and the largest allocation are
// printed. The same seed makes the same inputs; a failure names the reader and the input's number.
import { fork } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  existsSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const TIME_LIMIT_MS = 60_000;
/** A hang is ended after a minute; an input that takes longer than this has failed. */
const SLOWEST_MS = 2000;
/**
 * Limit of one array: buffers of a few megabytes that every reader has, plus an amount for each byte of the file.
 * Samples of one bit become floats of 32, and a block holds some hundred of them that a damaged header may claim.
 */
const BUFFER_BYTES = 16 * 2 ** 20;
const BYTES_PER_BYTE = 1024;
/** On a busy machine, making the valid files takes a while. */
const START_LIMIT_MS = 120_000;
/** A process's share of a reader's inputs: what libhdf5 leaks after a damaged file ends with the process. */
const SLICE = 500;

/** @typedef {{ name: string, folder: string, inputs: string, seed: string, first: string }} Task */
/** @typedef {{ read: number, refused: number, slowestMs: number, largestBytes: number }} Counted */
/** @typedef {{ failure?: string, counted?: Counted }} Slice */

// A separate process for each slice of a reader's inputs: its memory and crashes are its own.
if (process.send) {
  const send = process.send.bind(process);
  process.once('message', (/** @type {Task} */ task) => {
    void fuzzOne(task, (k) => send({ k })).then((slice) =>
      send({ slice }, () => {
        process.disconnect();
      }),
    );
  });
} else await main();

async function main() {
  const { values } = parseArgs({
    options: {
      inputs: { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
      first: { type: 'string', default: '0' },
      processes: { type: 'string', default: '2' },
    },
  });
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'corella-fuzz-'));
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true });
  });
  // Temporary files of a reader's threads are there too: a terminated thread does not clean up.
  process.env.TMPDIR = join(folder, 'temporary');
  mkdirSync(process.env.TMPDIR);
  const { subjects } = await import('../dist/formats/testing/subjects.js');
  const names = (await subjects()).map(({ name }) => name);
  const chosen = values.only === '' ? names : values.only.split(',');
  let failures = 0;
  const started = performance.now();
  // Slices of all readers, each taken by a free process; a reader that failed is not continued.
  const [from, to] = [Number(values.first), Number(values.inputs)];
  const readers = chosen.map((name) => ({
    name,
    left: Math.ceil((to - from) / SLICE),
    isReported: false,
    ...empty(),
  }));
  const queue = readers.flatMap((reader) =>
    Array.from({ length: reader.left }, (_, k) => ({ reader, first: from + k * SLICE })),
  );
  /** @type {Set<object>} */
  const reported = new Set();
  const next = async () => {
    for (let slice = queue.shift(); slice !== undefined; slice = queue.shift()) {
      const { reader, first } = slice;
      if (reported.has(reader)) continue;
      const inputs = String(Math.min(to, first + SLICE));
      add(reader, await run({ name: reader.name, folder, seed: values.seed, first: String(first), inputs }));
      reader.left--;
      const { failure } = reader;
      // Another slice of it may have failed meanwhile.
      if (reported.has(reader) || (failure === undefined && reader.left > 0)) continue;
      reported.add(reader);
      failures += failure === undefined ? 0 : 1;
      console.log(
        `${failure === undefined ? 'ok    ' : 'FAILED'} ${reader.name.padEnd(10)} ${failure ?? words(reader, to - from)}`,
      );
    }
  };
  await Promise.all(Array.from({ length: Number(values.processes) }, next));
  console.log(
    `${failures === 0 ? 'every reader stood' : `${failures} readers fell`}, ${((performance.now() - started) / 1000).toFixed(0)} s`,
  );
  process.exit(failures === 0 ? 0 : 1);
}

/** @returns {Counted & { failure?: string }} */
function empty() {
  return { read: 0, refused: 0, slowestMs: 0, largestBytes: 0 };
}

/**
 * @param {Counted & { failure?: string }} all
 * @param {Slice} slice
 */
function add(all, { failure, counted }) {
  if (!counted) {
    all.failure ??= failure ?? 'ended without a word';
    return;
  }
  all.read += counted.read;
  all.refused += counted.refused;
  all.slowestMs = Math.max(all.slowestMs, counted.slowestMs);
  all.largestBytes = Math.max(all.largestBytes, counted.largestBytes);
}

/**
 * @param {Counted} all
 * @param {number} inputs
 */
function words({ read, refused, slowestMs, largestBytes }, inputs) {
  const megabytes = (largestBytes / 2 ** 20).toFixed(1);
  return `${inputs} inputs: ${read} read, ${refused} refused, slowest ${slowestMs.toFixed(0)} ms, largest array ${megabytes} MiB`;
}

/**
 * One slice, so that a hang can be ended and reported.
 * @param {Task} task
 * @returns {Promise<Slice>}
 */
function run(task) {
  return new Promise((resolve) => {
    const child = fork(new URL(import.meta.url), [], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    let [at, since, words] = [-1, performance.now(), ''];
    const watch = setInterval(() => {
      if (performance.now() - since <= (at < 0 ? START_LIMIT_MS : TIME_LIMIT_MS)) return;
      done({
        failure: at < 0 ? 'did not start' : `input ${at} took longer than ${TIME_LIMIT_MS / 1000} s`,
      });
    }, 250);
    /** @param {Slice} slice */
    const done = (slice) => {
      clearInterval(watch);
      child.kill('SIGKILL');
      resolve(slice);
    };
    child.stderr?.on('data', (/** @type {Buffer} */ some) => {
      words = (words + some.toString()).slice(-2000);
    });
    child.on('message', (/** @type {{ k?: number, slice?: Slice }} */ { k, slice }) => {
      if (slice) done(slice);
      else [at, since] = [k ?? at, performance.now()];
    });
    child.on('exit', (code, signal) => {
      done({ failure: `ended with ${signal ?? code} at input ${at}: ${words}` });
    });
    child.send(task);
  });
}

/**
 * @param {Task} task
 * @param {(k: number) => void} begin called for each input
 * @returns {Promise<Slice>}
 */
async function fuzzOne({ name, folder, inputs, seed, first }, begin) {
  const { subjects } = await import('../dist/formats/testing/subjects.js');
  const { mutate } = await import('../dist/formats/testing/mutate.js');
  const { tryReading } = await import('../dist/formats/testing/trial.js');
  const { randomStream } = await import('../dist/core/random.js');
  const subject = (await subjects()).find((one) => one.name === name);
  if (!subject) return { failure: 'there is no such reader' };
  // A valid file loads the libraries, which count to no input's time.
  const sound = join(folder, `${name}-sound-${first}${subject.extension}`);
  writeFileSync(sound, subject.bytes);
  await tryReading(subject, sound);
  const asked = countAllocations();
  const most = { ms: 0, bytes: 0, timesTheFile: 0 };
  const tally = { refused: 0, read: 0 };
  for (let k = Number(first); k < Number(inputs); k++) {
    begin(k);
    // A separate file for each: libhdf5 recognises a file that it failed to close.
    const path = join(folder, `${name}-${k}${subject.extension}`);
    const damaged = mutate(subject.bytes, randomStream(Number(seed), name, k));
    writeFileSync(path, damaged);
    asked.largest = 0;
    try {
      const started = performance.now();
      const before = spentMs();
      tally[await tryReading(subject, path)]++;
      // On a busy machine the wall clock includes waiting: then CPU time counts.
      const ms = Math.min(performance.now() - started, spentMs() - before);
      most.ms = Math.max(most.ms, ms);
      most.bytes = Math.max(most.bytes, asked.largest);
      most.timesTheFile = Math.max(most.timesTheFile, (asked.largest - BUFFER_BYTES) / damaged.length);
      if (ms > SLOWEST_MS) throw new Error(`took ${ms.toFixed(0)} ms`);
      if (asked.largest > BUFFER_BYTES + BYTES_PER_BYTE * Math.max(damaged.length, subject.bytes.length))
        throw new Error(`asked for ${asked.largest} bytes at once for a file of ${damaged.length}`);
    } catch (error) {
      return { failure: `input ${k}: ${error instanceof Error ? error.stack : String(error)}` };
    }
    for (const one of readdirSync(folder))
      if (one.startsWith(`${name}-${k}.`)) rmSync(join(folder, one), { recursive: true });
  }
  return { counted: { ...tally, slowestMs: most.ms, largestBytes: most.bytes } };
}

/** CPU time of this process and its ended children (from Linux, in ticks of 10 ms). */
function spentMs() {
  const { user, system } = process.cpuUsage();
  const stat = existsSync('/proc/self/stat') ? readFileSync('/proc/self/stat', 'utf8') : ') ';
  const [childUser = 0, childSystem = 0] = stat
    .slice(stat.lastIndexOf(') ') + 2)
    .split(' ')
    .slice(13, 15)
    .map(Number);
  return (user + system) / 1000 + 10 * (childUser + childSystem);
}

/**
 * From now on records the largest array allocated, in bytes.
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
        // Views of existing buffers allocate nothing.
        if (!(words[0] instanceof ArrayBuffer) && !(words[0] instanceof SharedArrayBuffer))
          seen.largest = Math.max(seen.largest, made.byteLength);
        return made;
      },
    };
    everything[name] = new Proxy(own, handler);
  }
  return seen;
}
