// The same packets by a capture and by loopback: the integrations that live wrote from its socket must be bit for bit
// those that it makes from the capture, without loss. First a 16-station array in real time (205 Mb/s of CHIPS, an
// image every 100 ms, the event loop's p99 below 20 ms), then every other format for a few seconds. Two otherwise idle
// processors suffice: the load of the machine is printed. --only FORMAT, --seconds N.
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { openFile } from '../dist/formats/index.js';
import { corella, option } from './processes.js';

const START = '2026-06-21T04:00:00Z';
const only = option('only', '');
const SECONDS = Number(option('seconds', '10'));
const MOST_LOOP_MS = 20;

const folder = mkdtempSync(join(tmpdir(), 'corella-sockets-'));
/** @param {string} line */
const must = (line) => corella(folder, ...line.split(/\s+/));

/**
 * Integrations by their start.
 * @param {string} name
 */
async function integrationsOf(name) {
  const file = await openFile(join(folder, name));
  if (file.kind !== 'visibilities') throw new Error(`${name} holds no visibilities`);
  /** @type {Map<string, { counts: Float64Array, visibilities: Float64Array }>} */
  const all = new Map();
  for await (const { start, counts, visibilities } of file.integrations()) {
    all.set((start.unixSeconds + start.fraction).toFixed(3), {
      counts: counts.slice(),
      visibilities: visibilities.slice(),
    });
  }
  await file.close();
  return all;
}

/** @param {Float64Array} x @param {Float64Array} y */
const areSame = (x, y) => x.length === y.length && x.every((value, k) => Object.is(value, y[k]));

/** Format, stations, how its sky is simulated, options of send and live, seconds, whether images are made. */
const trials = /** @type {const} */ ([
  ['chips', 16, '--rate 800kHz', '--channels 32', `--epoch ${START}`, SECONDS, true],
  ['snap2', 4, '--rate 100kHz', '--channels 4', '--rate 25kHz', 4, false],
  ['spead-feng', 4, '--rate 100kHz', '--channels 4', `--epoch ${START} --rate 200kHz --frequency 58MHz`, 4, false],
  ['spead-digitiser', 4, '--rate 200kHz --type i8', '', `--epoch ${START} --rate 200kHz --frequency 58MHz --channels 4`, 4, false],
  ['vdif', 4, '--rate 100kHz', '', '--rate 100kHz --frequency 58MHz --channels 4', 4, false],
  ['vdif-vtp', 4, '--rate 100kHz', '', '--rate 100kHz --frequency 58MHz --channels 4', 4, false],
  ['mwa', 4, '--rate 1.28MHz --frequency 58.88MHz', '', '--channels 4', 4, false],
]); // prettier-ignore
/** Time to detect senders, prepare everything, and process the last packets. */
const BEFORE_S = 8;

const summaryOf = z.object({
  wallS: z.number(),
  images: z.number(),
  eventLoopMs: z.object({ p99: z.number() }),
  packets: z.object({
    packets: z.number(),
    bytes: z.number(),
    outcomes: z.object({ ring_full: z.number(), invalid: z.number() }),
    socket: z.object({ kernelDrops: z.number().optional() }),
  }),
});
const sentOf = z.object({ behindS: z.number() });

let bad = 0;
let port = 4880;
console.log(`${availableParallelism()} processors, load ${loadavg()[0].toFixed(1)} before`);
for (const [format, stations, sky, toSend, toLive, seconds, hasImages] of trials) {
  if (only !== '' && only !== format) continue;
  port++;
  await must(`simulate --stations ${stations} ${sky} --duration 1s --perfect --time ${START} -o ${format}`);
  const send = `send ${format}.sigmf-meta ${toSend} --format ${format} --loop --for ${seconds + BEFORE_S}s`;
  const live = `live --format ${format} ${toLive} --telescope lwasv --stations ${stations} --values sums --integration 100ms --json`;
  await must(`${send} --to ${format}.pcap`);
  await must(`${live} --from ${format}.pcap -o ${format}-capture.uvh5`);
  const images = hasImages ? `--image 100ms --picture ${format}.png` : '';
  const listening = must(`${live} --listen ${port} ${images} --for ${seconds}s -o ${format}-socket.uvh5`);
  const sent = await must(`${send} --to 127.0.0.1:${port} --json`);
  const summary = summaryOf.parse(JSON.parse((await listening).trim().split('\n').at(-1) ?? ''));
  const { packets } = summary;
  const { ring_full: ringFull, invalid } = packets.outcomes;
  const [ours, theirs] = [
    await integrationsOf(`${format}-socket.uvh5`),
    await integrationsOf(`${format}-capture.uvh5`),
  ];
  let [same, partial, other] = [0, 0, 0];
  const starts = [...ours.keys()];
  starts.forEach((start, k) => {
    const [mine, batch] = [ours.get(start), theirs.get(start)];
    if (mine && batch && areSame(mine.counts, batch.counts) && areSame(mine.visibilities, batch.visibilities))
      same++;
    // Packets before the first received, and after the last, are missing.
    else if (k === 0 || k === starts.length - 1) partial++;
    else other++;
  });
  const kernel = packets.socket.kernelDrops ?? 0;
  const { behindS } = sentOf.parse(JSON.parse(sent));
  const faults = [
    ...(other > 0 || same < 5 * seconds ? [`${other} integrations differ, ${same} are the same`] : []),
    ...(ringFull > 0 || kernel > 0 ? [`${ringFull} found the ring full, ${kernel} the socket`] : []),
    ...(invalid > 0 ? [`${invalid} invalid`] : []),
    ...(hasImages && summary.eventLoopMs.p99 > MOST_LOOP_MS ? [`event loop p99 ${summary.eventLoopMs.p99} ms`] : []),
  ]; // prettier-ignore
  if (faults.length > 0) bad++;
  const rate = (8 * packets.bytes) / summary.wallS / 1e6;
  console.log(
    `${format}: ${packets.packets} packets (${rate.toFixed(0)} Mb/s), ring_full ${ringFull}, kernel ${kernel}; ` +
      `${same} integrations bit for bit those of the capture, ${partial} begun or ended within; ` +
      (hasImages ? `${summary.images} images, event loop p99 ${summary.eventLoopMs.p99} ms; ` : '') +
      `sender at most ${behindS.toFixed(3)} s behind; load ${loadavg()[0].toFixed(1)}` +
      (faults.length > 0 ? `\n  RED: ${faults.join('; ')}` : ''),
  );
}
rmSync(folder, { recursive: true });
process.exit(bad === 0 ? 0 : 1);
