// One attack on a running observation, from a process of its own, until it is killed. What it prints at the end of a
// second is JSON: what it did so far.
//   node scripts/hostile/attack.js subscribes URL
//   node scripts/hostile/attack.js pages URL
//   node scripts/hostile/attack.js ticks PORT CAPTURE
import { createSocket } from 'node:dgram';
import { Agent, get } from 'node:http';
import { WebSocket } from 'ws';
import { guessPlan, usualFormat } from '../../dist/packets/guess-plan.js';
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

/** Every topic again and again, from a few sockets that come back, and the API beside them. @param {string} url */
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

/** 500 pages that open at once, read, leave and open again. @param {string} url */
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

/** Packets in the senders' names with times of their own. @param {number} port @param {string} path */
async function ticks(port, path) {
  /** @type {Uint8Array[]} */
  const datagrams = [];
  for await (const { payload } of captureDatagrams({ capture: path })) datagrams.push(payload.slice());
  const format = usualFormat(datagrams);
  const { plan } = (format && guessPlan(format, datagrams, { rateHz: 6250 })) ?? {};
  if (!format || !plan) throw new Error(`${path}: no plan`);
  const genuine = format.decode(datagrams[0], plan);
  if (genuine === 'control' || 'refused' in genuine) throw new Error('no packet of the plan');
  const payload = new Uint8Array(plan.cellBytes);
  const socket = createSocket('udp4');
  /** @param {bigint} tick @param {number} lane */
  const forge = (tick, lane) => {
    socket.send(format.encode({ ...genuine, tick, lane, fragment: 0 }, payload, plan), port, '127.0.0.1');
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
    for (let lane = 0; lane < most; lane++)
      for (const next of [0n, 1n]) forge(first + BigInt(wave * 100) + next, lane);
  }, 100);
}

if (kind === 'subscribes') subscribes(target);
else if (kind === 'pages') pages(target);
else if (kind === 'ticks') await ticks(Number(target), capture);
else throw new Error(`'${kind}' is no attack: subscribes, pages or ticks`);
