/** Gains apply to the data they were solved from: for other data they are refused, or the difference is reported. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { corellaHere } from './corella.js';
import { randomGains, writeKnownSky, type KnownSky } from './known-sky.js';

const STATIONS = 8;
const band = (firstHz: number): number[] => [0, 1, 2, 3].map((c) => firstHz + 1e5 * c);
const sky = (changed: Partial<KnownSky> = {}): KnownSky => ({
  stations: STATIONS,
  radiusM: 40,
  frequenciesHz: band(150e6),
  jones: randomGains(7, STATIONS, 4),
  sources: [
    { altDeg: 70, azDeg: 50, stokes: [100, 0, 0, 0] },
    { altDeg: 50, azDeg: 200, stokes: [60, 0, 0, 0] },
  ],
  ...changed,
});

void describe('gains for these data', () => {
  const folder = temporaryFolder('gains-for');
  const run = (line: string) => corellaHere(folder, ...line.split(' '));
  const done = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await run(line);
    assert.equal(code, 0, stderr);
    return stdout + stderr;
  };
  const refused = async (line: string, what: RegExp): Promise<void> => {
    const { code, stdout, stderr } = await run(line);
    assert.equal(code, 1, stdout);
    assert.match(stderr, what);
  };
  const model = 'a@70:50:100,b@50:200:60';
  before(async () => {
    await writeKnownSky(join(folder, 'raw.uvh5'), sky());
    await done(`calibrate raw.uvh5 --sources ${model} --element cosine:1 -o gains.json --accept-model`);
    await done('apply raw.uvh5 gains.json once.uvh5');
  });

  for (const gains of ['gains.json', 'gains.calh5']) {
    void it(`${gains} are not applied twice`, async () => {
      const twice =
        /uncalibrated data, and these are in Jy: gains would be applied twice; take these data without gains/;
      await refused(`apply once.uvh5 ${gains} twice.uvh5`, twice);
      await refused(`image once.uvh5 --gains ${gains} -o twice.fits --no-picture`, twice);
      await refused(
        `image once.uvh5 --gains ${gains} -o twice.fits --no-picture --centre zenith --field 30`,
        twice,
      );
    });
  }

  void it('those of data in Jy go onto them again, and onto no others', async () => {
    await done(`calibrate once.uvh5 --sources ${model} -o again.json --accept-model`);
    await done('apply once.uvh5 again.json better.uvh5');
    await refused('apply raw.uvh5 again.json no.uvh5', /was solved from data in Jy, and these are not/);
  });

  void it('of other frequencies give a warning, or are refused outside their channels', async () => {
    await writeKnownSky(join(folder, 'near.uvh5'), sky({ frequenciesHz: band(150.04e6) }));
    await writeKnownSky(join(folder, 'far.uvh5'), sky({ frequenciesHz: band(150.07e6) }));
    assert.match(
      await done('apply near.uvh5 gains.json near-by.uvh5'),
      /channels are up to 40 kHz from .* differ by 100 m phases are wrong by 4.8° \[gains\.other-frequencies\]/,
    );
    await refused('apply far.uvh5 gains.json far-off.uvh5', /has no gains near 150.37 MHz/);
  });

  void it('of another telescope with stations of the same names give a warning', async () => {
    await writeKnownSky(join(folder, 'other.uvh5'), sky({ telescope: { name: 'elsewhere' } }));
    assert.match(
      await done('apply other.uvh5 gains.json others.uvh5'),
      /is of known, the data of elsewhere.*\[gains\.other-telescope\]/,
    );
    assert.doesNotMatch(await done('apply raw.uvh5 gains.json once.uvh5 --overwrite'), /\[gains\.other-/);
  });

  void it('by a model through another beam than the image is divided by give a warning', async () => {
    const image = (element: string): Promise<string> =>
      done(
        `image raw.uvh5 --gains gains.json --beam-corrected --element ${element} -o beam.fits --no-picture --overwrite`,
      );
    assert.match(
      await image('mwa-dipole'),
      /the beam cosine:1, and the image is divided by mwa-dipole.*\[gains\.other-beam\]/,
    );
    assert.doesNotMatch(await image('cosine:1'), /gains\.other-beam/);
  });

  void it('of other stations, channels or polarisations are refused by direct images too', async () => {
    const time = '--time 2026-03-01T12:00:00Z';
    const recording = (words: string, out: string): Promise<string> =>
      done(
        `simulate --sources spot@60:90:5000 ${time} --rate 100kHz --duration 20ms ${words} -o ${out}.sigmf-meta`,
      );
    await recording('--telescope eda2 --stations 6', 'here');
    await recording('--telescope eda2 --stations 7', 'more');
    await recording('--telescope lwa1 --stations 6 --frequency 60MHz', 'elsewhere');
    await recording('--telescope eda2 --stations 6 --frequency 120MHz', 'lower');
    await done('correlate here.sigmf-meta --channels 4 -o here.uvh5');
    await done('calibrate here.uvh5 --sources spot@60:90:5000 --accept-model -o here.json');
    const both = JSON.parse(await readFile(join(folder, 'here.json'), 'utf8')) as {
      readonly gains: readonly (readonly unknown[])[];
      readonly solutions: readonly { readonly polarisation: number }[];
      readonly crossHand: unknown;
    };
    const { crossHand, ...x } = {
      ...both,
      polarisations: 1,
      gains: both.gains.map((channel) => channel.filter((_, a) => a % 2 === 0)),
      solutions: both.solutions.filter(({ polarisation }) => polarisation === 0),
    };
    assert.ok(crossHand);
    await writeFile(join(folder, 'x.json'), JSON.stringify(x));
    const image = (name: string, gains: string, words: string): string =>
      `image ${name}.sigmf-meta --direct ${words} --gains ${gains} --channels 4 --pixels 32 -o x.fits`;
    await done(image('here', 'here.json', '--no-picture'));
    for (const [name, gains, why] of [
      ['more', 'here.json', /is for 6 stations of eda2, not these 7 of eda2: it has not.*; calibrate this/],
      ['elsewhere', 'here.json', /is for 6 stations of eda2, not these 6 of lwa1/],
      ['lower', 'here.json', /has no gains near 119\.\d+ MHz; they span/],
      ['here', 'x.json', /is for 1 polarisations, the data have 2/],
    ] as const)
      for (const words of ['--no-picture', '--every 5ms'])
        await refused(`${image(name, gains, words)} --overwrite`, why);
  });
});
