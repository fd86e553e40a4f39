// What must not end or block a live run: streams of other servers, invalid frames, senders that restart all the time, a
// folder that may not be written for a while. Each is a short run of the program. --only kraken,folder takes some.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { frameOf, readyOf } from '../dist/formats/streams/zmtp.js';
import { writeHeader } from '../dist/formats/streams/kraken/version1.js';
import { pretendKraken } from '../dist/formats/streams/kraken/testing/server.js';
import { freePort, option, sleep, startCorella, start, until } from './processes.js';

const CASES = ['rubbish', 'tags', 'kraken', 'jumps', 'folder'];
const wanted = option('only', CASES.join()).split(',');
const folder = mkdtempSync(join(tmpdir(), 'corella-bad-luck-'));
chmodSync(folder, 0o755);
process.once('exit', () => {
  rmSync(folder, { recursive: true, force: true });
});
const telescope = {
  name: 'two',
  title: 'Two antennas',
  site: { latitudeDeg: -35, longitudeDeg: 149, heightM: 600 },
  positions: 'two.csv',
  polarisations: 1,
  band: { lowHz: 1e9, highHz: 2e9 },
  recording: { centreFrequencyHz: 1.42e9, sampleRateHz: 48e3, channels: 16, bits: 8 },
  beamExponent: 0,
};
writeFileSync(join(folder, 'two.json'), JSON.stringify(telescope));
writeFileSync(join(folder, 'two.csv'), 'name,east_m,north_m,up_m\na,0,0,0\nb,5,0,0\n');

/** Longer than any of these takes, on a busy machine too. */
const MOST_MS = 120_000;
let bad = 0;
/** @param {string} what @param {boolean} isGood @param {string} found */
const row = (what, isGood, found) => {
  if (!isGood) bad++;
  console.log(`${isGood ? 'ok ' : 'RED'}  ${what.padEnd(46)} ${found.trim().split('\n').at(-1) ?? ''}`);
};

/** @param {import('node:net').Socket} socket @param {Uint8Array} bytes */
const endless = (socket, bytes) => {
  const more = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('drain', more);
  more();
};

/** A server of one's own words; returns its port. @param {(socket: import('node:net').Socket) => void} talk */
async function serve(talk) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    talk(socket);
  });
  const port = await freePort();
  await new Promise((resolve) => {
    server.listen(port, '127.0.0.1', () => {
      resolve(undefined);
    });
  });
  server.unref();
  return port;
}

/** The program ends by itself, with these words. @param {string} what @param {string} line @param {RegExp} said */
async function refuses(what, line, said) {
  const run = startCorella(folder, line.split(' '));
  const code = await Promise.race([run.ended, sleep(MOST_MS).then(() => undefined)]);
  await run.kill();
  row(what, code === 1 && said.test(run.errors()), run.errors());
}

const [RATE_HZ, SAMPLES] = [48_000, 4800];
const STARTED_MS = 1_790_000_000_000;
/** @param {number} index @param {object} [more] */
function frame(index, more = {}) {
  const header = { kind: /** @type {const} */ ('data'), channels: 2, samples: SAMPLES, frequencyHz: 1.42e9, sampleRateHz: RATE_HZ, index, timeMs: STARTED_MS + 100 * index, ...more }; // prettier-ignore
  const values = new Float32Array(2 * header.channels * header.samples).map((_, n) => Math.sin(n * n));
  return Uint8Array.from(Buffer.concat([writeHeader(header), Buffer.from(values.buffer)]));
}

const reported = z.array(
  z.object({
    event: z.string(),
    files: z.array(z.string()).optional(),
    stream: z.object({ invalidFrames: z.number(), usedFrames: z.number() }).optional(),
  }),
);

/**
 * Serves frames to a run, then stops it by Ctrl-C; returns its last line, the summary.
 * @param {readonly Uint8Array[]} frames
 * @param {string} place
 */
async function receive(frames, place) {
  mkdirSync(join(folder, place));
  const server = await pretendKraken(frames, 'asked');
  const words = `live kraken:127.0.0.1:${server.port} --telescope ../two.json --channels 16 --integration 100ms --no-page --backend cpu --json -o run.uvh5`;
  const run = startCorella(join(folder, place), words.split(' '));
  await until('the last frame', () => (run.text().includes('no data; waiting') ? true : undefined), MOST_MS);
  await run.kill('SIGINT');
  await server.close();
  const lines = reported.parse(JSON.parse(`[${run.text().trim().split('\n').join()}]`));
  return { lines, summary: lines[lines.length - 1] };
}

