/** corella apply: visibilities divided by gains, and flagged where there are none. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openFile, readGainFile } from '../formats/index.js';
import { corellaHere } from './corella.js';
import { randomGains, writeKnownSky } from './known-sky.js';

const STATIONS = 8;
const SPOT = ['--sources', 'spot@70:30:100', '--polarise', 'spot:0.1:0.3:0.1'] as const;
const sources = [{ altDeg: 70, azDeg: 30, stokes: [100, 10, 30, 10] as const }];

describe('apply', () => {
  const folder = temporaryFolder('apply');
  const corella = async (...words: string[]) => {
    const ran = await corellaHere(folder, ...words, '--quiet');
    assert.equal(ran.code, 0, ran.stderr);
    return ran.stdout;
  };
  const stored = async (name: string) => {
    const file = await openFile(join(folder, name));
    assert.ok(file.kind === 'visibilities');
    try {
      for await (const { passThrough } of file.integrations())
        if (passThrough) return { ...passThrough, unit: file.header.units };
      throw new Error('no integration');
    } finally {
      await file.close();
    }
  };

  before(async () => {
    const sky = { stations: STATIONS, radiusM: 15, frequenciesHz: [150e6, 151e6], sources };
    await writeKnownSky(join(folder, 'raw.uvh5'), {
      ...sky,
      jones: randomGains(6, STATIONS, 2),
      noiseJy: 0.1,
    });
    await writeKnownSky(join(folder, 'truth.uvh5'), sky);
    await corella('calibrate', 'raw.uvh5', ...SPOT, '--flag', 's5:Y', '-o', 'gains.json');
    await corella('calibrate', 'raw.uvh5', '--sources', 'spot@70:30:100', '--polarise', 'spot:0.1:0:0', '-o', 'blind.json'); // prettier-ignore
  });

  it('gives the sky that was put in, in Jy, by either form of gains and into either format', async () => {
    const truth = await stored('truth.uvh5');
    for (const [gains, to] of [
      ['gains.json', 'fixed.uvh5'],
      ['gains.calh5', 'fixed.uvfits'],
    ] as const) {
      // prettier-ignore
      const said = await corella('apply', 'raw.uvh5', gains, to);
      assert.match(said, /1 integration in Jy/);
      const fixed = await stored(to);
      assert.equal(fixed.unit, 'Jy');
      let [worst, flagged] = [0, 0];
      fixed.weights.forEach((weight, at) => {
        if (!(weight > 0)) flagged++;
        else
          worst = Math.max(
            worst,
            Math.hypot(
              fixed.means[2 * at] - truth.means[2 * at],
              fixed.means[2 * at + 1] - truth.means[2 * at + 1],
            ),
          );
      });
      // Noise of 0.1 Jy per part through gains of 0.8 and more: at most five times that.
      assert.ok(worst < 1, `${to}: ${worst} Jy off`);
      // In each of two channels s5:Y is in two products of seven pairs, and in three of its own autocorrelation.
      const byHand = 2 * (7 * 2 + 3);
      assert.equal(flagged, byHand, to);
    }
  });

  it('reports gains of another time, and images with them do too', async () => {
    const gains = JSON.parse(await readFile(join(folder, 'gains.json'), 'utf8')) as { time: string };
    const time = new Date(Date.parse(gains.time) - 3 * 3600e3).toISOString();
    await writeFile(join(folder, 'old.json'), JSON.stringify({ ...gains, time }));
    const far = /old\.json: its nearest gains are of .*, up to 3 h 0 min from the data/;
    assert.match(await corella('apply', 'raw.uvh5', 'old.json', 'aged.uvh5'), far);
    const image = ['image', 'raw.uvh5', '--pixels', '32', '--no-picture'];
    assert.match(await corella(...image, '--gains', 'old.json', '-o', 'aged.fits'), far);
    assert.doesNotMatch(await corella(...image, '--gains', 'gains.json', '-o', 'new.fits'), /nearest gains/);
  });

  it('is V over g conj(g) to the last digits that the file keeps', async () => {
    const [raw, fixed] = [await stored('raw.uvh5'), await stored('fixed.uvh5')];
    const { gains } = await readGainFile(join(folder, 'gains.json'));
    const g = (c: number, a: number) => [
      gains[2 * (c * 2 * STATIONS + a)],
      gains[2 * (c * 2 * STATIONS + a) + 1],
    ];
    let worst = 0;
    for (const [c, i, j, p, q] of [
      [0, 3, 1, 0, 1],
      [1, 7, 2, 1, 0],
      [1, 4, 0, 1, 1],
      [0, 6, 5, 0, 0],
    ] as const) {
      // prettier-ignore
      const at = 2 * (((c * 36 + (i * (i + 1)) / 2 + j) * 2 + p) * 2 + q);
      const [a, b] = g(c, 2 * i + p);
      const [d, e] = g(c, 2 * j + q);
      // fixed · g_i · conj(g_j) = raw
      const [re, im] = [a * d + b * e, b * d - a * e];
      const [x, y] = fixed.means.subarray(at, at + 2);
      const size = Math.hypot(raw.means[at], raw.means[at + 1]);
      worst = Math.max(worst, Math.hypot(x * re - y * im - raw.means[at], x * im + y * re - raw.means[at + 1]) / size); // prettier-ignore
    }
    assert.ok(worst < 1e-6, String(worst));
  });

  it('flags cross hands whose phase is unknown', async () => {
    const said = await corella('apply', 'raw.uvh5', 'blind.json', 'blind.uvh5');
    assert.match(said, /\[gains\.cross-hands-flagged\]/);
    // Every input has a gain.
    assert.ok(!said.includes('[gains.values-flagged]'), said);
    const { weights } = await stored('blind.uvh5');
    // XX, XY, YX, YY of each pair.
    assert.ok(weights.every((weight, at) => weight > 0 === [0, 3].includes(at % 4)));
    const trusted = await corella('apply', 'raw.uvh5', 'blind.json', 'trusted.uvh5', '--cross-hand', 'known');
    assert.ok(!trusted.includes('flagged'), trusted);
  });

  it('relative gains leave data in counts, not in Jy', async () => {
    const gains = JSON.parse(await readFile(join(folder, 'gains.json'), 'utf8')) as object;
    await writeFile(join(folder, 'relative.json'), JSON.stringify({ ...gains, fluxScale: 'relative' }));
    const said = await corella('apply', 'raw.uvh5', 'relative.json', 'relative.uvh5');
    assert.match(said, /1 integration in counts/);
    const [relative, absolute] = [await stored('relative.uvh5'), await stored('fixed.uvh5')];
    assert.notEqual(relative.unit, 'Jy');
    assert.deepEqual(relative.means, absolute.means);
  });
});
