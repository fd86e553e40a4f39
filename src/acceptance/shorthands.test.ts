import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { noAlteredSets } from '../formats/testing/altered-sets.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { corellaHere } from './corella.js';

const folder = temporaryFolder('shorthands');

const ran = async (line: string): Promise<string> => {
  const { code, stdout, stderr } = await corellaHere(folder, ...line.split(' '));
  assert.equal(code, 0, `${line}: ${stderr}`);
  return stdout;
};

/** The command's result equals that of its plan when run; and the history of either contains the plan. */
async function sameByPlan(line: string, out: string): Promise<void> {
  const planned = await ran(`${line} -o ${out} --plan`);
  assert.ok(!(await readdir(folder)).includes(out), `${line} --plan wrote ${out}`);
  await writeFile(join(folder, 'plan.yaml'), planned);
  await ran('run plan.yaml --into planned --quiet');
  await ran(`${line} -o ${out} --quiet`);
  await ran(`compare ${out} ${join('planned', out)}`);
  const again = await ran(`inspect ${out} --plan`);
  assert.equal(again, await ran(`inspect ${join('planned', out)} --plan`));
  await writeFile(join(folder, 'again.yaml'), again);
  await ran('run again.yaml --into again --quiet');
  await ran(`compare ${out} ${join('again', out)}`);
}

