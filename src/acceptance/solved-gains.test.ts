/** Gains solved while an observation runs: they take effect by the time of the data, the same in every run. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { addSeconds, formatInstant, parseInstant } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { readGainFile } from '../formats/index.js';
import { skyFrame } from '../sky/frame.js';
import { loadTelescope } from '../telescope/load.js';
import { corellaHere, type Ran } from './corella.js';

const folder = temporaryFolder('solved-gains');
const here = (words: string): Promise<Ran> => corellaHere(folder, ...words.split(' '));
const ran = async (words: string): Promise<string> => {
  const { code, stdout, stderr } = await here(`${words} --quiet`);
  assert.equal(code, 0, `corella ${words}\n${stderr}`);
  return stdout;
};
const TIME = '2026-03-01T12:00:00Z';
const at = (seconds: number): string => formatInstant(addSeconds(parseInstant(TIME), seconds), 6);
const RECORDING = '{ recording: sky.sigmf-meta }';
const IMAGE = 'every: 40ms, align: utc, pixels: 64, picture: false';

describe('gains that are solved while an observation runs', () => {
  let model = '';
  before(async () => {
    const { site } = await loadTelescope('eda2');
    const { raDeg, decDeg } = skyFrame(site, parseInstant(TIME)).zenith;
    const [x, y] = [raDeg - 30, raDeg - 10].map((degrees) => (degrees + 360) % 360);
    model = `one:${x}:${decDeg}:5000:0,two:${y}:${decDeg - 30}:2000:0`;
    await ran(
      `simulate --telescope eda2 --stations 8 --time ${TIME} --sources ${model} --rate 102400 --duration 320ms -o sky.sigmf-meta`,
    );
  });

  /** One tap: spectra do not depend on earlier samples. */
  const observe = async (
    name: string,
    source: string,
    gains: string,
    ...products: readonly string[]
  ): Promise<Ran> => {
    await writeFile(
      join(folder, `${name}.yaml`),
      `corella: 1\nsource: ${source}\ntelescope: eda2\nstations: 8\nfront: { channels: 8, gain: 0.8, taps: 1 }\n` +
        `gains: ${gains}\nproducts:\n${products.map((one) => `  - ${one}\n`).join('')}`,
    );
    return here(`run ${name}.yaml --into ${name} --quiet`);
  };
  const made = async (...words: Parameters<typeof observe>): Promise<string> => {
    const { code, stdout, stderr } = await observe(...words);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const solve = (more = 'every: 80ms'): string => `{ solve: "${model}", ${more} }`;

  it('calibrate the images that begin after their interval and the lag, and all are written', async () => {
    const source = `{ recording: sky.sigmf-meta, to: "${at(0.16)}" }`;
    // Spectra begin half a sample before the second: the first image has one of them.
    const said = await made('solved', source, solve(), `{ images: i.fits, ${IMAGE} }`);
    assert.match(said, /solved\/i-gains\.json, solved\/i-gains\.calh5: gains of \d+ of 16 inputs/);
    assert.match(said, /i\.fits: 2 images .*\n3 images left out: there were no gains yet, or/);
    assert.equal((await readGainFile(join(folder, 'solved', 'i-gains.json'))).later?.length, 1);
    // The gains of the first 80 ms as a file: images with them are the same until they are solved again.
    await writeFile(
      join(folder, 'first.yaml'),
      `corella: 1\nsource: { recording: sky.sigmf-meta, to: "${at(0.08)}" }\ntelescope: eda2\nstations: 8\n` +
        `front: { channels: 8, gain: 0.8, taps: 1 }\nproducts:\n` +
        `  - { gains: first.json, sources: "${model}", every: 80ms, integration: 8ms, align: utc }\n`,
    );
    await ran('run first.yaml');
    await made('filed', source, 'first.json', `{ images: i.fits, ${IMAGE} }`);
    await made('both', source, solve('file: first.json, every: 80ms'), `{ images: i.fits, ${IMAGE} }`);
    await ran('compare filed/i.fits both/i.fits --tolerance 1e-6');
    // Those of the next 80 ms differ.
    const next = `{ recording: sky.sigmf-meta, to: "${at(0.2)}" }`;
    await made('next', next, solve('file: first.json, every: 80ms'), `{ images: i.fits, ${IMAGE} }`);
    await made('next-filed', next, 'first.json', `{ images: i.fits, ${IMAGE} }`);
    const { stdout } = await here('compare next/i.fits next-filed/i.fits --tolerance 1e-6');
    assert.match(stdout, /^pixels: utc 5, /);
    // A lag of 40 ms leaves one more image without gains.
    const late = await made('lag', source, solve('every: 80ms, lag: 40ms'), `{ images: i.fits, ${IMAGE} }`);
    assert.match(late, /i\.fits: 1 image .*\n4 images left out/);
  });

  it('are the same in a recording and in packets, from visibilities and directly', async () => {
    await ran('send sky.sigmf-meta --format vdif --to sky.pcap --lose 2% --seed 5 --truth arrived');
    const products = [`{ images: i.fits, ${IMAGE} }`, `{ images: d.fits, method: direct, ${IMAGE} }`];
    const gains = solve('every: 80ms, lag: 30ms');
    await made('recorded', '{ recording: arrived.sigmf-meta }', gains, ...products);
    const capture = '{ capture: sky.pcap, format: vdif, rate: 102400, frequency: 159.375MHz }';
    await made('received', capture, gains, ...products);
    for (const name of ['i.fits', 'd.fits'])
      await ran(`compare recorded/${name} received/${name} --tolerance 1e-5`);
    await ran('compare recorded/i-gains.json received/i-gains.json');
  });

  it('that cannot be solved leave those before in force', async () => {
    const wrong = '{ solve: "below:10:80:5000:0", every: 80ms }';
    await made('file', RECORDING, 'first.json', `{ images: i.fits, ${IMAGE} }`);
    const { code, stdout, stderr } = await observe(
      ...([
        'kept',
        RECORDING,
        wrong.replace('{', '{ file: first.json,'),
        `{ images: i.fits, ${IMAGE} }`,
      ] as const),
    );
    assert.equal(code, 2, stderr);
    assert.match(stderr, /gains: failed: gains: nothing was solved/);
    assert.match(`${stdout}${stderr}`, /gains were not solved: .*; the gains before stay in force/);
    await ran('compare file/i.fits kept/i.fits');
  });

  it('are refused where nothing could be calibrated', async () => {
    const cases = [
      [solve(), '{ images: i.fits }', /gains\.solve: one image of everything begins before there are gains/],
      [solve(), '{ visibilities: v.uvh5 }', /gains\.solve: solved gains calibrate images, and none are made/],
      ['{ file: first.json, lag: 1s }', `{ images: i.fits, ${IMAGE} }`, /gains\.lag: is for gains\.solve/],
    ] as const;
    for (const [gains, product, reason] of cases) {
      const { code, stderr } = await observe('refused', RECORDING, gains, product);
      assert.equal(code, 1);
      assert.match(stderr, reason);
    }
  });
});
