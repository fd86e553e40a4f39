import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ReadFitsImage } from '../formats/index.js';
import { imagePicture, lookAtImage } from './fits-image.js';
import { wordsOf } from './testing.js';

const PIXELS = 16;
/** Pixels of 0.1°, one bright pixel two columns east and three rows north of the centre. */
const image = (details: Readonly<Record<string, unknown>> = {}): ReadFitsImage => {
  const values = Float32Array.from({ length: 2 * PIXELS ** 2 }, (_, k) => ((k % PIXELS ** 2) % 7) - 3);
  // both of two channels; a channel without data there does not count
  values[(8 + 3) * PIXELS + 8 + 2] = 100;
  values[PIXELS ** 2 + (8 + 3) * PIXELS + 8 + 2] = Number.NaN;
  return {
    pixels: PIXELS,
    channels: 2,
    planes: 1,
    pixelSize: (0.1 * Math.PI) / 180,
    unit: 'Jy/beam',
    values,
    centre: { raDeg: 120, decDeg: 0 },
    details: {
      CDELT1: -0.1,
      CDELT2: 0.1,
      CRPIX1: 8,
      CRPIX2: 9,
      CRVAL3: 60e6,
      CRVAL4: 1,
      CDELT4: 1,
      EXPTIME: 2,
      TELESCOP: 'lwasv',
      'DATE-OBS': '2026-01-01T00:00:00',
      ...details,
    },
  };
};

describe('a look at a FITS image', () => {
  it('finds the peak where it stands on the sky', () => {
    const { facts: look } = lookAtImage('i.fits', image());
    assert.equal(look.peak, 100);
    // at the equator a degree of right ascension is a degree; SIN's scale is off by 1e-5 so near the centre
    assert.ok(Math.abs(look.peakAt.raDeg - 120.2) < 1e-4, `${look.peakAt.raDeg}`);
    assert.ok(Math.abs(look.peakAt.decDeg - 0.3) < 1e-4);
    assert.deepEqual([look.stokes, look.channels, look.frequencyHz], [['I'], 2, 60e6]);
    // −3 … 3 evenly: the middle two thirds have a smaller spread than all
    assert.ok(look.rms > 1.5 && look.rms < 3, `${look.rms}`);
  });
  it('minds the reference pixel, as other programs put it', () => {
    // WSClean and CASA count n/2 + 1 on both axes: one column later in the file is one column less here
    const { facts: look } = lookAtImage('i.fits', image({ CRPIX1: 9 }));
    assert.ok(Math.abs(look.peakAt.raDeg - 120.3) < 1e-4, `${look.peakAt.raDeg}`);
    assert.throws(() => lookAtImage('i.fits', image({ CRPIX1: 8.5 })), /between two pixels/);
  });
  it('refuses what it would draw wrongly', () => {
    assert.throws(() => lookAtImage('i.fits', image({ CROTA2: 12 })), /turned or slanted \(CROTA2\)/);
    assert.throws(() => lookAtImage('i.fits', image({ PV2_1: 0.1 })), /PV2_1/);
    assert.throws(() => lookAtImage('i.fits', image({ CDELT1: 0.1 })), /not square with east to the left/);
  });
  it('is drawn with its beam, its Stokes parameter and its grid', () => {
    const fits = image({ BMAJ: 0.3, BMIN: 0.2, BPA: 40, CRVAL4: -5 });
    const words = wordsOf(imagePicture(lookAtImage('i.fits', fits), fits, 'i.fits'));
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
    const step = (2.2 / PIXELS) * (180 / Math.PI);
    const look = lookAtImage('i.fits', { ...fits, values, details: { ...fits.details, CDELT1: -step } });
    assert.equal(look.plan.field.kind, 'all-sky');
    assert.equal(lookAtImage('i.fits', image()).plan.field.kind, 'field');
  });
});
