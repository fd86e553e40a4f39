// One attack on a running observation, in a separate process, until it is killed. Once per second it prints JSON: what
// it did so far.
//   node scripts/hostile/attack.js subscribes URL
//   node scripts/hostile/attack.js pages URL
//   node scripts/hostile/attack.js ticks PORT CAPTURE
//   node scripts/hostile/attack.js jobs SERVER FOLDER     the folder that farm submit made
import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { connectQueue } from '../../dist/farm/index.js';
import { jobName, jobsOf } from '../../dist/farm/job.js';
import { sendFailed, sendResult } from '../../dist/farm/queue/chunks.js';
import { jobSubject } from '../../dist/farm/queue/streams.js';
import { checksumOf, encodeResult } from '../../dist/farm/result.js';
import { guessPlan, commonFormat } from '../../dist/packets/guess-plan.js';
import { captureDatagrams } from '../../dist/receive/index.js';
import { TOPICS } from '../../dist/serve/messages.js';

const [kind, target, capture] = process.argv.slice(2);
/** @type {Record<string, number>} */
const done = {};
/** @param {string} what @param {number} [by] */
const count = (what, by = 1) => (done[what] = (done[what] ?? 0) + by);
setInterval(() => {
  console.log(JSON.stringify(done));
}, 1000);

