// Parallel runs from one sender by multicast on loopback: one of all channels, and one of two machines with half of
// them each. The combined halves must equal the whole: sums bit for bit and images to 1e-6 while all were receiving.
// One is killed and restarted; the common page reports what is missing; all are steered at once.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { openFile } from '../../dist/formats/index.js';
import { corella, freePort, sleep, startCorella } from '../processes.js';
import { openFarm } from './processes.js';

const nightOf = z.object({ machines: z.array(z.object({ state: z.string() })) });
const steeredOf = z.object({ from: z.string() });
const combinedOf = z.object({ absent: z.array(z.object({ path: z.string(), durationS: z.number() })) });
const rowsOf = z.array(
  z.object({ machine: z.string(), awaySinceUnixS: z.number().optional(), returns: z.number() }),
);
const imagesOf = z.array(z.object({ unixS: z.number(), time: z.string() }));
const headOf = z.object({ time: z.string(), durationS: z.number(), without: z.array(z.string()).optional() });
const missingOf = z.object({
  machines: z.array(z.object({ machine: z.string(), missing: z.array(z.object({ seconds: z.number() })) })),
});

/** One machine is down long enough that the common page reports it within the minute. */
const AWAY_MS = 9000;
const TOKEN = 'a-token-that-steers-the-night';

/**
 * @param {string} path
 * @returns {Promise<Map<string, { sums: Float64Array, counts: Float64Array }>>} by their start
 */
async function read(path) {
  const file = await openFile(path);
  try {
    if (file.kind !== 'visibilities') throw new Error('no visibilities');
    /** @type {Map<string, { sums: Float64Array, counts: Float64Array }>} */
    const all = new Map();
    for await (const one of file.integrations('own')) {
      const key = `${one.start.unixSeconds}+${one.start.fraction.toFixed(3)} ${one.durationS.toFixed(3)}`;
      all.set(key, { sums: one.visibilities, counts: one.counts });
    }
    return all;
  } finally {
    await file.close();
  }
}

/** @param {string} url @param {string} what */
const get = async (url, what) => {
  const response = await fetch(`${url}/api/v1/${what}`);
  if (!response.ok) throw new Error(`${what}: ${await response.text()}`);
  return response;
};
/** @param {string} url @param {string} what @returns {Promise<unknown>} */
const json = async (url, what) => (await get(url, what)).json();

/**
 * Every image that a page has kept, by its time.
 * @param {string} url
 */
async function pictures(url) {
  /** @type {Map<string, { head: z.infer<typeof headOf>, plane: Float32Array, unixS: number }>} */
  const all = new Map();
  for (const { unixS } of imagesOf.parse(await json(url, 'images'))) {
    const bytes = await (await get(url, `images/at?unixS=${unixS}`)).arrayBuffer();
    const length = new DataView(bytes).getUint32(0, true);
    const head = headOf.parse(JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length))));
    all.set(head.time, { head, unixS, plane: new Float32Array(bytes, 8 + 8 * Math.ceil(length / 8)) });
  }
  return all;
}

/**
 * The largest difference of two planes, relative to the brightest pixel.
 * @param {Float32Array} one
 * @param {Float32Array} other
 */
function apart(one, other) {
  let [most, peak] = [one.length === other.length ? 0 : Infinity, 0];
  one.forEach((value, at) => {
    if (Number.isNaN(value) !== Number.isNaN(other[at])) most = Infinity;
    else if (!Number.isNaN(value)) {
      peak = Math.max(peak, Math.abs(value));
      most = Math.max(most, Math.abs(value - other[at]));
    }
  });
  return most / peak;
}

