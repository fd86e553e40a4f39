import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseInstant } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import type { OpenedFile } from '../formats/index.js';
import { useOrbits } from '../sky/orbits/orbits.js';
import { satellitesOver, satelliteLines } from './satellites.js';

/** Circular and over the equator: GMST at the epoch is 269.8°, so the satellite stands over anomaly − 269.8° east. */
const still = (name: string, number: number, anomaly: number): object => ({
  ...{ OBJECT_NAME: name, NORAD_CAT_ID: number, EPOCH: '2026-06-21T00:00:00.000000' },
  ...{ MEAN_MOTION: 1.00273791, ECCENTRICITY: 0, INCLINATION: 0.01, RA_OF_ASC_NODE: 0 },
  ...{ ARG_OF_PERICENTER: 0, MEAN_ANOMALY: anomaly, BSTAR: 0, MEAN_MOTION_DOT: 0, MEAN_MOTION_DDOT: 0 },
});
const file = (more: object = {}): OpenedFile =>
  ({
    kind: 'voltages',
    telescope: { site: { latitudeDeg: 0, longitudeDeg: 30, heightM: 0 } },
    ...more,
  }) as unknown as OpenedFile;
const start = parseInstant('2026-06-22T12:00:00Z');

describe('satellites over a telescope', () => {
  const folder = temporaryFolder('satellites-over');
  before(async () => {
    const orbits = [still('LOW', 90001, 329.5), still('HIGH', 90002, 300), still('BELOW', 90003, 120)];
    writeFileSync(join(folder, 'still.json'), JSON.stringify(orbits));
    await useOrbits([join(folder, 'still.json')]);
  });
  after(() => useOrbits([]));

  it('are those above the horizon, the highest first, with the age of their elements', () => {
    const up = satellitesOver(file(), start) ?? [];
    assert.deepEqual(
      up.map(({ name, elementsAgeDays }) => [name, elementsAgeDays]),
      [
        ['HIGH', 1.5],
        ['LOW', 1.5],
      ],
    );
    // Over 30° E one stands in the zenith; over 59.5° E, 29.5° away, at 55.6° = atan((cos 29.5° − 1/6.61) / sin 29.5°).
    assert.ok(up[0].altitudeDeg > 88);
    assert.ok(Math.abs(up[1].altitudeDeg - 55.6) < 1, `${up[1].altitudeDeg}`);
    assert.ok(Math.abs(up[1].azimuthDeg - 90) < 1, `${up[1].azimuthDeg}`);
    assert.match(
      satelliteLines(up)[1],
      /^ +LOW: altitude 5[456]\.\d°, azimuth (89|90)\.\d°, elements 1\.5 days from the data$/,
    );
    assert.deepEqual(satelliteLines([]), ['satellites     none known to be above the horizon at the start']);
  });

  it('are not known without a place or a time', () => {
    assert.equal(satellitesOver(file(), undefined), undefined);
    assert.equal(satellitesOver(file({ telescope: undefined }), start), undefined);
    assert.equal(satellitesOver(file({ unknownFacts: ['start'] }), start), undefined);
  });
});
