import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { imageCPML } from '../core/axes.js';
import { parseInstant } from '../core/instant.js';
import { readFitsImage } from '../formats/index.js';
import { trio } from '../formats/testing/trio.js';
import { skyFrame } from '../sky/frame.js';
import { planSky, type SkyImage } from './sky-image.js';
import { calibrationOf, writeSky, type PictureOptions } from './products.js';

const start = parseInstant('2026-06-21T04:00:00Z');
const frame = skyFrame(trio.site, start);
const settings = { pixels: 16, field: { kind: 'field', widthDeg: 10 }, kernelSize: 1 } as const;
const plan = planSky(trio, frame, Float64Array.of(60e6), settings);
const planes = (value: number) => imageCPML(new Float64Array(4 * 16 * 16).fill(value), 1, 4, 16);
const sky: SkyImage & { readonly beam: SkyImage['image'] } = {
  image: planes(3),
  beam: planes(1),
  plan,
  frame,
  start,
  durationS: 1,
};
const options: PictureOptions = {
  telescope: trio,
  method: 'a test',
  unit: 'counts',
  channelWidthHz: 1e5,
  channels: 'average',
  history: [],
  sources: [],
};

describe('an image and its picture', () => {
  it('says which gains were applied', () => {
    assert.equal(calibrationOf({ unit: 'counts' }), 'uncalibrated');
    assert.equal(calibrationOf({ unit: 'counts', gainsAre: 'relative' }), 'relative gains');
    assert.equal(calibrationOf({ unit: 'Jy/beam' }), 'calibrated');
  });

  it('appear together with the beam, or not at all', async () => {
    const folder = temporaryFolder('products');
    const path = (name: string): string => join(folder, name);
    try {
      const fits = path('sky.fits');
      const nowhere = join('nowhere', 'sky.png');
      await assert.rejects(writeSky({ fits, png: path(nowhere) }, sky, options), /does not exist/);
      const blank = { ...sky, image: planes(Number.NaN) };
      await assert.rejects(writeSky({ fits, png: path('sky.png') }, blank, options), /no pixel/);
      assert.deepEqual(await readdir(folder), []);

      await writeSky({ fits, png: path('sky.png'), beam: path('beam.fits') }, sky, options);
      assert.deepEqual((await readdir(folder)).sort(), ['beam.fits', 'sky.fits', 'sky.png']);
      const [image, beam] = [await readFitsImage(fits), await readFitsImage(path('beam.fits'))];
      assert.deepEqual([image.unit, image.values[0]], ['counts', 3]);
      assert.deepEqual([beam.unit, beam.values[0]], ['beam', 1]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
