// A live run on loopback for the scripts that test the page: corella send, corella live, and Debian's chromium.
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { startCorella, until } from '../processes.js';

/** @returns {Promise<number>} */
const freeUdpPort = () =>
  new Promise((resolve) => {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1', () => {
      const { port } = socket.address();
      socket.close(() => {
        resolve(port);
      });
    });
  });

/**
 * @typedef {object} Observation
 * @property {string} url
 * @property {string} token
 * @property {number} port of its packets
 * @property {string} folder
 * @property {() => Promise<import('../../dist/serve/messages.js').Status>} status
 * @property {() => Promise<import('../../dist/serve/messages.js').SendersView>} sources
 * @property {() => Promise<import('../../dist/serve/messages.js').ChainView>} chain
 * @property {() => Promise<import('../../dist/serve/messages.js').GainsView>} gains
 * @property {() => Promise<readonly import('../../dist/serve/messages.js').AntennaRow[]>} antennas
 * @property {(name: string, body: unknown) => Promise<unknown>} post
 * @property {() => string} said what live printed
 * @property {() => void} silence stops the senders
 * @property {() => Promise<void>} close
 */

/**
 * @param {{ send: readonly string[], live: readonly string[] }} words options of each, except ports and page
 * @returns {Promise<Observation>}
 */
export async function openObservation(words) {
  const folder = mkdtempSync(join(tmpdir(), 'corella-page-'));
  const port = await freeUdpPort();
  const sender = startCorella(folder, ['send', ...words.send, '--to', `127.0.0.1:${port}`]);
  const token = randomBytes(18).toString('base64url');
  writeFileSync(join(folder, 'token'), token, { mode: 0o600 });
  const page = ['--page', '0', '--token-file', 'token'];
  const live = startCorella(folder, ['live', '--listen', String(port), ...page, ...words.live]);
  const said = () => live.text() + live.errors();
  const close = async () => {
    await Promise.all([sender.kill(), live.kill()]);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const url = await until('the address', () => {
      for (const one of [sender, live])
        if (!one.isRunning()) throw new Error(`corella ended:\n${one.errors()}`);
      return /the sky is at (http:\S+);/.exec(said())?.[1];
    });
    const headers = { authorization: `Bearer ${token}` };
    /** @template Value @param {string} name @returns {() => Promise<Value>} */
    const getting = (name) => async () =>
      /** @type {Value} */ (await (await fetch(`${url}api/v1/${name}`, { headers })).json());
    return {
      ...{ url, token, port, folder, close, said },
      ...{ status: getting('status'), sources: getting('sources'), chain: getting('chain') },
      ...{ gains: getting('gains'), antennas: getting('antennas') },
      post: async (name, body) =>
        (await fetch(`${url}api/v1/${name}`, { method: 'POST', headers, body: JSON.stringify(body) })).json(),
      silence: () => {
        void sender.kill('SIGTERM');
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const browserPath = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));

/** Renders on the CPU: there may be no GPU. */
export const openBrowser = () => {
  if (browserPath === undefined) throw new Error('no chromium: install it, or name it by CHROMIUM');
  return chromium.launch({
    executablePath: browserPath,
    // Without a GPU the CPU composes the page, and only the sky uses an emulated GPU.
    args: ['--no-sandbox', '--disable-gpu', '--enable-unsafe-swiftshader', '--disable-dev-shm-usage'],
  });
};

export const VIEWS = /** @type {const} */ ([
  ['now', 'corella-now corella-sky[data-drawn]'],
  ['sources', 'corella-sources tbody tr th'],
  ['antennas', 'corella-antennas .antenna'],
  ['bandpass', 'corella-bandpass .u-over'],
  ['waterfall', 'corella-waterfall canvas.heat'],
  ['beams', 'corella-beams canvas.heat, corella-beams .empty'],
  ['gains', 'corella-gains .figure'],
  ['chain', 'corella-chain .meter'],
  ['observation', 'corella-observation .coverage i'],
]);
