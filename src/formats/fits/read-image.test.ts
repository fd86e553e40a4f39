/** FITS images of other programs: axes, reference pixels, data types, frames. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { fitsImageBytes, sinCards } from '../testing/fits-image.js';
import { readFitsImage, type ReadFitsImage } from './read-image.js';

const folder = temporaryFolder('read-image');
const read = async (...of: Parameters<typeof fitsImageBytes>): Promise<ReadFitsImage> => {
  const path = join(folder, 'image.fits');
  await writeFile(path, fitsImageBytes(...of));
  return readFitsImage(path);
};
/** Columns from the west, rows from the south; the file has east first. */
const planeOf = ({ values, pixels }: ReadFitsImage, plane = 0): (number | null)[][] =>
  Array.from({ length: pixels }, (_, row) =>
    Array.from(values.subarray((plane * pixels + row) * pixels, (plane * pixels + row + 1) * pixels), (value) =>
      Number.isNaN(value) ? null : value,
    ),
  ); // prettier-ignore
const six = [1, 2, 3, 4, 5, 6];

describe('FITS images of other programs', () => {
  it('may be of any size, of two axes, without a Stokes parameter', async () => {
    const image = await read(-32, [3, 2], sinCards, six);
    assert.deepEqual([image.pixels, image.size], [4, { columns: 3, rows: 2 }]);
    // The reference, value 5, in the middle: column and row 2.
    assert.deepEqual(planeOf(image), [
      [null, null, null, null],
      [null, 3, 2, 1],
      [null, 6, 5, 4],
      [null, null, null, null],
    ]);
    assert.deepEqual(image.reference, { column: 2, row: 2 });
    assert.deepEqual([image.planes, image.channels, image.stokes, image.frequencyHz], [1, 1, undefined, undefined]); // prettier-ignore
  });

  it('may have their reference anywhere, between pixels too', async () => {
    const image = await read(-32, [2, 2], { ...sinCards, CRPIX1: -300.25, CRPIX2: 412.5 }, six.slice(0, 4));
    assert.deepEqual(planeOf(image), [[2, 1], [4, 3]]); // prettier-ignore
    assert.deepEqual(image.reference, { column: 302.25, row: 411.5 });
  });

  it('may have columns from west to east and rows from north to south', async () => {
    const cards = { ...sinCards, CDELT1: 0.1, CDELT2: -0.1, CRPIX1: 1 };
    const image = await read(-32, [2, 2], cards, six.slice(0, 4));
    assert.deepEqual(planeOf(image), [[3, 4], [1, 2]]); // prettier-ignore
    assert.deepEqual(image.reference, { column: 0, row: 0 });
  });

  it('have Stokes parameters and channels in any order of axes', async () => {
    const four = { CTYPE3: 'STOKES', CRVAL3: 1, CDELT3: 1, CRPIX3: 1 };
    const two = { CTYPE4: 'FREQ', CRVAL4: 100, CDELT4: 10, CRPIX4: 2, CUNIT4: 'MHz' };
    const values = Array.from({ length: 2 * 2 * 4 * 2 }, (_, k) => Math.floor(k / 4));
    const image = await read(-32, [2, 2, 4, 2], { ...sinCards, ...four, ...two }, values);
    assert.deepEqual([image.planes, image.channels, image.stokes], [4, 2, [1, 2, 3, 4]]);
    // [stokes][c]; in the file channels are the slowest.
    assert.deepEqual(Array.from({ length: 8 }, (_, k) => planeOf(image, k)[0][0]), [0, 4, 1, 5, 2, 6, 3, 7]); // prettier-ignore
    assert.equal(image.frequencyHz, 95e6);
    // Stokes Q and I first of all, the sky after them.
    const first = { CTYPE1: 'STOKES', CRVAL1: 2, CDELT1: -1, CRPIX1: 1, CUNIT1: '' };
    const sky = { CTYPE2: 'DEC--SIN', CTYPE3: 'RA---SIN', CRVAL3: 10, CDELT3: -0.00585937, CRPIX3: 2, CUNIT3: 'deg' }; // prettier-ignore
    const turned = await read(-32, [2, 2, 2], { ...sinCards, ...sky, ...first }, [...six, 7, 8]);
    assert.deepEqual(turned.stokes, [2, 1]);
    assert.deepEqual([planeOf(turned, 0), planeOf(turned, 1)], [[[5, 1], [7, 3]], [[6, 2], [8, 4]]]); // prettier-ignore
    assert.equal(turned.centre.raDeg, 10);
  });

  it('have values of every type, with scale, zero and blanks', async () => {
    for (const bitpix of [8, 16, 32, 64, -32, -64] as const) {
      const scaled = { ...sinCards, BSCALE: 0.5, BZERO: 10, ...(bitpix > 0 && { BLANK: 3 }) };
      const image = await read(bitpix, [2, 2], scaled, [1, 2, 3, 200]);
      assert.deepEqual(planeOf(image), [[11, 10.5], [110, bitpix > 0 ? null : 11.5]], `BITPIX ${bitpix}`); // prettier-ignore
    }
    // Unsigned by its zero: −32768 is 0.
    assert.equal(planeOf(await read(16, [2, 2], { ...sinCards, BZERO: 32768 }, [-32768, 0, 0, 0]))[0][1], 0);
  });

  it('may have the scale in a CD matrix, and FK5 of 2000', async () => {
    const rest = Object.fromEntries(
      Object.entries(sinCards).filter(([keyword]) => !keyword.startsWith('CDELT')),
    );
    for (const cards of [
      { ...rest, CD1_1: -0.1, CD2_2: 0.1, CD1_2: 0, RADESYS: 'FK5', EQUINOX: 2000 },
      { ...rest, CDELT1: -0.1, CDELT2: 0.1, PC1_1: 1, PC1_2: 0, CROTA2: 0, EPOCH: 'J2000', LONPOLE: 180 },
    ])
      assert.ok(
        Math.abs((await read(-32, [2, 2], cards, six.slice(0, 4))).pixelSize - Math.PI / 1800) < 1e-9,
      );
  });

  it('are a series where they have a time axis', async () => {
    const image = await read(-32, [2, 2, 2], { ...sinCards, CTYPE3: 'UTC', CDELT3: 10 }, [...six, 7, 8]);
    assert.deepEqual([image.times, image.channels, image.frequencyHz], [2, 2, undefined]);
  });

  it('are refused with the reason where their positions or planes would be wrong', async () => {
    for (const [cards, why] of [
      [{ EPOCH: 1979.9 }, /its positions are FK4 of equinox 1979\.9, .*; convert it to ICRS/],
      [{ EQUINOX: 'B1950' }, /its positions are FK4 of equinox 1950/],
      [{ RADESYS: 'FK4' }, /its positions are FK4/],
      [{ RADECSYS: 'FK5', EPOCH: 1985 }, /its positions are FK5 of equinox 1985/],
      [{ RADESYS: 'GAPPT' }, /GAPPT/],
      [{ CTYPE1: 'RA---TAN', CTYPE2: 'DEC--TAN' }, /its projection is TAN, and not SIN/],
      [
        { CTYPE1: 'GLON-SIN', CTYPE2: 'GLAT-SIN' },
        /not right ascension and declination, but GLON-SIN, GLAT-SIN/,
      ],
      [{ CTYPE1: '', CTYPE2: '' }, /it has no CTYPE/],
      [{ CROTA2: 12 }, /turned or slanted \(CROTA2\)/],
      [{ PC1_2: 0.5 }, /turned or slanted \(PC1_2\)/],
      [{ CD1_1: -0.1, CD2_2: 0.1, CD2_1: 0.02 }, /turned or slanted \(CD2_1\)/],
      [{ PV2_1: 0.1 }, /turned or slanted \(PV2_1\)/],
      [{ LONPOLE: 90 }, /turned \(LONPOLE 90\)/],
      [{ CDELT1: -0.1 }, /its pixels are not square/],
      [{ CRVAL2: 91 }, /a declination of 91°/],
      [{ CUNIT1: 'arcsec' }, /its CUNIT1 is ARCSEC/],
      [{ CTYPE3: 'FREQ', CTYPE4: 'UTC' }, /its axis 4, 'UTC', has 2 values beside another axis of several/],
      [{ CTYPE3: 'PULSE' }, /its axis 3, 'PULSE', has 2 values/],
      [{}, /its axis 3, '', has 2 values/],
    ] as const) {
      const shape = 'CTYPE4' in cards ? [2, 2, 2, 2] : 'CTYPE3' in cards || Object.keys(cards).length === 0 ? [2, 2, 2] : [2, 2]; // prettier-ignore
      const all = { ...sinCards, ...cards } as Readonly<Record<string, string | number>>;
      await assert.rejects(read(-32, shape, all, new Array<number>(16).fill(0)), why);
    }
  });
});
