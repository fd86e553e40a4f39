/** Two dishes on a roof: a drift scan measures the errors of the tape and a cable; a recording shows its fringes. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { DRIFT } from '../skies/index.js';
import { loadTelescope } from '../telescope/load.js';
import { corellaHere, program } from './corella.js';

interface Said {
  readonly fringes: {
    readonly source?: { readonly name: string };
    readonly velocitiesKmPerS?: readonly number[];
    readonly powers: readonly { readonly spectrum: readonly number[] }[];
    readonly baselines: readonly {
      readonly name: string;
      readonly phasesDeg: readonly (number | null)[];
      readonly lags: { readonly peakS: number | null };
      readonly fit?: Readonly<
        Record<'eastM' | 'eastErrorM' | 'meridianM' | 'meridianErrorM' | 'signalToNoise', number>
      > & { readonly covarianceM2: readonly (readonly number[])[] };
    }[];
  };
}

describe('a telescope on a roof', () => {
  const folder = temporaryFolder('roof');
  const said = async (...words: readonly string[]): Promise<Said> => {
    const { code, stdout, stderr } = await corellaHere(folder, ...words, '--json');
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as Said;
  };

  it('finds the baseline and the cable of its drift scan, and draws it', async () => {
    assert.equal((await corellaHere(folder, 'sample', 'roof')).code, 0);
    const { fringes } = await said('inspect', 'drift.uvh5', '--fringe-of', 'Sun', '--fringes', 'fringes.png');
    const [{ fit, name, lags }] = fringes.baselines;
    assert.ok(fit);
    assert.deepEqual([name, fringes.source?.name], ['west–east', 'Sun']);
    // At 52.37° north: up the meridian is −sin 52.37° of north and cos 52.37° of up.
    const meridianM = -0.79198 * DRIFT.offM.y + 0.61055 * DRIFT.offM.z;
    assert.ok(Math.abs(fit.eastM - DRIFT.offM.x) < 5 * fit.eastErrorM && fit.eastErrorM < 1e-4);
    assert.ok(Math.abs(fit.meridianM - meridianM) < 5 * fit.meridianErrorM && fit.meridianErrorM < 1e-3);
    assert.ok(Math.abs(fit.covarianceM2[0][0] / fit.eastErrorM ** 2 - 1) < 1e-9);
    assert.ok(lags.peakS !== null && Math.abs(lags.peakS + DRIFT.cableS) < 3e-9, String(lags.peakS));
    // 1420.4058 MHz is in the band: velocities fall with frequency, through 0.
    const velocities = fringes.velocitiesKmPerS ?? [];
    assert.ok(velocities[0] > 0 && velocities[velocities.length - 1] < 0);
    const spectrum = fringes.powers[0].spectrum;
    const peakKmPerS = velocities[spectrum.indexOf(Math.max(...spectrum))];
    assert.ok(Math.abs(peakKmPerS - DRIFT.hydrogen.atKmPerS) < 8, `hydrogen at ${peakKmPerS} km/s`);
    const png = await readFile(join(folder, 'fringes.png'));
    assert.equal(png.subarray(1, 4).toString(), 'PNG');
  });

  it('shows a recording, and refuses what has no fringes', async () => {
    const { fringes } = await said('inspect', 'both.sigmf-meta', '--fringe-of', 'Sun');
    const [{ phasesDeg, lags }] = fringes.baselines;
    assert.ok(phasesDeg.length >= 1 && lags.peakS !== null && Math.abs(lags.peakS) < 20e-9);
    const gains = await corellaHere(folder, 'inspect', 'both.sigmf-meta', '--fringe-of', 'nowhere');
    assert.match(gains.stderr, /--fringe-of: 'nowhere' is no source/);
    assert.equal((await corellaHere(folder, 'sample', 'tart')).code, 0);
    const many = await corellaHere(folder, 'inspect', 'tart-raw.hdf', '--fringes', 'many.png');
    assert.equal(many.code, 1);
    assert.match(many.stderr, /has \d+ stations, and fringes are shown of two to 8/);
  });

  it('is described by answers, and what is no answer is refused', async () => {
    const answers = [
      'roof',
      'a roof',
      '52.37',
      '4.9',
      '12',
      '1420MHz',
      '',
      '',
      'a',
      'b 10@90',
      'c 0 -3 0.5',
      '',
    ];
    const ask = (lines: readonly string[], out: string) =>
      spawnSync(process.execPath, [program, 'telescope', '-o', out, '--json'], {
        cwd: folder,
        encoding: 'utf8',
        input: `${lines.join('\n')}\n`,
      });
    const made = ask(answers, 'mine.json');
    assert.equal(made.status, 0, made.stderr);
    const printed = JSON.parse(made.stdout) as { readonly baselines: { lengthM: number }[] };
    const { baselines } = printed;
    assert.deepEqual(
      Object.keys(printed).filter((field) => !['jsonVersion', 'messages'].includes(field)),
      ['description', 'positions', 'antennas', 'baselines', 'wavelengthM'],
    );
    const lengths = [10, Math.hypot(3, 0.5), Math.hypot(10, 3, 0.5)];
    for (const [k, lengthM] of lengths.entries()) assert.ok(Math.abs(baselines[k].lengthM - lengthM) < 1e-9);
    const telescope = await loadTelescope(join(folder, 'mine.json'));
    assert.deepEqual(
      telescope.stations.map(({ name, eastM, northM, upM }) => [name, eastM, northM, upM]),
      [
        ['a', 0, 0, 0],
        ['b', 10, 0, 0],
        ['c', 0, -3, 0.5],
      ],
    );
    assert.equal(telescope.recording.sampleRateHz, 2.4e6);
    const refused: readonly (readonly [readonly string[], RegExp])[] = [
      [[...answers.slice(0, 9), 'a 1 2', ''], /a is there already/],
      [[...answers.slice(0, 9), 'b 1', ''], /'1' is no place/],
      [answers.slice(0, 5), /no answer to "Centre frequency/],
      [['roof', 'a roof', '95'], /'95' is no number from -90 to 90/],
      [[...answers.slice(0, 9), ''], /one antenna has no baseline/],
    ];
    for (const [lines, words] of refused) {
      const { status, stderr } = ask(lines, 'other.json');
      assert.equal(status, 1);
      assert.match(stderr, words);
      assert.ok(!existsSync(join(folder, 'other.json')));
    }
    assert.match(ask(answers, 'mine.json').stderr, /is there already/);
  });
});