if (wanted.includes('rubbish')) {
  const port = await serve((socket) => {
    endless(socket, new Uint8Array(2 ** 16).fill(77));
  });
  const rest = '--telescope two.json --channels 16 --no-page --rate 48kHz -o no.uvh5';
  await refuses(
    'kraken: on another stream',
    `live kraken:127.0.0.1:${port} ${rest}`,
    /no frames of a KrakenSDR/,
  );
  await refuses('kraken2: on another stream', `live kraken2:127.0.0.1:${port} ${rest}`, /no frames of a KrakenSDR/); // prettier-ignore
}

if (wanted.includes('tags')) {
  const greeting = Buffer.alloc(64);
  greeting.set([0xff], 0);
  greeting.set([0x7f, 3], 9);
  greeting.write('NULL', 12);
  const tagged = Buffer.alloc(64);
  tagged.set([0xf0, 0x5f, 1]);
  const port = await serve((socket) => {
    socket.write(Buffer.concat([greeting, readyOf('PUSH'), frameOf(tagged)]));
  });
  const rest = '--sample-type cf32 --inputs 2 --rate 48kHz --frequency 1420MHz --telescope two.json --channels 16 --no-page -o no.uvh5'; // prettier-ignore
  await refuses('zmq: with tags', `live zmq:127.0.0.1:${port} ${rest}`, /Pass Tags/);
}

if (wanted.includes('kraken')) {
  const invalid = [
    frame(11, { timeMs: 2 ** 62 }),
    frame(12, { kind: 'calibration', samples: 0 }),
    frame(13, { sampleRateHz: 0 }),
    frame(3),
    frame(15, { channels: 3 }),
  ];
  const good = (/** @type {number} */ first) => Array.from({ length: 10 }, (_, n) => frame(first + n));
  const { summary } = await receive([...good(0), ...invalid, ...good(16)], 'kraken');
  const { invalidFrames = 0, usedFrames = 0 } = summary.stream ?? {};
  const files = summary.files?.length ?? 0;
  row('invalid frames of a KrakenSDR', invalidFrames === 5 && usedFrames === 20 && files === 1, `${invalidFrames} invalid, ${usedFrames} used, ${files} files`); // prettier-ignore
}

if (wanted.includes('jumps')) {
  // Pairs that confirm each other: each begins anew.
  const frames = Array.from({ length: 400 }, (_, n) => frame(1e6 * (400 - (n >> 1)) + (n & 1), { timeMs: STARTED_MS + 1e5 * n })); // prettier-ignore
  const { lines, summary } = await receive(frames, 'jumps');
  const notes = lines.filter(({ event }) => event === 'note').length;
  const files = readdirSync(join(folder, 'jumps')).filter((name) => name.endsWith('.uvh5')).length;
  row('a counter that jumps', summary.event === 'summary' && files <= 61 && notes < 60, `${files} files, ${notes} notes`); // prettier-ignore
}

if (wanted.includes('folder')) {
  const place = join(folder, 'locked');
  mkdirSync(place);
  // The superuser may write everywhere: another user runs it.
  const isRoot = process.getuid?.() === 0;
  chmodSync(place, 0o777);
  const server = await pretendKraken(
    Array.from({ length: 3000 }, (_, n) => frame(n)),
    'asked',
  );
  const program = new URL('../dist/cli/main.js', import.meta.url).pathname;
  const words = `live kraken:127.0.0.1:${server.port} --telescope ../two.json --channels 16 --integration 100ms --file-every 1s --no-page --backend cpu --json -o run.uvh5`;
  const as = isRoot ? ['setpriv', '--reuid=65534', '--clear-groups', process.execPath] : [process.execPath];
  const run = start(as[0], [...as.slice(1), program, ...words.split(' ')], place);
  const files = () => readdirSync(place).filter((name) => name.endsWith('.uvh5')).length;
  await until('a file', () => (files() > 1 ? true : undefined), MOST_MS);
  chmodSync(place, 0o555);
  await until(
    'the end of the folder',
    () => (run.text().includes('"what":"full"') ? true : undefined),
    MOST_MS,
  );
  const before = files();
  chmodSync(place, 0o777);
  const again = await until('a file again', () => (files() > before || !run.isRunning() ? true : undefined), MOST_MS).catch(() => false); // prettier-ignore
  const isRunning = run.isRunning();
  await run.kill('SIGINT');
  await server.close();
  row('a folder that may not be written for a while', again && isRunning, `${before} files, then ${files()}${run.errors()}`); // prettier-ignore
}
process.exit(bad > 0 ? 1 : 0);
