// The page in a browser and with many clients: corella send, corella live and Debian's chromium on this machine, and a
// table of results. --only paint,frames,quiet,keys,crowd for a part, --minutes N instead of ten without a fault,
// --seconds N instead of a minute of frames. Drawing is on the CPU (swiftshader): the limits apply to frames without
// it; frames with it are only reported. For an otherwise idle machine.
import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { VIEWS, openBrowser, openObservation } from './page/observation.js';
import { openStream } from './page/stream.js';
import { sleep, startScript, until } from './processes.js';

/** @param {string} name @param {number} usual */
const numberAfter = (name, usual) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? usual : Number(process.argv[at + 1]);
};
const onlyAt = process.argv.indexOf('--only');
const only = onlyAt < 0 ? undefined : process.argv[onlyAt + 1].split(',');
const wants = (/** @type {string} */ part) => only === undefined || only.includes(part);
const MINUTES = numberAfter('--minutes', 10);
const SECONDS = numberAfter('--seconds', 60);
const CLIENTS = numberAfter('--clients', 200);
const LEAST_FRAMES = 25;

let bad = 0;
/** @param {string} what @param {boolean} isGood @param {string} found */
const row = (what, isGood, found) => {
  if (!isGood) bad++;
  console.log(`${isGood ? 'ok ' : 'RED'}  ${what.padEnd(52)} ${found}`);
};

/**
 * Sixteen stations, few enough for two cores to correlate beside a browser.
 * @param {{ pixels: number, imageMs: number, fileMs?: number }} of
 */
const observationOf = ({ pixels, imageMs, fileMs = 1000 }) =>
  openObservation({
    send: [
      ...['--simulate', '--stations', '16', '--rate', '6.4kHz', '--duration', '4s', '--loop', '--perfect'],
      ...['--sources', 'spot@45:90:100000', '--noise', '1000', '--format', 'snap2', '--channels', '4'],
    ],
    live: [
      ...['--telescope', 'lwasv', '--stations', '16', '--rate', '1600', '--pixels', String(pixels)],
      ...['--image', `${imageMs}ms`, '--integration', `${fileMs}ms`, '-o', 'observation.uvh5'],
    ],
  });

/** @param {import('playwright-core').Page} tab */
const faultsOf = (tab) => {
  /** @type {string[]} */
  const faults = [];
  tab.on('pageerror', (error) => faults.push(error.message));
  tab.on('console', (line) => {
    if (line.type() === 'error') faults.push(line.text());
  });
  return faults;
};

const sized = () =>
  ['index.html', 'app.js', 'app.css', 'icon.svg'].reduce(
    (sum, name) =>
      sum +
      gzipSync(readFileSync(join(fileURLToPath(new URL('../dist/page/', import.meta.url)), name))).length,
    0,
  );

/** @param {import('playwright-core').Browser} browser */
async function paint(browser) {
  row('page under 150 kB compressed', sized() < 150_000, `${(sized() / 1000).toFixed(1)} kB`);
  const observation = await observationOf({ pixels: 128, imageMs: 500 });
  try {
    await until('an image', async () => ((await observation.status()).image ? true : undefined));
    const tab = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const drawn = async () => {
      const begun = performance.now();
      await tab.waitForSelector('corella-sky[data-drawn]', { timeout: 60_000 });
      return (performance.now() - begun) / 1000;
    };
    await tab.goto(observation.url);
    await drawn();
    /** @type {number[]} */
    const paints = [];
    /** @type {number[]} */
    const skies = [];
    for (let k = 0; k < 5; k++) {
      const begun = performance.now();
      await tab.reload({ waitUntil: 'commit' });
      await drawn();
      skies.push((performance.now() - begun) / 1000);
      const paintedMs = await until('the first paint', async () => {
        const ms = Number(
          await tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"),
        );
        return Number.isNaN(ms) ? undefined : ms;
      });
      paints.push(paintedMs / 1000);
    }
    const most = (/** @type {number[]} */ all) => Math.max(...all);
    row('first paint under 1 s', most(paints) < 1, `${most(paints).toFixed(2)} s, slowest of five`);
    row('a reload shows the sky within 2 s', most(skies) < 2, `${most(skies).toFixed(2)} s, slowest of five`);
    await tab.close();
  } finally {
    await observation.close();
  }
}

