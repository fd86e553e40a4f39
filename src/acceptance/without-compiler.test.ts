/**
 * Images anywhere in the sky on `reference`, the only backend without a C++ compiler: gridded or summed, and reported.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { corella, withFolder } from './corella.js';

interface Report {
  readonly method: string;
  readonly accuracy: number;
  readonly planes?: number;
  readonly peak: number;
  readonly clean?: readonly { readonly fluxJy: number; readonly majorCycles: number }[];
}

it('a field of the MWA on reference: CLEANed by gridding, a small image by the formula', () =>
  withFolder(async (folder) => {
    const image = async (out: string, ...words: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await corella(
        folder,
        ...['image', 'hour.uvfits', ...words, '-o', out, '--no-picture', '--backend', 'reference'],
      );
      assert.equal(code, 0, stderr);
      return stdout;
    };
    assert.equal((await corella(folder, 'sample', 'hour')).code, 0);
    const field = ['--cell', '100arcsec', '--pixels', '144', '--integration-number', '0', '--clean'];
    const cleaned = JSON.parse(await image('cleaned.fits', ...field, '--json')) as Report;
    assert.equal(cleaned.method, 'gridded');
    assert.ok((cleaned.planes ?? 0) > 1);
    // The brightest of five sources has 10 Jy, all of them together 27.
    assert.ok(Math.abs(cleaned.peak - 10) < 0.2, `${cleaned.peak}`);
    const [{ fluxJy, majorCycles }] = cleaned.clean ?? [];
    assert.ok(majorCycles > 1 && Math.abs(fluxJy - 27) < 1, `${fluxJy} in ${majorCycles} cycles`);
    assert.match(
      await headerOf(join(folder, 'cleaned.fits')),
      /gridded in u, v and w to 0\.0001 of the peak/,
    );

    const small = ['--cell', '10arcmin', '--pixels', '16', '--integration-number', '0'];
    const summed = JSON.parse(await image('small.fits', ...small, '--json')) as Report;
    assert.deepEqual([summed.method, summed.planes], ['summed', undefined]);
    assert.match(
      await headerOf(join(folder, 'small.fits')),
      /every pixel summed over every visibility, exact/,
    );
  }));

const headerOf = async (path: string): Promise<string> => (await readFile(path)).toString('latin1');
