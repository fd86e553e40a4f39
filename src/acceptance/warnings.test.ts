/**
 * Warnings of the command line if delays do not follow the sky, and the effects of --track, --delays and
 * --phase-centre.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { openFile } from '../formats/index.js';
import { corella, withFolder } from './corella.js';
import { recordDishes, type Dishes } from './dishes.js';
import { source } from './erfa-tracking.js';

const dishes: Dishes = { centreFrequencyHz: 1.4e9, sampleRateHz: 16e6, samples: 20_000 };
const place = `${source.raDeg} ${source.decDeg}`;
const common = ['--channels', '64', '--backend', 'cpu'];

interface Report {
  readonly integrations: number;
  readonly integrationS: number;
  readonly keptInChannel?: number;
  readonly keptInIntegration?: number;
  readonly delayTimesChannelWidth?: number;
  readonly tracked?: { readonly towards: string };
  readonly phaseCentre: { readonly object: string; readonly raDeg: number; readonly decDeg: number };
}

/** The smallest correlation coefficient of any two, channel 32. */
async function leastCoherence(path: string): Promise<number> {
  const file = await openFile(path);
  assert.ok(file.kind === 'visibilities');
  let least = Infinity;
  for await (const { stations, visibilities, channels } of file.integrations()) {
    const baselines = (stations * (stations + 1)) / 2;
    const at = (i: number, j: number): number =>
      2 * (Math.floor(channels / 2) * baselines + (i * (i + 1)) / 2 + j);
    for (let i = 0; i < stations; i++)
      for (let j = 0; j < i; j++)
        least = Math.min(
          least,
          Math.hypot(visibilities[at(i, j)], visibilities[at(i, j) + 1]) /
            Math.sqrt(visibilities[at(i, i)] * visibilities[at(j, j)]),
        );
  }
  await file.close();
  return least;
}

it('dishes over 2 km: the loss is reported, and tracking prevents it', () =>
  withFolder(async (folder) => {
    const recording = await recordDishes(folder, 6, dishes);
    const plain = await corella(folder, 'correlate', recording, '-o', 'plain.uvh5', ...common);
    assert.equal(plain.code, 0, plain.stderr);
    const said = plain.stdout + plain.stderr;
    // 2.004 km / c × 250 kHz is 1.67: more than a turn across a channel.
    assert.match(
      said,
      /the longest baseline, 2\.0 km, keeps 0 % .* \(delay × width 1\.7\); use --track SOURCE.*\[sky\.not-tracked-channel\]/,
    );
    const report = JSON.parse(
      (await corella(folder, 'correlate', recording, '-o', 'json.uvh5', '--json', ...common)).stdout,
    ) as Report;
    assert.ok(Math.abs((report.delayTimesChannelWidth ?? 0) - 1.672) < 0.002);
    assert.equal(report.tracked, undefined);
    assert.equal(report.phaseCentre.object, 'zenith');

    const tracked = await corella(
      folder,
      'correlate',
      recording,
      '--track',
      place,
      '-o',
      't.uvh5',
      '--json',
      ...common,
    );
    assert.equal(tracked.code, 0, tracked.stderr);
    const facts = JSON.parse(tracked.stdout) as Report;
    assert.deepEqual(facts.tracked, { towards: place });
    // Fringes are stopped at the tracked position, unless another is requested.
    assert.deepEqual([facts.phaseCentre.raDeg, facts.phaseCentre.decDeg], [source.raDeg, source.decDeg]);
    assert.ok((await leastCoherence(join(folder, 'plain.uvh5'))) < 0.3);
    assert.ok((await leastCoherence(join(folder, 't.uvh5'))) > 0.99);
    const file = await openFile(join(folder, 't.uvh5'));
    assert.ok(file.kind === 'visibilities');
    assert.match(file.header.history.join('\n'), /"track":"234\.5\\u002022\.25"/);
    await file.close();
  }));

