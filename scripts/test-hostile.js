// An observation under attack: corella send and corella live on loopback, four SNAP2 senders with 58 Mb/s, and in turn
// nothing and an attack. With an attack no more packets may be lost than without it plus 0.01 %, none for a full ring;
// every packet must be in the account, and memory must stay where it was. Attacks: clients that subscribe without end,
// 500 pages that open at once, forged packets. --seconds N in all (600 by default, 60 in CI), --only subscribes,ticks.
import { spawn } from 'node:child_process';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { openNight, sleep, until } from './page/night.js';

/** @param {string} name @param {string} usual */
const option = (name, usual) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? usual : process.argv[at + 1];
};
const SECONDS = Number(option('seconds', '600'));
const ATTACKS = /** @type {const} */ (['subscribes', 'pages', 'ticks']);
/** @typedef {typeof ATTACKS[number]} Attack */
const asked = option('only', ATTACKS.join()).split(',');
const attacks = ATTACKS.filter((one) => asked.includes(one));
/** Each attack has two turns (four where no other comes between), and each of those one without it before. */
const TURN_S = SECONDS / (4 * attacks.length);
/** The ring has been through all of its memory, and what was compiled is. */
const WARM_S = 12;
/** Until what the ring holds is counted. */
const SETTLE_S = 3;
const MOST_MORE_LOST = 1e-4;
const MOST_GROWTH = 0.1;
const RATE_HZ = 25_000;
const CHANNELS = 4;

const sky = [
  ...['--simulate', '--stations', '128', '--rate', `${RATE_HZ}Hz`, '--duration', '2s', '--perfect'],
  ...['--format', 'snap2', '--channels', String(CHANNELS)],
];
const observe = () =>
  openNight({
    send: [...sky, '--loop'],
    live: [
      ...['--telescope', 'lwasv', '--stations', '128', '--rate', String(RATE_HZ / CHANNELS)],
      ...['--image', '1s', '--integration', '1s', '-o', 'run.uvh5', '--json'],
    ],
  });
/** @typedef {Awaited<ReturnType<typeof openNight>>} Night */

let bad = 0;
/** @param {string} what @param {boolean} isGood @param {string} found */
const row = (what, isGood, found) => {
  if (!isGood) bad++;
  console.log(`${isGood ? 'ok ' : 'RED'}  ${what.padEnd(46)} ${found}`);
};

/** What has become of the packets so far. @param {Night} night */
async function counted(night) {
  const { senders, outcomes, kernelDrops = 0 } = await night.sources();
  const sum = (/** @type {(sender: typeof senders[number]) => number} */ of) =>
    senders.reduce((total, one) => total + of(one), 0);
  return {
    placed: sum((one) => one.outcomes.placed),
    missing: sum((one) => one.missing),
    ringFull: outcomes.ring_full,
    kernelDrops,
    memoryBytes: (await night.chain()).memoryBytes,
  };
}

/** @param {readonly string[]} words */
function attack(words) {
  const path = fileURLToPath(new URL('./hostile/attack.js', import.meta.url));
  const child = spawn(process.execPath, [path, ...words]);
  let [text, errors] = ['', ''];
  child.stdout.on('data', (/** @type {Buffer} */ part) => (text += String(part)));
  child.stderr.on('data', (/** @type {Buffer} */ part) => (errors += String(part)));
  const did = () => text.trim().split('\n').at(-1) ?? '';
  const mustRun = () => {
    if (child.exitCode !== null) throw new Error(`the attack ended:\n${errors}`);
  };
  return {
    /** It does something: a busy machine may take seconds to start it. */
    begun: until('the attack', () => {
      mustRun();
      return did().includes(':') ? true : undefined;
    }),
    end: async () => {
      mustRun();
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('exit', resolve));
      return did();
    },
  };
}

/** One turn: what was lost in it, and what was done meanwhile. @param {Night} night @param {readonly string[]} [words] */
async function turn(night, words) {
  const before = await counted(night);
  const running = words && attack(words);
  await running?.begun;
  await sleep(1000 * TURN_S);
  const did = running ? await running.end() : '';
  await sleep(1000 * SETTLE_S);
  const after = await counted(night);
  const [placed, missing] = [after.placed - before.placed, after.missing - before.missing];
  return {
    lost: missing / Math.max(1, placed + missing),
    ringFull: after.ringFull - before.ringFull,
    kernelDrops: after.kernelDrops - before.kernelDrops,
    memoryBytes: after.memoryBytes,
    placed,
    did,
  };
}

