/**
 * Real UVFITS files of other programs, compared with what other programs read from them. They are not part of the
 * project: CORELLA_TEST_DATA names their folder; without it these tests are skipped.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { baselineIndex } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { addSeconds, julianDate } from '../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { dot, type Vector3 } from '../core/vector.js';
import { skyFrame } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import { readUnit } from './fits/fits.js';
import type { VisibilityFile } from './format.js';
import { openInput } from './io/input.js';
import { openFile } from './registry.js';
import { planUvfits } from './visibilities/uvfits/layout.js';
import { readGroups } from './visibilities/uvfits/rows.js';

const folder = process.env.CORELLA_TEST_DATA;

interface Expected {
  readonly path: string;
  readonly telescope: string;
  readonly stations: number;
  readonly firstStation: string;
  readonly site: readonly [number, number, number];
  readonly times: number;
  /** Middle of the first integration. */
  readonly julianDate: number;
  readonly firstFrequencyHz: number;
  readonly channels: number;
  readonly products: readonly string[];
  readonly phaseCentre: readonly [number, number];
  readonly check?: (integrations: readonly Integration[], file: VisibilityFile) => void;
  /** Over every value of the file, unscaled. */
  readonly sumOfParts?: number;
  readonly positiveWeights?: number;
}

const files: readonly Expected[] = [
  {
    path: 'uvfits/lsl-uv-test.uvfits',
    telescope: 'LWA1',
    stations: 5,
    firstStation: 'LWA173',
    site: [34.068894, -107.62835, 2133.6],
    times: 1,
    // As in the groups; DATE-OBS has 20:36:26, which single precision lost.
    julianDate: 2_456_356.25,
    firstFrequencyHz: 40_003_906.25,
    channels: 418,
    products: ['XX'],
    // As in its SU table; its header's RA is in radians, for the equinox of date.
    phaseCentre: [324.891446446171, 34.008851344062016],
    check: ([{ visibilities, counts }]) => {
      // Baseline (0, 1), first channels: |−18.10088 − 175.34572i|, |−194.91641 − 310.9028i|; phasing preserves
      // amplitudes.
      const size = (c: number): number =>
        Math.hypot(visibilities[2 * (c * 15 + 1)], visibilities[2 * (c * 15 + 1) + 1]);
      assert.ok(Math.abs(size(0) - Math.hypot(18.10088, 175.34572)) < 1e-3);
      assert.ok(Math.abs(size(1) - Math.hypot(194.91641, 310.9028)) < 1e-3);
      assert.ok(counts.every((count) => count === 1));
    },
  },
  {
    path: 'uvfits/mwa-1061316296.uvfits',
    telescope: 'MWA',
    stations: 127,
    firstStation: 'Tile011',
    site: [-26.703319, 116.67081, 377],
    times: 2,
    julianDate: 2_456_528.25324073,
    firstFrequencyHz: 167_075_000,
    channels: 1,
    products: ['XX', 'YY', 'XY', 'YX'],
    phaseCentre: [359.8494, -26.78364],
    sumOfParts: 3.42989e7,
    positiveWeights: 0,
    check: (all) => {
      assert.ok(
        all.every(({ counts }) => counts.every((count) => count === 0)),
        'wholly flagged',
      );
      assert.ok(Math.abs(all[0].durationS - 2.000713) < 1e-6);
    },
  },
  {
    path: 'uvfits/sim-ref_1.1_uniform.uvfits',
    telescope: 'MWA',
    stations: 88,
    firstStation: 'Tile061',
    site: [-30.7215278, 21.4283056, 1073],
    times: 1,
    julianDate: 2_458_098.38824015,
    firstFrequencyHz: 1e8,
    channels: 1,
    products: ['XX', 'YY', 'XY', 'YX'],
    phaseCentre: [60.80166644389348, -30.76708032176963],
    sumOfParts: 105_515,
    positiveWeights: 1,
    check: ([{ visibilities, counts, stations }]) => {
      for (let s = 0; s < stations; s++) assert.equal(visibilities[8 * baselineIndex(s, s)], 43);
      assert.ok(counts.every((count) => count === 1));
    },
  },
  {
    path: 'uvfits/vlba-mojave.uvfits',
    telescope: 'VLBA',
    stations: 10,
    firstStation: 'BR',
    site: [36.6911681, -105.2534559, -473_674.636],
    times: 87,
    julianDate: 2_453_902.37019682,
    firstFrequencyHz: 8_104_458_750,
    channels: 2,
    products: ['RR', 'LL', 'RL', 'LR'],
    phaseCentre: [187.705930754, 12.3911232861],
    sumOfParts: 22_162.6,
    positiveWeights: 0.9438,
  },
  {
    path: 'ska-low/aavs2_chan204_20230823T055556.uvfits',
    telescope: 'AAVS2',
    stations: 256,
    firstStation: 'Ant061',
    site: [-26.703319, 116.67081, 377],
    times: 1,
    julianDate: 2_460_179.747187391,
    firstFrequencyHz: 159_375_000,
    channels: 1,
    products: ['XX', 'YY', 'XY', 'YX'],
    phaseCentre: [151.6567, 11.62943],
    // The phase centre is the Sun, the only source in the daytime sky: after unphasing it must be at its true position.
    check: ([one], { telescope, header }) => {
      const sun = skyFrame(telescope.site, one.start).directionEnu(header.phaseCentre);
      const mirrored = { x: -sun.x, y: -sun.y, z: sun.z };
      assert.ok(coherence(one, telescope, 159_375_000, sun) > 0.3);
      assert.ok(coherence(one, telescope, 159_375_000, mirrored) < 0.05);
    },
  },
];

