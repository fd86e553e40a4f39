/** --flag NAME@RADIUS: blank in every image, by whatever way it is made, and left out of the model of gains. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { corellaHere } from './corella.js';
import { imageTolerance } from './on-a-card.js';

describe('the sky round a source', () => {
  const folder = temporaryFolder('flagged-sky');
  const run = async (...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await corellaHere(folder, ...words);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  before(async () => {
    const simulated = ['--stations', '12', '--rate', '400kHz', '--duration', '12ms', '--quiet'];
    await run('simulate', ...simulated, '-o', 'v.sigmf-meta');
    await run('correlate', 'v.sigmf-meta', '--channels', '8', '-o', 'v.uvh5');
  });

  /** Of the first HDU. */
  const planesIn = (path: string): { readonly values: readonly number[]; readonly pixels: number } => {
    const file = readFileSync(path);
    const header = file.toString('latin1', 0, 2880 * 20);
    const card = (name: string): number => Number(new RegExp(`${name.padEnd(8)}= +(\\S+)`).exec(header)?.[1]);
    const pixels = card('NAXIS1');
    const planes = [3, 4].reduce((product, axis) => product * (card(`NAXIS${axis}`) || 1), 1);
    const from = 2880 * Math.ceil((header.search(/END {77}/) + 80) / 2880);
    const bytes = -card('BITPIX') / 8;
    const value = (at: number): number =>
      bytes === 4 ? file.readFloatBE(from + 4 * at) : file.readDoubleBE(from + 8 * at);
    return { pixels, values: Array.from({ length: planes * pixels ** 2 }, (_, at) => value(at)) };
  };

  const small = ['--pixels', '64', '--no-picture', '--overwrite'];
  const recording = ['image', 'v.sigmf-meta', '--direct', '--channels', '8', ...small];
  for (const [way, words] of [
    ['gridded round the zenith', ['image', 'v.uvh5', ...small]],
    ['CLEANed', ['image', 'v.uvh5', '--centre', 'Vir A', '--field', '60', '--clean', '20', ...small]],
    ['of spectra', recording],
    ['of spectra, a series', [...recording, '--every', '5ms']],
  ] as const)
    it(`is blank in images ${way}; the rest is as it was`, async () => {
      await run(...words, '-o', 'whole.fits');
      await run(...words, '--flag', 'satellites:Vir-A@8deg', '-o', 'flagged.fits');
      const [whole, flagged] = ['whole.fits', 'flagged.fits'].map((name) => planesIn(join(folder, name)));
      let blank = 0;
      const most = whole.values.reduce((a, b) => Math.max(a, Number.isNaN(b) ? 0 : Math.abs(b)), 0);
      whole.values.forEach((value, at) => {
        if (Number.isNaN(flagged.values[at]) && !Number.isNaN(value)) blank++;
        else if (imageTolerance === 0 || Number.isNaN(value)) assert.equal(flagged.values[at], value);
        else assert.ok(Math.abs(flagged.values[at] - value) <= imageTolerance * most);
      });
      const planes = whole.values.length / whole.pixels ** 2;
      // About the disc's share of the hemisphere, or of the field.
      assert.ok(blank > 5 * planes && blank < whole.values.length / 10, `${blank} of ${whole.values.length}`);
      const header = readFileSync(join(folder, 'flagged.fits'), 'latin1');
      assert.match(header, /HISTORY flagged: the sky within 8deg of satellites:Vir-A/);
    });

  it('is left out of the model', async () => {
    const sources = async (...words: readonly string[]): Promise<readonly string[]> =>
      (
        JSON.parse(await run('calibrate', 'v.uvh5', '-o', 'g.json', '--overwrite', '--json', ...words)) as {
          sources: string[];
        }
      ).sources;
    assert.ok((await sources()).includes('Vir A'));
    const left = await sources('--flag', 'VirA@2deg');
    assert.ok(left.includes('Cyg A') && !left.includes('Vir A'), left.join());
  });

  it('is refused without a radius, without such a source, and where nothing is imaged', async () => {
    const refused = async (flag: string, said: RegExp, words = ['image', 'v.uvh5', '-o', 'no.fits']) => {
      const { code, stderr } = await corellaHere(folder, ...words, '--flag', flag);
      assert.equal(code, 1);
      assert.match(stderr, said);
    };
    for (const radius of ['0', '-2deg', '91deg', '2pc', 'wide'])
      await refused(
        `Sun@${radius}`,
        /--flag: Sun@.*: '.*' is no radius; give an angle above 0 and up to 90deg/,
      );
    await refused('Nibiru@2deg', /'Nibiru' is unknown; choose Cas A/);
    await refused('satellites@2deg', /no orbits of satellites are known; give a file of them with --orbits/);
    await refused('Sun@', /"Sun@" is not a source and a radius/);
    const correlate = ['correlate', 'v.sigmf-meta', '--channels', '8', '-o', 'no.uvh5'];
    await refused('Sun@2deg', /--flag: is for images and for models of the sky/, correlate);
  });
});