/**
 * Frames received and drawn, counted in the page every second. The larger sky comes without a processing chain: two
 * cores cannot make so many, and this tests the page. Twice: with drawing, and without the GPU's work, which a CPU does
 * here: the second count is the page's own.
 * @param {import('playwright-core').Browser} browser @param {number} pixels @param {boolean} isRendered
 */
async function frames(browser, pixels, isRendered) {
  const observation =
    pixels > 128 ? await openStream({ pixels, everyMs: 40 }) : await observationOf({ pixels, imageMs: 40 });
  try {
    await until('images', async () => ((await observation.status()).image ? true : undefined));
    const tab = await browser.newPage({ viewport: { width: 900, height: 700 } });
    await tab.addInitScript(`
      window.came = 0;
      const Plain = WebSocket;
      window.WebSocket = class extends Plain {
        constructor(...words) {
          super(...words);
          this.addEventListener('message', ({ data }) => { if (typeof data !== 'string') window.came++; });
        }
      };
      if (${!isRendered})
        for (const name of ['drawArrays', 'clear', 'texImage2D', 'texSubImage2D'])
          WebGL2RenderingContext.prototype[name] = () => undefined;`);
    await tab.goto(observation.url);
    await tab.waitForSelector('corella-sky[data-drawn]', { timeout: 60_000 });
    await sleep(3000);
    /** @type {{ atS: number, came: number, drawn: number, made: number }[]} */
    const marks = [];
    for (let second = 0; second <= SECONDS; second++) {
      const [came, drawn] = /** @type {[number, number]} */ (
        await tab.evaluate("[window.came, document.querySelector('corella-sky').drawn]")
      );
      const { image } = await observation.status();
      marks.push({ atS: performance.now() / 1000, came, drawn, made: image?.number ?? 0 });
      await sleep(1000);
    }
    await tab.close();
    /** @param {'came' | 'drawn' | 'made'} what over the slowest ten seconds, or all if they are fewer */
    const slowest = (what) => {
      const span = Math.min(10, SECONDS);
      return Math.min(
        ...marks.slice(span).map((mark, k) => (mark[what] - marks[k][what]) / (mark.atS - marks[k].atS)),
      );
    };
    const [made, came, drawn] = [slowest('made'), slowest('came'), slowest('drawn')];
    const found = `made ${made.toFixed(1)}, came ${came.toFixed(1)}, drawn ${drawn.toFixed(1)} a second in the slowest ten seconds`;
    const what = `${pixels}² skies at 25 a second, ${SECONDS} s${pixels > 128 ? ', no chain' : ''}`;
    if (isRendered) console.log(`     ${what}, by the processor`.padEnd(57), found);
    // Two that arrive within one frame of the screen are seen as one.
    else row(what, came >= 0.98 * LEAST_FRAMES && drawn >= 0.96 * LEAST_FRAMES, found);
  } finally {
    await observation.close();
  }
}

/** @param {import('playwright-core').Browser} browser */
async function quiet(browser) {
  const observation = await observationOf({ pixels: 128, imageMs: 200 });
  try {
    await until('images', async () => ((await observation.status()).image ? true : undefined));
    const tab = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const faults = faultsOf(tab);
    await tab.goto(`${observation.url}#token=${observation.token}`);
    const end = performance.now() + 60_000 * MINUTES;
    let seen = 0;
    while (performance.now() < end) {
      const [view, drawn] = VIEWS[seen++ % VIEWS.length];
      await tab.evaluate(`location.hash = '${view}'`);
      await tab.waitForSelector(drawn, { timeout: 60_000 });
      await sleep(4000);
    }
    row(
      `${MINUTES} minutes without an error on the console`,
      faults.length === 0,
      `${seen} views, ${faults.length} errors${faults.length > 0 ? `: ${faults[0]}` : ''}`,
    );
    await tab.close();
  } finally {
    await observation.close();
  }
}

