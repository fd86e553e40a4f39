// Three nights side by side from one sender by multicast on loopback: all channels, and two halves. The halves together
// must be the whole, bit for bit where all were listening; one is killed and comes back; all are steered at once.
import { join } from 'node:path';
import { z } from 'zod';
import { openFile } from '../../dist/formats/index.js';
import { corella, freePort, openFarm, program, sleep, start } from './processes.js';

const nightOf = z.object({ machines: z.array(z.object({ state: z.string() })) });
const steeredOf = z.object({
  answers: z.array(z.object({ machine: z.string(), from: z.string(), isReady: z.boolean() })),
});
const combinedOf = z.object({ absent: z.array(z.object({ path: z.string(), durationS: z.number() })) });

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

/** @param {string} folder */
export async function bands(folder) {
  const port = await freePort();
  await corella(folder, ...'simulate --stations 8 --rate 100kHz --duration 2s --perfect -o wide'.split(' '));
  const farm = await openFarm(folder);
  const group = `239.77.3.4:${port}`;
  const sender = start(process.execPath, [program, ...`send wide.sigmf-meta --format snap2 --channels 4 --to ${group} --interface lo --loop --restamp`.split(' ')], folder); // prettier-ignore
  /**
   * @param {string} machine
   * @param {string} out
   * @param {string[]} more
   */
  const night = async (machine, out, ...more) => {
    const words =
      `live --listen ${group} --interface lo --telescope lwasv --stations 8 --rate 25000 --integration 500ms --image 500ms ` +
      `--picture ${machine}.png --values sums -o ${out} --page ${await freePort()} --server ${farm.url} --machine ${machine}`;
    return start(process.execPath, [program, ...words.split(' '), ...more], folder);
  };
  const nights = [];
  try {
    nights.push(await night('whole', 'whole.uvh5'), await night('low', 'low.uvh5', '--channels', '0-1'));
    let high = await night('high', 'high.uvh5', '--channels', '2-3');
    nights.push(high);
    const steer = (/** @type {string} */ text) => corella(folder, 'farm', 'night', '--server', farm.url, '--steer', text, '--json'); // prettier-ignore
    for (let tries = 0; ; tries++) {
      const { machines } = nightOf.parse(
        JSON.parse(await corella(folder, 'farm', 'night', '--server', farm.url, '--json')),
      );
      if (machines.length === 3 && machines.every(({ state }) => state === 'observing')) break;
      if (tries === 30) throw new Error(`the nights did not begin: ${JSON.stringify(machines)} ${nights.map((one) => one.errors()).join('\n')}`); // prettier-ignore
    }
    await sleep(3000);
    const steered = steeredOf.parse(JSON.parse(await steer('flags {"inputs":[3],"flag":true}')));
    const moments = new Set(steered.answers.map(({ from, isReady }) => `${from} ${isReady}`));
    const refused = await steer('flags {"inputs":["nobody"],"flag":true}').then(() => '', String);
    await high.kill();
    await sleep(2500);
    high = await night('high', 'high2.uvh5', '--channels', '2-3');
    nights.push(high);
    await sleep(8000);
    await steer('stop');
    await Promise.all(nights.map((one) => Promise.race([one.ended, sleep(20_000)])));
    const { absent } = combinedOf.parse(JSON.parse(await corella(folder, ...'farm combine low.uvh5 high.uvh5,high2.uvh5 --values sums -o both.uvh5 --json'.split(' ')))); // prettier-ignore
    const [whole, both] = [await read(join(folder, 'whole.uvh5')), await read(join(folder, 'both.uvh5'))];
    const full = Math.max(...[...whole.values()].map(({ counts }) => Math.max(...counts)));
    let [compared, differing] = [0, 0];
    for (const [key, one] of whole) {
      const other = both.get(key);
      // Where all were listening from beginning to end.
      if (!other || Math.min(...other.counts.filter((_, k) => one.counts[k] > 0)) < full) continue;
      compared++;
      if (one.sums.some((value, k) => value !== other.sums[k])) differing++;
    }
    const isRight = compared >= 4 && differing === 0 && moments.size === 1 && steered.answers.length === 3 && refused.includes('nothing was changed') && absent.length > 0; // prettier-ignore
    console.log(
      `${compared} integrations of both halves compared with the whole, ${differing} differ; steered from ${[...moments].join(' and ')} on ` +
        `${steered.answers.length} machines; refused where one could not: ${refused !== ''}; away: ` +
        absent.map(({ path, durationS }) => `${path} ${durationS.toFixed(1)} s`).join(', '),
    );
    return isRight;
  } finally {
    for (const one of nights) await one.kill();
    await sender.kill();
    await farm.end();
  }
}
