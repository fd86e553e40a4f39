// The same recording by one process and by three workers, identical bit for bit, while processes are killed: workers,
// the server and the collector by kill -9 at random moments, the server's store deleted, a duplicate and a late result
// sent.
//   npm run test:farm                     20 seeds, a row each
//   npm run test:farm -- --seeds 2        a short one, as CI does
//   npm run test:farm -- --figures        jobs and bytes per second, and the time not spent on correlation
//   npm run test:farm -- --bands          a telescope by channels: runs by multicast on loopback, and one page for all
//   npm run test:farm -- --secured        TLS, tokens and NKeys alone
//   npm run test:farm -- --verified       --verify with a worker whose results are wrong, alone
// Without nats-server nothing is tested, and this is reported.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { randomUUID } from 'node:crypto';
import { randomStream } from '../dist/core/random.js';
import { openFile } from '../dist/formats/index.js';
import { connectQueue } from '../dist/farm/index.js';
import { sendResult } from '../dist/farm/queue/chunks.js';
import { findWorkers } from '../dist/farm/queue/streams.js';
import { decodeResult, encodeResult } from '../dist/farm/result.js';
import { corella, sleep } from './processes.js';
import { hasServer, NO_SERVER, openFarm } from './farm/processes.js';
import { bands } from './farm/bands.js';
import { figures } from './farm/figures.js';
import { secured } from './farm/secured.js';
import { verified } from './farm/verified.js';

const { values: options } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    first: { type: 'string', default: '1' },
    figures: { type: 'boolean', default: false },
    bands: { type: 'boolean', default: false },
    secured: { type: 'boolean', default: false },
    verified: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
});
const NAMES = ['a', 'b', 'c'];
const MOST_MS = 180_000;
const VERSION = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))).version;
const droppedOf = z.object({ duplicate: z.number(), late: z.number(), differs: z.number() });

if (!hasServer()) {
  console.log(NO_SERVER);
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), 'corella-farm-'));
let bad = 0;
try {
  if (options.figures) await figures(folder);
  else if (options.bands) {
    if (!(await bands(folder))) bad++;
  } else if (options.secured) {
    if (!(await secured(folder))) bad++;
  } else if (options.verified) {
    await prepare();
    if (!(await verified(folder, { how: HOW(), version: VERSION, contents }))) bad++;
  } else {
    await prepare();
    console.log(
      'seed  killed: workers server collector  store lost  results: merged duplicate late  identical   time',
    );
    const first = Number(options.first);
    for (let seed = first; seed < first + Number(options.seeds); seed++) if (!(await chaos(seed))) bad++;
    if (!(await poison())) bad++;
    if (!(await verified(folder, { how: HOW(), version: VERSION, contents }))) bad++;
    if (!(await secured(folder))) bad++;
    console.log(
      bad === 0
        ? 'every run gave the sums, counts and flags of one process, bit for bit'
        : `${bad} runs FAILED`,
    );
  }
} finally {
  if (bad === 0 || !options.keep) rmSync(folder, { recursive: true, force: true });
}
process.exit(bad === 0 ? 0 : 1);

/** A recording, and its result from one process. */
async function prepare() {
  await corella(
    folder,
    ...'simulate --stations 8 --rate 400kHz --duration 1s --type cf32 --perfect --drop 0.02 -o sky'.split(
      ' ',
    ),
  );
  await corella(folder, ...`correlate sky.sigmf-meta ${HOW()} -o one.uvh5`.split(' '));
}

function HOW() {
  return '--channels 32 --integration 150ms --flag 5 --bits 8 --values sums --backend reference';
}

/**
 * @param {string} place
 * @param {string} url
 */
function submit(place, url, jobs = '--job-time 50ms --job-channels 16') {
  const words = `farm submit correlate ../sky.sigmf-meta ${HOW()} -o farm.uvh5 ${jobs}`;
  return corella(place, ...words.split(' '), '--server', url, '--timeout', '3s', '--overwrite');
}

/** @param {string} path */
async function contents(path) {
  const file = await openFile(path);
  try {
    if (file.kind !== 'visibilities') throw new Error('no visibilities');
    const all = [];
    for await (const { start, durationS, visibilities, counts, flaggedInputs } of file.integrations('own')) {
      const bytes = [visibilities, counts, flaggedInputs].map((one) => Buffer.from(one.buffer, one.byteOffset, one.byteLength).toString('base64')); // prettier-ignore
      all.push(JSON.stringify([start, durationS, ...bytes]));
    }
    return all.join('\n');
  } finally {
    await file.close();
  }
}

/** @param {string} place */
function done(place) {
  try {
    return readdirSync(join(place, 'farm.uvh5.farm', 'results')).filter((name) => name.endsWith('.result'));
  } catch {
    return [];
  }
}
/**
 * @param {string} place
 * @returns {{ duplicate: number, late: number, differs: number }}
 */
function dropped(place) {
  try {
    const text = readFileSync(join(place, 'farm.uvh5.farm', 'dropped.json'), 'utf8');
    return droppedOf.parse(JSON.parse(text));
  } catch {
    return { duplicate: 0, late: 0, differs: 0 };
  }
}

/**
 * Sends an existing result again; and once more as if another worker had done the job too.
 * @param {string} place
 * @param {string} url
 */
