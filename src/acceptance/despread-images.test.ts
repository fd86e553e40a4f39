/**
 * A public recording of a TART: the image of each satellite from its despread correlations has its peak where an
 * independent program's fit of the same recording has the satellite.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openFile } from '../formats/index.js';
import { calibrateByGnss, imageOf, imagePixel } from '../gnss/index.js';

/**
 * Direction cosines, east and north, from PRN 31, of a program of ours in numpy that shares no code: it despreads with
 * its own codes and fits phases from random starts, 230 phases to 16.0° rms. Without a known direction all have a common
 * shift.
 */
const others = new Map([
  [31, [0, 0]],
  [27, [-0.73, 0.08]],
  [26, [-0.09, -0.6]],
  [28, [0.26, 0.43]],
  [8, [-1.06, 0.48]],
  [16, [-0.6, -0.63]],
  [18, [0.44, -0.4]],
  [32, [-0.13, 1.01]],
  [4, [-1.15, -0.33]],
  [2, [-0.67, 1]],
]);

const path = join(process.env.CORELLA_TEST_DATA ?? '', 'tart', 'mg-tana-raw.hdf');
const skip =
  process.env.CORELLA_TEST_DATA !== undefined && existsSync(path)
    ? false
    : 'CORELLA_TEST_DATA has no raw recording of a TART';

describe('images of despread satellites', () => {
  it('have their peaks where the satellites are', { skip }, async () => {
    const file = await openFile(path);
    assert.ok(file.kind === 'voltages' && file.telescope);
    const { stations } = file.telescope;
    const { waves, solved } = await calibrateByGnss(file, file.telescope, {
      durationS: 0.06,
      mostDopplerHz: 7000,
      directions: new Map(),
      positions: 'given',
    });
    await file.close();
    const places = stations.map(({ eastM, northM, upM }) => ({ x: eastM, y: northM, z: upM }));
    const images = new Map(waves.map((wave) => [wave.prn, imageOf(wave, places, solved)]));
    assert.deepEqual(
      [...images.keys()].sort((x, y) => x - y),
      [2, 4, 8, 9, 16, 18, 26, 27, 28, 31, 32],
    );
    const origin = images.get(31);
    assert.ok(origin);
    for (const [prn, [east, north]] of others) {
      const image = images.get(prn);
      assert.ok(image);
      const [l, m] = [image.peak.l - origin.peak.l, image.peak.m - origin.peak.m];
      // Both peaks are on pixels, and the fit has two digits.
      const off = Math.hypot(l - east, m - north);
      assert.ok(off < 1.5 * imagePixel, `PRN ${prn}: ${l.toFixed(3)}, ${m.toFixed(3)}`);
    }
    for (const [prn, { plane, peak }] of images) {
      const s = waves.findIndex((wave) => wave.prn === prn);
      const own = solved.satellites[s];
      assert.ok(Math.hypot(peak.l - own.l, peak.m - own.m) < 1.5 * imagePixel, `PRN ${prn}`);
      // One wave over all antennas: most of the power of the strongest eigenvector is at its peak.
      assert.ok(Math.max(...plane.filter((one) => !Number.isNaN(one))) > 0.6, `PRN ${prn}`);
    }
  });
});
