/** calibrate with a sky model file: extended, curved and polarised sources. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { z } from 'zod';
import { parseInstant } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { readGainFile } from '../formats/index.js';
import { directionFromAltAz, skyFrame } from '../sky/frame.js';
import { corellaHere } from './corella.js';
import { knownTelescope, randomGains, writeKnownSky, type KnownSky } from './known-sky.js';

const reportSchema = z.looseObject({
  worstResidual: z.number(),
  crossHand: z.looseObject({ how: z.string() }),
  sources: z.array(z.string()),
});

it('a sky model by file describes the sky that a formula wrote', async () => {
  const folder = temporaryFolder('sky-model');
  const sky: KnownSky = {
    stations: 12,
    radiusM: 15,
    frequenciesHz: [150e6],
    jones: randomGains(8, 12, 1),
    sources: [
      { altDeg: 70, azDeg: 30, stokes: [100, 5, 20, 10], widthDeg: 4 },
      { altDeg: 50, azDeg: 200, stokes: [60, 0, 0, 0] },
    ],
  };
  await writeKnownSky(join(folder, 'sky.uvfits'), sky);
  const frame = skyFrame(knownTelescope(sky).site, parseInstant('2026-03-01T12:00:01Z', 'sky model'));
  const at = (altDeg: number, azDeg: number): string => {
    const { raDeg, decDeg } = frame.positionOf(directionFromAltAz(altDeg, azDeg));
    return `${raDeg.toFixed(8)}deg, ${decDeg.toFixed(8)}deg`;
  };
  const list = (width: number): string =>
    'Format = Name, Type, Ra, Dec, I, Q, U, V, MajorAxis, MinorAxis, Orientation\n' +
    `wide, GAUSSIAN, ${at(70, 30)}, 100, 5, 20, 10, ${width}, ${width}, 0\n` +
    `point, POINT, ${at(50, 200)}, 60, 0, 0, 0, , , \n`;
  await writeFile(join(folder, 'model.txt'), list(4 * 3600));
  await writeFile(join(folder, 'points.txt'), list(0));
  const calibrate = async (model: string) => {
    const ran = await corellaHere(folder, 'calibrate', 'sky.uvfits', '--sources', model, '--json', '--accept-model', '-o', 'g.json', '--overwrite'); // prettier-ignore
    assert.equal(ran.code, 0, ran.stderr);
    return reportSchema.parse(JSON.parse(ran.stdout));
  };
  const right = await calibrate('model.txt');
  // No noise: the residual is the error of positions and shapes, and float32 of the file.
  assert.ok(right.worstResidual < 1e-4, String(right.worstResidual));
  assert.equal(right.crossHand.how, 'model');
  assert.deepEqual(right.sources.sort(), ['point', 'wide']);
  const points = await calibrate('points.txt');
  assert.ok(points.worstResidual > 0.02, String(points.worstResidual));
  const simulate = await corellaHere(folder, 'simulate', '--sources', 'model.txt', '--quiet');
  assert.match(simulate.stderr, /wide is extended; the simulator draws points/);
});

it('calibrators are named by their catalogue numbers, and have the places and fluxes that others list', async () => {
  const folder = temporaryFolder('calibrators');
  // Positions from NED; fluxes at 150 MHz after Scaife & Heald (2012): 83.1 and 66.7 Jy.
  const listed = [
    { raDeg: 15 * (8 + 13 / 60 + 36.03 / 3600), decDeg: 48 + 13 / 60 + 2.6 / 3600, jy: 83.1 },
    { raDeg: 15 * (5 + 42 / 60 + 36.14 / 3600), decDeg: 49 + 51 / 60 + 7.2 / 3600, jy: 66.7 },
  ];
  const site = { latitudeDeg: 40, longitudeDeg: 116.67, heightM: 0 };
  const frame = skyFrame(site, parseInstant('2026-03-01T12:00:01Z', 'calibrators'));
  const sky: KnownSky = {
    stations: 12,
    radiusM: 60,
    frequenciesHz: [150e6],
    telescope: { site },
    unit: 'Jy',
    sources: listed.map(({ raDeg, decDeg, jy }) => {
      const { x, y, z } = frame.directionEnu({ raDeg, decDeg });
      const [altDeg, azDeg] = [Math.asin(z), Math.atan2(x, y)].map((angle) => (angle * 180) / Math.PI);
      return { altDeg, azDeg, stokes: [jy, 0, 0, 0] };
    }),
  };
  await writeKnownSky(join(folder, 'sky.uvfits'), sky);
  const calibrate = (...words: string[]) =>
    corellaHere(folder, 'calibrate', 'sky.uvfits', '--json', '-o', 'g.json', '--overwrite', ...words);
  const ran = await calibrate('--sources', '3C196,3C147');
  assert.equal(ran.code, 0, ran.stderr);
  const { worstResidual, sources } = reportSchema.parse(JSON.parse(ran.stdout));
  assert.deepEqual(sources.sort(), ['3C147', '3C196']);
  // Perley & Butler (2017) and Scaife & Heald differ by a few per cent; gains absorb the common part.
  assert.ok(worstResidual < 0.03, String(worstResidual));
  const { gains } = await readGainFile(join(folder, 'g.json'));
  for (let at = 0; at < gains.length; at += 2)
    assert.ok(Math.abs(Math.hypot(gains[at], gains[at + 1]) - 1) < 0.03, `gain ${at / 2}`);
  // One of them alone leaves the fringes of the other.
  const alone = reportSchema.parse(
    JSON.parse((await calibrate('--sources', '3C196', '--accept-model')).stdout),
  );
  assert.ok(alone.worstResidual > 0.3, String(alone.worstResidual));
});
