// A compressed run of eight hours: the blocks of packets of 8 h through the ring, the correlator, images and files by
// time, at full speed. After the first hour's worth memory must stay constant within 1 %, and no file descriptor may be
// added. --blocks N makes it shorter.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import koffi from 'koffi';
import { openBackend } from '../dist/backend/select.js';
import { LiveProducts, planLive, resolveLive, runEpochs } from '../dist/live/index.js';
import { checkObservation } from '../dist/observation/index.js';
import { receivePackets } from '../dist/receive/index.js';
import { loadTelescope } from '../dist/telescope/load.js';
import { selectStations } from '../dist/telescope/select.js';
import { BLOCK_S, runPlan, SLOTS_PER_BLOCK } from './long-run/plan.js';
import { option, startScript } from './processes.js';

const HOURS = 8;
const blocks = Number(option('blocks', String(Math.round((HOURS * 3600) / BLOCK_S))));
const INTEGRATION_S = 10;
const MOST_GROWTH = 0.01;

/** A young generation of fixed size: V8 would otherwise vary it by some 20 MB. */
const FLAGS = ['--expose-gc', '--min-semi-space-size=8', '--max-semi-space-size=8'];
if (!globalThis.gc) {
  const again = spawnSync(process.execPath, [...FLAGS, ...process.argv.slice(1)], { stdio: 'inherit' });
  process.exit(again.status ?? 1);
}

/** @type {(pad: number) => number} */
const trim = koffi.load('libc.so.6').func('int malloc_trim(size_t pad)');
const folder = mkdtempSync(join(tmpdir(), 'corella-long-run-'));
const pipe = join(folder, 'packets.pcap');
spawnSync('mkfifo', [pipe]);
const sender = startScript('./long-run/sender.js', [pipe, String(blocks)]);
const backend = await openBackend('auto', { threads: 2 });
const telescope = selectStations(await loadTelescope('lwasv'), 4);
const reception = await receivePackets({
  stream: runPlan,
  from: { capture: pipe },
  epoch: { from: 'operator', at: { unixSeconds: 1_782_014_400, fraction: 0 } },
  band: {
    frequenciesHz: Float64Array.of(58e6, 58.0064e6),
    channelWidthHz: 6400,
  },
  ring: { slotsPerBlock: SLOTS_PER_BLOCK },
});

/**
 * Memory held: the resident size minus V8's reserve, which varies by 20 MB.
 * @typedef {{ heldBytes: number, rssBytes: number, heapBytes: number, externalBytes: number, descriptors: number }} Sample
 */
/** @type {Sample[][]} */
const hours = [];
const SAMPLES_AN_HOUR = 36;
const integrationsAnHour = Math.max(SAMPLES_AN_HOUR, Math.floor((blocks * BLOCK_S) / INTEGRATION_S / HOURS));
let integrations = 0;
const measure = () => {
  // Returns the reserves of the JavaScript and C heaps first.
  globalThis.gc?.();
  trim(0);
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  const hour = Math.min(HOURS - 1, Math.floor((integrations - 1) / integrationsAnHour));
  if (hour >= hours.length) {
    report();
    hours.push([]);
  }
  hours[hour].push({
    heldBytes: rss - heapTotal + heapUsed,
    rssBytes: rss,
    heapBytes: heapUsed,
    externalBytes: external,
    descriptors: readdirSync('/proc/self/fd').length,
  });
};
/**
 * Files grow and are closed within an hour, and temporary buffers vary: the lower quartile of an hour's samples is the
 * memory that the program keeps.
 * @param {readonly Sample[]} hour
 * @param {keyof Sample} name
 */
const heldIn = (hour, name) => {
  const sorted = hour.map((sample) => sample[name]).sort((x, y) => x - y);
  return sorted[sorted.length >> 2];
};
const report = () => {
  const done = hours.at(-1);
  if (!done) return;
  /** @param {keyof Sample} name */
  const megabytes = (name) => `${(heldIn(done, name) / 1e6).toFixed(1)} MB`;
  console.log(
    `  hour ${hours.length}: ${megabytes('heldBytes')} held, of them ${megabytes('heapBytes')} JavaScript's and ` +
      `${megabytes('externalBytes')} its arrays'; ${megabytes('rssBytes')} resident; ` +
      `${Math.max(...done.map((sample) => sample.descriptors))} descriptors at most`,
  );
};
const observation = resolveLive(
  checkObservation({
    corella: 1,
    source: { capture: pipe },
    telescope: 'lwasv',
    products: [
      {
        visibilities: join(folder, 'run.uvh5'),
        integration: INTEGRATION_S,
        'file-every': 600,
        values: 'sums',
      },
      { images: null, every: INTEGRATION_S },
    ],
  }),
);
const writing = {
  historyOf: () => ['a compressed run'],
  onFault: console.error,
  /** @param {{ kind: string, path: string }} event */
  onFile: ({ kind, path }) => {
    // Other tests check the run's files; here they would only fill the disk.
    if (kind === 'closed') rmSync(path);
  },
};
const summary = await runEpochs({
  input: { sessions: () => reception.sessions(), stop: () => undefined },
  prepare: async (source) => {
    const machine = /** @type {const} */ ({ backend, description: 'packets', data: 'wait' });
    const plan = await planLive(observation, source, telescope, machine);
    return { products: new LiveProducts({ backend, plan, writing }) };
  },
  onEvent: ({ kind }) => {
    if (kind !== 'integration') return;
    integrations++;
    if (integrations % Math.floor(integrationsAnHour / SAMPLES_AN_HOUR) === 0) measure();
  },
});
const account = reception.account();
await reception.close();
await backend.close();
await sender.kill('SIGTERM');
rmSync(folder, { recursive: true, force: true });

report();
/** @param {readonly (readonly Sample[])[]} some */
const meanOf = (some) => some.reduce((sum, hour) => sum + heldIn(hour, 'heldBytes'), 0) / some.length;
const [early, late] = [hours.slice(1, 4), hours.slice(-3)];
const growth = meanOf(late) / meanOf(early) - 1;
const descriptors = [early, late].map((some) => Math.max(...some.flat().map((sample) => sample.descriptors)));
console.log(
  `${account.blocks} blocks, ${account.packets} packets, ${account.missingCells} missing; ${summary.integrations} integrations, ` +
    `${summary.images} images, ${summary.files.length} files in ${summary.wallS.toFixed(0)} s; ` +
    `event loop p99 ${summary.eventLoopMs.p99} ms; memory of the last three hours ${(100 * growth).toFixed(2)} % more than of ` +
    `hours 2 to 4, descriptors ${descriptors.join(' then ')}`,
);
const faults = [
  ...(growth > MOST_GROWTH ? [`memory grew by ${(100 * growth).toFixed(2)} %`] : []),
  ...(descriptors[1] > descriptors[0] ? ['file descriptors were added'] : []),
  ...(account.missingCells > 0 ? [`${account.missingCells} packets are missing`] : []),
  ...(account.blocks !== blocks ? [`${account.blocks} blocks of ${blocks}`] : []),
  ...(summary.eventLoopMs.p99 > 20 ? [`event loop p99 is ${summary.eventLoopMs.p99} ms`] : []),
];
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);
