/**
 * calibrate --over delay measures simulated cables to a picosecond, and correlate --delays corrects them; --every
 * follows time.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { readGainFile } from '../formats/index.js';
import { corella, withFolder } from './corella.js';
import { recordDishes, type Dishes } from './dishes.js';
import { source } from './erfa-tracking.js';

const place = `${source.raDeg} ${source.decDeg}`;
const model = `there:${source.raDeg}:${source.decDeg}:1`;
// Channels without leakage from the centres of their neighbours, where the tones are.
const plain = ['--taps', '1', '--window', 'rectangular'];
const common = ['--backend', 'cpu', '--json'];

interface Delays {
  readonly delays: readonly { readonly input: number; readonly delayS: number }[];
}

it('cable lengths come out as they were put in', () =>
  withFolder(async (folder) => {
    const cablesS = [0, 41.7e-9, 133.4e-9, 23.3e-9, 1.7e-9, 301.1e-9, 10e-9, 200.2e-9];
    const dishes: Dishes = {
      centreFrequencyHz: 1.4e9,
      sampleRateHz: 16e6,
      samples: 60_000,
      cablesS,
      tones: 'centred',
    };
    const recording = await recordDishes(folder, 6, dishes);
    const track = ['correlate', recording, '--track', place, '--channels', '64', ...plain, ...common];
    const solve = ['--sources', model, '--over', 'delay', '--odd', '0', '--reference', 'dish0', ...common];
    assert.equal((await corella(folder, ...track, '-o', 'raw.uvh5')).code, 0);
    const first = await corella(folder, 'calibrate', 'raw.uvh5', ...solve, '--delays-out', 'cables.json');
    assert.equal(first.code, 0, first.stderr);
    const found = JSON.parse(first.stdout) as Delays;
    found.delays.forEach(({ delayS }, a) => {
      assert.ok(Math.abs(delayS - cablesS[a]) < 1e-12, `dish ${a}: ${delayS} of ${cablesS[a]}`);
    });
    const written = JSON.parse(await readFile(join(folder, 'cables.json'), 'utf8')) as {
      readonly fixed: readonly { readonly cableM: number }[];
    };
    assert.ok(Math.abs(written.fixed[5].cableM / SPEED_OF_LIGHT_M_PER_S - cablesS[5]) < 1e-12);

    // After the correction, almost no delay remains.
    assert.equal(
      (await corella(folder, ...track, '--delays', 'cables.json', '-o', 'corrected.uvh5')).code,
      0,
    );
    const second = await corella(folder, 'calibrate', 'corrected.uvh5', ...solve, '-o', 'again.json');
    assert.equal(second.code, 0, second.stderr);
    for (const { delayS } of (JSON.parse(second.stdout) as Delays).delays)
      assert.ok(Math.abs(delayS) < 1e-12, `${delayS} left`);
  }));

it('gains every so often are in the file, in the order of time', () =>
  withFolder(async (folder) => {
    const recording = await recordDishes(folder, 6, {
      centreFrequencyHz: 1.4e9,
      sampleRateHz: 4e6,
      samples: 60_000,
    });
    const words = ['--track', place, '--channels', '64', '--integration', '1ms', '-o', 'v.uvh5', ...common];
    assert.equal((await corella(folder, 'correlate', recording, ...words)).code, 0);
    const made = await corella(
      folder,
      'calibrate',
      'v.uvh5',
      '--sources',
      model,
      '--solve-every',
      '5ms',
      '-o',
      'gains.json',
      ...common,
    );
    assert.equal(made.code, 0, made.stderr);
    assert.equal((JSON.parse(made.stdout) as { solutionsInTime: number }).solutionsInTime, 3);
    const gains = await readGainFile(join(folder, 'gains.json'));
    assert.equal(gains.later?.length, 2);
    const both = await corella(
      folder,
      'calibrate',
      'v.uvh5',
      '--solve-every',
      '5ms',
      '--integration-number',
      '3',
      ...common,
    );
    assert.notEqual(both.code, 0);
    const wrong = await corella(folder, 'calibrate', 'v.uvh5', '--over', 'lunch', ...common);
    assert.match(wrong.stderr, /--over: "lunch" is not allowed; give channel, band or delay/);
  }));
