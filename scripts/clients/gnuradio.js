// GNU Radio (Debian's gnuradio) as a live source over ZMQ, PUB and PUSH: every sample must come, in order, with the
// phase between the inputs that was sent. Missing software is skipped and reported.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { baselineCount, baselineIndex } from '../../dist/core/axes.js';
import { openFile } from '../../dist/formats/index.js';

const root = new URL('../..', import.meta.url).pathname;
const program = join(root, 'dist/cli/main.js');
const python = '/usr/bin/python3';
const RATE = 100_000;
const SAMPLES = 6 * RATE;
const PHASE_DEG = 60;

if (spawnSync(python, ['-c', 'from gnuradio import zeromq']).status !== 0) {
  console.log('passed over: gnuradio is not installed');
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), 'corella-gnuradio-'));
process.once('exit', () => {
  rmSync(folder, { recursive: true, force: true });
});
const description = spawnSync(process.execPath, [program, 'telescope', '-o', 'two.json', '--quiet'], {
  cwd: folder,
  input: 'two\ntwo dishes\n50\n10\n100\n1420MHz\n\n\na\nb 8@90\n\n',
});
if (description.status !== 0) throw new Error(String(description.stderr));

/** @returns {Promise<number>} */
const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => {
        resolve(port);
      });
    });
  });

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {RegExp} words
 */
const says = (child, words) =>
  new Promise((resolve, reject) => {
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data) => {
        said += String(data);
        if (words.test(said)) resolve(said);
      });
    child.once('close', () => {
      reject(new Error(`${words} was not said: ${said}`));
    });
  });

/**
 * Of the two inputs, over the whole file: its first integration may begin late and hold few samples.
 * @param {string} path
 */
async function phaseOf(path) {
  const file = await openFile(path);
  if (file.kind !== 'visibilities') throw new Error(`${path} holds no visibilities`);
  let re = 0;
  let im = 0;
  for await (const { channels, visibilities } of file.integrations())
    for (let c = 0; c < channels; c++) {
      const at = 2 * (c * baselineCount(2) + baselineIndex(1, 0));
      re += visibilities[at] ?? 0;
      im += visibilities[at + 1] ?? 0;
    }
  await file.close();
  return (Math.atan2(im, re) * 180) / Math.PI;
}

/** @param {'pub' | 'push'} kind */
async function check(kind) {
  const port = await freePort();
  const name = `${kind}.uvh5`;
  const script = join(root, 'scripts/clients/zmq-sender.py');
  const sender = spawn(python, [script, kind, String(port), String(RATE), String(SAMPLES)]);
  await says(sender, /bound/);
  const words = `live zmq:127.0.0.1:${port} --sample-type cf32 --inputs 2 --polarisations 1 --rate ${RATE} --frequency 1420e6 --telescope two.json --channels 16 --taps 1 --integration 1s --no-page -o ${name}`;
  const receiver = spawn(process.execPath, [program, ...words.split(' ')], { cwd: folder });
  const ended = new Promise((resolve) => receiver.once('close', resolve));
  let said = '';
  for (const stream of [receiver.stdout, receiver.stderr])
    stream.on('data', (data) => {
      said += String(data);
    });
  await says(receiver, /waiting for samples/);
  // The connection is made within this time; a PUB sink does not say so.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const sent = says(sender, /sent \d+/);
  sender.stdin.write('go\n');
  const [, count] = /sent (\d+)/.exec(String(await sent)) ?? [];
  await new Promise((resolve) => setTimeout(resolve, 1500));
  receiver.kill('SIGINT');
  await ended;
  sender.kill();
  const received = /(\d+) samples of each input/.exec(said)?.[1];
  const phaseDeg = await phaseOf(join(folder, name));
  const isGood = received === count && Number(count) === SAMPLES && Math.abs(phaseDeg - PHASE_DEG) < 1;
  writeFileSync(join(folder, `${kind}.txt`), said);
  console.log(
    `${isGood ? 'ok   ' : 'FAIL '} GNU Radio ${kind}: ${received} of ${count} samples of each input, phase ${phaseDeg.toFixed(1)} of ${PHASE_DEG} degrees`,
  );
  if (!isGood) console.log(said);
  return isGood;
}

let failed = 0;
for (const kind of /** @type {const} */ (['pub', 'push'])) if (!(await check(kind))) failed++;
process.exit(failed);
