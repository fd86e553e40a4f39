/** User errors: one line with what, where and how to fix it; exit code 1; no partial output. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { encodeTbn, encodeVdif } from '../formats/testing/encoders.js';
import { corella, corellaHere } from './corella.js';

describe('bad input', () => {
  const folder = temporaryFolder('bad');
  const file = (name: string): string => join(folder, name);

  before(async () => {
    const made = await corella(folder, 'simulate', '--telescope', 'eda2', '--stations', '4', '--time', '2026-03-01T12:00:00Z',
      '--sources', 'spot@60:90:5000', '--rate', '100kHz', '--duration', '20ms', '-o', 'good.sigmf-meta', '--quiet'); // prettier-ignore
    assert.equal(made.code, 0, made.stderr);
  });

  /** Runs a command that must fail, and checks how it fails. */
  async function refused(says: RegExp, ...words: readonly string[]): Promise<void> {
    const before_ = (await readdir(folder)).sort();
    const ran = await corellaHere(folder, ...words);
    assert.equal(
      ran.code,
      1,
      `corella ${words.join(' ')} ended with ${ran.code}\n${ran.stdout}${ran.stderr}`,
    );
    assert.match(ran.stderr, says);
    assert.match(ran.stderr.trim(), /^corella: [^\n]+$/, 'one line');
    assert.doesNotMatch(ran.stderr, /\n\s+at /, 'no stack trace');
    assert.deepEqual((await readdir(folder)).sort(), before_, 'nothing is left behind');
  }

  async function copyRecording(name: string, change: (meta: string) => string): Promise<void> {
    await writeFile(file(`${name}.sigmf-meta`), change(await readFile(file('good.sigmf-meta'), 'utf8')));
    await writeFile(file(`${name}.sigmf-data`), await readFile(file('good.sigmf-data')));
  }

  it('a truncated recording', async () => {
    await copyRecording('cut', (meta) => meta);
    await truncate(file('cut.sigmf-data'), 1001);
    await refused(
      /truncated recording: \d+ bytes missing/,
      'correlate',
      'cut.sigmf-meta',
      '--channels',
      '8',
      '--quiet',
    );
  });

  it('metadata that contradicts the data', async () => {
    await copyRecording('odd', (meta) => meta.replace('"core:num_channels": 8', '"core:num_channels": 6'));
    await refused(/odd\.sigmf/, 'correlate', 'odd.sigmf-meta', '--channels', '8', '--quiet');
  });

  it('metadata that is not JSON, and a recording without data', async () => {
    await copyRecording('torn', (meta) => meta.slice(0, 100));
    await refused(/torn\.sigmf-meta.*JSON/, 'inspect', 'torn.sigmf-meta');
    await writeFile(file('alone.sigmf-meta'), await readFile(file('good.sigmf-meta')));
    await refused(/alone\.sigmf-data/, 'inspect', 'alone.sigmf-meta');
  });

  it('zero stations', async () => {
    await refused(
      /--stations: 0 is out of range; give a whole number, at least 1/,
      'simulate',
      '--stations',
      '0',
      '-o',
      'none.sigmf-meta',
    );
    await writeFile(file('empty.csv'), 'name,east_m,north_m,up_m\n');
    const description = {
      name: 'empty',
      title: 'A telescope without stations',
      site: { latitudeDeg: 0, longitudeDeg: 0, heightM: 0 },
      positions: 'empty.csv',
      polarisations: 2,
      band: { lowHz: 1e6, highHz: 1e8 },
      recording: { centreFrequencyHz: 5e7, sampleRateHz: 1e6, channels: 16, bits: 8 },
      beamExponent: 1,
    };
    await writeFile(file('empty.json'), JSON.stringify(description));
    await refused(
      /empty\.csv.*station/,
      'simulate',
      '--telescope',
      'empty.json',
      '-o',
      'none.sigmf-meta',
      '--quiet',
    );
    await writeFile(file('empty.csv'), 'name,east_m,north_m,up_m\na,0,0,0\nb,10,nonsense,0\n');
    await refused(
      /empty\.csv.*line 3.*north_m/,
      'simulate',
      '--telescope',
      'empty.json',
      '-o',
      'none.sigmf-meta',
      '--quiet',
    );
  });

  it('one channel', async () => {
    await refused(
      /--channels: 1 is out of range; give a whole number, from 2/,
      'correlate',
      'good.sigmf-meta',
      '--channels',
      '1',
      '--quiet',
    );
  });

  it('sky for a plan that is not run, or not on a card', async () => {
    const plan = ['plan', '--backend', 'reference', '--seconds', '1s', '--quiet'] as const;
    await refused(/--seconds: no kernel is run; add --measure/, ...plan);
    await refused(/--seconds: .* on a card, not on 'reference'; leave it out/, ...plan, '--measure');
  });

  it('a NaN among the samples is not the end of it: it is missing', async () => {
    const made = await corella(folder, 'simulate', '--telescope', 'eda2', '--stations', '4', '--time', '2026-03-01T12:00:00Z',
      '--sources', 'spot@60:90:5000', '--rate', '100kHz', '--duration', '20ms', '--type', 'cf32', '-o', 'nan.sigmf-meta', '--quiet'); // prettier-ignore
    assert.equal(made.code, 0, made.stderr);
    const data = await readFile(file('nan.sigmf-data'));
    // Sample 100 of input 3: [t][a] with eight inputs of eight bytes each.
    data.writeFloatLE(Number.NaN, (100 * 8 + 3) * 8);
    await writeFile(file('nan.sigmf-data'), data);
    const meta = await readFile(file('nan.sigmf-meta'), 'utf8');
    await writeFile(file('nan.sigmf-meta'), meta.replace(/"core:sha512": "[^"]*",/, ''));
    const ran = await corella(folder, 'correlate', 'nan.sigmf-meta', '--channels', '8', '--backend', 'reference', '-o', 'nan.uvfits', '--quiet'); // prettier-ignore
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /1 samples? missing/);
  });

  it('places that cannot be written', async () => {
    await refused(
      /nowhere.*does not exist/,
      'correlate',
      'good.sigmf-meta',
      '--channels',
      '8',
      '-o',
      'nowhere/v.uvfits',
      '--quiet',
    );
    await mkdir(file('folder.uvfits'));
    await refused(
      /it is a folder/,
      'correlate',
      'good.sigmf-meta',
      '--channels',
      '8',
      '-o',
      'folder.uvfits',
      '--quiet',
    );
    await refused(/cannot write '\.txt' files/, 'correlate', 'good.sigmf-meta', '-o', 'v.txt', '--quiet');
    await writeFile(file('plain'), 'x');
    await refused(/plain.*cannot be made|cannot be made.*plain/, 'demo', '-o', 'plain/inside', '--quiet');
  });

  it('files that are not there or not what they seem', async () => {
    await refused(/missing\.uvfits.*no such file/i, 'image', 'missing.uvfits');
    await refused(/holds a recording of voltages, not visibilities/, 'calibrate', 'good.sigmf-meta');
    await writeFile(file('noise.txt'), 'this is no recording');
    await refused(/in no format known here/, 'inspect', 'noise.txt');
  });

  it('whole sums in a format of means', async () => {
    await refused(
      /not whole sums; write sums as \.uvh5/,
      'correlate',
      'good.sigmf-meta',
      '--values',
      'sums',
      '-o',
      'x.uvfits',
    );
    await refused(
      /--values: "totals" is not allowed; give means or sums/,
      'correlate',
      'good.sigmf-meta',
      '--values',
      'totals',
    );
  });

  it('a recording that gives neither its frequency nor its time, and ends within a sample', async () => {
    await writeFile(file('plain.bin'), new Uint8Array(16 * 100 + 5));
    const plain = ['plain.bin', '--format', 'raw', '--sample-type', 'ci8', '--inputs', '8', '--rate', '100kHz'] as const; // prettier-ignore
    await refused(/does not say its sky frequency; give.* --frequency/, 'correlate', ...plain);
    const tuned = [...plain, '--frequency', '58MHz'] as const;
    await refused(/does not say when it was recorded; .* --start/, 'image', '--direct', ...tuned);
    await refused(/plain binary data have no header; .*--sample-type.*--inputs and --rate/, 'inspect', ...plain.slice(0, 3)); // prettier-ignore
    const { code, stdout } = await corella(folder, 'inspect', ...plain);
    assert.equal(code, 0);
    assert.match(stdout, /frequencies +−50 kHz to 50 kHz \(counted from 0: give --frequency for the sky\)/);
    assert.match(stdout, /start +not known \(give --start\)/);
    assert.match(stdout, /5 B are not in a whole frame/);
  });

  it('a recording that ends before the length in its header, in every command and for machines', async () => {
    // Two inputs of complex bytes: the file has 500 samples of the 750 requested.
    const keys = 'HEADER DADA|HDR_SIZE 4096|FILE_SIZE 3000|UTC_START 2026-06-21-04:00:00|FREQ 58|BW 0.1|TSAMP 10|NBIT 8|NDIM 2|NPOL 2|NCHAN 1|'; // prettier-ignore
    const bytes = new Uint8Array(4096 + 4 * 500).fill(1, 4096);
    bytes.set(Buffer.from(keys.replaceAll('|', '\n')));
    await writeFile(file('early.dada'), bytes);
    const said = /250 samples of each input \(2\.5 ms\) before its header's FILE_SIZE: it has 2 kB of 3 kB; it was truncated/; // prettier-ignore
    for (const words of [
      ['inspect', 'early.dada'],
      ['convert', 'early.dada', 'early.sigmf-meta'],
      ['channelise', 'early.dada', '--channels', '8', '-o', 'channels.sigmf-meta'],
    ]) {
      const people = await corella(folder, ...words);
      assert.equal(people.code, 0, people.stderr);
      assert.match(people.stdout, said, words[0]);
      const machines = await corella(folder, ...words, '--overwrite', '--json');
      const { endsEarly } = JSON.parse(machines.stdout) as { endsEarly?: { missingSamples: number } };
      assert.equal(endsEarly?.missingSamples, 250, words[0]);
    }
  });

  it('options that mean nothing for a file, or that it contradicts', async () => {
    await refused(/--skip means nothing for SigMF; leave it out: it is for plain binary/, 'inspect', 'good.sigmf-meta', '--skip', '8'); // prettier-ignore
    await refused(/--inputs means nothing for SigMF; .*Mark 5B, plain binary/, 'correlate', 'good.sigmf-meta', '--inputs', '8'); // prettier-ignore
    await refused(/states that it has 100 kHz; leave out --rate/, 'convert', 'good.sigmf-meta', 'x.sigmf-meta', '--rate', '1MHz'); // prettier-ignore
    const made = await corella(folder, 'correlate', 'good.sigmf-meta', '--channels', '8', '-o', 'good.uvfits', '--quiet'); // prettier-ignore
    assert.equal(made.code, 0, made.stderr);
    await refused(/--metafits means nothing for UVFITS; .* for files of the MWA correlators/, 'image', 'good.uvfits', '--metafits', 'x'); // prettier-ignore
    await refused(/--frequency means nothing for UVFITS/, 'calibrate', 'good.uvfits', '--frequency', '58MHz');
    const code = (): number => 1;
    await writeFile(
      file('tbn.dat'),
      encodeTbn({ tag: 283_685_766_952_000_000n, frames: 3, inputs: 2, code }),
    );
    await refused(
      /--tuning means nothing for LWA TBN; .* for LWA DRX/,
      'inspect',
      'tbn.dat',
      '--tuning',
      '1',
    );
    const vdif = encodeVdif({
      bits: 2,
      parts: 1,
      threads: [0],
      channels: 1,
      samplesPerFrame: 32,
      framesPerSecond: 1000,
      frames: 6,
      epoch: 28,
      seconds: 14_363_767,
      firstFrame: 998,
      extension: 3,
      code,
    });
    await writeFile(file('named.vdif'), vdif);
    await refused(/states that it has 32 kHz; leave out --rate/, 'inspect', 'named.vdif', '--rate', '64kHz'); // prettier-ignore
    const help = await corella(folder, 'correlate', '--help', 'all');
    assert.match(help.stdout.replaceAll(/\s+/g, ' '), /--tuning <number> .* \(LWA DRX\) \(default: 1\)/);
    assert.doesNotMatch(help.stdout, /--metafits/);
  });

  it('names that are nearly right, and gains where data belong', async () => {
    await refused(/godo\.sigmf-meta: there is no such file; did you mean good\.sigmf-meta\?/, 'inspect', 'godo.sigmf-meta'); // prettier-ignore
    await refused(/there is no such file; did you mean good\.sigmf-meta\?/, 'correlate', 'good');
    await refused(/there is no such file; check the name/, 'inspect', 'elsewhere.vdif');
    await writeFile(file('gains.json'), '{ "format": "corella-gains" }');
    await refused(/gains\.json: holds gains; .*--gains/, 'image', 'gains.json');
  });

  it('an image that cannot be drawn leaves neither FITS nor picture', async () => {
    const correlated = await corella(folder, 'correlate', 'good.sigmf-meta', '--channels', '4', '--taps', '2', '-o', 'sky.uvfits'); // prettier-ignore
    assert.equal(correlated.code, 0, correlated.stderr);
    await refused(/'CygX' is unknown/, 'image', 'sky.uvfits', '--sources', 'CygX', '-o', 'sky.fits', '--quiet'); // prettier-ignore
    const all = await corella(folder, 'correlate', 'good.sigmf-meta', '--channels', '4', '--taps', '2', '--flag', '1-7', '-o', 'flagged.uvfits'); // prettier-ignore
    assert.equal(all.code, 0, all.stderr);
    await refused(/no data are left: every cross-correlation is flagged/, 'image', 'flagged.uvfits', '-o', 'sky.fits', '--quiet'); // prettier-ignore
  });

  it('a sky of which nothing is up, more than the disk holds, and options of another machine', async () => {
    await refused(/none of spot is above 1° at that time; choose another --time/, 'demo', '--quiet', '--stations', '4', '--sources', 'spot@-20:90:5000', '-o', 'dark'); // prettier-ignore
    await refused(/would take 59000 TB, and the disk of .* has .* left/, 'simulate', '--duration', '10000h', '-o', 'huge.sigmf-meta'); // prettier-ignore
    await refused(/--backend: is for this machine, and --card names another/, 'plan', '--card', 'h200', '--backend', 'cpu'); // prettier-ignore
    await refused(/--values: sums are whole numbers, and these channels are floats/, 'correlate', 'good.sigmf-meta', '--values', 'sums', '--bits', 'float', '-o', 'x.uvh5'); // prettier-ignore
  });

  it('options that mean nothing for what is read', async () => {
    const direct = ['image', '--direct', 'good.sigmf-meta', '--channels', '8'] as const;
    await refused(
      /--weights: is for visibilities, not for --direct; leave it out/,
      ...direct,
      '--weights',
      'natural',
    );
    await refused(/--duration: .*--direct alone/, 'image', 'good.sigmf-meta', '--duration', '1ms');
    await refused(/--taps: .*--direct alone/, 'image', 'good.sigmf-meta', '--taps', '8');
    await refused(/--gain: does not change/, 'channelise', '--response', '--gain', '2');
    await refused(/--response: needs no recording/, 'channelise', 'good.sigmf-meta', '--response');
    await writeFile(file('taps.txt'), '1\n'.repeat(8 * 16));
    const own = ['channelise', '--response', '--channels', '16', '--coefficients', 'taps.txt'] as const;
    await refused(/--window: coefficients are the whole filter/, ...own, '--window', 'hann');
    await refused(/nowhere\.txt.*no such file/, ...own.slice(0, -1), 'nowhere.txt');
  });

  it('results that would take the place of what is read, or end in another name', async () => {
    await refused(
      /good\.sigmf-(?:meta|data): is the very file that is read/,
      'convert',
      'good.sigmf-data',
      'good.sigmf-meta',
    );
    await refused(
      /good\.sigmf-(?:meta|data): is the very file/,
      'channelise',
      'good.sigmf-meta',
      '--channels',
      '8',
      '-o',
      'good',
    );
    await refused(
      /--picture: "a\.jpg" is not the name of a PNG/,
      'inspect',
      'good.sigmf-meta',
      '--picture',
      'a.jpg',
    );
    await refused(/nowhere.*does not exist/, 'inspect', 'good.sigmf-meta', '--spectrum', 'nowhere/a.png');
    await refused(/nowhere.*does not exist/, 'image', 'good.uvfits', '-o', 'nowhere/a.fits');
    const uncalibrated = ['image', '--direct', 'good.sigmf-meta', '--channels', '8', '-o', 'a.fits', '--gains'] as const; // prettier-ignore
    await refused(/good\.sigmf-meta: is not a gains file/, ...uncalibrated, 'good.sigmf-meta');
    await refused(/good\.sigmf-data: holds no gains: it is neither JSON, CalH5 nor CalFITS/, ...uncalibrated, 'good.sigmf-data'); // prettier-ignore
    await refused(/--out: "g\.txt" is not a name for JSON/, 'calibrate', 'good.sigmf-meta', '-o', 'g.txt');
  });

  it('quantities out of their range', async () => {
    const out = ['-o', 'x.sigmf-meta'] as const;
    await refused(
      /altitude in degrees is 95; give a number from -90 to 90/,
      'simulate',
      '--sources',
      'a@95:0:1',
      ...out,
    );
    await refused(/--tone: altitude in degrees is -91/, 'simulate', '--tone', '58MHz:1:-91:0', ...out);
    await refused(/--duration: -1 is out of range; give a time/, 'simulate', '--duration', '-1s', ...out);
    await refused(
      /--window: "kaiser" is not a window; .*kaiser:9/,
      'correlate',
      'good.sigmf-meta',
      '--window',
      'kaiser',
    );
    await refused(/--type: "ci9" is not allowed; give i8/, 'simulate', '--type', 'ci9', ...out);
    await refused(/--noise: "5km" .*give a number/, 'simulate', '--noise', '5km', ...out);
  });

  it('unknown names', async () => {
    await refused(
      /'Betelgeuse' is unknown; choose Cas A/,
      'simulate',
      '--sources',
      'Betelgeuse',
      '-o',
      'x.sigmf-meta',
    );
    await refused(/--backend: "gpu" is not allowed; give auto/, 'demo', '--backend', 'gpu');
    await refused(/telescope/, 'simulate', '--telescope', 'atlantis', '-o', 'x.sigmf-meta');
    await refused(/not a UTC time/, 'simulate', '--time', 'yesterday', '-o', 'x.sigmf-meta');
  });
});
