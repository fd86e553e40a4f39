import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { imageCPML } from '../../core/axes.js';
import { addSeconds, parseInstant, type Instant } from '../../core/instant.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { textOf, type Line } from '../../messages/index.js';
import { skyFrame } from '../../sky/frame.js';
import { planSkyGeometry, type SkyImage } from '../../stages/index.js';
import { loadTelescope } from '../../telescope/load.js';
import { selectStations } from '../../telescope/select.js';
import { ImageCubes } from './cubes.js';

describe('cubes of a live run', () => {
  it('leave a leap second out, reported, and a new cube begins after it', async () => {
    const telescope = selectStations(await loadTelescope('lwasv'), 4);
    const frequenciesHz = Float64Array.of(50e6);
    const skyAt = (start: Instant): SkyImage => {
      const frame = skyFrame(telescope.site, start);
      const settings = { pixels: 16, field: { kind: 'all-sky' }, kernelSize: 5 } as const;
      const plan = planSkyGeometry(telescope, frame, frequenciesHz, settings);
      const image = imageCPML(new Float64Array(4 * 16 * 16).fill(1), 1, 4, 16);
      return { image, plan, frame, start, durationS: 0.5 };
    };
    const notes: Line[] = [];
    const path = join(temporaryFolder('cubes'), 'sky.fits');
    const cubes = new ImageCubes(
      {
        fields: { images: path, picture: false },
        path,
        spectra: { frequenciesHz, channelWidthHz: 25e3 },
        overwrite: false,
        about: () => ({
          channels: 'average',
          telescope,
          unit: 'counts',
          channelWidthHz: 25e3,
          history: [],
          method: '',
          sources: [],
        }),
      },
      (line) => notes.push(line),
    );
    const before = parseInstant('2016-12-31T23:59:58Z');
    for (let n = 0; n < 10; n++) await cubes.show(skyAt(addSeconds(before, n / 2)), 'counts');
    await cubes.close();
    assert.deepEqual([cubes.drawn, cubes.paths.length], [8, 2]);
    assert.deepEqual(notes.map(textOf), [
      `${path}: the leap second 2016-12-31T23:59:60Z is not written: dates of files cannot hold it`,
    ]);
  });
});
