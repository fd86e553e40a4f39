// Skies for a page without a processing chain: a moving source over noise, at a given rate, from a separate process.
import { fork } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { openPage } from '../../dist/serve/index.js';
import { until } from '../processes.js';

/** @typedef {{ pixels: number, everyMs: number }} Stream */

/** @param {Stream} of a separate page; returns what its server prints */
export async function openStream({ pixels, everyMs }) {
  const child = fork(fileURLToPath(import.meta.url), [String(pixels), String(everyMs)]);
  /** @type {string | undefined} */
  let url;
  child.on('message', (/** @type {string} */ said) => (url = said));
  const address = await until('the address', () => url);
  return {
    url: address,
    status: async () =>
      /** @type {import('../../dist/serve/messages.js').Status} */ (
        await (await fetch(`${address}api/v1/status`)).json()
      ),
    close: async () => {
      child.kill();
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}

/** @param {Stream} of */
async function stream({ pixels, everyMs }) {
  const page = await openPage({
    ...{ host: '127.0.0.1', port: 0, stop: () => process.exit(0), say: () => undefined },
    facts: {
      description: 'skies without a chain',
      backend: 'none',
      version: '0',
      isLive: true,
      folder: tmpdir(),
    },
  });
  const noise = Float32Array.from({ length: 2 * pixels * pixels }, () => Math.random());
  const begunMs = performance.now();
  let number = 0;
  const next = () => {
    // Timed by the clock, not by the previous sky: a late timer catches up.
    for (; begunMs + number * everyMs <= performance.now(); number++) page.state.show(skyOf(number));
    setTimeout(next, begunMs + number * everyMs - performance.now());
  };
  /** @param {number} k */
  const skyOf = (k) => {
    const plane = noise.slice((k * 977) % (pixels * pixels)).subarray(0, pixels * pixels);
    const at = Math.floor(pixels * (0.5 + 0.3 * Math.sin(k / 50)));
    for (let dm = -2; dm <= 2; dm++)
      plane.fill(10, (pixels / 2 + dm) * pixels + at, (pixels / 2 + dm) * pixels + at + 5);
    const now = new Date();
    return {
      plane,
      unixS: now.getTime() / 1000,
      head: {
        ...{ topic: /** @type {const} */ ('sky'), shape: /** @type {[number, number]} */ ([pixels, pixels]) },
        ...{
          time: now.toISOString(),
          durationS: everyMs / 1000,
          everyS: everyMs / 1000,
          number: k + 1,
          ageS: 0,
        },
        ...{
          pixelSize: 2 / pixels,
          halfWidth: 1,
          unit: 'counts',
          method: /** @type {const} */ ('visibilities'),
        },
        ...{ low: 0, high: 10, peak: 10, sources: [] },
      },
    };
  };
  next();
  process.send?.(page.url);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [pixels, everyMs] = process.argv.slice(2).map(Number);
  await stream({ pixels, everyMs });
}
