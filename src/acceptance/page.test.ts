/** The page in a real browser, during a run with packets from `corella send`. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { chromium, type Browser, type Page } from 'playwright-core';
import { formatInstant } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openFile } from '../formats/index.js';
import { freePort } from '../receive/testing/sockets.js';
import type { Status, Steered } from '../serve/index.js';
import { program } from './corella.js';

const browserPath = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));
const skip = browserPath === undefined ? 'no chromium: install it, or name it by CHROMIUM' : false;
const TIMEOUT_MS = 60_000;

const folder = temporaryFolder('page');
const children: ChildProcess[] = [];

function corella(...words: readonly string[]): { readonly child: ChildProcess; readonly said: () => string } {
  const child = spawn(process.execPath, [program, ...words], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => (text += data.toString()));
  return { child, said: () => text };
}

const ended = (child: ChildProcess): Promise<unknown> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once('exit', resolve));

async function until<Value>(
  what: string,
  found: () => Value | undefined | Promise<Value | undefined>,
): Promise<Value> {
  for (const begun = performance.now(); performance.now() - begun < TIMEOUT_MS;) {
    const value = await found();
    if (value !== undefined) return value;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail(`${what} never came`);
}

let browser: Browser;
let tab: Page;
let url = '';
let token = '';
let sender: ChildProcess;
let live: ReturnType<typeof corella>;
const faults: string[] = [];

before(async () => {
  if (browserPath === undefined) return;
  const port = await freePort();
  // One source in the east, at half altitude, much stronger than all others.
  const sky = [
    '--perfect',
    '--sources',
    'spot@45:90:100000',
    '--noise',
    '1000',
    '--duration',
    '6s',
    '--loop',
  ];
  sender = corella(
    ...['send', '--simulate', '--stations', '12', '--rate', '3.2kHz', ...sky],
    ...['--format', 'snap2', '--channels', '4', '--to', `127.0.0.1:${port}`],
  ).child;
  live = corella(
    ...[
      'live',
      '--listen',
      String(port),
      '--telescope',
      'lwasv',
      '--stations',
      '12',
      '--rate',
      '800',
      '--page',
      '0',
    ],
    ...['--image', '500ms', '--integration', '500ms', '-o', 'run.uvh5', '--pixels', '64'],
    ...['--token-file', 'token'],
  );
  url = await until('the address', () => /the sky is at (http:\S+);/.exec(live.said())?.[1]);
  token = (await readFile(join(folder, 'token'), 'utf8')).trim();
  browser = await chromium.launch({
    executablePath: browserPath,
    args: [
      '--no-sandbox',
      '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader',
      '--disable-dev-shm-usage',
    ],
  });
  tab = await browser.newPage({ viewport: { width: 900, height: 640 } });
  tab.setDefaultTimeout(TIMEOUT_MS);
  tab.on('pageerror', (error) => faults.push(error.message));
  tab.on('console', (line) => {
    if (line.type() === 'error') faults.push(line.text());
  });
  await tab.goto(`${url}#token=${token}`);
});
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  if (browserPath !== undefined) await browser.close();
});

const get = async <Value>(name: string): Promise<Value> =>
  (await (await fetch(`${url}api/v1/${name}`)).json()) as Value;

describe('the page', { skip }, () => {
  it('shows a source in the east in the east, to a few pixels', async () => {
    await tab.waitForSelector('corella-sky[data-drawn]');
    const brightest = await until('a sky with a source', () =>
      tab.evaluate<unknown>(`(() => {
        const canvas = document.querySelector('.sky canvas');
        const gl = canvas.getContext('webgl2');
        const { width, height } = canvas;
        const pixels = new Uint8Array(4 * width * height);
        gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
        let [best, x, y] = [-1, 0, 0];
        for (let k = 0; k < width * height; k++) {
          const light = pixels[4 * k] + pixels[4 * k + 1] + pixels[4 * k + 2];
          if (light > best) [best, x, y] = [light, k % width, Math.floor(k / width)];
        }
        return best > 500 ? { x: (2 * x) / width - 1, y: (2 * y) / height - 1, corner: pixels[3] } : undefined;
      })()`),
    );
    // l = cos 45° east is left of the centre, scaled to 1.1; it moves by a degree in four minutes.
    const { x, y, corner } = brightest as { x: number; y: number; corner: number };
    assert.ok(Math.abs(x + Math.SQRT1_2 / 1.1) < 0.05 && Math.abs(y) < 0.06, JSON.stringify(brightest));
    assert.equal(corner, 0, 'below the horizon nothing is drawn');
    assert.equal(await tab.evaluate('location.hash'), '', 'the token is gone from the address');
  });

  const views: readonly (readonly [key: string, name: string, drawn: string])[] = [
    ['2', 'sources', 'corella-sources tbody tr th'],
    ['3', 'antennas', 'corella-antennas .antenna:nth-of-type(12)'],
    ['4', 'bandpass', 'corella-bandpass canvas.heat[width="4"], corella-bandpass .u-over'],
    ['5', 'waterfall', 'corella-waterfall canvas.heat'],
    ['6', 'gains', 'corella-gains .figure'],
    ['7', 'chain', 'corella-chain .meter'],
    ['8', 'observation', 'corella-observation .coverage i.written'],
    ['1', 'now', 'corella-now corella-sky[data-drawn]'],
  ];
  for (const [key, name, drawn] of views)
    it(`draws ${name} with what comes, by a key`, async () => {
      await tab.keyboard.press(key);
      await tab.waitForSelector(drawn);
    });

  it('flags an antenna by keyboard alone, from the tick that it answers; the file has it from there', async () => {
    await tab.keyboard.press('3');
    await tab.waitForSelector('button.flag');
    // From the top of the page the Tab key reaches the first flag button.
    await tab.evaluate('document.activeElement.blur()');
    await until('the flag button under the focus', async () => {
      await tab.keyboard.press('Tab');
      const label = await tab.evaluate("document.activeElement.getAttribute('aria-label')");
      return String(label).startsWith('Flag ') ? true : undefined;
    });
    await tab.keyboard.press('Enter');
    const words = (await (await tab.waitForSelector('.toast.done')).textContent()) ?? '';
    const tick = /tick (\d+)/.exec(words)?.[1];
    assert.ok(tick !== undefined, words);
    await until('the flag', async () =>
      (await get<Status>('status')).flaggedInputs === 2 ? true : undefined,
    );
    const entries = await get<readonly Partial<Steered & { what: string }>[]>('journal');
    const entry = entries.find(({ what }) => what?.startsWith('flagged ') === true);
    assert.equal(entry?.fromTick, tick);
    await until('integrations after it', async () => {
      const { newestSample = '' } = await get<Status>('status');
      return newestSample > (entry.from ?? '') ? true : undefined;
    });
  });

  it('turns red when nothing comes any more', async () => {
    await tab.keyboard.press('1');
    await tab.waitForSelector('.age.fresh');
    sender.kill();
    await ended(sender);
    await tab.waitForSelector('.age.stale');
    await until('the alarm', async () =>
      (await get<Status>('status')).state === 'silent' ? true : undefined,
    );
  });

  it('ends the observation, and the file is flagged from the very tick on', async () => {
    const entries = await get<readonly Partial<Steered & { what: string }>[]>('journal');
    const from = entries.find(({ what }) => what?.startsWith('flagged ') === true)?.from ?? '';
    const answer = await fetch(`${url}api/v1/stop`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    assert.equal(answer.status, 200);
    await ended(live.child);
    assert.equal(live.child.exitCode, 0, live.said());
    const file = await openFile(join(folder, 'run.uvh5'));
    assert.ok(file.kind === 'visibilities');
    let flagged = 0;
    for await (const one of file.integrations()) {
      const isFlagged = one.flaggedInputs.some((flag) => flag === 1);
      if (isFlagged) flagged++;
      // UVH5 times are accurate to microseconds.
      const start = formatInstant(one.start, 6);
      const isAfter = start >= from || Math.abs(Date.parse(start) - Date.parse(from)) < 2;
      assert.equal(isFlagged, isAfter, `${start}, flagged from ${from}`);
    }
    await file.close();
    assert.ok(flagged > 0);
    // Browser errors about a server that has ended are no fault of the page.
    assert.deepEqual(
      faults.filter((fault) => !/ERR_CONNECTION|WebSocket/.test(fault)),
      [],
    );
  });
});
