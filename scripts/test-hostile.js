// An observation under attack: corella send and corella live on loopback, four SNAP2 senders with 58 Mb/s, alternately
// without and with an attack. With an attack the packet loss may be at most 0.01 % higher, with none for a full ring;
// every packet must be in the account, and memory must not grow. Attacks: clients that subscribe without end, 500 pages
// that open at once, forged packets, and wrong jobs and results on the queue of a farm that works meanwhile: its
// product must be that of one process. --seconds N in all (600 by default, 60 in CI), --only subscribes,ticks.
import { mkdirSync, readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { hasServer, NO_SERVER, openFarm } from './farm/processes.js';
import { openObservation } from './page/observation.js';
import { corella, option, sleep, startScript, until } from './processes.js';

const SECONDS = Number(option('seconds', '600'));
const ATTACKS = /** @type {const} */ (['subscribes', 'pages', 'jobs', 'ticks']);
/** @typedef {typeof ATTACKS[number]} Attack */
const asked = option('only', ATTACKS.join()).split(',');
const attacks = ATTACKS.filter((one) => asked.includes(one) && (one !== 'jobs' || hasServer()));
if (asked.includes('jobs') && !hasServer()) console.log(NO_SERVER);
/** Each attack has two turns (four if it is the only one), each after a turn without it. */
const TURN_S = SECONDS / (4 * attacks.length);
/** By then the ring has used all of its memory, and code is compiled. */
const WARM_S = 12;
/** Until the contents of the ring are counted. */
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
  openObservation({
    send: [...sky, '--loop'],
    live: [
      ...['--telescope', 'lwasv', '--stations', '128', '--rate', String(RATE_HZ / CHANNELS)],
      ...['--image', '1s', '--integration', '1s', '-o', 'run.uvh5', '--json'],
    ],
  });
/** @typedef {Awaited<ReturnType<typeof openObservation>>} Observation */

let bad = 0;
/** @param {string} what @param {boolean} isGood @param {string} found */
const row = (what, isGood, found) => {
  if (!isGood) bad++;
  console.log(`${isGood ? 'ok ' : 'RED'}  ${what.padEnd(46)} ${found}`);
};

/** Packet counts so far. @param {Observation} observation */
async function counted(observation) {
  const { senders, outcomes, kernelDrops = 0 } = await observation.sources();
  const sum = (/** @type {(sender: typeof senders[number]) => number} */ of) =>
    senders.reduce((total, one) => total + of(one), 0);
  return {
    placed: sum((one) => one.outcomes.placed),
    missing: sum((one) => one.missing),
    outcomes,
    ringFull: outcomes.ring_full,
    kernelDrops,
    memoryBytes: (await observation.chain()).memoryBytes,
  };
}

/** @param {readonly string[]} words */
function attack(words) {
  const running = startScript('./hostile/attack.js', words);
  const did = () => running.text().trim().split('\n').at(-1) ?? '';
  const mustRun = () => {
    if (!running.isRunning()) throw new Error(`the attack ended:\n${running.errors()}`);
  };
  return {
    /** Wait until it acts: a busy machine may take seconds to start it. */
    begun: until('the attack', () => {
      mustRun();
      return did().includes(':') ? true : undefined;
    }),
    end: async () => {
      mustRun();
      await running.kill();
      return did();
    },
  };
}

/**
 * An attack, and what else happens during it.
 * @typedef {object} Plan
 * @property {readonly string[]} words
 * @property {() => void} [meanwhile]
 * @property {(did: string, title: string) => Promise<void>} [after]
 */

/** One turn: its losses and actions. @param {Observation} observation @param {Plan} [plan] */
async function turn(observation, plan) {
  const before = await counted(observation);
  const running = plan && attack(plan.words);
  await running?.begun;
  plan?.meanwhile?.();
  await sleep(1000 * TURN_S);
  const did = running ? await running.end() : '';
  await sleep(1000 * SETTLE_S);
  const after = await counted(observation);
  const [placed, missing] = [after.placed - before.placed, after.missing - before.missing];
  /** Packets in no sum, by outcome. @type {[string, number][]} */
  const aside = Object.entries(after.outcomes)
    .map(
      ([kind, count]) =>
        /** @type {[string, number]} */ ([
          kind,
          count - before.outcomes[/** @type {keyof typeof before.outcomes} */ (kind)],
        ]),
    )
    .filter(([kind, count]) => kind !== 'placed' && count > 0);
  return {
    aside,
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

/** @param {string} did */
const forgedIn = (did) => z.object({ forged: z.number() }).parse(JSON.parse(did)).forged;

/** Ends it in good order, and checks the whole account. @param {Observation} observation */
async function closed(observation) {
  await observation.post('stop', {});
  const line = await until('the summary', () =>
    observation.said().split('\n').find((one) => one.startsWith('{"event":"summary"')),
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
  const [isShown, isLeaked] = [
    observation.said().includes('the sky is at'),
    observation.said().includes(observation.token),
  ];
  row('the log holds the address and no token', isShown && !isLeaked, '');
}

/** @param {readonly Attack[]} kinds @param {(observation: Observation, kind: Attack) => Promise<Plan>} planOf */
async function observation(kinds, planOf) {
  if (kinds.length === 0) return;
  const observation = await observe();
  try {
    await until('an image', async () => ((await observation.status()).image ? true : undefined));
    await sleep(1000 * WARM_S);
    /** @type {number[]} */
    const memory = [];
    // Memory grows while the process warms up, so the second half of four turns or more is compared with the first.
    const rounds = 2 * Math.max(1, Math.ceil(2 / kinds.length));
    for (let round = 1; round <= rounds; round++)
      for (const kind of kinds) {
        const plan = await planOf(observation, kind);
        const quiet = await turn(observation);
        const attacked = await turn(observation, plan);
        await plan.after?.(attacked.did, `${kind} ${round}`);
        memory.push(Math.max(quiet.memoryBytes, attacked.memoryBytes));
        const percent = (/** @type {number} */ share) => `${(100 * share).toFixed(4)} %`;
        row(
          `${kind} ${round}: lost with it, and without`,
          attacked.lost <= quiet.lost + MOST_MORE_LOST && attacked.placed > 0,
          `${percent(attacked.lost)} and ${percent(quiet.lost)} of ${quiet.placed} packets in ${TURN_S} s; ` +
            `kernel ${attacked.kernelDrops} and ${quiet.kernelDrops}; ${attacked.did}`,
        );
        const forged = kind === 'ticks' ? forgedIn(attacked.did) : 0;
        const added = attacked.aside.map(([what, count]) => `${what} ${count}`).join(', ');
        if (kind === 'ticks')
          row(
            `${kind} ${round}: forged packets are in the account`,
            attacked.aside.reduce((sum, [what, count]) => sum + (what === 'ring_full' ? 0 : count), 0) >=
              forged,
            `${added}, of ${forged} forged`,
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
    await closed(observation);
  } catch (error) {
    row(
      'the observation goes on',
      false,
      `${String(error)}; it said last: ${observation.said().slice(-400)}`,
    );
  } finally {
    await observation.close();
  }
}

/** The senders' packets, as a basis for forged ones. @param {Observation} observation */
async function capturePath({ folder }) {
  const path = join(folder, 'genuine.pcap');
  await corella(folder, 'send', ...sky, '--for', '20ms', '--to', path, '--overwrite');
  return path;
}

/** The farm's correlation options; each job is 50 ms. */
const HOW = '--channels 16 --integration 100ms --bits 8 --values sums --backend reference';

const workerOf = z.object({ jobs: z.number(), failed: z.number() });

/**
 * A farm with a server of its own: its jobs wait, and run while the queue is attacked.
 * @param {Observation} observation
 * @returns {Promise<Plan>}
 */
async function farmUnder({ folder }) {
  const place = join(folder, `farm-${performance.now().toFixed(0)}`);
  mkdirSync(place);
  const sky =
    'simulate --stations 4 --rate 100kHz --duration 400ms --perfect -o farm-sky --overwrite --quiet';
  await corella(folder, ...sky.split(' '));
  await corella(folder, ...`correlate farm-sky.sigmf-meta ${HOW} -o one.uvh5 --overwrite --quiet`.split(' '));
  const farm = await openFarm(place, { backend: 'reference' });
  const submit = `farm submit correlate ../farm-sky.sigmf-meta ${HOW} -o farm.uvh5 --job-time 50ms --timeout 3s`;
  await corella(place, ...submit.split(' '), '--server', farm.url);
  const ledger = join(place, 'farm.uvh5.farm');
  return {
    words: ['jobs', farm.url, ledger],
    meanwhile: () => {
      farm.startWorker('honest', '3s');
      farm.startCollector();
    },
    after: async (did, title) => {
      const late = sleep(120_000).then(() => 'late');
      try {
        const [worker, collector] = [farm.workers.get('honest'), farm.collector()];
        const collected = await Promise.race([collector?.ended, late]);
        const worked = await Promise.race([worker?.ended, late]);
        const same = await corella(place, 'compare', '../one.uvh5', 'farm.uvh5').then(() => true, () => false); // prettier-ignore
        const dropped = z.object({ damaged: z.number(), foreign: z.number() });
        const { damaged, foreign } = dropped.parse(JSON.parse(readFileSync(join(ledger, 'dropped.json'), 'utf8'))); // prettier-ignore
        const account = workerOf.parse(JSON.parse(worker?.text() ?? ''));
        const { jobs: sent = 0 } = z.object({ jobs: z.number().exactOptional() }).parse(JSON.parse(did));
        row(
          `${title}: the farm's product is that of one process`,
          collected === 0 && worked === 0 && same && account.failed >= sent && damaged > 0,
          `${account.jobs} jobs done, ${account.failed} refused; ${damaged} results damaged, ${foreign} of no job`,
        );
      } catch (error) {
        row(`${title}: the farm goes on`, false, `${String(error)}; ${farm.collector()?.errors() ?? ''}`);
      } finally {
        await farm.end();
      }
    },
  };
}

console.log(`${availableParallelism()} processors, load ${loadavg()[0].toFixed(1)} before`);
await observation(
  attacks.filter((one) => one !== 'ticks'),
  (observation, kind) =>
    kind === 'jobs' ? farmUnder(observation) : Promise.resolve({ words: [kind, observation.url] }),
);
// A separate run: accepted packets may end it.
await observation(
  attacks.filter((one) => one === 'ticks'),
  async (observation) => ({ words: ['ticks', String(observation.port), await capturePath(observation)] }),
);
console.log(`load ${loadavg()[0].toFixed(1)} after`);
process.exit(bad === 0 ? 0 : 1);