it('a fringe that rotates within an integration gives a warning, and the default integration is short enough for the array', () =>
  withFolder(async (folder) => {
    const slow: Dishes = { centreFrequencyHz: 1.4e9, sampleRateHz: 50e3, samples: 60_000 };
    const recording = await recordDishes(folder, 6, slow);
    const words = ['correlate', recording, '--channels', '16', '--backend', 'cpu'];
    const long = await corella(folder, ...words, '-o', 'long.uvh5', '--integration', '1.2s');
    // 1.4 GHz · 7.29e-5/s · 2.00 km / c: 0.68 turns per second, of which sinc(0.82) = 0.21 remains.
    assert.match(
      long.stdout + long.stderr,
      /over 1\.2\d* s its fastest fringe turns 0\.8\d times, .* keeps 2\d % of the amplitude; use --track SOURCE, or --integration 100.*\[sky\.not-tracked-time\]/,
    );
    const nominal = JSON.parse(
      (await corella(folder, ...words, '-o', 'usual.uvh5', '--json')).stdout,
    ) as Report;
    // 100 ms, in whole spectra of 0.32 ms.
    assert.equal(nominal.integrationS, 0.10016);
    assert.equal(nominal.integrations, 12);
    assert.ok((nominal.keptInIntegration ?? 0) > 0.99);
    const said = await corella(folder, ...words, '-o', 'usual2.uvh5');
    assert.match(
      said.stdout + said.stderr,
      /integrations of 100(\.0)? ms, the longest that keep 99 % of the amplitude; --integration sets/,
    );
    assert.doesNotMatch(said.stdout + said.stderr, /sky\.not-tracked-time/);
  }));

it('cables and pieces of delays.json are applied; sums cannot be tracked', () =>
  withFolder(async (folder) => {
    const cablesM = [0, 12.5, 40, 7, 0, 90.25, 3, 60];
    const recording = await recordDishes(folder, 6, {
      ...dishes,
      cablesS: cablesM.map((metres) => metres / SPEED_OF_LIGHT_M_PER_S),
    });
    const fixed = cablesM.map((cableM, input) => ({ input, cableM }));
    await writeFile(join(folder, 'cables.json'), JSON.stringify({ fixed }));
    const track = ['correlate', recording, '--track', place, ...common];
    const phasesOf = async (path: string): Promise<number[]> => {
      const file = await openFile(join(folder, path));
      assert.ok(file.kind === 'visibilities');
      const made: number[] = [];
      for await (const { stations, visibilities } of file.integrations())
        for (let i = 1; i < stations; i++) {
          const at = (32 * stations * (stations + 1)) / 2 + (i * (i + 1)) / 2;
          made.push((Math.atan2(visibilities[2 * at + 1], visibilities[2 * at]) * 180) / Math.PI);
        }
      await file.close();
      return made;
    };
    const without = await recordDishes(join(folder, 'clean'), 6, dishes);
    assert.equal(
      (await corella(folder, 'correlate', without, '--track', place, ...common, '-o', 'clean.uvh5')).code,
      0,
    );
    assert.equal((await corella(folder, ...track, '-o', 'raw.uvh5')).code, 0);
    assert.equal(
      (await corella(folder, ...track, '--delays', 'cables.json', '-o', 'corrected.uvh5')).code,
      0,
    );
    const [clean, raw, corrected] = [
      await phasesOf('clean.uvh5'),
      await phasesOf('raw.uvh5'),
      await phasesOf('corrected.uvh5'),
    ];
    const apart = (one: number[], other: number[]): number =>
      Math.max(...one.map((phase, n) => Math.abs(((phase - other[n] + 540) % 360) - 180)));
    assert.ok(apart(corrected, clean) < 1, `${apart(corrected, clean)}°`);
    assert.ok(apart(raw, clean) > 20);

    await writeFile(
      join(folder, 'pieces.json'),
      JSON.stringify({ pieces: [{ from: '2024-05-11T00:00:00Z', inputs: [{ input: 1, delayS: 1e-7 }] }] }),
    );
    const wrong = await corella(folder, 'correlate', recording, '--delays', 'pieces.json', '-o', 'x.uvh5');
    assert.match(wrong.stderr, /--delays: pieces\.json has pieces.*give it as --track/s);
    const pieces = await corella(
      folder,
      'correlate',
      recording,
      '--track',
      'pieces.json',
      '-o',
      'p.uvh5',
      ...common,
    );
    assert.equal(pieces.code, 0, pieces.stderr);
    const sums = await corella(folder, ...track, '--values', 'sums', '-o', 's.uvh5');
    assert.match(sums.stderr, /tracked data are unphased afterwards/);
    const unknown = await corella(folder, 'correlate', recording, '--track', 'Cyg B', '-o', 'y.uvh5');
    assert.match(unknown.stderr, /--track: 'Cyg B' is no source that we know/);
  }));
