/** Views of the page in a real browser when numbers are missing: NaN becomes null, and a field may be absent. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { chromium, type Browser, type Page as Tab } from 'playwright-core';
import { WebSocketServer } from 'ws';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openPage, type Page } from '../serve/index.js';
import { TOPICS } from '../serve/messages.js';

const browserPath = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));
const skip = browserPath === undefined ? 'no chromium: install it, or name it by CHROMIUM' : false;

let browser: Browser;
let page: Page;
before(async () => {
  if (browserPath === undefined) return;
  browser = await chromium.launch({
    executablePath: browserPath,
    args: [
      '--no-sandbox',
      '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader',
      '--disable-dev-shm-usage',
    ],
  });
  page = await openPage({
    host: '127.0.0.1',
    port: 0,
    stop: () => undefined,
    say: () => undefined,
    facts: {
      description: 'a test',
      backend: 'none',
      version: '0',
      isLive: true,
      folder: temporaryFolder('missing'),
    },
  });
});
after(async () => {
  if (browserPath === undefined) return;
  await browser.close();
  await page.close();
});

async function tabAt(url: string): Promise<{ readonly tab: Tab; readonly faults: string[] }> {
  const tab = await browser.newPage();
  const faults: string[] = [];
  tab.on('pageerror', (error) => faults.push(error.message));
  await tab.goto(url);
  return { tab, faults };
}

describe('the page, where numbers are missing', { skip }, () => {
  it('shows the chain after the check of an empty block', async () => {
    const pixels = 8;
    const range = { low: 0, high: 1, peak: 1 };
    page.check(() => ({
      time: '2026-06-21T04:00:00.000Z',
      ageS: 1,
      samples: 16,
      products: 40,
      differing: 0,
      largest: 0,
      exact: true,
      methodsDiffer: NaN,
      checked: 1,
      failed: 0,
    }));
    page.state.methods = {
      head: {
        topic: 'methods',
        shape: [3, pixels, pixels],
        time: '2026-06-21T04:00:00.000Z',
        difference: NaN,
        pixelSize: 0.25,
        halfWidth: 1,
        range,
        offRange: range,
      },
      values: new Float32Array(3 * pixels * pixels),
    };
    const { tab, faults } = await tabAt(`${page.url}#chain`);
    await tab.waitForSelector('corella-chain .result', { timeout: 60_000 });
    await tab.waitForSelector('corella-chain .methods', { timeout: 60_000 });
    assert.deepEqual(faults, []);
    await tab.close();
  });

  it('reports where it cannot show what came, and no view fails for good', async () => {
    // The page's own files, and a socket that sends nothing.
    const server = createServer((request, response) => {
      void fetch(new URL(request.url ?? '/', page.url)).then(async (file) => {
        response.writeHead(file.status, { 'content-type': file.headers.get('content-type') ?? '' });
        response.end(Buffer.from(await file.arrayBuffer()));
      });
    });
    const sockets = new WebSocketServer({ server, handleProtocols: () => 'corella' });
    sockets.on('connection', (socket) => {
      for (const topic of TOPICS.filter((one) => !['sky', 'bandpass', 'baseline', 'methods'].includes(one)))
        socket.send(JSON.stringify({ topic, value: { nothing: null } }));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as AddressInfo;
    try {
      const { tab, faults } = await tabAt(`http://127.0.0.1:${port}/`);
      await tab.waitForSelector('corella-app p', { timeout: 60_000 });
      for (const view of [
        'sources',
        'antennas',
        'bandpass',
        'waterfall',
        'gains',
        'chain',
        'observation',
        'now',
      ]) {
        await tab.evaluate(`location.hash = '${view}'`);
        await tab.waitForSelector(`corella-${view} > *, corella-app > .empty`, {
          state: 'attached',
          timeout: 20_000,
        });
      }
      assert.deepEqual(faults, []);
      await tab.close();
    } finally {
      sockets.close();
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