describe('a command that is a shorthand', () => {
  before(async () => {
    await ran('simulate --telescope lwasv --stations 6 --duration 60ms -o v.sigmf-meta --quiet');
    await mkdir(join(folder, 'planned'));
    const rules = [
      { channels: '2-3', why: 'a carrier' },
      { inputs: ['0'], channels: '5' },
    ];
    await writeFile(join(folder, 'flags.json'), JSON.stringify({ channels: 16, flags: rules }));
    await writeFile(join(folder, 'channels.json'), JSON.stringify({ flags: [{ channels: '2-3' }] }));
    await writeFile(join(folder, 'taps.txt'), Array.from({ length: 64 }, (_, n) => `${Math.sin((Math.PI * (n + 0.5)) / 64)}\n`).join('')); // prettier-ignore
  });

  const correlations: Readonly<Record<string, string>> = {
    'few.uvh5':
      '--channels 16 --bits 4 --equaliser measured --integration 10ms --align utc --van-vleck --keep-channels 1-14',
    'flagged.uvfits':
      '--channels 16 --flag 3,channels=7+9 --flags flags.json --kurtosis 4 --kurtosis-spectra 64 --integration 15ms',
    'tracked.uvfits': '--channels 16 --taps 4 --window kaiser:9 --track CygA --integration 20ms',
    'sums.uvh5': '--channels 16 --values sums --gain 2 --float-taps --threads 1',
    'own.uvh5': '--channels 16 --taps 4 --coefficients taps.txt --bits float --phase-centre CasA',
  };
  for (const [out, options] of Object.entries(correlations))
    it(`correlate ${options}`, () => sameByPlan(`correlate v.sigmf-meta ${options}`, out));

  it('correlate into a Measurement Set', { skip: noAlteredSets }, () =>
    sameByPlan('correlate v.sigmf-meta --channels 16', 'set.ms'),
  );

  const images: Readonly<Record<string, string>> = {
    'one.fits': '--channels 8 --pixels 64 --no-picture --duration 31ms --flag 5,channels=2',
    'series.fits': '--channels 8 --pixels 64 --every 20ms --no-autos --sheet --kurtosis 5',
    'beam.fits': '--channels 8 --pixels 64 --no-picture --cube --beam-corrected --element cosine:0.8',
    'followed.fits': '--channels 8 --pixels 64 --no-picture --track CygA --flags channels.json',
  };
  for (const [out, options] of Object.entries(images))
    it(`image --direct ${options}`, () => sameByPlan(`image --direct v.sigmf-meta ${options}`, out));

  it('image --direct leaves out what is flagged by channel and time, and refuses pairs', async () => {
    const image = 'image --direct v.sigmf-meta --channels 8 --pixels 64 --no-picture --quiet';
    await ran(`${image} -o whole.fits`);
    await ran(`${image} --flag channels=0-6 -o seventh.fits`);
    const { code } = await corellaHere(folder, 'compare', 'whole.fits', 'seventh.fits');
    assert.equal(code, 1);
    const words = [...image.split(' '), '--flag', 'stand1&stand2', '-o', 'pairs.fits'];
    const { stderr } = await corellaHere(folder, ...words);
    assert.match(stderr, /^corella: --flag: direct images and beams have no visibilities, and so no pairs/);
    const clean = await corellaHere(folder, ...image.split(' '), '--clean', '-o', 'clean.fits');
    assert.match(clean.stderr, /^corella: --clean: is for visibilities, not for --direct/);
  });

  const channels: Readonly<Record<string, string>> = {
    'c16.sigmf-meta': '--channels 16 --kurtosis --kurtosis-spectra 64',
    'c4.sigmf-meta': '--channels 16 --bits 4 --equaliser measured --filter sharp --threads 1',
  };
  for (const [out, options] of Object.entries(channels))
    it(`channelise ${options}`, () => sameByPlan(`channelise v.sigmf-meta ${options}`, out));

  it('channelise and correlate channels made finer', async () => {
    await sameByPlan('channelise c16.sigmf-meta --fine-channels 4', 'fine.sigmf-meta');
    await sameByPlan('correlate c16.sigmf-meta --fine-channels 4 --bits float', 'fine.uvh5');
    const { code, stderr } = await corellaHere(
      folder,
      'channelise',
      'c16.sigmf-meta',
      '-o',
      'copy.sigmf-meta',
    );
    assert.equal(code, 1);
    assert.match(stderr, /channelised already, and would only be copied.*--fine-channels/);
  });

  it('leaves the delays of a telescope in channelised data, for whoever correlates them', async () => {
    const telescope = {
      name: 'cabled',
      title: 'six stations behind cables',
      polarisations: 2,
      beamExponent: 1,
      site: { latitudeDeg: 34, longitudeDeg: -107, heightM: 1500 },
      positions: 'cabled.csv',
      band: { lowHz: 3e6, highHz: 88e6 },
      recording: { centreFrequencyHz: 58e6, sampleRateHz: 1.6e6, channels: 64, bits: 8 },
      delays: [{ input: 2, delayS: 3e-6 }],
    };
    const positions = Array.from({ length: 6 }, (_, s) => `s${s},${10 * s},${7 * s * s},0`);
    await writeFile(join(folder, 'cabled.csv'), ['name,east_m,north_m,up_m', ...positions, ''].join('\n'));
    await writeFile(join(folder, 'delayed.json'), JSON.stringify(telescope));
    await ran('channelise v.sigmf-meta --channels 16 --telescope delayed.json -o delayed.sigmf-meta --quiet');
    await ran('channelise v.sigmf-meta --channels 16 -o plain.sigmf-meta --quiet');
    const [delayed, plain] = await Promise.all(
      ['delayed', 'plain'].map((name) => readFile(join(folder, `${name}.sigmf-data`))),
    );
    assert.ok(delayed.equals(plain));
    const both = 'products: [{ spectra: b.sigmf-meta }, { visibilities: b.uvh5 }]';
    const source = 'source: { recording: v.sigmf-meta }\ntelescope: delayed.json';
    await writeFile(join(folder, 'both.yaml'), `corella: 1\n${source}\nfront: { channels: 16 }\n${both}\n`);
    const { code, stderr } = await corellaHere(folder, 'run', 'both.yaml');
    assert.equal(code, 1);
    assert.match(stderr, /products\.spectra: the delays of .* would remove them again/);
  });

  it('is refused by its own flags, not by the names of fields', async () => {
    const refused: Readonly<Record<string, RegExp>> = {
      '--taps 900': /^corella: --taps: 900 is out of range/,
      '--filter sharp --window hann': /^corella: --window: --filter defines .*; --taps may go with both/,
      '--equaliser-out gains.json': /^corella: --equaliser-out: .*give --equaliser measured too/,
      '--times 2030-01-01T00:00:00Z..': /^corella: --times: v\.sigmf-meta has no data there/,
      '--flag 0-11': /^corella: --flag: .* leave out every input/,
      '--values sums --bits float -o x.uvh5': /^corella: --values: .*--bits 8/,
      '--fine-channels 4': /^corella: --fine-channels: .*give their number with --channels/,
      '--kurtosis-over each': /^corella: --kurtosis-over: .*give --kurtosis too/,
    };
    for (const [words, message] of Object.entries(refused)) {
      const { code, stderr } = await corellaHere(folder, 'correlate', 'v.sigmf-meta', ...words.split(' '));
      assert.equal(code, 1, words);
      assert.match(stderr, message);
    }
  });

  it('prints its plan as JSON too, and names a list of recordings one by one', async () => {
    const plan = JSON.parse(
      await ran('correlate some/a.vdif,some/b.vdif --rate 4MHz --plan --json'),
    ) as object;
    assert.deepEqual(plan, {
      corella: 1,
      source: { recording: ['some/a.vdif', 'some/b.vdif'], rate: 4e6 },
      products: [{ visibilities: 'a.uvfits' }],
    });
  });

  it('takes a choice for no file: --bits float beside -o float', async () => {
    await ran('channelise v.sigmf-meta --channels 8 --bits float -o float --quiet');
    assert.ok((await readdir(folder)).includes('float.sigmf-meta'));
  });

  it('takes equaliser gains that are written for sums, and never replaces their file', async () => {
    const line = 'correlate v.sigmf-meta --bits 4 --equaliser measured --values sums';
    const { code, stderr } = await corellaHere(folder, ...`${line} -o lost.uvh5`.split(' '));
    assert.equal(code, 1);
    assert.match(stderr, /--values: .*--equaliser-out/);
    await ran(`${line} -o kept.uvh5 --equaliser-out gains.json --quiet`);
    const twice = await corellaHere(folder, ...`${line} -o kept2.uvh5 --equaliser-out gains.json`.split(' '));
    assert.equal(twice.code, 1);
    assert.match(twice.stderr, /gains\.json/);
  });
});
