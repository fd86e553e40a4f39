/** Images are lent by their stage, on a simulated card and on the host. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Backend } from '../../backend/backend.js';
import { openPaper } from '../../backend/cuda/testing.js';
import { openReference } from '../../backend/reference.js';
import { spectraCAT } from '../../core/axes.js';
import { parseInstant } from '../../core/instant.js';
import { loadTelescope } from '../../telescope/load.js';
import { prepareDirectImage, type DirectSkyImage } from '../direct-image.js';
import { ownImage } from '../sky-image.js';

const start = parseInstant('2026-06-21T04:00:00Z');
const telescope = await loadTelescope('eda2');
const inputs = telescope.stations.length * telescope.polarisations;

/** The stage, and what pushes one spectrum through it: an image. */
async function imagesOn(backend: Backend) {
  const block = backend.allocateSpectra({ type: 'cf32', channels: 1, inputs, capacity: 1 });
  await block.write(spectraCAT(new Float32Array(2 * inputs).fill(1), 'cf32', 1, inputs, 1), 1);
  const stage = prepareDirectImage({
    backend,
    telescope,
    frequenciesHz: Float64Array.of(100e6),
    image: { pixels: 64, field: { kind: 'all-sky' }, kernelSize: 3 },
    grid: { spectrumRateHz: 1000 },
    lastsS: 0.001,
  });
  let index = 0;
  const next = async (): Promise<DirectSkyImage> => {
    const made: DirectSkyImage[] = [];
    const emit = (sky: DirectSkyImage): Promise<void> => Promise.resolve(void made.push(sky));
    await stage.push({ block, index, start, cutAt: index + 1, stays: 0 }, emit);
    index++;
    return made[0];
  };
  return { stage, next };
}

describe('an image', () => {
  for (const [name, open] of [
    ['of a card', async () => (await openPaper('hopper')).backend],
    ['of the host', () => Promise.resolve(openReference())],
  ] as const)
    it(`${name} cannot be read once the next is made, or its imager is closed`, async (t) => {
      const backend = await open();
      t.after(() => backend.close());
      const { stage, next } = await imagesOn(backend);
      const first = await next();
      assert.equal(first.image.length, 4 * 64 * 64);
      const own = ownImage(first);
      const values = own.image.slice();
      const second = await next();
      assert.throws(
        () => first.image,
        /^Error: arrays of the direct imager are used after it filled them again/,
      );
      assert.throws(() => first.weights, /the direct imager/);
      assert.equal(second.image.length, values.length);
      await stage.close();
      assert.throws(() => second.image, /^Error: arrays of the direct imager are used after it was closed/);
      assert.deepEqual(own.image, values);
    });
});
