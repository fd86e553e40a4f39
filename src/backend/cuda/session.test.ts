/** How a session lets the process end. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { describeCuda } from './cuda.js';
import { driverPrototypes, SUCCESS, type Driver, type DriverCall } from './driver.js';
import { openSession } from './session.js';

/** Says yes to everything, and gives 1 for every handle. */
function agreeableDriver(): Driver {
  const yes = (receiver?: unknown): number => {
    if (receiver instanceof BigUint64Array) receiver[0] = 1n;
    return SUCCESS;
  };
  const names = Object.keys(driverPrototypes) as DriverCall[];
  const calls = Object.fromEntries(names.map((name) => [name, yes])) as unknown as Driver['calls'];
  return { path: 'nowhere', version: 13_000, calls, describe: () => 'well' };
}
const card = {
  ordinal: 0,
  name: 'a card',
  capability: 90,
  multiprocessors: 1,
  memoryBytes: 8e9,
  sharedBytesPerBlock: 99e3,
};

describe('a session', () => {
  it('listens for signals while it is open', async () => {
    const session = openSession(agreeableDriver(), card);
    assert.equal(process.listenerCount('SIGTERM'), 1);
    assert.equal(process.listenerCount('SIGINT'), 1);
    await session.close();
    assert.equal(process.listenerCount('SIGTERM'), 0);
  });

  const presence = describeCuda();
  const skip = presence.present ? false : `${presence.reason}; ${presence.fix}`;
  it('on a card ends when a signal says so', { skip }, async () => {
    const module = JSON.stringify(new URL('./cuda.js', import.meta.url).href);
    // Compiling is what used to spoil it: with an empty cache it must.
    const script = `import { openCuda } from ${module};
      const { shop } = await openCuda();
      const source = 'extern "C" __global__ void nothing() {}';
      await shop.prepare({ name: 'nothing.cu', source, headers: {}, defines: {}, entries: { nothing: [] } });
      setInterval(() => undefined, 1000);
      process.kill(process.pid, 'SIGTERM');`;
    const cache = temporaryFolder('cache');
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      env: { ...process.env, XDG_CACHE_HOME: cache },
      stdio: 'ignore',
    });
    const patience = setTimeout(() => child.kill('SIGKILL'), 30_000);
    const by = await new Promise((resolve) => {
      child.on('close', (code, signal) => {
        resolve(signal ?? code);
      });
    });
    clearTimeout(patience);
    assert.equal(by, 'SIGTERM');
  });
});