/** @param {string} url @param {(socket: WebSocket) => void} onOpen @param {() => void} onEnd */
function open(url, onOpen, onEnd) {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}live`, ['corella']);
  socket.on('open', () => {
    count('sockets');
    onOpen(socket);
  });
  socket.on('message', (/** @type {Buffer} */ data) => {
    count('messages');
    count('bytes', data.length);
  });
  socket.on('error', () => undefined);
  socket.on('close', onEnd);
  return socket;
}

/**
 * Subscribes to every topic repeatedly, from a few sockets that reconnect, and uses the API too.
 * @param {string} url
 */
function subscribes(url) {
  const all = JSON.stringify({ subscribe: TOPICS });
  const none = JSON.stringify({ unsubscribe: TOPICS });
  const flood = () => {
    const socket = open(
      url,
      () => {
        const more = () => {
          if (socket.readyState !== WebSocket.OPEN) return;
          for (let k = 0; k < 50; k++) {
            socket.send(all);
            if (k % 2 === 1) socket.send(none);
            count('requests');
          }
          setTimeout(more, 5);
        };
        more();
      },
      () => setTimeout(flood, 20),
    );
  };
  for (let k = 0; k < 8; k++) flood();
  const ask = () => {
    fetch(`${url}api/v1/antennas`)
      .then((response) => {
        count(`http ${response.status}`);
        return response.arrayBuffer();
      })
      .catch(() => undefined)
      .finally(() => setTimeout(ask, 2));
  };
  for (let k = 0; k < 8; k++) ask();
}

/** 500 pages that open at once, read, close and open again. @param {string} url */
function pages(url) {
  const STAYS_MS = 5000;
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const page = () => {
    for (const path of ['', 'app.js', 'app.css', 'icon.svg'])
      get(`${url}${path}`, { agent, headers: { 'accept-encoding': 'gzip' } }, (response) => {
        count(`http ${response.statusCode ?? 0}`);
        response.resume();
      }).on('error', () => undefined);
    const socket = open(
      url,
      () => {
        socket.send(JSON.stringify({ subscribe: TOPICS }));
        setTimeout(() => {
          socket.close();
        }, STAYS_MS);
      },
      () => setTimeout(page, 100),
    );
  };
  for (let k = 0; k < 500; k++) page();
}

/** Packets with the senders' source numbers and wrong times. @param {number} port @param {string} path */
async function ticks(port, path) {
  /** @type {Uint8Array[]} */
  const datagrams = [];
  for await (const { payload } of captureDatagrams({ capture: path })) datagrams.push(payload.slice());
  const format = commonFormat(datagrams);
  const { plan } = (format && guessPlan(format, datagrams, { rateHz: 6250 })) ?? {};
  if (!format || !plan) throw new Error(`${path}: no plan`);
  const genuine = format.decode(datagrams[0], plan);
  if (genuine === 'control' || 'refused' in genuine) throw new Error('no packet of the plan');
  const payload = new Uint8Array(plan.cellBytes);
  const socket = createSocket('udp4');
  /** @param {bigint} tick @param {number} sender */
  const forge = (tick, sender) => {
    socket.send(format.encode({ ...genuine, tick, sender, fragment: 0 }, payload, plan), port, '127.0.0.1');
    count('forged');
  };
  let wave = 0;
  const most = plan.sources.length - 1;
  setInterval(() => {
    wave++;
    // Two packets of most senders confirm a clock: without a date, hours ahead, in the past, and at random.
    const first = [2n ** 53n, BigInt(6250 * 7200), 0n, BigInt(Math.floor(Math.random() * 2 ** 40))][
      (wave - 1) % 4
    ];
    for (let sender = 0; sender < most; sender++)
      for (const next of [0n, 1n]) forge(first + BigInt(wave * 100) + next, sender);
  }, 100);
}

/** @typedef {import('../../dist/farm/job.js').FarmPlan} FarmPlan */
/** @typedef {import('../../dist/farm/job.js').Job} Job */

/**
 * Ranges outside the recording and empty ones, inputs that do not exist, and data that is no job.
 * @param {FarmPlan} plan
 */
function wrongJobs(plan) {
  const [genuine] = jobsOf(plan);
  /** @param {Partial<Job['range']>} changed @param {object} [observation] */
  const wrong = (changed, observation = {}) => {
    const range = { ...genuine.range, ...changed };
    // With a plan of its own: a failure with a genuine job's name would be accepted.
    const own = { ...genuine, plan: 'run-0000000000000000', range, id: jobName(range) };
    return { ...own, observation: { ...genuine.observation, ...observation } };
  };
  return [
    wrong({ endSpectrum: 2 ** 50 }),
    wrong({ endSpectrum: 1e9 }),
    wrong({ firstSpectrum: 30, endSpectrum: 20 }),
    wrong({ endChannel: 99 }),
    wrong({}, { flags: { inputs: [99] } }),
    { ...genuine, id: 'another' },
    'no job',
  ];
}

/** Results whose parts are not those of their job, with valid checksums; others are damaged. @param {FarmPlan} plan */
function wrongResults(plan) {
  const all = jobsOf(plan);
  /** @param {string} job @param {import('../../dist/farm/result.js').Part[]} parts @param {number} sizeBytes */
  const wrong = (job, parts, sizeBytes) => {
    const body = new Uint8Array(sizeBytes).fill(7);
    const head = {
      ...{ protocol: plan.protocol, version: plan.version, plan: plan.id, job, attempt: randomUUID() },
      ...{ worker: 'evil', backend: 'cpu', machine: 'cpu', seconds: 1, overheadS: 0, bytesRead: 0 },
      ...{ account: { missingSamples: 0, saturated: 0 }, parts },
    };
    return encodeResult({ head: { ...head, sha256: checksumOf(head, body) }, body });
  };
  const [{ id, range }] = all;
  const part = { product: -1, first: range.firstSpectrum, end: range.endSpectrum, offsetBytes: 0 };
  return [
    wrong(id, [], 0),
    wrong(id, [{ ...part, sizeBytes: 64 }], 64),
    wrong(id, [{ ...part, end: range.endSpectrum + 1, sizeBytes: 1024 }], 1024),
    wrong('t0-1.c0-1', [{ ...part, sizeBytes: 64 }], 64),
    wrong(id, [{ ...part, sizeBytes: 64 }], 2 ** 21),
    new Uint8Array(64).fill(0xff),
  ];
}

/**
 * Per second, two wrong jobs and twenty wrong results and failures of jobs in no plan.
 * @param {string} server
 * @param {string} folder
 */
async function jobs(server, folder) {
  /** @type {unknown} */
  const json = JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8'));
  const plan = /** @type {FarmPlan} */ (json);
  const queue = await connectQueue({ server }, 'attacker', { waits: true });
  const [wrong, results] = [wrongJobs(plan), wrongResults(plan)];
  let [job, result] = [0, 0];
  setInterval(() => {
    const message = JSON.stringify(wrong[job++ % wrong.length]);
    void queue.js.publish(jobSubject(plan), message).then(() => count('jobs'));
  }, 500);
  setInterval(() => {
    const bytes = results[result++ % results.length];
    void sendResult(queue, plan.id, randomUUID(), bytes, {}).then(() => count('results'));
    const failures = [{ worker: 'evil', error: 'x'.repeat(9000) }];
    void sendFailed(queue, plan.id, { job: `t${result}-0.c0-1`, failures }, {}).then(() => count('failures'));
  }, 50);
}

if (kind === 'subscribes') subscribes(target);
else if (kind === 'pages') pages(target);
else if (kind === 'ticks') await ticks(Number(target), capture);
else if (kind === 'jobs') await jobs(target, capture);
else throw new Error(`'${kind}' is no attack: subscribes, pages, ticks or jobs`);
