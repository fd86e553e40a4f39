// Processes of a farm for its tests: a server, workers, a collector, each of which may be killed at any moment.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { env, freePort, start, startCorella } from '../processes.js';

/** How to install what is missing. */
export const NO_SERVER =
  'nats-server is not installed (Debian: apt-get install nats-server): nothing of the queue was tested';

export const hasServer = () => spawnSync('nats-server', ['--version'], { env }).status === 0;

/**
 * A farm in a folder. The caller must end it.
 * @param {string} folder
 * @param {{ words?: readonly string[], backend?: string, timeout?: string, config?: readonly string[] }} [options]
 */
export async function openFarm(folder, { backend = 'auto', timeout = '3s', config = [] } = {}) {
  const port = await freePort();
  const url = `nats://127.0.0.1:${port}`;
  const store = join(folder, 'store');
  /** @type {import('../processes.js').Running | undefined} */
  let server;
  /** @type {Map<string, import('../processes.js').Running>} */
  const workers = new Map();
  /** @type {import('../processes.js').Running | undefined} */
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
    workers.set(name, startCorella(folder, [...words, ...idle, '--json']));
  };
  const startCollector = () => {
    const words = ['farm', 'collect', 'farm.uvh5.farm', '--server', url, '--timeout', timeout, '--json'];
    collector = startCorella(folder, words);
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