/** Every mouse action is reachable by the Tab key, in every view. @param {import('playwright-core').Browser} browser */
async function keys(browser) {
  const observation = await observationOf({ pixels: 64, imageMs: 500 });
  try {
    await until('images', async () => ((await observation.status()).image ? true : undefined));
    await observation.post('gains', { do: 'solve' });
    const tab = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await tab.goto(`${observation.url}#token=${observation.token}`);
    await tab.waitForSelector('corella-sky[data-drawn]', { timeout: 60_000 });
    // The slider appears with the third image kept.
    await tab.waitForSelector('.scrub input', { timeout: 60_000 });
    /** @type {string[]} */
    const missed = [];
    let reached = 0;
    for (const [k, [view, drawn]] of VIEWS.entries()) {
      await tab.evaluate('document.activeElement?.blur()');
      await tab.keyboard.press(String(k + 1));
      await tab.waitForSelector(drawn, { timeout: 60_000 });
      await sleep(1500);
      const wanted = Number(
        await tab.evaluate(`(() => {
          const all = [...document.querySelectorAll('corella-app a[href], corella-app button, corella-app input, corella-app select, corella-app [tabindex="0"]')]
            .filter((one) => one.offsetParent !== null && !one.closest('dialog') && !one.disabled);
          window.wanted = new Set(all);
          return all.length;
        })()`),
      );
      for (let press = 0; press < wanted + 12; press++) {
        await tab.keyboard.press('Tab');
        await tab.evaluate('window.wanted.delete(document.activeElement)');
      }
      // An element redrawn meanwhile is another one: it counts as missed only while it exists.
      const left = /** @type {string[]} */ (
        await tab.evaluate(
          '[...window.wanted].filter((one) => one.isConnected).map((one) => one.outerHTML.slice(0, 60))',
        )
      );
      reached += wanted - left.length;
      missed.push(...left.map((one) => `${view}: ${one}`));
    }
    await tab.keyboard.press('1');
    await tab.waitForSelector('corella-sky[data-drawn]');
    await tab.focus('.sky');
    for (let k = 0; k < 5; k++) await tab.keyboard.press('ArrowLeft');
    const isChosen = await tab
      .waitForSelector('.place h3', { timeout: 20_000 })
      .then(() => true, () => false); // prettier-ignore
    if (!isChosen) missed.push('now: a place by arrow keys');
    row(
      'keyboard alone reaches everything',
      missed.length === 0,
      `${reached} in eight views${missed.length > 0 ? `; not ${missed.slice(0, 3).join(', ')}` : ''}`,
    );
    await tab.close();
  } finally {
    await observation.close();
  }
}

const crowdOf = z.object({ skies: z.number(), bytes: z.number(), clients: z.number() });

async function crowd() {
  const observation = await observationOf({ pixels: 128, imageMs: 200 });
  try {
    await until('images', async () => ((await observation.status()).image ? true : undefined));
    // The account is updated every second: before the first update there is none.
    const before = await until('the account of packets', async () => {
      const seen = await observation.sources();
      return 'outcomes' in seen ? seen : undefined;
    });
    const seconds = Math.min(30, SECONDS);
    const clients = startScript('./page/clients.js', [observation.url, String(CLIENTS), String(seconds)]);
    await clients.ended;
    const after = await observation.sources();
    const { droppedMessages } = await observation.chain();
    const received = crowdOf.parse(JSON.parse(clients.text()));
    const full = after.outcomes.ring_full - before.outcomes.ring_full;
    row(
      `${CLIENTS} pages and one that never reads: ring_full 0`,
      full === 0 && received.clients === CLIENTS + 1,
      `ring_full ${full}, kernel ${(after.kernelDrops ?? 0) - (before.kernelDrops ?? 0)}; ` +
        `${(received.skies / CLIENTS / seconds).toFixed(1)} skies a second each, ` +
        `${(received.bytes / seconds / 1e6).toFixed(0)} MB/s, ${droppedMessages} messages not sent to the deaf`,
    );
  } finally {
    await observation.close();
  }
}

console.log(`${availableParallelism()} processors, load ${loadavg()[0].toFixed(1)} before`);
const browser = await openBrowser();
try {
  if (wants('paint')) await paint(browser);
  if (wants('frames'))
    for (const pixels of [128, 512])
      for (const isRendered of [true, false]) await frames(browser, pixels, isRendered);
  if (wants('keys')) await keys(browser);
  if (wants('quiet')) await quiet(browser);
} finally {
  await browser.close();
}
if (wants('crowd')) await crowd();
console.log(`load ${loadavg()[0].toFixed(1)} after`);
process.exit(bad === 0 ? 0 : 1);
