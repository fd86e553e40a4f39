// Pictures of every view with live data: 32 stations of LWA-SV under the catalogued sky, gains solved, an antenna
// flagged.
//   node scripts/page-pictures.js [FOLDER] [--all]
// Without --all the eight in docs/page.md, dark, into docs/; with it every view in dark and light on a desktop, a phone
// and a wall, for inspection.
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode, encode } from 'fast-png';
import { VIEWS, openBrowser, openObservation } from './page/observation.js';
import { sleep, until } from './processes.js';

const isAll = process.argv.includes('--all');
const folder = process.argv.slice(2).find((word) => !word.startsWith('--')) ?? 'docs';
const SIZES = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
  wall: { width: 2560, height: 1440 },
};

/** Reduces a picture to a palette of 256 colours: the most frequent on a coarse cube first. @param {Buffer} png */
function smaller(png) {
  const { width, height, channels, data } = decode(png);
  /** @type {Map<number, number>} */
  const counts = new Map();
  const keyOf = (/** @type {number} */ k) =>
    ((data[k * channels] >> 2) << 12) | ((data[k * channels + 1] >> 2) << 6) | (data[k * channels + 2] >> 2);
  for (let k = 0; k < width * height; k++) counts.set(keyOf(k), (counts.get(keyOf(k)) ?? 0) + 1);
  const kept = [...counts].sort((x, y) => y[1] - x[1]).slice(0, 96).map(([key]) => key); // prettier-ignore
  const colourOf = (/** @type {number} */ key) =>
    [key >> 12, (key >> 6) & 63, key & 63].map((six) => Math.round((six * 255) / 63));
  // The other entries are the colours farthest from those chosen, one by one: gradients keep their steps.
  const left = [...counts.keys()].map((key) => ({ key, far: Infinity, colour: colourOf(key) }));
  for (let k = 0; k < 255; k++) {
    const [r, g, b] = colourOf(kept[k]);
    let farthest = left[0];
    for (const one of left) {
      const [x, y, z] = one.colour;
      one.far = Math.min(one.far, (x - r) ** 2 + (y - g) ** 2 + (z - b) ** 2);
      if (one.far > farthest.far) farthest = one;
    }
    if (k >= kept.length - 1 && farthest.far > 0) kept.push(farthest.key);
    if (k >= kept.length - 1) break;
  }
  const palette = kept.map((key) => /** @type {[number, number, number]} */ (colourOf(key)));
  /** @type {Map<number, number>} */
  const nearest = new Map(kept.map((key, k) => [key, k]));
  const indices = new Uint8Array(width * height);
  for (let at = 0; at < width * height; at++) {
    const key = keyOf(at);
    let found = nearest.get(key);
    if (found === undefined) {
      const [r, g, b] = colourOf(key);
      const far = palette.map(([pr, pg, pb]) => (pr - r) ** 2 + (pg - g) ** 2 + (pb - b) ** 2);
      found = far.indexOf(Math.min(...far));
      nearest.set(key, found);
    }
    indices[at] = found;
  }
  const { length } = encode({ width, height, channels: 1, depth: 8, data: indices, palette });
  return length < png.length ? encode({ width, height, channels: 1, depth: 8, data: indices, palette }) : png;
}

const observation = await openObservation({
  send: [
    ...['--simulate', '--stations', '32', '--rate', '3.2kHz', '--duration', '5s', '--loop'],
    // The current sky, because packets get the current time: gains from the sky of another hour are refused.
    ...['--noise', '2000', '--time', new Date().toISOString(), '--restamp'],
    ...['--format', 'snap2', '--channels', '8'],
  ],
  live: [
    ...['--telescope', 'lwasv', '--stations', '32', '--rate', '400'],
    ...['--image', '1s', '--integration', '1s', '-o', 'observation.uvh5', '--pixels', '128'],
  ],
});
const browser = await openBrowser();
try {
  mkdirSync(folder, { recursive: true });
  await until('images', async () => ((await observation.status()).image ? true : undefined));
  await observation.post('gains', { do: 'solve', everyS: 10 });
  await until('gains', async () => ((await observation.gains()).history.length >= 3 ? true : undefined));
  const [, { name }] = await observation.antennas();
  await observation.post('flags', { inputs: [name], flag: true });
  for (const [size, viewport] of Object.entries(SIZES)) {
    if (!isAll && size !== 'desktop') continue;
    const tab = await browser.newPage({ viewport });
    for (const theme of isAll ? ['dark', 'light'] : ['dark']) {
      await tab.goto(observation.url);
      await tab.evaluate(`localStorage.setItem('corella-theme', '${theme}')`);
      await tab.reload();
      for (const [view, drawn] of VIEWS) {
        await tab.evaluate(`location.hash = '${view}'`);
        await tab.waitForSelector(drawn, { timeout: 60_000 });
        if (view === 'now') await tab.click('corella-now button.link').catch(() => undefined);
        await sleep(view === 'waterfall' || view === 'now' ? 6000 : 2500);
        const path = join(folder, isAll ? `${size}-${theme}-${view}.png` : `page-${view}.png`);
        writeFileSync(path, isAll ? await tab.screenshot() : smaller(await tab.screenshot()));
        console.log(`${path}: ${Math.round(statSync(path).size / 1000)} kB`);
      }
    }
    await tab.close();
  }
} finally {
  await browser.close();
  await observation.close();
}
