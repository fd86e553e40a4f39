import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { decode } from 'fast-png';
import { imageCPML } from '../core/axes.js';
import { addSeconds, parseInstant } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { readFitsImage } from '../formats/index.js';
import { trio } from '../formats/testing/trio.js';
import { skyFrame } from '../sky/frame.js';
import { planSky, type SkyImage } from './sky-image.js';
import { writeSkyFits, writeSkyPng, type ProductOptions } from './products.js';

const start = parseInstant('2026-06-21T04:00:00');
const frame = skyFrame(trio.site, addSeconds(start, 1));
const frequenciesHz = Float64Array.of(100e6, 101e6, 102e6);
const plan = planSky(trio, frame, frequenciesHz, {
  pixels: 32,
  field: { kind: 'field', widthDeg: 20 },
  kernelSize: 3,
});
/** XX and YY are 1, 2 and 6 in the three channels, all over. */
const image = imageCPML(new Float64Array(3 * 4 * 32 * 32), 3, 4, 32);
[1, 2, 6].forEach((value, c) => image.fill(value, c * 4 * 1024, c * 4 * 1024 + 2 * 1024));
const sky: SkyImage = { image, plan, frame, start, durationS: 2 };
const options: ProductOptions = {
  telescope: trio,
  method: 'by hand',
  unit: 'Jy/beam',
  channelWidthHz: 1e6,
  channels: 'average',
  history: ['a test'],
};

describe('products', () => {
  const folder = temporaryFolder('products');
  const fits = async (changes: Partial<ProductOptions>) => {
    const path = join(folder, 'sky.fits');
    await writeSkyFits(path, sky, { ...options, ...changes });
    const read = await readFitsImage(path);
    return { read, card: (key: string): unknown => read.details[key] };
  };

  it('are the mean over channels, described as one channel of the whole band', async () => {
    const { read, card } = await fits({});
    assert.deepEqual(['NAXIS3', 'CRVAL3', 'CDELT3', 'BUNIT', 'OBJECT'].map(card), [
      1,
      101e6,
      3e6,
      'Jy/beam',
      'zenith',
    ]);
    assert.equal(read.values[16 * 32 + 16], 3);
    assert.equal(read.pixelSize, plan.pixelSize);
    // The zenith of the frame, which is that of the middle.
    assert.ok(Math.abs(read.centre.raDeg - frame.zenith.raDeg) < 1e-9);
    assert.ok(Math.abs(read.centre.decDeg - frame.zenith.decDeg) < 1e-9);
  });

  it('keep channels apart when asked', async () => {
    const { card } = await fits({ channels: 'keep', unit: 'counts' });
    assert.deepEqual(['NAXIS3', 'CRVAL3', 'CDELT3', 'BUNIT'].map(card), [3, 100e6, 1e6, 'counts']);
  });

  it('are drawn as wide as asked', async () => {
    const path = join(folder, 'sky.png');
    await writeSkyPng(path, sky, { ...options, sources: [], width: 300 });
    assert.equal(decode(await readFile(path)).width, 300);
  });
});
