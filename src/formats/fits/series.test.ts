/** A time series of images that is written image by image. */
import assert from 'node:assert/strict';
import { appendFile, copyFile, readdir, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { planeML } from '../../core/axes.js';
import { addSeconds, parseInstant } from '../../core/instant.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { openInput } from '../io/input.js';
import { openOutput, type OutputFile } from '../io/output.js';
import { recover } from '../recover.js';
import { FITS_BLOCK_BYTES, readUnit } from './fits.js';
import { encodeFitsSeries, fitsSeriesWriter, type FitsSeriesFacts } from './series.js';

const PIXELS = 8;
const began = parseInstant('2026-06-21T04:00:00Z');

const factsOf = (history: readonly string[]): FitsSeriesFacts => ({
  ...{ pixels: PIXELS, pixelSize: 0.1, telescope: 'toy', object: 'zenith', unit: 'counts', history },
  ...{ frequencyHz: 58e6, everyS: 1 },
});

/** Every pixel of image `n` is `n` + 1. */
const image = (n: number, movesDeg = 0) => ({
  plane: planeML(new Float64Array(PIXELS ** 2).fill(n + 1), PIXELS),
  start: addSeconds(began, n),
  durationS: 1,
  centre: { raDeg: 200 + movesDeg * n, decDeg: 30 },
});

async function imagesIn(path: string): Promise<{ values: number[]; units: number; history: string }> {
  const file = await openInput(path);
  const first = await readUnit(file, 0);
  assert.ok(first);
  const plane = new Uint8Array(4 * PIXELS ** 2);
  const values: number[] = [];
  for (let n = 0; n < first.header.real('NAXIS3'); n++) {
    await file.readExactly(plane, first.dataStart + n * plane.length);
    values.push(new DataView(plane.buffer).getFloat32(0));
  }
  const second = await readUnit(file, first.end).catch(() => undefined);
  await file.close();
  return { values, units: second ? 2 : 1, history: first.header.remarks.join('\n') };
}

/** The first images of a run that was killed: its partial file. */
async function killed(folder: string, count: number): Promise<string> {
  const output = await openOutput(join(folder, 'sky.fits'));
  const writer = fitsSeriesWriter(output, factsOf(['a line']));
  for (let n = 0; n < count; n++) await writer.add(image(n));
  const [part] = (await readdir(folder)).filter((name) => name.endsWith('.part'));
  const left = join(folder, `.sky.fits.999999999-0123456789ab.part`);
  await copyFile(join(folder, part), left);
  await output.abandon();
  return left;
}

describe('a series of images in FITS', () => {
  it('is whole at the end, whatever the length of its header', async () => {
    const folder = temporaryFolder('series');
    for (const movesDeg of [0, 1])
      // Up to two blocks, each end of a block among them.
      for (let lines = 0; lines < 40; lines++) {
        const history = Array.from({ length: lines }, (_, k) => `line ${k}`);
        const path = join(folder, `${movesDeg}-${lines}.fits`);
        const output = await openOutput(path);
        await encodeFitsSeries(output, {
          ...factsOf(history),
          planes: [0, 1, 2].map((n) => image(n, movesDeg)),
        });
        await output.finish();
        const { values, units, history: written } = await imagesIn(path);
        assert.deepEqual([values, units], [[1, 2, 3], 2]);
        assert.doesNotMatch(written, /not finished/);
        assert.equal(written.includes('centre of its own'), movesDeg > 0);
        assert.equal((await readFile(path)).length % FITS_BLOCK_BYTES, 0);
      }
  });

  it('is whole after a write that fails, at whichever write', async () => {
    const folder = temporaryFolder('series');
    for (let at = 1; at < 12; at++) {
      const path = join(folder, `${at}.fits`);
      const output = await openOutput(path);
      let writes = 0;
      /** Half of it, and then the disk is full: only what is there can be written again. */
      const full: OutputFile = Object.create(output, {
        writeAt: {
          value: async (position: number, bytes: Uint8Array) => {
            writes++;
            if (writes === at && position + bytes.length > output.sizeBytes)
              await output.writeAt(position, bytes.subarray(0, bytes.length / 2));
            if (writes >= at && position + bytes.length > output.sizeBytes) throw new Error('full');
            await output.writeAt(position, bytes);
          },
        },
      }) as OutputFile;
      const facts = factsOf(['a line']);
      const writer = fitsSeriesWriter(full, facts);
      let added = 0;
      try {
        for (; added < 4; added++) await writer.add(image(added));
        await writer.finish(facts);
      } catch (error) {
        assert.match(String(error), /full/);
      }
      if (added === 0) {
        await output.abandon();
        continue;
      }
      await writer.keep(facts);
      await output.finish();
      assert.equal(writer.count, added);
      const { values, units, history } = await imagesIn(path);
      assert.deepEqual(values, [1, 2, 3, 4].slice(0, added), `at write ${at}`);
      assert.equal(units === 1, history.includes('not finished'), `at write ${at}`);
    }
  });

  it('is recovered up to its last whole image after a kill', async () => {
    const folder = temporaryFolder('series');
    const left = await killed(folder, 3);
    await appendFile(left, new Uint8Array(100));
    const [one] = await recover(folder);
    assert.deepEqual([one.outcome, one.integrations], ['recovered', 3]);
    const path = join(folder, 'sky.fits');
    assert.deepEqual(await imagesIn(path), {
      ...{ values: [1, 2, 3], units: 1 },
      history: (await imagesIn(path)).history,
    });
    assert.equal((await readFile(path)).length % FITS_BLOCK_BYTES, 0);
    const [again] = await recover(path);
    assert.deepEqual([again.outcome, again.integrations], ['whole already', 3]);
  });

  it('without a whole image is not recovered', async () => {
    const folder = temporaryFolder('series');
    const left = await killed(folder, 1);
    await truncate(left, 100);
    const [one] = await recover(folder);
    assert.equal(one.outcome, 'nothing was finished');
  });
});
