/** Observations whose source is visibilities: convert, apply and image are their shorthands. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { corellaHere } from './corella.js';
import { differences, hasCard } from './on-a-card.js';

const folder = temporaryFolder('visibilities-observation');
const ran = async (...words: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await corellaHere(folder, ...words, '--quiet');
  assert.equal(code, 0, `corella ${words.join(' ')}\n${stderr}`);
  return stdout;
};
const line = (words: string): Promise<string> => ran(...words.split(' '));

const observe = (name: string, more: string, products: readonly string[]): Promise<void> =>
  writeFile(
    join(folder, name),
    `corella: 1\nsource: { visibilities: sky.uvh5 }\n${more}products:\n${products.map((one) => `  - ${one}\n`).join('')}`,
  );

const made = [
  'part.uvfits',
  'applied.uvh5',
  'sky.fits',
  'sky.png',
  'sky-model.fits',
  'sky-residual.fits',
  'series.fits',
  'series.png',
] as const;

async function assertSame(x: string, y: string): Promise<void> {
  assert.deepEqual(await differences(join(folder, x), join(folder, y)), [], `${x} and ${y}`);
}

describe('an observation of visibilities', () => {
  before(async () => {
    await line(
      'simulate --stations 12 --rate 200kHz --duration 120ms --time 2026-06-21T04:00:00Z --noise 2000 -o v.sigmf-meta',
    );
    await line('correlate v.sigmf-meta --channels 8 --integration 40ms -o sky.uvh5');
    await line('calibrate sky.uvh5 -o gains.json');
  });

  it('makes several products, each with the data of the commands', async () => {
    await observe('all.yaml', 'gains: gains.json\nflags: { channels: [0], interference: 8 }\n', [
      '{ visibilities: part.uvfits, channels: [2-5], average-time: 0.08, phase-centre: CygA }',
      '{ visibilities: applied.uvh5, calibrated: true }',
      '{ images: sky.fits, centre: CygA, field: 30, pixels: 64, weights: briggs:0.5, clean: 20 }',
      '{ images: series.fits, every: 40ms, channels: [1-6], field: 60, pixels: 64 }',
    ]);
    await line('run all.yaml --into all');
    const flags = '--flag channels=0 --flag-interference 8';
    await line(
      `convert sky.uvh5 part.uvfits --keep-channels 2-5 --average-time 0.08 --phase-centre CygA ${flags}`,
    );
    await line(`apply sky.uvh5 gains.json applied.uvh5 ${flags}`);
    const image = `image sky.uvh5 --gains gains.json ${flags} --pixels 64`;
    await line(`${image} --centre CygA --field 30 --weights briggs:0.5 --clean 20 -o sky.fits`);
    await line(`${image} --every 40ms --keep-channels 1-6 --field 60 -o series.fits`);
    for (const name of made) await assertSame(join('all', name), name);
  });

  it('is in the history of each product, and makes the same again in an empty folder, to the byte without a card', async () => {
    for (const name of ['part.uvfits', 'applied.uvh5', 'sky.fits', 'series.fits']) {
      const own = await line(`inspect all/${name} --plan`);
      const empty = join(folder, `again-${name}`);
      await mkdir(empty);
      for (const read of ['sky.uvh5', 'gains.json'])
        await writeFile(join(empty, read), await readFile(join(folder, read)));
      await writeFile(join(empty, 'own.yaml'), own);
      const { code, stderr } = await corellaHere(empty, 'run', 'own.yaml', '--quiet');
      assert.equal(code, 0, stderr);
      const paths = [join(folder, 'all', name), join(empty, name)];
      const [first, again] = await Promise.all(paths.map((path) => readFile(path)));
      const isRounded = hasCard && name.endsWith('.fits');
      if (isRounded) assert.deepEqual(await differences(paths[0], paths[1]), [], name);
      else assert.ok(first.equals(again), `${name} differs`);
    }
  });

  it('is what --plan of a command prints, and what check checks', async () => {
    const plan = await line('apply sky.uvh5 gains.json planned.uvh5 --keep-channels 1-3 --plan');
    await writeFile(join(folder, 'planned.yaml'), plan);
    assert.match(
      await line('check planned.yaml'),
      /source: sky\.uvh5, 3 integrations[^]*visibilities: planned\.uvh5/,
    );
    await line('run planned.yaml');
    await line('apply sky.uvh5 gains.json direct.uvh5 --channels 1-3');
    await assertSame('planned.uvh5', 'direct.uvh5');
  });

  it('refuses what does not apply, by the table and before anything is written', async () => {
    const written = '{ visibilities: x.uvh5 }';
    const cases = [
      ['front: { channels: 8 }\n', written, /front: is for voltages and channelised data/],
      ['flags: { kurtosis: true }\n', written, /flags\.kurtosis: .*flags\.interference/],
      ['flags: { keep-bursts: true }\n', written, /flags\.keep-bursts: is for flags\.interference/],
      ['flags: { out: flags.json }\n', written, /flags\.out: has nothing to write/],
      ['gains: gains.json\n', written, /gains\.file: .*products\.visibilities\.calibrated/],
      ['', '{ visibilities: x.uvh5, calibrated: true }', /calibrated: there are no gains/],
      ['', '{ visibilities: x.uvh5, integration: 1s }', /integration: .*average-time/],
      ['', '{ spectra: x.sigmf-meta }', /products\.spectra: is made of voltages/],
      ['', '{ images: x.fits, method: direct }', /method: direct images are made of voltages/],
      ['', '{ images: x.fits, autos: true }', /autos: is for direct images/],
      ['', '{ images: x.fits, threshold: 1 }', /threshold: is for CLEAN; add products\.images\.clean/],
      ['', '{ images: x.fits, every: 1s, cube: true }', /cube: is for one image/],
      ['', '{ images: x.fits, element: mwa-dipole }', /element: is for beam-corrected images/],
      ['', '{ images: x.fits, weights: robust }', /weights: .*briggs:R/],
      ['for: 1s\n', written, /for: is for live data/],
    ] as const;
    for (const [more, product, message] of cases) {
      await observe('bad.yaml', more, [product]);
      const { code, stderr } = await corellaHere(folder, 'run', 'bad.yaml');
      assert.equal(code, 1, more);
      assert.match(stderr, message);
    }
    await writeFile(
      join(folder, 'recording.yaml'),
      `corella: 1\nsource: { recording: v.sigmf-meta }\nproducts: [{ visibilities: x.uvh5, average-time: 1s }]\n`,
    );
    assert.match(
      (await corellaHere(folder, 'run', 'recording.yaml')).stderr,
      /products\.visibilities\.average-time: is for an observation whose source is visibilities/,
    );
  });

  it('looks at what is read before what is written', async () => {
    for (const words of [
      'image nothere.uvfits -o sky.fits',
      'convert nothere.uvfits sky.uvh5',
      'apply nothere.uvfits gains.json sky.uvh5',
    ]) {
      const { code, stderr } = await corellaHere(folder, ...words.split(' '));
      assert.equal(code, 1);
      assert.match(stderr, /nothere\.uvfits: there is no such file/, words);
    }
  });
});
