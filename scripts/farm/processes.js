// Processes of a farm for its tests: a server, workers, a collector, each of which may be killed at any moment.
import { spawn, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** How to get what is missing. */
export const NO_SERVER =
  'nats-server is not installed (Debian: apt-get install nats-server): nothing of the queue was tested';

/** Debian puts it where only root looks. */
const PATH = `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin`;

export const hasServer = () =>
  spawnSync('nats-server', ['--version'], { env: { ...process.env, PATH } }).status === 0;

/** @returns {Promise<number>} a port that nobody has now */
export const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.listen(0, '127.0.0.1', () => {
      const at = probe.address();
      probe.close(() => {
        resolve(typeof at === 'object' && at ? at.port : 0);
      });
    });
  });

/** @param {number} ms */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * @typedef {{ kill: () => Promise<void>, ended: Promise<number | null>, isRunning: () => boolean,
 *   text: () => string, errors: () => string }} Running
 */

/**
 * @param {string} command
 * @param {readonly string[]} words
 * @param {string} cwd
 * @returns {Running}
 */
export function start(command, words, cwd) {
  const child = spawn(command, words, {
    cwd,
    env: { ...process.env, PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, errors] = ['', ''];
  child.stdout.on('data', (/** @type {Buffer} */ text) => (out += String(text)));
  child.stderr.on('data', (/** @type {Buffer} */ text) => (errors += String(text)));
  let running = true;
  /** @type {Promise<number | null>} */
  const ended = new Promise((resolve) => {
    child.on('close', (code) => {
      running = false;
      resolve(code);
    });
  });
  return {
    kill: async () => {
      if (running) child.kill('SIGKILL');
      await ended;
    },
    ...{ ended, isRunning: () => running, text: () => out, errors: () => errors },
  };
}

/**
 * The program, to its end.
 * @param {string} cwd
 * @param {readonly string[]} words
 */
export async function corella(cwd, ...words) {
  const running = start(process.execPath, [program, ...words], cwd);
  const code = await running.ended;
  if (code !== 0) throw new Error(`corella ${words.join(' ')}: ${running.errors()}`);
  return running.text();
}

/**
 * A farm in a folder. Whoever makes one ends it.
 * @param {string} folder
 * @param {{ words?: readonly string[], backend?: string, patience?: string, config?: readonly string[] }} [options]
 */
export async function openFarm(folder, { backend = 'auto', patience = '3s', config = [] } = {}) {
  const port = await freePort();
  const url = `nats://127.0.0.1:${port}`;
  const store = join(folder, 'store');
  /** @type {Running | undefined} */
  let server;
  /** @type {Map<string, Running>} */
  const workers = new Map();
  /** @type {Running | undefined} */
  let collector;
  const startServer = () => {
    server = start(
      'nats-server',
      ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', store, ...config],
      folder,
    );
  };
  /**
   * @param {string} name
   * @param {string} [untilIdle]
   */
  const startWorker = (name, untilIdle) => {
    const words = ['worker', '--server', url, '--root', join(folder, '..'), '--name', name, '--backend', backend, '--threads', '1']; // prettier-ignore
    const idle = untilIdle === undefined ? [] : ['--until-idle', untilIdle];
    workers.set(name, start(process.execPath, [program, ...words, ...idle, '--json'], folder));
  };
  const startCollector = () => {
    const words = ['farm', 'collect', 'farm.uvh5.farm', '--server', url, '--patience', patience, '--json'];
    collector = start(process.execPath, [program, ...words], folder);
  };
  startServer();
  return {
    ...{ url, port, workers, startWorker, startCollector, startServer },
    collector: () => collector,
    /** @param {string} name */
    killWorker: async (name) => workers.get(name)?.kill(),
    killServer: async () => server?.kill(),
    killCollector: async () => collector?.kill(),
    loseStore: () => {
      rmSync(store, { recursive: true, force: true });
    },
    end: async () => {
      await Promise.all([...[...workers.values()].map((one) => one.kill()), collector?.kill()]);
      await server?.kill();
    },
  };
}
