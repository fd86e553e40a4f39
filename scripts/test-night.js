// An eight-hour night compressed: as many blocks of packets as 8 h have, through the ring, the correlator, images and
// files by time, as fast as they go. After the first hour's worth memory must stay where it is and no file descriptor
// may be added. --blocks N makes it shorter.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBackend } from '../dist/backend/select.js';
import { FilesByTime } from '../dist/pipeline/live/files.js';
import { runNight } from '../dist/pipeline/live/night.js';
import { receivePackets } from '../dist/receive/index.js';
import { loadTelescope } from '../dist/telescope/load.js';
import { selectStations } from '../dist/telescope/select.js';
import { BLOCK_S, nightPlan, SLOTS_PER_BLOCK } from './night/plan.js';

const HOURS = 8;
const at = process.argv.indexOf('--blocks');
const blocks = at < 0 ? Math.round((HOURS * 3600) / BLOCK_S) : Number(process.argv[at + 1]);
const MOST_GROWTH = 0.01;

if (!globalThis.gc) {
  const again = spawnSync(process.execPath, ['--expose-gc', ...process.argv.slice(1)], { stdio: 'inherit' });
  process.exit(again.status ?? 1);
}

const folder = mkdtempSync(join(tmpdir(), 'corella-night-'));
const pipe = join(folder, 'packets.pcap');
spawnSync('mkfifo', [pipe]);
const sender = spawn(
  process.execPath,
  [new URL('night/sender.js', import.meta.url).pathname, pipe, String(blocks)],
  {
    stdio: 'inherit',
  },
);
const backend = await openBackend('auto', { threads: 2 });
const telescope = selectStations(await loadTelescope('lwasv'), 4);
const reception = await receivePackets({
  stream: nightPlan,
  from: { capture: pipe },
  epoch: { told: 'operator', at: { unixSeconds: 1_782_014_400, fraction: 0 } },
  band: {
    frequenciesHz: Float64Array.of(58e6, 58.0064e6),
    channelWidthHz: 6400,
  },
  ring: { slotsPerBlock: SLOTS_PER_BLOCK },
});

/** @type {{ rssBytes: number, heapBytes: number, descriptors: number }[]} */
const hours = [];
const perHour = Math.max(1, Math.floor((blocks * BLOCK_S) / HOURS));
let integrations = 0;
const measure = () => {
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const descriptors = readdirSync('/proc/self/fd').length;
  hours.push({ rssBytes: rss, heapBytes: heapUsed + external, descriptors });
  const text = `${hours.length}: ${(rss / 1e6).toFixed(1)} MB resident, ${((heapUsed + external) / 1e6).toFixed(2)} MB in use, ${descriptors} descriptors`;
  console.log(`  hour ${text}, ${integrations} integrations`);
};
const files = new FilesByTime(
  {
    path: join(folder, 'night.uvh5'),
    everyS: 600,
    values: 'sums',
    header: {
      telescope,
      polarisations: 2,
      frequenciesHz: Float64Array.of(58e6, 58.0064e6),
      channelWidthHz: 6400,
      history: ['a compressed night'],
    },
  },
  ({ kind, path }) => {
    // The night's files are looked at by other tests; here they would only fill the disk.
    if (kind === 'closed') rmSync(path);
  },
);
const summary = await runNight({
  input: { sessions: () => reception.sessions(), stop: () => undefined },
  prepare: () =>
    Promise.resolve({
      files,
      live: {
        backend,
        telescope,
        frequenciesHz: Float64Array.of(58e6, 58.0064e6),
        integrationS: 10,
        align: 'utc',
        imaging: {
          everyS: 10,
          road: 'visibilities',
          weight: 'natural',
          image: { field: { kind: 'all-sky' }, kernelSize: 3 },
        },
      },
    }),
  onEvent: ({ kind }) => {
    if (kind !== 'integration') return;
    integrations++;
    if (integrations % Math.max(1, Math.floor(perHour / 10)) === 0) measure();
  },
});
const account = reception.account();
await reception.close();
await backend.close();
sender.kill();
rmSync(folder, { recursive: true, force: true });

const [first, last] = [hours[0], hours[hours.length - 1]];
const growth = (last.rssBytes - first.rssBytes) / first.rssBytes;
console.log(
  `${account.blocks} blocks, ${account.packets} packets, ${account.missingCells} missing; ${summary.integrations} integrations, ` +
    `${summary.images} images, ${summary.files.length} files in ${summary.wallS.toFixed(0)} s; ` +
    `event loop p99 ${summary.eventLoopMs.p99} ms; memory ${(100 * growth).toFixed(2)} % more than after the first hour, ` +
    `descriptors ${first.descriptors} then ${last.descriptors}`,
);
const faults = [
  ...(growth > MOST_GROWTH ? [`memory grew by ${(100 * growth).toFixed(2)} %`] : []),
  ...(last.descriptors > first.descriptors ? ['file descriptors were added'] : []),
  ...(account.missingCells > 0 ? [`${account.missingCells} packets are missing`] : []),
  ...(account.blocks !== blocks ? [`${account.blocks} blocks of ${blocks}`] : []),
  ...(summary.eventLoopMs.p99 > 20 ? [`event loop p99 is ${summary.eventLoopMs.p99} ms`] : []),
];
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);
