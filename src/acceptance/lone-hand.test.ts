/**
 * Files of a single polarisation: Y alone is Y, in images, gains and their beams; without any data there is no image.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { corellaHere } from './corella.js';
import { writeKnownSky } from './known-sky.js';

/** Real and imaginary part of each input in the first channel; null if absent. */
type FileGains = readonly (readonly [number, number] | null)[];

void describe('one hand alone', () => {
  const folder = temporaryFolder('lone-hand');
  const run = (line: string) => corellaHere(folder, ...line.split(' '));
  const done = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await run(line);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const gainsOf = async (name: string): Promise<FileGains> =>
    (JSON.parse(await readFile(join(folder, name), 'utf8')) as { gains: FileGains[] }).gains[0];
  before(async () => {
    // In the north Y's dipole, which points north, receives a source much more weakly than X's.
    await writeKnownSky(join(folder, 'both.uvh5'), {
      stations: 8,
      radiusM: 60,
      frequenciesHz: [150e6, 150.1e6],
      unit: 'Jy',
      sources: [{ altDeg: 40, azDeg: 10, stokes: [100, 20, 0, 0] }],
    });
    for (const product of ['XX', 'YY', 'XY'])
      await done(`convert both.uvh5 ${product}.uvh5 --products ${product} --overwrite`);
    await done('convert YY.uvh5 YY.uvfits');
  });

  const methods = { 'round the zenith': ' --centre zenith', 'in u, v and w': ' --centre zenith --field 20' };
  for (const [file, code] of [
    ['XX.uvh5', -5],
    ['YY.uvh5', -6],
    ['YY.uvfits', -6],
  ] as const)
    for (const [method, words] of Object.entries(methods))
      void it(`${file} becomes an image of Stokes code ${code} ${method}`, async () => {
        await done(`image ${file} -o image.fits --no-picture --overwrite${words}`);
        const header = (await readFile(join(folder, 'image.fits'))).toString('latin1', 0, 5760);
        assert.equal(Number(/CRVAL4 {2}= +(\S+)/.exec(header)?.[1]), code);
        assert.equal(Number(/NAXIS4 {2}= +(\S+)/.exec(header)?.[1]), 1);
      });

  void it('YY alone has the gains of Y, by the beam of Y', async () => {
    const of = (file: string, out: string): Promise<string> =>
      done(
        `calibrate ${file} --sources S@40:10:100 --element mwa-dipole --accept-model -o ${out} --overwrite`,
      );
    await of('both.uvh5', 'both.json');
    const both = await gainsOf('both.json');
    for (const file of ['YY.uvh5', 'YY.uvfits']) {
      await of(file, 'alone.json');
      const alone = await gainsOf('alone.json');
      assert.equal(alone.length, both.length);
      alone.forEach((gain, a) => {
        const wanted = both[a];
        if (a % 2 === 0) assert.equal(gain, null, `X of station ${a / 2}`);
        else
          for (const part of [0, 1])
            assert.ok(
              Math.abs((gain?.[part] ?? NaN) - (wanted?.[part] ?? NaN)) < 1e-5,
              `${file}, input ${a}`,
            );
      });
    }
    // XX and YY have 80 and 120 Jy, through beams that differ by much more.
    const [x, y] = [Math.hypot(...(both[0] ?? [NaN, 0])), Math.hypot(...(both[1] ?? [NaN, 0]))];
    assert.ok(y / x > 1.3, `${y} over ${x}`);
    const { code, stderr } = await run('apply XX.uvh5 alone.json applied.uvh5');
    assert.equal(code, 1);
    assert.match(stderr, /is for 2 polarisations, the data have 1/);
  });

  void it('a hand that is flagged throughout leaves the other, which is reported', async () => {
    const flags = Array.from({ length: 8 }, (_, s) => `s${s}:X`).join(',');
    const said = await done(
      `image both.uvh5 --flag ${flags} -o flagged.fits --no-picture --quiet --overwrite`,
    );
    assert.match(said, /the image is of YY: .*\[image\.single-polarisation\]/);
  });

  void it('XY alone is no image round the zenith', async () => {
    const { code, stderr } = await run('image XY.uvh5 -o none.fits --no-picture');
    assert.equal(code, 1);
    assert.match(stderr, /no data are left: every cross-correlation is flagged, missing/);
  });
});
