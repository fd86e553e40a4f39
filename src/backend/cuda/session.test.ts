/** A session must let the process end. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { describeCuda } from './cuda.js';
import { CudaSession } from './session.js';
import { assertClosesAll, paperDevice, paperDriver } from './testing.js';

describe('a session', () => {
  it('listens for signals while it is open', async () => {
    const session = new CudaSession(paperDriver().driver, paperDevice);
    assert.equal(process.listenerCount('SIGTERM'), 1);
    assert.equal(process.listenerCount('SIGINT'), 1);
    await session.close();
    assert.equal(process.listenerCount('SIGTERM'), 0);
  });

  it('gives spectra blocks that close all they are made of, also where one cannot be made', async () => {
    for (const type of ['ci8', 'ci4', 'cf32'] as const) {
      const shape = { type, channels: 2, inputs: 3, capacity: 4 };
      const places = await assertClosesAll(
        (backend) =>
          new Promise((resolve) => {
            resolve(backend.allocateSpectra(shape));
          }),
      );
      assert.equal(places, type === 'ci4' ? 7 : 6);
    }
  });

  it('gives page-locked memory whose views outlive it', async (t) => {
    const fills = process.env.CORELLA_FILL_RETURNED;
    process.env.CORELLA_FILL_RETURNED = '1';
    t.after(() => {
      if (fills === undefined) delete process.env.CORELLA_FILL_RETURNED;
      else process.env.CORELLA_FILL_RETURNED = fills;
    });
    const { driver, held } = paperDriver();
    const session = new CudaSession(driver, paperDevice);
    const kept: Float64Array[] = [];
    for (let n = 0; n < 10_000; n++) {
      const memory = session.allocatePinned('an image', 24);
      const values = memory.view(Float64Array, 2, 8);
      assert.equal(session.pinnedAddress(values), memory.pointer + 8n);
      assert.equal(memory.pointer % 65_536n, 0n);
      values.fill(n);
      await memory.close();
      assert.equal(session.pinnedAddress(values), undefined);
      if (n % 10 === 0) kept.push(values);
    }
    assert.equal(held(), 0);
    assert.ok(kept.every((values) => values.every(Number.isNaN)));
    const piece = session.borrowPiece();
    const lent = piece.view(Float32Array, 5).fill(1);
    await piece.close();
    assert.ok(lent.every(Number.isNaN));
    await session.close();
  });

  const presence = describeCuda();
  const skip = presence.present ? false : `${presence.reason}; ${presence.fix}`;
  it('on a card ends when a signal says so', { skip }, async () => {
    const module = JSON.stringify(new URL('./cuda.js', import.meta.url).href);
    // Compilation is what used to prevent it: so the cache must be empty.
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
    const timer = setTimeout(() => child.kill('SIGKILL'), 30_000);
    const by = await new Promise((resolve) => {
      child.on('close', (code, signal) => {
        resolve(signal ?? code);
      });
    });
    clearTimeout(timer);
    assert.equal(by, 'SIGTERM');
  });
});