const summaryOf = z.object({
  event: z.literal('summary'),
  eventLoopMs: z.object({ p99: z.number(), most: z.number() }),
  packets: z.object({
    packets: z.number(),
    outcomes: z.record(z.string(), z.number()),
    blocks: z.number(),
    skippedBlocks: z.number(),
    missingCells: z.number(),
    resyncs: z.number(),
  }),
});

/** Ends it in good order, and looks at the account of the whole. @param {Night} night */
async function closed(night) {
  await night.post('stop', {});
  const line = await until('the summary', () =>
    night.said().split('\n').find((one) => one.startsWith('{"event":"summary"')),
  ); // prettier-ignore
  const { packets, eventLoopMs } = summaryOf.parse(JSON.parse(line));
  const sum = Object.values(packets.outcomes).reduce((total, one) => total + one, 0);
  const cells = packets.outcomes.placed + packets.missingCells;
  const blocks = packets.blocks + packets.skippedBlocks;
  row(
    'the account is exact',
    sum === packets.packets && cells % blocks === 0,
    `${packets.packets} packets, ${sum} in outcomes; ${cells} slots of ${blocks} blocks; ${packets.resyncs} resyncs; ` +
      `event loop p99 ${eventLoopMs.p99} ms, ${eventLoopMs.most} ms at most`,
  );
  const [isShown, isLeaked] = [night.said().includes('the sky is at'), night.said().includes(night.token)];
  row('the log holds the address and no token', isShown && !isLeaked, '');
}

/** @param {readonly Attack[]} kinds @param {(night: Night, kind: Attack) => Promise<readonly string[]>} wordsOf */
async function observation(kinds, wordsOf) {
  if (kinds.length === 0) return;
  const night = await observe();
  try {
    await until('an image', async () => ((await night.status()).image ? true : undefined));
    await sleep(1000 * WARM_S);
    /** @type {number[]} */
    const memory = [];
    // Memory grows while the process warms up, so the second half of four turns or more is held against the first.
    const rounds = 2 * Math.max(1, Math.ceil(2 / kinds.length));
    for (let round = 1; round <= rounds; round++)
      for (const kind of kinds) {
        const words = await wordsOf(night, kind);
        const quiet = await turn(night);
        const attacked = await turn(night, words);
        memory.push(Math.max(quiet.memoryBytes, attacked.memoryBytes));
        const percent = (/** @type {number} */ share) => `${(100 * share).toFixed(4)} %`;
        row(
          `${kind} ${round}: lost with it, and without`,
          attacked.lost <= quiet.lost + MOST_MORE_LOST && attacked.placed > 0,
          `${percent(attacked.lost)} and ${percent(quiet.lost)} of ${quiet.placed} packets in ${TURN_S} s; ` +
            `kernel ${attacked.kernelDrops} and ${quiet.kernelDrops}; ${attacked.did}`,
        );
        row(
          `${kind} ${round}: ring_full 0`,
          attacked.ringFull === 0,
          `${attacked.ringFull}, without ${quiet.ringFull}`,
        );
      }
    const [first, second] = [memory.slice(0, memory.length / 2), memory.slice(memory.length / 2)];
    const growth = Math.max(...second) / Math.max(...first) - 1;
    const megabytes = memory.map((one) => (one / 1e6).toFixed(0)).join(', ');
    row(`memory grows by less than ${100 * MOST_GROWTH} %`, growth < MOST_GROWTH, `${megabytes} MB`);
    await closed(night);
  } catch (error) {
    row('the observation goes on', false, `${String(error)}; it said last: ${night.said().slice(-400)}`);
  } finally {
    await night.close();
  }
}

/** Packets as the senders make them, to forge others by. @param {Night} night */
async function capturePath({ folder }) {
  const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
  const path = join(folder, 'genuine.pcap');
  const child = spawn(process.execPath, [program, 'send', ...sky, '--for', '20ms', '--to', path], {
    cwd: folder,
  });
  await new Promise((resolve) => child.once('exit', resolve));
  return path;
}

console.log(`${availableParallelism()} processors, load ${loadavg()[0].toFixed(1)} before`);
await observation(
  attacks.filter((one) => one !== 'ticks'),
  (night, kind) => Promise.resolve([kind, night.url]),
);
// Of its own: packets that are believed may end it.
await observation(
  attacks.filter((one) => one === 'ticks'),
  async (night) => ['ticks', String(night.port), await capturePath(night)],
);
// Malicious jobs and results of a farm: an attack of their own here, with a server and a worker (scripts/farm).
console.log(`load ${loadavg()[0].toFixed(1)} after`);
process.exit(bad === 0 ? 0 : 1);
