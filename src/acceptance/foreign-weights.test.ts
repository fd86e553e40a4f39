/**
 * Weights of other programs do not count samples: a wrong model is detected anyway, or the output says it cannot be.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openFile, visibilityFormatFor } from '../formats/index.js';
import { corellaHere } from './corella.js';
import { randomGains, writeKnownSky } from './known-sky.js';

const STATIONS = 16;
const spots = [
  { altDeg: 65, azDeg: 30, jy: 90 },
  { altDeg: 52, azDeg: 160, jy: 70 },
  { altDeg: 58, azDeg: 275, jy: 50 },
];
const model = (turnDeg: number): string =>
  spots.map(({ altDeg, azDeg, jy }, n) => `s${n}@${altDeg}:${azDeg + turnDeg}:${jy}`).join(',');

void describe('weights that count no samples', () => {
  const folder = temporaryFolder('foreign-weights');
  const calibrate = (name: string, sources: string, ...more: string[]) =>
    corellaHere(folder, 'calibrate', name, '--sources', sources, '-o', 'gains.json', '--overwrite', ...more);
  /** The same means with weights of `weight`, as in programs that count integrations, or use inverse variances. */
  const weighed = async (name: string, weight: number): Promise<void> => {
    const file = await openFile(join(folder, 'counted.uvh5'));
    assert.ok(file.kind === 'visibilities');
    const path = join(folder, name);
    const writer = await visibilityFormatFor(path).createVisibilities(path, file.header);
    for await (const { passThrough, ...one } of file.integrations()) {
      assert.ok(passThrough);
      const by = weight / one.counts[0];
      const counts = one.counts.map((count) => count * by) as typeof one.counts;
      const visibilities = one.visibilities.map((value) => value * by) as typeof one.visibilities;
      await writer.append({ ...one, counts, visibilities });
    }
    await writer.finish();
    await file.close();
  };
  before(async () => {
    await writeKnownSky(join(folder, 'counted.uvh5'), {
      stations: STATIONS,
      radiusM: 30,
      frequenciesHz: [150e6, 150.2e6, 150.4e6],
      noiseJy: 1,
      jones: randomGains(3, STATIONS, 3),
      sources: spots.map(({ altDeg, azDeg, jy }) => ({ altDeg, azDeg, stokes: [jy, 0, 0, 0] as const })),
    });
    for (const [name, weight] of Object.entries({ 'ones.uvh5': 1, 'eight.uvh5': 8, 'huge.uvh5': 1e9 }))
      await weighed(name, weight);
    const autos = Array.from({ length: STATIONS }, (_, s) => `s${s}&s${s}`).join(',');
    const { code, stderr } = await corellaHere(
      folder,
      ...['convert', 'ones.uvh5', 'crosses.uvh5', '--flag', autos],
    );
    assert.equal(code, 0, stderr);
  });

  for (const name of ['ones.uvh5', 'eight.uvh5', 'huge.uvh5'])
    void it(`${name}: a sky turned by 40° is refused, the right one is not`, async () => {
      const wrong = await calibrate(name, model(40));
      assert.equal(wrong.code, 1, wrong.stdout);
      assert.match(wrong.stderr, /the model explains \d+ % of the sky's power without noise/);
      const right = await calibrate(name, model(0), '--json');
      assert.equal(right.code, 0, right.stderr);
      const found = (JSON.parse(right.stdout) as { model: { unexplained: number } }).model;
      assert.ok(found.unexplained < 0.01, right.stdout);
    });

  void it('a single autocorrelation that is missing hides nothing', async () => {
    const { code, stderr } = await calibrate('ones.uvh5', model(40), '--flag', 's3&s3');
    assert.equal(code, 1);
    assert.match(stderr, /the model explains \d+ % of the sky's power/);
  });

  void it('are unknown without autocorrelations, with a warning', async () => {
    const { code, stdout, stderr } = await calibrate('crosses.uvh5', model(40));
    assert.equal(code, 0, stderr);
    assert.match(
      stdout,
      /leaves \d+ % of the data's power, and without autocorrelations it is unknown how much of that is noise: whether it is the right sky is unknown/,
    );
  });
});
