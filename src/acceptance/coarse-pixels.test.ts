/**
 * The coarsest pixels for an array are as wide as its beam: the reported loss of a source between them is the actual
 * loss.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { corellaHere } from './corella.js';
import { writeKnownSky } from './known-sky.js';

interface Imaged {
  readonly peak: number;
  readonly betweenPixels: number;
  readonly messages: readonly { readonly code: string; readonly data: { readonly pixels: number } }[];
}

void describe('coarse pixels', () => {
  const folder = temporaryFolder('coarse-pixels');
  const write = (name: string, fromZenith: number): Promise<unknown> =>
    writeKnownSky(join(folder, name), {
      stations: 20,
      radiusM: 40,
      frequenciesHz: [150e6],
      unit: 'Jy',
      sources: [
        { altDeg: (Math.acos(fromZenith) * 180) / Math.PI, azDeg: 45, stokes: [100, 0, 0, 0] as const },
      ],
    });
  const image = async (name: string, ...words: string[]): Promise<Imaged> => {
    const { code, stdout, stderr } = await corellaHere(
      folder,
      ...['image', name, '-o', 'image.fits', '--no-picture', '--overwrite', '--json', ...words],
    );
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as Imaged;
  };

  void it('report how much a source between them loses', async () => {
    await write('on.uvh5', 0);
    const on = await image('on.uvh5');
    assert.ok(Math.abs(on.peak - 100) < 1, `${on.peak}`);
    const header = (await readFile(join(folder, 'image.fits'))).toString('latin1', 0, 5760);
    const pixel = (Number(/CDELT2 {2}= +(\S+)/.exec(header)?.[1]) * Math.PI) / 180;
    // Half a pixel east and north of the zenith.
    await write('between.uvh5', pixel / Math.SQRT2);
    const between = await image('between.uvh5');
    assert.ok(between.betweenPixels > 0.3, `${between.betweenPixels}`);
    assert.ok(Math.abs(between.peak / 100 - (1 - between.betweenPixels)) < 0.1, JSON.stringify(between));
    const coarse = between.messages.find(({ code }) => code === 'image.coarse-pixels');
    assert.ok(coarse, JSON.stringify(between.messages));
    const fine = await image('between.uvh5', '--pixels', `${coarse.data.pixels}`);
    assert.ok(fine.betweenPixels <= 0.1 && fine.peak > 88, JSON.stringify(fine));
  });
});
