// Web sockets like those of pages, in a separate process: most read everything, one never reads.
//   node scripts/page/clients.js URL CLIENTS SECONDS   prints {"messages", "bytes", "clients", "skies"}
import { WebSocket } from 'ws';

const [url, clients, seconds] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const totals = { messages: 0, bytes: 0, skies: 0, open: 0 };
const subscribe = JSON.stringify({
  subscribe: ['status', 'sky', 'sources', 'antennas', 'chain', 'observation'],
});
/** @returns {Promise<WebSocket>} */
const open = (/** @type {boolean} */ isDeaf) =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}live`, ['corella']);
    socket.on('open', () => {
      totals.open++;
      socket.send(subscribe);
      if (isDeaf) socket.pause();
      resolve(socket);
    });
    socket.on('error', reject);
    socket.on('message', (/** @type {Buffer} */ data, /** @type {boolean} */ isBinary) => {
      totals.messages++;
      totals.bytes += data.length;
      if (isBinary) totals.skies++;
    });
  });
/** @type {WebSocket[]} */
const sockets = [];
for (let k = 0; k <= clients; k++) sockets.push(await open(k === clients));
setTimeout(() => {
  console.log(JSON.stringify({ ...totals, clients: totals.open }));
  for (const socket of sockets) socket.terminate();
}, 1000 * seconds);
