import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { readFitsImage, type ReadFitsImage } from '../formats/index.js';
import { fitsImageBytes, sinCards } from '../formats/testing/fits-image.js';
import { imagePicture, lookAtImage } from './fits-image.js';
import { wordsOf } from './testing.js';

const folder = temporaryFolder('fits-image');
const PIXELS = 16;
/** Pixels of 0.1°, one bright pixel two columns east and three rows north of the centre. */
const image = (of: Partial<ReadFitsImage> = {}): ReadFitsImage => {
  const values = Float32Array.from({ length: 2 * PIXELS ** 2 }, (_, k) => ((k % PIXELS ** 2) % 7) - 3);
  // both of two channels; a channel without data there does not count
  values[(8 + 3) * PIXELS + 8 + 2] = 100;
  values[PIXELS ** 2 + (8 + 3) * PIXELS + 8 + 2] = Number.NaN;
  return {
    pixels: PIXELS,
    size: { columns: PIXELS, rows: PIXELS },
    reference: { column: PIXELS / 2, row: PIXELS / 2 },
    stokes: [1],
    frequencyHz: 60e6,
    channels: 2,
    planes: 1,
    pixelSize: (0.1 * Math.PI) / 180,
    unit: 'Jy/beam',
    values,
    centre: { raDeg: 120, decDeg: 0 },
    details: {
      EXPTIME: 2,
      TELESCOP: 'lwasv',
      'DATE-OBS': '2026-01-01T00:00:00',
    },
    ...of,
  };
};

describe('a look at a FITS image', () => {
  it('finds the peak where it stands on the sky', () => {
    const { facts: look } = lookAtImage(image());
    assert.equal(look.peak, 100);
    // at the equator a degree of right ascension is a degree; SIN's scale is off by 1e-5 so near the centre
    assert.ok(Math.abs(look.peakAt.raDeg - 120.2) < 1e-4, `${look.peakAt.raDeg}`);
    assert.ok(Math.abs(look.peakAt.decDeg - 0.3) < 1e-4);
    assert.deepEqual([look.stokes, look.channels, look.frequencyHz], [['I'], 2, 60e6]);
    // −3 … 3 evenly: the middle two thirds have a smaller spread than all
    assert.ok(look.rms > 1.5 && look.rms < 3, `${look.rms}`);
  });
  /** Pixels of 21.1″ beside or far from the reference; positions by astropy 5.2.1, wcs_pix2world. */
  it('has every pixel of other programs at its place, wherever their reference is', async () => {
    for (const [cards, columns, [column, row], raDeg, decDeg] of [
      [{}, 6, [5, 3], 258.20970047, 64.13918381],
      [{}, 6, [1, 1], 258.26342751, 64.12747001],
      [{ CRPIX1: -300.25, CRPIX2: 412.5 }, 6, [5, 3], 254.47704017, 61.68016012],
      [{ CDELT1: 0.00585937, CDELT2: -0.00585937 }, 6, [5, 3], 258.29028254, 64.12746507],
      [{ CDELT1: -1.5, CDELT2: 1.5, CRPIX1: 22 }, 43, [40, 3], 205.71011815, 53.58235828],
    ] as const) {
      const path = join(folder, 'other.fits');
      const values = new Array<number>(3 * columns).fill(0);
      values[(row - 1) * columns + column - 1] = 500;
      await writeFile(path, fitsImageBytes(-32, [columns, 3], { ...sinCards, ...cards }, values));
      const { facts } = lookAtImage(await readFitsImage(path));
      assert.equal(facts.peak, 500);
      assert.ok(Math.abs(facts.peakAt.raDeg - raDeg) < 1e-7, `${facts.peakAt.raDeg} for ${raDeg}`);
      assert.ok(Math.abs(facts.peakAt.decDeg - decDeg) < 1e-7, `${facts.peakAt.decDeg} for ${decDeg}`);
      assert.deepEqual([facts.width, facts.height, facts.stokes], [columns, 3, []]);
    }
  });

  /** 129 × 129 pixels with the reference in (2, 2), STOKES on axis 3; numbers by astropy 5.2.1. */
  const real = join(process.env.CORELLA_TEST_DATA ?? '', 'images/pybdsf-ch0_I.fits');
  const skip =
    existsSync(real) && process.env.CORELLA_TEST_DATA !== undefined ? false : 'the file is not here';
  it("has PyBDSF's image with all of its pixels", { skip }, async () => {
    const image = await readFitsImage(real);
    const { facts } = lookAtImage(image);
    assert.deepEqual([facts.width, facts.height, facts.stokes, facts.channels], [129, 129, ['I'], 1]);
    assert.ok(Math.abs(facts.peak - 0.1531636) < 1e-7);
    assert.ok(Math.abs(facts.peakAt.raDeg - 256.98806476) < 1e-7, `${facts.peakAt.raDeg}`);
    assert.ok(Math.abs(facts.peakAt.decDeg - 64.41504034) < 1e-7);
    const present = image.values.filter((value) => !Number.isNaN(value));
    assert.equal(present.length, 129 ** 2);
    assert.ok(Math.abs(present.reduce((sum, value) => sum + value, 0) / 129 ** 2 / 2.5406308e-4 - 1) < 1e-4);
    // The middle of the picture, a pixel of the image.
    assert.ok(Math.abs(facts.centre.decDeg - 64.5) < 0.01);
    const ours = { ...image, ...{ centre: { raDeg: 120, decDeg: 64 }, reference: { column: 65, row: 65 } } };
    // By astropy: from (65, 65) to north there, dRA·sin(Dec) = 0.8577°·sin(64.5°).
    const words = wordsOf(imagePicture(lookAtImage(image), image, 'i.fits'));
    assert.match(words.join(' '), /north 0\.8° east of up/);
    assert.doesNotMatch(wordsOf(imagePicture(lookAtImage(ours), ours, 'i.fits')).join(' '), /north/);
  });

  it('is drawn with its beam, its Stokes parameter and its grid', () => {
    const fits = image({ stokes: [-5], details: { ...image().details, BMAJ: 0.3, BMIN: 0.2, BPA: 40 } });
    const words = wordsOf(imagePicture(lookAtImage(fits), fits, 'i.fits'));
    assert.ok(words.includes('XX · 2.0 s integrated · beam 18′ × 12′, PA 40°'), words.join('\n'));
    assert.ok(words.includes('lwasv · 2026-01-01T00:00:00 · 60 MHz · mean of 2 channels'));
    assert.ok(words.includes('8h01m') && words.includes('0°'), words.join('\n'));
  });
  it('of the whole sky is round', () => {
    const fits = { ...image(), pixelSize: 2.2 / PIXELS };
    const values = Float32Array.from({ length: 2 * PIXELS ** 2 }, (_, k) => {
      const at = k % PIXELS ** 2;
      const [l, m] = [(at % PIXELS) - 8, Math.floor(at / PIXELS) - 8].map((n) => (n * 2.2) / PIXELS);
      return l * l + m * m < 1 ? 1 + l : Number.NaN;
    });
    const look = lookAtImage({ ...fits, values });
    assert.equal(look.plan.field.kind, 'all-sky');
    assert.equal(lookAtImage(image()).plan.field.kind, 'field');
  });
});
