import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { imageCPML } from '../../core/axes.js';
import { instant } from '../../core/instant.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { writeFitsImage, type FitsImage } from './image.js';
import { readFitsImage } from './read-image.js';

const PIXELS = 4;
/** XX = 10, YY = 20, Re XY = 3, Im XY = 4 everywhere, with one brighter pixel in the east: row 2, column 3. */
function image(): FitsImage {
  const values = new Float64Array(4 * PIXELS ** 2);
  [10, 20, 3, 4].forEach((value, product) =>
    values.fill(value, product * PIXELS ** 2, (product + 1) * PIXELS ** 2),
  );
  values[2 * PIXELS + 3] += 100;
  values[0] = NaN;
  return {
    image: imageCPML(values, 1, 4, PIXELS),
    pixels: PIXELS,
    pixelSize: 0.5,
    polarisations: 2,
    frequenciesHz: Float64Array.of(58e6),
    channelWidthHz: 25e3,
    centre: { raDeg: 200, decDeg: 30 },
    start: instant(1_700_000_000),
    durationS: 2,
    telescope: 'toy',
    object: 'zenith',
    unit: 'Jy/beam',
    history: ['corella test'],
  };
}

describe('FITS images', () => {
  const folder = temporaryFolder('fits');

  it('state the sum of their integrations and their span', async () => {
    const path = join(folder, 'times.fits');
    const timesOf = async (given: Partial<FitsImage>): Promise<unknown[]> => {
      await writeFitsImage(path, { ...image(), ...given });
      const { EXPTIME, TELAPSE } = (await readFitsImage(path)).details;
      return [EXPTIME, TELAPSE];
    };
    assert.deepEqual(await timesOf({ durationS: 3422, exposureS: 40 }), [40, 3422]);
    assert.deepEqual(await timesOf({ durationS: 2 }), [2, 2]);
  });

  it('hold I, Q, U, V with east to the left', async () => {
    const path = join(folder, 'sky.fits');
    await writeFitsImage(path, image());
    const bytes = await readFile(path);
    assert.equal(bytes.length % 2880, 0);
    const header = bytes.subarray(0, 2880 * 2).toString('latin1');
    assert.match(header, /CTYPE1 {2}= 'RA---SIN'/);
    assert.match(header, /CDELT1 {2}= *-28\.64/);
    const dataStart = Math.ceil((header.indexOf('END     ') + 1) / 2880) * 2880;
    const at = (stokes: number, row: number, column: number): number =>
      bytes.readFloatBE(dataStart + 4 * ((stokes * PIXELS + row) * PIXELS + column));
    // By hand: I = (XX + YY)/2 = 15, Q = (YY − XX)/2 = 5, U = Re XY = 3, V = −Im XY = −4.
    assert.deepEqual(
      [0, 1, 2, 3].map((stokes) => at(stokes, 1, 1)),
      [15, 5, 3, -4],
    );
    // Our column 3 is the easternmost: the file's column 0. XX + 100 makes I + 50 and Q − 50.
    assert.equal(at(0, 2, 0), 65);
    assert.equal(at(1, 2, 0), -45);
    // The westernmost, southernmost pixel has no value.
    assert.ok(Number.isNaN(at(0, 0, 3)));
    // The reference pixel (2, 3), counted from 1, is where l = m = 0: our row 2, column 2.
    assert.match(header, /CRPIX1 {2}= *2\.0 /);
    assert.match(header, /CRPIX2 {2}= *3\.0 /);
    // Stokes 1, 2, 3, 4 are I, Q, U, V.
    for (const card of [/CRVAL4 {2}= *1\.0 /, /CDELT4 {2}= *1\.0 /, /CRPIX4 {2}= *1\.0 /]) {
      assert.match(header, card);
    }
  });

  it('hold I, Q, U, V of circular feeds too, and one feed by its name', async () => {
    const path = join(folder, 'circular.fits');
    await writeFitsImage(path, { ...image(), feeds: 'circular' });
    const bytes = await readFile(path);
    const header = bytes.toString('latin1');
    const dataStart = Math.ceil((header.indexOf('END     ') + 1) / 2880) * 2880;
    const at = (stokes: number): number =>
      bytes.readFloatBE(dataStart + 4 * ((stokes * PIXELS + 1) * PIXELS + 1));
    // RR = 10, LL = 20, RL = 3 + 4i: I = (RR + LL)/2, Q + iU = RL, V = (RR − LL)/2.
    assert.deepEqual([0, 1, 2, 3].map(at), [15, 3, 4, -5]);
    const one = { ...image(), image: imageCPML(new Float64Array(PIXELS ** 2).fill(7), 1, 1, PIXELS) };
    for (const [feeds, code] of [
      ['linear', '-5'],
      ['circular', '-1'],
    ] as const) {
      await writeFitsImage(path, { ...one, polarisations: 1, feeds });
      assert.match((await readFile(path)).toString('latin1'), new RegExp(`CRVAL4 {2}= *${code}\\.0 `));
      assert.ok((await readFitsImage(path)).values.every((value) => value === 7));
    }
  });

  it('are refused where channels are spaced unevenly, which their axis could not state', async () => {
    const three = {
      ...image(),
      image: imageCPML(new Float64Array(3 * 4 * PIXELS ** 2), 3, 4, PIXELS),
      frequenciesHz: Float64Array.of(58e6, 59e6, 61e6),
    };
    await assert.rejects(
      writeFitsImage(join(folder, 'uneven.fits'), three),
      /channel 1 is not evenly spaced/,
    );
    await writeFitsImage(join(folder, 'even.fits'), {
      ...three,
      frequenciesHz: Float64Array.of(58e6, 59.0001e6, 60e6),
    });
  });

  it('hold a beam for each channel of a cube, as CASA has them', async () => {
    const path = join(folder, 'beams.fits');
    const three = {
      ...image(),
      image: imageCPML(new Float64Array(3 * 4 * PIXELS ** 2), 3, 4, PIXELS),
      frequenciesHz: Float64Array.of(58e6, 59e6, 60e6),
    };
    const beam = { majorDeg: 0.5, minorDeg: 0.25, positionAngleDeg: 30 };
    await writeFitsImage(path, { ...three, beams: [beam, undefined, { ...beam, majorDeg: 0.4 }] });
    const bytes = await readFile(path);
    assert.equal(bytes.length % 2880, 0);
    const all = bytes.toString('latin1');
    assert.match(all, /CASAMBM = *T /);
    const table = all.indexOf("XTENSION= 'BINTABLE'");
    for (const card of [
      /EXTNAME = 'BEAMS/,
      /NCHAN {3}= *3 /,
      /NPOL {4}= *4 /,
      /TUNIT1 {2}= 'arcsec/,
      /NAXIS2 {2}= *12 /,
    ])
      assert.match(all.slice(table), card);
    const rows = table + 2880 * Math.ceil((all.indexOf('END     ', table) - table + 1) / 2880);
    const row = (k: number): number[] => [
      ...[0, 4, 8].map((at) => bytes.readFloatBE(rows + 20 * k + at)),
      ...[12, 16].map((at) => bytes.readInt32BE(rows + 20 * k + at)),
    ];
    // Channels run faster than Stokes planes.
    assert.deepEqual(row(0), [1800, 900, 30, 0, 0]);
    assert.deepEqual(row(1), [0, 0, 0, 1, 0]);
    assert.deepEqual(row(11), [1440, 900, 30, 2, 3]);
    assert.equal((await readFitsImage(path)).channels, 3);
  });

  it('come back in our own order', async () => {
    const path = join(folder, 'again.fits');
    await writeFitsImage(path, image());
    const read = await readFitsImage(path);
    assert.equal(read.values[2 * PIXELS + 3], 65);
    assert.ok(Math.abs(read.pixelSize - 0.5) < 1e-15);
    assert.deepEqual(read.centre, { raDeg: 200, decDeg: 30 });
  });

  it('are refused when cut short', async () => {
    const path = join(folder, 'cut.fits');
    await writeFitsImage(path, image());
    await writeFile(path, (await readFile(path)).subarray(0, 2880 * 2 + 10));
    await assert.rejects(readFitsImage(path), /cut\.fits: truncated: 246 bytes are missing/);
    // A header with an impossible size is refused before memory is allocated.
    await writeFitsImage(path, image());
    const bytes = await readFile(path);
    bytes.write('NAXIS3  =              1000000', bytes.indexOf('NAXIS3  ='), 'latin1');
    await writeFile(path, bytes);
    await assert.rejects(readFitsImage(path), /truncated: 25\d{7} bytes are missing/);
  });
});
