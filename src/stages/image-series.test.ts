/** Series of images of a recording: on disk as they come, and kept on a full disk. */
import assert from 'node:assert/strict';
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { planeML } from '../core/axes.js';
import { addSeconds, parseInstant } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { skyFrame } from '../sky/frame.js';
import { loadTelescope } from '../telescope/load.js';
import { finishSeries, openSeries, type SeriesFacts, type SeriesImage } from './image-series.js';

const PIXELS = 8;
const telescope = await loadTelescope('lwasv');
const began = parseInstant('2026-06-21T04:00:00Z');

const image = (n: number): SeriesImage => {
  const start = addSeconds(began, n);
  const frame = skyFrame(telescope.site, start);
  const plane = planeML(new Float64Array(PIXELS ** 2).fill(n + 1), PIXELS);
  return { plane, start, durationS: 1, frame, centre: frame.zenith };
};

const facts = (): SeriesFacts => {
  const { frame } = image(0);
  return {
    series: {
      plan: {
        pixels: PIXELS,
        pixelSize: 0.1,
        field: { kind: 'all-sky' },
        axes: frame.tangentAxes(frame.zenith),
      },
      ...{ frequencyHz: 50e6, bandHz: 1e6, everyS: 1, centreName: 'zenith' },
    },
    options: { telescope, unit: 'counts', method: '', history: ['made by a test'], sources: [] },
  };
};

/** From now on writes to files fail as on a full disk. */
async function fillDisk(t: TestContext): Promise<void> {
  const probe = await open('/dev/null');
  t.mock.method(Object.getPrototypeOf(probe) as typeof probe, 'write', () =>
    Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })),
  );
  await probe.close();
}

const countIn = async (path: string): Promise<number> =>
  Number(/NAXIS3 {2}= +(\d+)/.exec(await readFile(path, 'latin1'))?.[1]);

describe('a series of images', () => {
  it('is on disk from the first image on, under the name of a partial file', async () => {
    const folder = temporaryFolder('image-series');
    const fits = join(folder, 'sky.fits');
    const file = await openSeries({ fits }, facts);
    await file.add(image(0));
    const [part] = await readdir(folder);
    assert.match(part, /^\.sky\.fits\..*\.part$/);
    assert.equal(await countIn(join(folder, part)), 1);
    await file.add(image(1));
    assert.equal(await countIn(join(folder, part)), 2);
    await finishSeries(file, fits);
    assert.deepEqual(await readdir(folder), ['sky.fits']);
  });

  it('fails at the image that a full disk has no room for, and keeps those before it', async (t) => {
    const fits = join(temporaryFolder('image-series'), 'sky.fits');
    const file = await openSeries({ fits }, facts);
    await file.add(image(0));
    await file.add(image(1));
    await fillDisk(t);
    await assert.rejects(file.add(image(2)), /is full/);
    assert.equal(await file.keep(), 2);
    assert.equal(await countIn(fits), 2);
  });

  it('whose table finds no room at the end keeps its images, and says so', async (t) => {
    const fits = join(temporaryFolder('image-series'), 'sky.fits');
    const file = await openSeries({ fits }, facts);
    await file.add(image(0));
    await fillDisk(t);
    await assert.rejects(finishSeries(file, fits), /is full; .*sky.fits is whole and holds 1 image;/);
    assert.equal(await countIn(fits), 1);
  });
});
