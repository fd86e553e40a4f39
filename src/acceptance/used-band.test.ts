/** The frequency of an image is that of its channels. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { corellaHere } from './corella.js';
import { writeKnownSky } from './known-sky.js';

void describe('the band of an image', () => {
  const folder = temporaryFolder('used-band');
  before(async () => {
    await writeKnownSky(join(folder, 'eight.uvh5'), {
      stations: 6,
      radiusM: 20,
      unit: 'Jy',
      frequenciesHz: [0, 1, 2, 3, 4, 5, 6, 7].map((c) => 80e6 + 1e5 * c),
      sources: [{ altDeg: 70, azDeg: 50, stokes: [100, 0, 0, 0] }],
    });
  });
  const methods = {
    'round the zenith': '--centre zenith',
    'in u, v and w': '--centre zenith --field 40 --pixels 128',
  };
  for (const [method, words] of Object.entries(methods))
    for (const [flag, frequencyHz, widthHz] of [
      ['', 80.35e6, 8e5],
      // Channels 4 to 7, and 0 with 5 to 7, of 0.1 MHz each.
      ['--flag channels=0-3', 80.55e6, 4e5],
      ['--flag channels=1-4', 80.45e6, 4e5],
    ] as const)
      void it(`${method}, ${flag === '' ? 'all channels' : flag}`, async () => {
        const line = `image eight.uvh5 -o image.fits --no-picture --overwrite ${words} ${flag}`;
        const { code, stderr } = await corellaHere(folder, ...line.trim().split(' '));
        assert.equal(code, 0, stderr);
        const header = (await readFile(join(folder, 'image.fits'))).toString('latin1', 0, 5760);
        const card = (name: string): number =>
          Number(new RegExp(`${name.padEnd(8)}= +(\\S+)`).exec(header)?.[1]);
        assert.ok(Math.abs(card('CRVAL3') - frequencyHz) < 1, `${card('CRVAL3')}`);
        assert.ok(Math.abs(card('RESTFRQ') - frequencyHz) < 1, `${card('RESTFRQ')}`);
        assert.ok(Math.abs(card('CDELT3') - widthHz) < 1, `${card('CDELT3')}`);
      });
});