/** @param {string} folder */
export async function bands(folder) {
  const port = await freePort();
  await corella(folder, ...'simulate --stations 8 --rate 100kHz --duration 2s --perfect -o wide'.split(' '));
  const farm = await openFarm(folder);
  const group = `239.77.3.4:${port}`;
  const sender = startCorella(folder, `send wide.sigmf-meta --format snap2 --channels 4 --to ${group} --interface lo --loop --restamp`.split(' ')); // prettier-ignore
  /**
   * @param {string} machine
   * @param {string} out
   * @param {string} page
   * @param {string[]} more
   */
  const night = (machine, out, page, ...more) => {
    const words =
      `live --listen ${group} --interface lo --telescope lwasv --stations 8 --rate 25000 --integration 1s --image 1s ` +
      `--picture ${machine}.png --values sums -o ${out} --page ${page} --token-file token --server ${farm.url} --machine ${machine}`;
    return startCorella(folder, [...words.split(' '), ...more]);
  };
  const nights = [];
  /** @type {import('../processes.js').Running | undefined} */
  let together;
  const page = async () => String(await freePort());
  const [wholePage, allPage] = [await page(), await page()];
  const [wholeUrl, allUrl] = [wholePage, allPage].map((one) => `http://127.0.0.1:${one}`);
  try {
    writeFileSync(join(folder, 'token'), TOKEN);
    together = startCorella(folder, `farm night --server ${farm.url} --page ${allPage} --page-token-file token`.split(' ')); // prettier-ignore
    nights.push(
      night('whole', 'whole.uvh5', wholePage, '--night', 'alone'),
      night('low', 'low.uvh5', await page(), '--channels', '0-1'),
    );
    let high = night('high', 'high.uvh5', await page(), '--channels', '2-3');
    nights.push(high);
    /** @param {string} of @param {string} text */
    const steer = (of, text) => corella(folder, 'farm', 'night', of, '--server', farm.url, '--page-token-file', 'token', '--steer', text, '--json'); // prettier-ignore
    for (const [of, count] of /** @type {const} */ ([
      ['night', 2],
      ['alone', 1],
    ]))
      // prettier-ignore
      for (let tries = 0; ; tries++) {
        const { machines } = nightOf.parse(
          JSON.parse(await corella(folder, 'farm', 'night', of, '--server', farm.url, '--json')),
        );
        if (machines.length === count && machines.every(({ state }) => state === 'observing')) break;
        if (tries === 30) throw new Error(`the nights did not begin: ${JSON.stringify(machines)} ${nights.map((one) => one.errors()).join('\n')}`); // prettier-ignore
      }
    await sleep(3000);
    // By the common page, and on the single machine directly, from the same moment on.
    const body = JSON.stringify({ inputs: [3], flag: true, from: new Date(Date.now() + 5000).toISOString() });
    const post = async (
      /** @type {string} */ url,
      /** @type {string} */ what,
      /** @type {string} */ said,
    ) => {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const answer = await fetch(`${url}/api/v1/${what}`, { method: 'POST', body: said, headers });
      if (!answer.ok) throw new Error(`${what}: ${await answer.text()}`);
      return steeredOf.parse(await answer.json()).from;
    };
    const moments = new Set(await Promise.all([allUrl, wholeUrl].map((url) => post(url, 'flags', body))));
    const refused = await steer('night', 'flags {"inputs":["nobody"],"flag":true}').then(() => '', String);
    await high.kill();
    const killedS = Date.now() / 1000;
    await sleep(AWAY_MS);
    const away = rowsOf.parse(await json(allUrl, 'machines')).find(({ machine }) => machine === 'high');
    high = night('high', 'high2.uvh5', await page(), '--channels', '2-3');
    nights.push(high);
    await sleep(9000);
    const back = rowsOf.parse(await json(allUrl, 'machines')).find(({ machine }) => machine === 'high');
    const { machines: rows } = missingOf.parse(await json(allUrl, 'night'));
    const missingOn = (/** @type {string} */ name) =>
      rows.find(({ machine }) => machine === name)?.missing ?? [];
    const missing = missingOn('high');
    const secondsOf = (/** @type {readonly { seconds: number }[]} */ some) => some.reduce((sum, { seconds }) => sum + seconds, 0); // prettier-ignore
    const [ofWhole, ofAll] = [await pictures(wholeUrl), await pictures(allUrl)];
    await post(allUrl, 'stop', '{}');
    await post(wholeUrl, 'stop', '{}');
    await Promise.all(nights.map((one) => Promise.race([one.ended, sleep(20_000)])));
    const { absent } = combinedOf.parse(JSON.parse(await corella(folder, ...'farm combine low.uvh5 high.uvh5,high2.uvh5 --values sums -o both.uvh5 --json'.split(' ')))); // prettier-ignore
    const [whole, both] = [await read(join(folder, 'whole.uvh5')), await read(join(folder, 'both.uvh5'))];
    const full = Math.max(...[...whole.values()].map(({ counts }) => Math.max(...counts)));
    let [compared, differing, images, after, most] = [0, 0, 0, 0, 0];
    for (const [key, one] of whole) {
      const other = both.get(key);
      // While all were receiving from beginning to end.
      if (!other || Math.min(...other.counts.filter((_, k) => one.counts[k] > 0)) < full) continue;
      compared++;
      if (one.sums.some((value, k) => value !== other.sums[k])) differing++;
      const middleS = Number(key.split('+')[0]) + 0.5;
      const time = new Date(1000 * middleS).toISOString();
      const [by, alone] = [ofAll.get(time), ofWhole.get(time)];
      if (!by || !alone || by.head.without) continue;
      images++;
      if (middleS > killedS) after++;
      most = Math.max(most, apart(alone.plane, by.plane));
    }
    const filesS = absent.reduce(
      (sum, { path, durationS }) => sum + (path.startsWith('high') ? durationS : 0),
      0,
    );
    const partly = [...ofAll.values()].filter(({ head }) => head.without?.join() === 'high').length;
    const isRight =
      compared >= 4 &&
      differing === 0 &&
      moments.size === 1 &&
      refused.includes('nothing was changed') &&
      absent.length > 0 && // prettier-ignore
      images >= 4 &&
      after >= 2 &&
      most <= 1e-6 &&
      partly >= 3 &&
      away?.awaySinceUnixS !== undefined &&
      back?.returns === 1 && // prettier-ignore
      back.awaySinceUnixS === undefined && // A run that began slightly later than the other lacks that time too.
      Math.abs(secondsOf(missing) - filesS) < 3 &&
      secondsOf(missingOn('low')) < 5;
    console.log(
      `${compared} integrations of both halves compared with the whole, ${differing} differ; ${images} images, ${after} of them after one came back, ` +
        `off by ${most.toExponential(1)} of the brightest pixel at most; ${partly} images said that they are without it\n` +
        `steered from ${[...moments].join(' and ')} on all machines; refused where one could not: ${refused !== ''}; ` +
        `missing since ${away?.awaySinceUnixS === undefined ? 'NEVER' : new Date(1000 * away.awaySinceUnixS).toISOString()}, back ${back?.returns ?? 0} time, ` +
        `the page says ${missing.map(({ seconds }) => `${seconds} s`).join(', ')} missing; in files: ` +
        absent.map(({ path, durationS }) => `${path} ${durationS.toFixed(1)} s`).join(', '),
    );
    if (!isRight) console.log(`NO: ${together.errors()}\n${nights.map((one) => one.errors()).join('\n')}`);
    return isRight;
  } finally {
    for (const one of nights) await one.kill();
    await together?.kill();
    await sender.kill();
    await farm.end();
  }
}
