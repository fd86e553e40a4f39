/** A solve that did not converge is not solved: reported, also by the exit code, and its gains are not used. */
import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { z } from 'zod';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { readGainFile } from '../formats/index.js';
import { corellaHere } from './corella.js';

const gainsJson = z.looseObject({
  solutions: z.array(
    z.looseObject({
      channel: z.number(),
      polarisation: z.number(),
      iterations: z.number(),
      converged: z.boolean(),
    }),
  ),
  gains: z.array(z.array(z.unknown())),
});

describe('convergence', () => {
  const folder = temporaryFolder('convergence');
  const file = (name: string): string => join(folder, name);
  const corella = (...words: string[]) => corellaHere(folder, ...words);
  const gainsIn = async (name: string) => gainsJson.parse(JSON.parse(await readFile(file(name), 'utf8')));
  const CHANNELS = 8;

  before(async () => {
    const made = await corella('simulate', '--telescope', 'eda2', '--stations', '6', '--time', '2026-03-01T12:00:00Z', '--sources', 'spot@60:90:5000,other@50:200:2000', '--rate', '100kHz', '--duration', '60ms', '-o', 'sky.sigmf-meta', '--quiet'); // prettier-ignore
    assert.equal(made.code, 0, made.stderr);
    const correlated = await corella('correlate', 'sky.sigmf-meta', '--channels', String(CHANNELS), '-o', 'sky.uvfits', '--quiet'); // prettier-ignore
    assert.equal(correlated.code, 0, correlated.stderr);
  });
  const calibrate = ['calibrate', 'sky.uvfits', '--sources', 'spot@60:90:5000,other@50:200:2000', '--quiet'] as const; // prettier-ignore

  it('of no solve at all: nothing is written', async () => {
    for (const how of [
      ['--most-iterations', '2'],
      ['--iterations', '2'],
    ] as const) {
      const ran = await corella(...calibrate, ...how, '-o', 'none.json');
      assert.equal(ran.code, 1);
      assert.match(ran.stderr, /^corella: calibrate: none of 16 solves converged within 2 iterations, so there are no gains to write; .*--most-iterations/); // prettier-ignore
      assert.ok(!(await readdir(folder)).includes('none.json'));
    }
    // The user's tolerance decides.
    const rough = await corella(...calibrate, '--iterations', '20', '--tolerance', '0.5', '-o', 'rough.json');
    assert.equal(rough.code, 0, rough.stderr);
  });

  it('of some: the others are written and used, these are reported and left out', async () => {
    const whole = await corella(...calibrate, '-o', 'whole.json');
    assert.equal(whole.code, 0, whole.stderr);
    const counts = (await gainsIn('whole.json')).solutions.map(({ iterations }) => iterations);
    const fewer = [...counts].sort((x, y) => x - y)[counts.length / 2];
    const most = ['--most-iterations', String(fewer)] as const;
    const ran = await corella(...calibrate, ...most, '-o', 'some.json');
    const left = counts.filter((count) => count > fewer).length;
    assert.ok(left > 0, `every solve took ${fewer} iterations: the case is meant to cut some short`);
    assert.equal(ran.code, 2, ran.stderr);
    assert.match(ran.stderr, new RegExp(`^corella: ${left} of 16 solves did not converge and have no gains: channels? `)); // prettier-ignore
    assert.match(ran.stdout, new RegExp(`converged ${16 - left} of 16`));
    for (const path of ['some.json', 'some.calh5']) {
      const { solved, solutions } = await readGainFile(file(path));
      assert.equal(
        solved.reduce((sum, mark) => sum + mark, 0),
        (16 - left) * 6,
        path,
      );
      if (path.endsWith('json')) assert.equal(solutions.filter(({ converged }) => !converged).length, left);
    }
    const json = await corella(...calibrate, ...most, '-o', 'some.json', '--overwrite', '--json');
    assert.equal(json.code, 2);
    const report = z.object({ unconverged: z.array(z.unknown()) }).parse(JSON.parse(json.stdout));
    assert.equal(report.unconverged.length, left);
    const image = await corella('image', 'sky.uvfits', '--gains', 'some.json', '-o', 'some.fits');
    assert.equal(image.code, 0, image.stderr);
  });

  it('of a channel in an older file: image leaves it out and reports it', async () => {
    const old = await gainsIn('whole.json');
    const solutions = old.solutions.map((one) => ({ ...one, converged: one.channel !== 0 }));
    // Nonsense gains, as at a band's edge.
    const gains = old.gains.map((row, c) => (c === 0 ? row.map(() => [1e-9, 0]) : row));
    await writeFile(file('old.json'), JSON.stringify({ ...old, solutions, gains }));
    const peaks: number[] = [];
    for (const [name, channels] of [
      ['old.json', 1],
      ['whole.json', 0],
    ] as const) {
      const image = await corella('image', 'sky.uvfits', '--gains', name, '-o', 'image.fits', '--overwrite');
      assert.equal(image.code, 0, image.stderr);
      assert.equal(image.stdout.includes('1 of 8 channels have no gains'), channels === 1, image.stderr); // prettier-ignore
      peaks.push(Number(/peak ([\d.e+]+) Jy/.exec(image.stdout)?.[1]));
    }
    assert.ok(Math.abs(peaks[0] / peaks[1] - 1) < 0.2, `${peaks.join(' and ')} Jy`);
  });

  it('of channels unlike the others: reported and left out', async () => {
    // A carrier of 100 kJy over eight channels at the model's own position: √(1 + 8 · 100 / 5) = 12.7 times the gain.
    const made = await corella('simulate', '--telescope', 'eda2', '--stations', '6', '--time', '2026-03-01T12:00:00Z', '--sources', 'spot@60:90:5000', '--rate', '100kHz', '--frequency', '160MHz', '--tone', '160.0125MHz:100000:60:90', '--duration', '60ms', '-o', 'tone.sigmf-meta', '--quiet'); // prettier-ignore
    assert.equal(made.code, 0, made.stderr);
    const correlated = await corella('correlate', 'tone.sigmf-meta', '--channels', '8', '--bits', 'float', '-o', 'tone.uvfits', '--quiet'); // prettier-ignore
    assert.equal(correlated.code, 0, correlated.stderr);
    const ran = await corella('calibrate', 'tone.uvfits', '--sources', 'spot@60:90:5000', '-o', 'odd.json', '--quiet'); // prettier-ignore
    assert.equal(ran.code, 0, ran.stderr);
    const [, level] = /left out: channel 5 \(160\.012 MHz; gains (\d+) times the median channel's\)/.exec(ran.stdout) ?? []; // prettier-ignore
    assert.ok(Number(level) > 10 && Number(level) < 18, ran.stdout);
    for (const path of ['odd.json', 'odd.calh5']) {
      const { solved } = await readGainFile(file(path));
      const inputs = solved.length / CHANNELS;
      const inChannel = (c: number): number[] => [...solved.subarray(c * inputs, (c + 1) * inputs)];
      assert.ok(!inChannel(5).includes(1) && !inChannel(1).includes(0), path);
    }
    const kept = await corella('calibrate', 'tone.uvfits', '--sources', 'spot@60:90:5000', '--odd', '0', '-o', 'kept.json', '--quiet'); // prettier-ignore
    assert.equal(kept.code, 0, kept.stderr);
    assert.ok(!(await readGainFile(file('kept.json'))).solved.includes(0));
  });
});
