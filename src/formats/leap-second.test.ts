/** Dates of files have days of 86 400 s: what lies within a leap second would be dated a second later. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { imageCPML, planeML } from '../core/axes.js';
import { addSeconds, parseInstant, secondsBetween } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { createFilterbank } from './filterbank/filterbank.js';
import { writeFitsImage, type FitsImage } from './fits/image.js';
import { encodeFitsSeries } from './fits/series.js';
import { writeGainFiles } from './gains/gain-files.js';
import { writeOutput } from './io/output.js';
import { trioGains } from './testing/gain-subjects.js';
import { trio } from './testing/trio.js';
import { readVisibilities, writeVisibilities } from './testing/visibility-files.js';
import { isCasacoreBuilt } from './visibilities/ms/library.js';
import { header, integration } from './visibilities/uvh5/testing.js';

const folder = temporaryFolder('leap');
const leap = parseInstant('2016-12-31T23:59:60Z');
const refused =
  /has data within the leap second 2016-12-31T23:59:60Z.*source\.from and source\.to .*from 2017-01-01T00:00:00Z/;

describe('a leap second', () => {
  for (const format of ['uvfits', 'uvh5', 'ms'])
    it(
      `is refused in ${format}, where an integration or its middle is in it`,
      {
        skip: format === 'ms' && !isCasacoreBuilt() && 'node scripts/build-casacore.js has not been run here',
      },
      async () => {
        // All of it; the middle alone of ten seconds; another integration before.
        for (const [name, places] of Object.entries({
          all: [[0.25, 0.5]],
          middle: [[-4.5, 10]],
          second: [
            [-2, 1],
            [0, 1],
          ],
        })) {
          const all = places.map(([fromS, durationS], k) => ({
            ...integration(k),
            start: addSeconds(leap, fromS),
            durationS,
          }));
          await assert.rejects(
            writeVisibilities(join(folder, `${name}.${format}`), header, all),
            refused,
            name,
          );
        }
        // Before and after it, and over it with the middle outside, times are right.
        const all = [
          [-1, 1],
          [-0.5, 8],
          [4, 1],
        ].map(([fromS, durationS], k) => ({ ...integration(k), start: addSeconds(leap, fromS), durationS }));
        const { all: back } = await readVisibilities(
          await writeVisibilities(join(folder, `over.${format}`), header, all),
        );
        back.forEach(({ start }, k) => {
          assert.ok(Math.abs(secondsBetween(all[k].start, start)) < 1e-4);
        });
      },
    );

  it('is refused in CalH5', async () => {
    const facts = { telescope: trio, channelWidthHz: 1e6, durationS: 2 };
    const write = (time: typeof leap) =>
      writeGainFiles(join(folder, 'gains.json'), { ...trioGains, time }, facts);
    await assert.rejects(write(addSeconds(leap, 0.5)), refused);
    assert.ok(!(await readdir(folder)).includes('gains.json'));
    await write(addSeconds(leap, 1));
  });

  const image: FitsImage = {
    image: imageCPML(new Float64Array(4), 1, 1, 2),
    pixels: 2,
    pixelSize: 0.5,
    polarisations: 1,
    frequenciesHz: Float64Array.of(58e6),
    channelWidthHz: 25e3,
    centre: { raDeg: 200, decDeg: 30 },
    start: leap,
    durationS: 2,
    telescope: 'toy',
    object: 'zenith',
    unit: 'counts',
    history: [],
  };
  const places = [
    [0.5, 3, refused],
    [-1, 3, refused],
    [-2, 1, undefined],
    [1, 1, undefined],
  ] as const;

  it('is refused in images, at their start and in their middle', async () => {
    for (const [fromS, durationS, why] of places) {
      const made = writeFitsImage(join(folder, 'sky.fits'), {
        ...image,
        start: addSeconds(leap, fromS),
        durationS,
      });
      await (why ? assert.rejects(made, why) : made);
    }
  });

  it('is refused in cubes in time', async () => {
    for (const [fromS, durationS, why] of places) {
      const made = writeOutput(join(folder, 'cube.fits'), (output) =>
        encodeFitsSeries(output, {
          ...image,
          frequencyHz: 58e6,
          everyS: 1,
          planes: [-10, fromS].map((start) => ({
            plane: planeML(new Float64Array(4), 2),
            start: addSeconds(leap, start),
            durationS,
            centre: image.centre,
          })),
        }),
      );
      await (why ? assert.rejects(made, why) : made);
    }
  });

  it('is refused as the start of a filterbank, and inside one it is a second like others', async () => {
    for (const ending of ['fil', 'sf']) {
      const create = (fromS: number) =>
        createFilterbank(join(folder, `beam.${ending}`), {
          firstChannelHz: 150e6,
          channelStepHz: 25e3,
          channels: 3,
          planes: 1,
          bits: 32,
          start: addSeconds(leap, fromS),
          valueS: 1,
        });
      await assert.rejects(create(0.5), refused);
      await (await create(-0.5)).abandon();
    }
  });
});
