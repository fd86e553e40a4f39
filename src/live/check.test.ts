import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Backend } from '../backend/backend.js';
import { openBackend } from '../backend/select.js';
import { spectraCAT } from '../core/axes.js';
import { instant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { loadTelescope } from '../telescope/load.js';
import { selectStations } from '../telescope/select.js';
import type { TimedSpectra } from '../stages/index.js';
import { LiveCheck } from './check.js';

const telescope = selectStations(await loadTelescope('lwasv'), 4);
const frequenciesHz = Float64Array.of(60e6, 60.1e6, 60.2e6);
const reference = await openBackend('reference');

/** Random spectra, as the check receives them. */
async function spectra(): Promise<TimedSpectra> {
  const block = reference.allocateSpectra({ type: 'ci8', channels: 3, inputs: 8, capacity: 20 });
  const random = randomStream(1, 'check');
  const values = Int8Array.from({ length: 2 * 3 * 8 * 20 }, () => Math.round(40 * random.gaussian()) % 127);
  await block.write(spectraCAT(values, 'ci8', 3, 8, 20), 20);
  return { block, index: 0, start: instant(1_782_014_400), cutAt: Infinity };
}
const image = { pixels: 64, field: { kind: 'all-sky' }, kernelSize: 5 } as const;

describe('a check against the reference', () => {
  it('finds the same sums, and both imaging methods', async () => {
    const check = new LiveCheck({ backend: reference, telescope, frequenciesHz, everyS: 60, image });
    const passing = await spectra();
    await check.look(passing);
    await check.settled();
    const first = check.latest;
    assert.ok(first?.methods);
    // 4 stations: 10 pairs of 4 products
    assert.deepEqual([first.products, first.samples, first.differing, first.exact], [40, 20, 0, true]);
    assert.ok(first.methods.difference < 1e-3, `${first.methods.difference}`);
    // the minute is not over
    await check.look(passing);
    assert.deepEqual([check.latest, check.checked, check.failed], [first, 1, 0]);
    await check.close();
  });
  it('leaves out a block without a sample, and takes the next: zeros prove nothing', async () => {
    const check = new LiveCheck({ backend: reference, telescope, frequenciesHz, everyS: 60, image });
    const block = reference.allocateSpectra({ type: 'ci8', channels: 3, inputs: 8, capacity: 20 });
    await block.write(spectraCAT(new Int8Array(2 * 3 * 8 * 20), 'ci8', 3, 8, 20), 20);
    await check.look({ block, index: 0, start: instant(1_782_014_400), cutAt: Infinity });
    assert.deepEqual([check.latest, check.checked], [undefined, 0]);
    await check.look(await spectra());
    await check.settled();
    assert.equal(check.checked, 1);
    assert.ok(Number.isFinite(check.latest?.methods?.difference));
    await check.close();
  });
  it('reports a machine that computes one value wrong', async () => {
    const broken = Object.assign(Object.create(reference) as Backend, {
      allocateSpectra: (shape: Parameters<Backend['allocateSpectra']>[0]) => {
        const block = reference.allocateSpectra(shape);
        const write = block.write.bind(block);
        return Object.assign(block, {
          write: (values: Parameters<typeof write>[0], samples: number) => {
            const wrong = values.slice() as typeof values;
            wrong[2 * 20 + 6] += 1;
            return write(wrong, samples);
          },
        });
      },
    });
    const check = new LiveCheck({ backend: broken, telescope, frequenciesHz, everyS: 0 });
    await check.look(await spectra());
    await check.settled();
    // input 1 forms products with eight inputs, including itself, in both orders within its station
    assert.ok((check.latest?.differing ?? 0) > 0);
    assert.equal(check.failed, 1);
    await check.close();
  });
  it('does not keep data waiting, and takes no second piece meanwhile', async () => {
    const check = new LiveCheck({ backend: reference, telescope, frequenciesHz, everyS: 0, image });
    const passing = await spectra();
    await check.look(passing);
    assert.equal(check.checked, 0);
    await check.look(passing);
    await check.settled();
    assert.equal(check.checked, 1);
    await check.close();
  });
});
