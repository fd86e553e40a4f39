/** With gains per solution interval, each interval is tested as it would be alone. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { z } from 'zod';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { readGainFile } from '../formats/index.js';
import { corellaHere } from './corella.js';
import { randomGains, writeKnownSky } from './known-sky.js';

const STATIONS = 12;
const spots = [
  { altDeg: 70, azDeg: 20, stokes: [100, 0, 0, 0] as const },
  { altDeg: 50, azDeg: 130, stokes: [60, 0, 0, 0] as const },
];
const sources = spots.map(({ altDeg, azDeg, stokes: [jy] }, n) => `s${n}@${altDeg}:${azDeg}:${jy}`).join(',');
const reportSchema = z.looseObject({
  solves: z.number(),
  worstResidual: z.number(),
  solutionsInTime: z.number(),
  timesLeftOut: z.array(z.looseObject({ timeUtc: z.string(), unexplained: z.number() })).optional(),
  unconverged: z.array(z.looseObject({ timeUtc: z.string().optional() })),
});

describe('gains every so often', () => {
  const folder = temporaryFolder('solve-intervals');
  const calibrate = (name: string, ...more: string[]) =>
    corellaHere(folder, 'calibrate', name, '--sources', sources, '-o', 'gains.json', '--overwrite', '--quiet', ...more); // prettier-ignore

  before(async () => {
    const sky = {
      stations: STATIONS,
      radiusM: 40,
      frequenciesHz: [150e6],
      sources: spots,
      noiseJy: 0.1,
      jones: randomGains(3, STATIONS, 1),
      times: 6,
    };
    /** A sky that is not in the model, stronger than that of the model. */
    const other =
      (from: number) =>
      (time: number, _: number, [i, j]: readonly [number, number]) =>
        time < from || i === j
          ? ([0, 0] as const)
          : ([400 * Math.cos(i * i + 3 * j), 400 * Math.sin(i * i + 3 * j)] as const);
    await writeKnownSky(join(folder, 'late.uvfits'), { ...sky, added: other(4) });
    await writeKnownSky(join(folder, 'all.uvfits'), { ...sky, added: other(0) });
    await writeKnownSky(join(folder, 'good.uvfits'), sky);
  });

  it('have none where the model does not explain the sky, and report when', async () => {
    const alone = await calibrate('late.uvfits', '--integration-number', '4');
    assert.equal(alone.code, 1, alone.stdout);
    const ran = await calibrate('late.uvfits', '--solve-every', '4s', '--json');
    assert.equal(ran.code, 2, ran.stderr);
    assert.match(ran.stderr, /1 of 3 times have no gains: the model explains \d+ % of the sky's power there, at 2026-03-01T12:00:1\d/); // prettier-ignore
    const found = reportSchema.parse(JSON.parse(ran.stdout));
    assert.equal(found.solutionsInTime, 2);
    assert.equal(found.solves, 4);
    assert.ok(found.worstResidual < 0.05, ran.stdout);
    assert.equal(found.timesLeftOut?.length, 1);
    const file = await readGainFile(join(folder, 'gains.json'));
    const series = [file, ...(file.later ?? [])].map(({ solved }) => solved.includes(1));
    assert.deepEqual(series, [true, true, false]);
    // Accepted on request, with the worst interval reported.
    const accepted = await calibrate('late.uvfits', '--solve-every', '4s', '--accept-model');
    assert.equal(accepted.code, 0, accepted.stderr);
    assert.match(accepted.stdout, /the model explains \d+ % of the sky's power, at 2026-03-01T12:00:1\d.*\[calibrate\.model-poor\]/); // prettier-ignore
    assert.match(accepted.stdout, /residual median .*, maximum (?:[3-9]\d|100)\.\d %/);
  });

  it('are refused where the model explains no interval', async () => {
    const ran = await calibrate('all.uvfits', '--solve-every', '4s');
    assert.equal(ran.code, 1, ran.stdout);
    assert.match(ran.stderr, /the model explains .* at the best of 3 times: its gains would misplace the sky/); // prettier-ignore
  });

  it('count the solves of all intervals', async () => {
    const ran = await calibrate('good.uvfits', '--solve-every', '4s', '--json');
    assert.equal(ran.code, 0, ran.stderr);
    const found = reportSchema.parse(JSON.parse(ran.stdout));
    assert.deepEqual([found.solves, found.solutionsInTime, found.timesLeftOut], [6, 3, undefined]);
  });
});
