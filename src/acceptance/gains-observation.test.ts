/** Gains as a product of an observation whose source is visibilities; calibrate is its shorthand. */
import assert from 'node:assert/strict';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { parseInstant } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { readGainFile } from '../formats/index.js';
import { skyFrame } from '../sky/frame.js';
import { loadTelescope } from '../telescope/load.js';
import { corellaHere, type Ran } from './corella.js';

const folder = temporaryFolder('gains-observation');
const here = (words: string): Promise<Ran> => corellaHere(folder, ...words.split(' '));
const ran = async (words: string): Promise<string> => {
  const { code, stdout, stderr } = await here(`${words} --quiet`);
  assert.equal(code, 0, `corella ${words}\n${stderr}`);
  return stdout;
};
const observe = (name: string, product: string, more = ''): Promise<void> =>
  writeFile(
    join(folder, name),
    `corella: 1\nsource: { visibilities: sky.uvh5 }\n${more}products:\n  - ${product}\n`,
  );
const gainsIn = async (path: string) => {
  const gains = await readGainFile(join(folder, path));
  return { ...gains, history: [] };
};
const TIME = '2026-03-01T12:00:00Z';

describe('gains of an observation', () => {
  let model = '';
  before(async () => {
    const { site } = await loadTelescope('eda2');
    const { raDeg, decDeg } = skyFrame(site, parseInstant(TIME)).zenith;
    const [x, y] = [raDeg - 30, raDeg - 10].map((degrees) => (degrees + 360) % 360);
    model = `one:${x}:${decDeg}:5000:0,two:${y}:${decDeg - 30}:2000:0`;
    await mkdir(join(folder, 'models'));
    await writeFile(
      join(folder, 'models', 'sky.csv'),
      `name,ra_deg,dec_deg,flux_jy\none,${x},${decDeg},5000\ntwo,${y},${decDeg - 30},2000\n`,
    );
    await ran(
      `simulate --telescope eda2 --stations 8 --time ${TIME} --sources ${model} --rate 100kHz --duration 120ms -o sky.sigmf-meta`,
    );
    await ran('correlate sky.sigmf-meta --channels 8 --integration 40ms -o sky.uvh5');
    await ran(
      `simulate --telescope eda2 --stations 8 --time ${TIME} --sources ${model} --rate 102400 --duration 160ms -o packets.sigmf-meta`,
    );
  });

  it('are those of calibrate', async () => {
    await observe('o.yaml', `{ gains: gains.json, sources: "${model}", every: 80ms, channels: [1-6] }`);
    const said = await ran('run o.yaml --into made');
    assert.match(
      said,
      /^made\/gains\.json, made\/gains\.calh5: gains of 16 of 16 inputs in 24 solves\n2 times/,
    );
    await ran(`calibrate sky.uvh5 --sources ${model} --solve-every 80ms --keep-channels 1-6 -o gains.json`);
    assert.deepEqual(await gainsIn('made/gains.json'), await gainsIn('gains.json'));
    assert.equal((await gainsIn('gains.json')).later?.length, 1);
  });

  it('have their observation in their history, and it makes the same bytes in an empty folder', async () => {
    await ran(
      'calibrate sky.uvh5 --sources models/sky.csv --over delay --delays-out made/cables.json -o made/own.json',
    );
    const { history } = await readGainFile(join(folder, 'made', 'own.json'));
    assert.ok(
      history.some((line) => line.startsWith('read sky.csv sha256 ')),
      history.join('\n'),
    );
    assert.ok(!history.some((line) => line.includes('models/') || line.includes('made/')));
    const plan = await ran('inspect made/own.json --plan');
    assert.match(plan, /gains: own\.json[^]*sources: sky\.csv/);
    const empty = join(folder, 'empty');
    await mkdir(empty);
    await copyFile(join(folder, 'sky.uvh5'), join(empty, 'sky.uvh5'));
    await copyFile(join(folder, 'models', 'sky.csv'), join(empty, 'sky.csv'));
    await writeFile(join(empty, 'o.yaml'), plan);
    const again = await corellaHere(empty, 'run', 'o.yaml', '--quiet');
    assert.equal(again.code, 0, again.stderr);
    for (const name of ['own.json', 'own.calh5', 'cables.json']) {
      const [first, second] = await Promise.all([
        readFile(join(folder, 'made', name)),
        readFile(join(empty, name)),
      ]);
      assert.ok(first.equals(second), `${name} differs`);
    }
  });

  it('of a recording and of packets are those of visibilities that were written and calibrated', async () => {
    const of = (name: string, source: string, ...products: readonly string[]): Promise<void> =>
      writeFile(
        join(folder, name),
        `corella: 1\nsource: ${source}\ntelescope: eda2\nstations: 8\nfront: { channels: 8, gain: 0.8 }\n` +
          `flags: { channels: [3] }\nproducts:\n${products.map((one) => `  - ${one}\n`).join('')}`,
      );
    const cut = 'integration: 40ms, align: utc';
    const gains = `sources: "${model}", every: 80ms, channels: [1-6], ${cut}`;
    await ran('send packets.sigmf-meta --format vdif --to packets.pcap --lose 2% --seed 5 --truth arrived');
    await of(
      'recording.yaml',
      '{ recording: arrived.sigmf-meta }',
      `{ visibilities: r.uvh5, ${cut} }`,
      `{ gains: r.json, ${gains} }`,
    );
    const said = await ran('run recording.yaml --into of-recording');
    assert.match(
      said,
      /of-recording\/r\.json, of-recording\/r\.calh5: gains of 16 of 16 inputs in \d+ solves\n2 times/,
    );
    const made = await gainsIn('of-recording/r.json');
    assert.equal(made.later?.length, 1);
    assert.ok(made.solved.includes(1) && made.solved.includes(0), 'channel 3 is flagged');
    await ran(
      `calibrate of-recording/r.uvh5 --sources ${model} --solve-every 80ms --keep-channels 1-6 -o file.json`,
    );
    // A file has float32, 6e-8 of a value; the solver is accurate to 1e-8 of a gain.
    const { stdout } = await here('compare of-recording/r.json file.json --tolerance 1e-6');
    // Julian dates in a file are accurate to a microsecond.
    assert.match(stdout, /^times: .* 2 of 4 differ, by at most [\d.]+e-7 [^\n]*\n$/);
    await of(
      'capture.yaml',
      '{ capture: packets.pcap, format: vdif, rate: 102400, frequency: 159.375MHz }',
      `{ gains: c.json, ${gains} }`,
    );
    assert.match(await ran('run capture.yaml --into of-capture'), /c\.json, \S+: gains of 16 of 16 inputs/);
    await ran('compare of-recording/r.json of-capture/c.json');
  });

  it('are what --plan prints, and what check checks', async () => {
    const plan = await ran(
      `calibrate sky.uvh5 --sources ${model} --integration-number 1 -o planned.json --plan`,
    );
    assert.match(plan, /integration: 1[^]*gains: planned\.json/);
    await writeFile(join(folder, 'planned.yaml'), plan);
    assert.match(await ran('check planned.yaml'), /gains: planned\.json, planned\.calh5/);
    assert.ok(!(await readdir(folder)).includes('planned.json'));
    await ran('run planned.yaml');
    await ran(`calibrate sky.uvh5 --sources ${model} --integration 1 -o direct.json`);
    assert.deepEqual(await gainsIn('planned.json'), await gainsIn('direct.json'));
  });

  it('that are not all there end with exit code 2, from run as from calibrate', async () => {
    await ran(`calibrate sky.uvh5 --sources ${model} -o whole.json`);
    const counts = (await gainsIn('whole.json')).solutions.map(({ iterations }) => iterations);
    const fewer = [...counts].sort((x, y) => x - y)[counts.length / 2];
    assert.ok(counts.some((count) => count > fewer));
    await observe('few.yaml', `{ gains: few.json, sources: "${model}", most-iterations: ${fewer} }`);
    const some = await here('run few.yaml --quiet');
    assert.equal(some.code, 2, some.stderr);
    assert.match(some.stderr, /of 16 solves did not converge.*raise products\.gains\.most-iterations/);
    assert.ok((await gainsIn('few.json')).solved.includes(0));
  });

  it('are refused by the field, before anything is written', async () => {
    const cases = [
      ['{ gains: x.txt }', '', /products\.gains: "x\.txt" is not a name for JSON/],
      ['{ gains: x.json, delays-out: c.json }', '', /products\.gains\.delays-out: needs delays/],
      ['{ gains: x.json }', 'front: { channels: 8 }\n', /front: is for voltages/],
      ['{ gains: x.json }', 'gains: gains.json\n', /gains\.file: gains calibrate images/],
      ['{ gains: x.json, reference: unknown }', '', /products\.gains\.reference: 'unknown' is no station/],
      ['{ gains: x.json, odd: 0.5 }', '', /products\.gains\.odd: 0\.5 is not a factor/],
      ['{ gains: x.json, channels: [80] }', '', /products\.gains\.channels: /],
    ] as const;
    for (const [product, more, reason] of cases) {
      await observe('bad.yaml', product, more);
      const { code, stderr } = await here('run bad.yaml');
      assert.equal(code, 1, product);
      assert.match(stderr, reason);
    }
    const both = await here('calibrate sky.uvh5 --solve-every 40ms --integration-number 1 -o x.json');
    assert.match(
      both.stderr,
      /--integration-number: chooses one part of the file, and --solve-every uses all of it/,
    );
    const file = await here('calibrate sky.uvh5 -o g.txt');
    assert.match(file.stderr, /--out: "g\.txt" is not a name for JSON/);
    assert.ok(!(await readdir(folder)).some((name) => name.startsWith('x.')));
  });
});
