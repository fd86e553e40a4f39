/**
 * image --direct through the command line: channelised data of 4 bits, without autocorrelations, and unsuitable arrays.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { corellaHere, withFolder } from './corella.js';
import { randomStream } from '../core/random.js';
import { readFitsImage } from '../formats/index.js';

const image = ['--pixels', '48', '--no-picture', '--overwrite'];

it('4-bit spectra imaged directly without autocorrelations are what their visibilities give, to the predicted error', () =>
  withFolder(async (folder) => {
    const run = async (...words: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await corellaHere(folder, ...words, '--backend', 'cpu');
      assert.equal(code, 0, stderr);
      return stdout;
    };
    // One source and equal antennas: the bound is on the error of a source, relative to its peak.
    const source = ['--sources', 'A@70:120:100000', '--perfect'];
    const simulation = ['--telescope', onSlope(folder, 'level', 0, 0), '--duration', '1ms', ...source];
    assert.equal((await corellaHere(folder, 'simulate', ...simulation, '-o', 'v.sigmf-meta')).code, 0);
    await run('channelise', 'v.sigmf-meta', '--channels', '4', '--bits', '4', '-o', 's.sigmf-meta');
    await run('correlate', 's.sigmf-meta', '-o', 'v.uvh5');
    await run('image', 'v.uvh5', '-o', 'by.fits', ...image);
    const direct = ['image', '--direct', 's.sigmf-meta', '-o', 'direct.fits', '--no-autos', '--json'];
    const { directError, imaging } = JSON.parse(await run(...direct, ...image)) as {
      directError: number;
      imaging: { method: string; predictedError: number };
    };
    assert.deepEqual([imaging.method, imaging.predictedError], ['direct', directError]);
    const header = readFileSync(join(folder, 'direct.fits'), 'latin1');
    assert.match(header, /HISTORY images are made directly from spectra \(EPIC\), off by at most/);
    const [by, directly] = await Promise.all(
      ['by.fits', 'direct.fits'].map((name) => readFitsImage(join(folder, name))),
    );
    assert.ok(Math.abs(by.centre.raDeg - directly.centre.raDeg) < 1e-6);
    assert.ok(Math.abs(by.centre.decDeg - directly.centre.decDeg) < 1e-6);
    let [worst, peak] = [0, 0];
    for (let k = 0; k < by.pixels ** 2; k++) {
      assert.equal(Number.isNaN(by.values[k]), Number.isNaN(directly.values[k]), `pixel ${k}`);
      if (Number.isNaN(by.values[k])) continue;
      worst = Math.max(worst, Math.abs(by.values[k] - directly.values[k]));
      peak = Math.max(peak, Math.abs(by.values[k]));
    }
    assert.equal(by.values.length, directly.values.length, 'the same Stokes parameters by default');
    assert.ok(worst < directError * peak, `${worst / peak} of the peak, ${directError} predicted`);
    for (const option of [['--kernel', '5'], ['--autos']])
      assert.equal((await corellaHere(folder, 'image', 'v.uvh5', ...option, ...image)).code, 1);
  }));

/** Stations in a circle of 12 m whose heights deviate from a slope by the given amounts. */
function onSlope(folder: string, name: string, heightsM: number, slopeDeg = 10): string {
  const random = randomStream(5, 'slope');
  const rows = Array.from({ length: 24 }, (_, s) => {
    const [radius, angle] = [12 * Math.sqrt(random.uniform()), 2 * Math.PI * random.uniform()];
    const eastM = radius * Math.cos(angle);
    const upM = eastM * Math.tan((slopeDeg * Math.PI) / 180) + heightsM * random.gaussian();
    return `s${s},${eastM.toFixed(3)},${(radius * Math.sin(angle)).toFixed(3)},${upM.toFixed(4)}`;
  });
  writeFileSync(join(folder, `${name}.csv`), ['name,east_m,north_m,up_m', ...rows, ''].join('\n'));
  const description = {
    name,
    title: name,
    positions: `${name}.csv`,
    polarisations: 2,
    beamExponent: 0.8,
    site: { latitudeDeg: -26.7, longitudeDeg: 116.67, heightM: 360 },
    band: { lowHz: 50e6, highHz: 350e6 },
    recording: { centreFrequencyHz: 150e6, sampleRateHz: 1e6, channels: 32, bits: 8 },
  };
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(description));
  return `${name}.json`;
}

it('a slope is imaged in its own plane; heights are reported, and refused where they are too large', () =>
  withFolder(async (folder) => {
    for (const [name, heightsM, code, said] of [
      [
        'smooth',
        0,
        0,
        /in the plane of the stations: its centre is 10\.\d° from the zenith.* towards azimuth 90° is behind/,
      ],
      ['rough', 0.3, 0, /\d+\.\d % of a source.*\[image\.direct-error\]/],
      [
        'hills',
        2,
        1,
        /needs stations in one plane: here it would be off by up to \d+ % of a source|kernels are \d+ % wrong/,
      ],
    ] as const) {
      const words = ['--telescope', onSlope(folder, name, heightsM), '--duration', '1ms'];
      await corellaHere(folder, 'simulate', ...words, '-o', `${name}.sigmf-meta`);
      const ran = await corellaHere(folder, 'image', '--direct', `${name}.sigmf-meta`, ...image.slice(2));
      assert.equal(ran.code, code, ran.stderr);
      assert.match(ran.stdout + ran.stderr, said);
    }
  }));
