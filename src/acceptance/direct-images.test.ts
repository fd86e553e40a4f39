/** image --direct through the command line: channelised data of 4 bits, autocorrelations left out, arrays it is not for. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { corellaHere, withFolder } from './corella.js';
import { readFitsImage } from '../formats/index.js';

const image = ['--pixels', '48', '--no-picture', '--overwrite'];

it('4-bit spectra imaged directly without autocorrelations are what their visibilities give', () =>
  withFolder(async (folder) => {
    const run = async (...words: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await corellaHere(folder, ...words, '--backend', 'cpu');
      assert.equal(code, 0, stderr);
      return stdout;
    };
    const simulation = ['--telescope', 'eda2', '--stations', '12', '--duration', '1ms'];
    assert.equal((await corellaHere(folder, 'simulate', ...simulation, '-o', 'v.sigmf-meta')).code, 0);
    await run('channelise', 'v.sigmf-meta', '--channels', '4', '--bits', '4', '-o', 's.sigmf-meta');
    await run('correlate', 's.sigmf-meta', '-o', 'v.uvh5');
    for (const [road, own] of [
      [['--autos'], []],
      [['--kernel', '5'], ['--no-autos']],
    ] as const) {
      await run('image', 'v.uvh5', '-o', 'by.fits', ...road, ...image);
      await run('image', '--direct', 's.sigmf-meta', '-o', 'direct.fits', ...own, ...image);
      const [{ values: by }, { values: direct }] = await Promise.all(
        ['by.fits', 'direct.fits'].map((name) => readFitsImage(join(folder, name))),
      );
      let [worst, peak] = [0, 0];
      for (const [k, value] of by.entries()) {
        assert.equal(Number.isNaN(value), Number.isNaN(direct[k]));
        if (Number.isNaN(value)) continue;
        worst = Math.max(worst, Math.abs(value - direct[k]));
        peak = Math.max(peak, Math.abs(value));
      }
      // float32 pixels
      assert.ok(worst < 2e-6 * peak, `${worst / peak} of the peak`);
    }
  }));

it('the direct road says for which arrays it holds', () =>
  withFolder(async (folder) => {
    for (const [telescope, code, said] of [
      [
        'lwasv',
        0,
        /for this array the direct road is off by up to \d+\.\d % of a source; correlating first is exact/,
      ],
      [
        'hera350',
        1,
        /the direct road holds for flat, level arrays: here it would be off by up to \d\d % of a source/,
      ],
    ] as const) {
      const words = ['--telescope', telescope, '--stations', '24', '--duration', '1ms'];
      await corellaHere(folder, 'simulate', ...words, '-o', `${telescope}.sigmf-meta`);
      const ran = await corellaHere(
        folder,
        'image',
        '--direct',
        `${telescope}.sigmf-meta`,
        ...image.slice(2),
      );
      assert.equal(ran.code, code, ran.stderr);
      assert.match(ran.stdout + ran.stderr, said);
    }
  }));