/** Mean cosine of the XX phases against those of a source in a given direction: 1 if there were no other signal. */
function coherence(one: Integration, { stations }: Telescope, frequencyHz: number, towards: Vector3): number {
  let sum = 0;
  let pairs = 0;
  for (let i = 0; i < stations.length; i++) {
    for (let j = 0; j < i; j++) {
      const b = baselineIndex(i, j);
      if (one.counts[b] <= 0) continue;
      const [p, q] = [stations[i], stations[j]];
      const apart = { x: p.eastM - q.eastM, y: p.northM - q.northM, z: p.upM - q.upM };
      const phase = (2 * Math.PI * frequencyHz * dot(apart, towards)) / SPEED_OF_LIGHT_M_PER_S;
      sum += Math.cos(Math.atan2(one.visibilities[8 * b + 1], one.visibilities[8 * b]) - phase);
      pairs++;
    }
  }
  return sum / pairs;
}

describe('real UVFITS files', () => {
  for (const expected of files) {
    const path = folder === undefined ? '' : join(folder, expected.path);
    const skip =
      folder === undefined
        ? 'CORELLA_TEST_DATA names no folder of real files'
        : existsSync(path)
          ? false
          : `${path} is not there`;
    it(expected.path, { skip }, async () => {
      const file = await openFile(path);
      assert.ok(file.kind === 'visibilities');
      const { telescope, header } = file;
      assert.equal(telescope.name, expected.telescope);
      assert.equal(telescope.stations.length, expected.stations);
      assert.equal(telescope.stations[0].name, expected.firstStation);
      const { latitudeDeg, longitudeDeg, heightM } = telescope.site;
      [latitudeDeg, longitudeDeg, heightM].forEach((value, n) => {
        assert.ok(Math.abs(value - expected.site[n]) < 1e-3 * (n === 2 ? 1 : 1e-3));
      });
      assert.equal(file.integrationCount, expected.times);
      assert.equal(header.frequenciesHz[0], expected.firstFrequencyHz);
      assert.equal(header.frequenciesHz.length, expected.channels);
      assert.deepEqual(file.details.products, expected.products);
      assert.deepEqual([header.phaseCentre.raDeg, header.phaseCentre.decDeg], expected.phaseCentre);
      const integrations: Integration[] = [];
      for await (const one of file.integrations()) integrations.push(one);
      const { midnightJd, dayFraction } = julianDate(
        addSeconds(integrations[0].start, integrations[0].durationS / 2),
      );
      assert.ok(Math.abs(midnightJd + dayFraction - expected.julianDate) < 1e-6);
      expected.check?.(integrations, file);
      await file.close();
      if (expected.sumOfParts !== undefined) await checkSums(path, expected);
    });
  }
});

async function checkSums(path: string, expected: Expected): Promise<void> {
  const file = await openInput(path);
  const unit = await readUnit(file, 0);
  assert.ok(unit);
  const layout = planUvfits(unit, [{ offsetHz: 0 }, { offsetHz: 0 }]);
  let sum = 0;
  let positive = 0;
  let total = 0;
  const everything = { firstGroup: 0, groups: layout.groupCount };
  for await (const { groups, values } of readGroups(file, layout, everything)) {
    for (let g = 0; g < groups; g++) {
      for (let n = layout.dataOffset; n < layout.groupElements; n += 3) {
        const at = g * layout.groupElements + n;
        sum += Math.abs(values[at]) + Math.abs(values[at + 1]);
        positive += values[at + 2] > 0 ? 1 : 0;
        total++;
      }
    }
  }
  await file.close();
  assert.ok(Math.abs(sum / (expected.sumOfParts ?? 0) - 1) < 1e-5, `sum of parts ${sum}`);
  assert.ok(
    Math.abs(positive / total - (expected.positiveWeights ?? 0)) < 1e-4,
    `positive ${positive / total}`,
  );
}
