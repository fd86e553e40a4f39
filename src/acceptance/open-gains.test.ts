/**
 * Gains that the pairs do not determine are refused, or their stations left out: other gains would fit equally well.
 */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { readGainFile } from '../formats/index.js';
import { corellaHere } from './corella.js';
import { writeKnownSky, type Jones, type KnownSky } from './known-sky.js';

const FREQUENCIES_HZ = [150e6, 151e6];
/** Four stations here, and four 300 m to the east with twice the gain. */
const places = Array.from({ length: 8 }, (_, s) => ({
  name: `s${s}`,
  eastM: (s < 4 ? 0 : 300) + [0, 9, 3, 14][s % 4],
  northM: [0, 4, 11, 13][s % 4],
  upM: 0,
}));
const jones = (s: number): Jones => {
  const size = s < 4 ? 1 : 2;
  return [[size, 0], [0, 0], [0, 0], [size, 0]]; // prettier-ignore
};
const clusters: KnownSky = {
  stations: 8,
  radiusM: 10,
  frequenciesHz: FREQUENCIES_HZ,
  jones,
  telescope: { stations: places },
  sources: [
    { altDeg: 70, azDeg: 20, stokes: [100, 0, 0, 0] },
    { altDeg: 50, azDeg: 130, stokes: [80, 0, 0, 0] },
  ],
  noiseJy: 0.1,
};
const reportSchema = z.looseObject({
  solvesWithOpenGains: z.number(),
  leftOut: z.array(z.object({ station: z.number(), reason: z.string() })),
});

describe('gains that pairs leave open', () => {
  const folder = temporaryFolder('open-gains');
  const file = (name: string): string => join(folder, name);
  const corella = (...words: string[]) => corellaHere(folder, ...words, '--quiet');
  const calibrate = (name: string, ...more: string[]) =>
    corella('calibrate', name, '--sources', 's0@70:20:100,s1@50:130:80', '-o', 'gains.json', '--overwrite', ...more); // prettier-ignore
  const sizes = async (): Promise<number[]> => {
    const { gains, solved } = await readGainFile(file('gains.json'));
    return [...solved].map((mark, a) => (mark === 1 ? Math.hypot(gains[2 * a], gains[2 * a + 1]) : NaN));
  };

  it('two clusters with the pairs between them alone are refused, in both ways of solving', async () => {
    await writeKnownSky(file('two.uvfits'), clusters);
    // With all pairs the gains of both clusters are determined.
    const whole = await calibrate('two.uvfits', '--min-baseline', '0');
    assert.equal(whole.code, 0, whole.stderr);
    const found = await sizes();
    assert.equal(found.length, 32);
    found.forEach((size, a) => {
      assert.ok(Math.abs(size - (a % 16 < 8 ? 1 : 2)) < 0.02, `input ${a}: ${size}`);
    });
    for (const [how, what] of [
      [
        [],
        /the pairs of 8 stations leave their gains open: .*; leave out fewer baselines \(--min-baseline\)/,
      ],
      [
        ['--polarisation', 'full'],
        /8 stations with 16 pairs leave their matrices open: .*; keep \w+ stations/,
      ],
    ] as const) {
      const ran = await corella('calibrate', 'two.uvfits', '--sources', 's0@70:20:100,s1@50:130:80', '--min-baseline', '100', ...how, '-o', 'none.json'); // prettier-ignore
      assert.equal(ran.code, 1, ran.stdout);
      assert.match(ran.stderr, what);
      assert.ok(!(await readdir(folder)).some((name) => name.startsWith('none')));
    }
  });

  it('a cluster that no pair leads to is left out, with a warning', async () => {
    // Pairs between the clusters are flagged: each has an independent phase.
    const apart = [0, 1, 2, 3].flatMap((i) => [4, 5, 6, 7].map((j) => `s${i}&s${j}`)).join(',');
    await writeKnownSky(file('apart.uvfits'), clusters);
    const ran = await calibrate('apart.uvfits', '--min-baseline', '0', '--flag', apart, '--json');
    assert.equal(ran.code, 0, ran.stderr);
    const { leftOut } = reportSchema.parse(JSON.parse(ran.stdout));
    assert.deepEqual(
      leftOut,
      [4, 5, 6, 7].map((station) => ({ station, reason: 'apart' })),
    );
    (await sizes()).forEach((size, a) => {
      if (a % 16 < 8) assert.ok(Math.abs(size - 1) < 0.02, `input ${a}: ${size}`);
      else assert.ok(Number.isNaN(size), `input ${a} has a gain`);
    });
    const lines = await calibrate('apart.uvfits', '--min-baseline', '0', '--flag', apart);
    assert.match(lines.stdout, /left out: s4 .*\[calibrate\.inputs-left-out\]/);
  });
});