async function inject(place, url) {
  const [name] = done(place);
  const bytes = readFileSync(join(place, 'farm.uvh5.farm', 'results', name));
  const { head, body } = decodeResult(bytes, name);
  const queue = await connectQueue({ server: url }, 'injector', { waits: true });
  await sendResult(queue, head.plan, randomUUID(), bytes, {});
  const late = { ...head, attempt: randomUUID() };
  await sendResult(queue, head.plan, late.attempt, encodeResult({ head: late, body }), {});
  await queue.close();
}

/** @param {number} seed */
async function chaos(seed) {
  const began = performance.now();
  const random = randomStream(seed, 'chaos');
  const place = join(folder, `seed-${seed}`);
  mkdirSync(place);
  const farm = await openFarm(place, { backend: 'reference' });
  const killed = { workers: 0, server: 0, collector: 0, store: 0 };
  const pause = () => sleep(100 + 900 * random.uniform());
  let isIdentical = false;
  let trouble = '';
  try {
    await submit(place, farm.url);
    for (const name of NAMES) farm.startWorker(name);
    farm.startCollector();
    const until = Date.now() + MOST_MS;
    while (done(place).length < 2 && Date.now() < until) await sleep(50);
    await inject(place, farm.url);
    while ((dropped(place).duplicate < 1 || dropped(place).late < 1) && Date.now() < until) await sleep(50);
    // Each at least once, in an order chosen by the seed.
    const blows = ['worker', 'server', 'collector', 'store', 'two', 'server', 'worker']
      .map((what) => ({ what, at: random.uniform() }))
      .sort((x, y) => x.at - y.at);
    for (const { what } of blows) {
      await pause();
      const name = NAMES[random.below(NAMES.length)];
      if (what === 'worker' || what === 'two') {
        const names = what === 'two' ? NAMES.filter((one) => one !== name) : [name];
        await Promise.all(names.map(farm.killWorker));
        killed.workers += names.length;
        await pause();
        for (const one of names) farm.startWorker(one);
      } else if (what === 'collector') {
        await farm.killCollector();
        killed.collector++;
        await pause();
        farm.startCollector();
      } else {
        await farm.killServer();
        killed.server++;
        if (what === 'store') {
          farm.loseStore();
          killed.store++;
        }
        await pause();
        farm.startServer();
      }
    }
    const collector = farm.collector();
    const code = await Promise.race([collector?.ended, sleep(MOST_MS).then(() => 'not in time')]);
    if (code === 0)
      isIdentical = (await contents(join(place, 'farm.uvh5'))) === (await contents(join(folder, 'one.uvh5')));
    else trouble = `${code}: ${collector?.errors() ?? ''}`;
  } finally {
    await farm.end();
  }
  const { duplicate, late, differs } = dropped(place);
  if (differs > 0) trouble += ` ${differs} results differed`;
  const isRight = isIdentical && trouble === '' && duplicate >= 1 && late >= 1;
  const cells = [
    String(seed).padStart(4),
    String(killed.workers).padStart(15),
    String(killed.server).padStart(6),
    String(killed.collector).padStart(9),
    (killed.store > 0 ? 'yes' : 'no').padStart(10),
    String(done(place).length).padStart(15),
    String(duplicate).padStart(9),
    String(late).padStart(4),
    isRight ? '      yes' : `       NO ${trouble}`,
    `${((performance.now() - began) / 1000).toFixed(0)} s`.padStart(6),
  ];
  console.log(cells.join(' '));
  if (isRight || !options.keep) rmSync(place, { recursive: true, force: true });
  return isRight;
}

/**
 * A job that fails three times is set aside and reported; a worker of another version is refused. After repair, it
 * continues.
 */
async function poison() {
  const place = join(folder, 'poison');
  mkdirSync(place);
  const farm = await openFarm(place, { backend: 'reference' });
  // A truncated recording, as during a copy: no job of it can be done. Few jobs, since each fails three times.
  const few = '--job-time 500ms --job-channels 32';
  const path = join(folder, 'sky.sigmf-data');
  const whole = readFileSync(path);
  const cut = () => {
    truncateSync(path, Math.floor((0.9 * whole.length) / 128) * 128);
  };
  const repair = () => {
    writeFileSync(path, whole);
  };
  try {
    await submit(place, farm.url, few);
    const queue = await connectQueue({ server: farm.url }, 'another version');
    const refused = await findWorkers(queue, '9.9.9').then(() => '', String);
    await queue.close();
    cut();
    for (const name of NAMES) farm.startWorker(name);
    farm.startCollector();
    const code = await Promise.race([farm.collector()?.ended, sleep(MOST_MS).then(() => 'not in time')]);
    const reported = farm.collector()?.errors() ?? '';
    repair();
    await Promise.all(NAMES.map(farm.killWorker));
    await submit(place, farm.url, few);
    for (const name of NAMES) farm.startWorker(name);
    farm.startCollector();
    const after = await Promise.race([farm.collector()?.ended, sleep(MOST_MS).then(() => 'not in time')]);
    const isIdentical =
      after === 0 &&
      (await contents(join(place, 'farm.uvh5'))) === (await contents(join(folder, 'one.uvh5')));
    const isRight = /the jobs there are for corella .* and this is 9\.9\.9/.test(refused) && code === 1 && reported.includes('set aside') && isIdentical; // prettier-ignore
    console.log(
      isRight
        ? 'a worker of another version was refused; jobs of a recording cut short were set aside and reported, and done when it was complete'
        : `poisoned jobs: NO: ${code} ${after} ${isIdentical} ${refused} ${reported} ${farm.collector()?.errors() ?? ''}`,
    );
    return isRight;
  } finally {
    await farm.end();
  }
}
