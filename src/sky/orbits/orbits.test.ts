import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sgp4, twoline2satrec } from 'satellite.js';
import { addSeconds, formatInstant, parseInstant } from '../../core/instant.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { sourcesUp } from '../above.js';
import { parseSources } from '../chosen-sources.js';
import { altitudeDeg, azimuthDeg, skyFrame } from '../frame.js';
import { findSources } from '../sources.js';
import { parseElements } from './elements.js';
import { useOrbits } from './orbits.js';
import { takeOrbitReport } from './report.js';

/**
 * From the test cases of Vallado et al., Revisiting Spacetrack Report #3 (AIAA 2006-6753): elements and positions in
 * TEME, km.
 */
const published: readonly (readonly [
  string,
  string,
  readonly (readonly [minutes: number, x: number, y: number, z: number])[],
])[] = [
  [
    '1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753',
    '2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667',
    [
      [0, 7022.46529266, -1400.08296755, 0.03995155],
      [360, -7154.03120202, -3783.17682504, -3536.19412294],
      [4320, -9060.47373569, 4658.70952502, 813.68673153],
    ],
  ],
];

const ISS = [
  '1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927',
  '2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537',
] as const;

/** Elements of a circular orbit, computed by hand: a geostationary satellite. */
const omm = (more: object = {}): object => ({
  OBJECT_NAME: 'STILL 1 (PRN 07)',
  NORAD_CAT_ID: 90001,
  EPOCH: '2026-06-21T00:00:00.000000',
  MEAN_MOTION: 1.00273791,
  ECCENTRICITY: 0,
  INCLINATION: 0.01,
  RA_OF_ASC_NODE: 0,
  ARG_OF_PERICENTER: 0,
  MEAN_ANOMALY: 300,
  BSTAR: 0,
  MEAN_MOTION_DOT: 0,
  MEAN_MOTION_DDOT: 0,
  ...more,
});

const site = { latitudeDeg: -35, longitudeDeg: 30, heightM: 100 };

describe('orbital elements', () => {
  it('are read of two lines, with and without a name', () => {
    const [one, two] = ISS;
    const sets = parseElements(
      `ISS (ZARYA)\r\n${one}\r\n${two}\n${published[0][0]}\n${published[0][1]}\n`,
      'a.tle',
    );
    assert.deepEqual(
      sets.map(({ name, number }) => [name, number]),
      [
        ['ISS (ZARYA)', '25544'],
        ['5', '5'],
      ],
    );
    // Day 264.51782528 of a leap year is 20 September, 12:25:40.104.
    assert.equal(formatInstant(sets[0].epoch, 3), '2008-09-20T12:25:40.104Z');
  });

  it('are read after a byte-order mark and between comments', () => {
    const [one, two] = ISS;
    const names = (text: string): string[] => parseElements(`\uFEFF${text}`, 'a.tle').map(({ name }) => name);
    assert.deepEqual(names(`${one}\n${two}\n`), ['25544']);
    assert.deepEqual(
      names(`# fetched today\n  # by hand\n; all\nISS\n// high\n${one}\n\n% of two\n${two}\n# end\n`),
      ['ISS'],
    );
    assert.deepEqual(names(JSON.stringify([omm()])), ['STILL 1 (PRN 07)']);
    const record = Object.entries(omm());
    const row = (k: 0 | 1): string => record.map((entry) => String(entry[k])).join(',');
    assert.deepEqual(names(`${row(0)}\n${row(1)}\n`), ['STILL 1 (PRN 07)']);
    // Lines are counted as in the file.
    assert.throws(
      () => parseElements(`# one\n${one}\n# three\n${two.replace('51.6416', '51.6417')}\n`, 'a.tle'),
      /a\.tle, line 4: its checksum is wrong/,
    );
  });

  it('are refused where they are damaged', () => {
    const [one, two] = ISS;
    const wrong = (text: string) => (): unknown => parseElements(text, 'a.tle');
    assert.throws(wrong(`${one}\n${two.replace('51.6416', '51.6417')}`), /line 2: its checksum is wrong/);
    assert.throws(wrong(`${one}\n`), /line 2: is no line 2/);
    assert.throws(wrong(`${one}\n${published[0][1]}`), /two lines are of different satellites/);
    assert.throws(wrong(`${two}\n`), /is not the first line/);
    assert.throws(wrong('nothing\n'), /holds no orbital elements/);
    assert.throws(wrong('{"a": 1'), /is not JSON/);
    assert.throws(wrong(JSON.stringify(omm({ BSTAR: '' }))), /has no BSTAR/);
    assert.throws(wrong(JSON.stringify(omm({ MEAN_ELEMENT_THEORY: 'DSST' }))), /MEAN_ELEMENT_THEORY is DSST/);
  });

  it('are the same from JSON, CSV, KVN and XML', () => {
    const record = omm() as Record<string, unknown>;
    const texts = [
      JSON.stringify([record]),
      `${Object.keys(record).join(',')}\n${Object.values(record).join(',')}\n`,
      `CCSDS_OMM_VERS = 2.0\n${Object.entries(record)
        .map(([key, value]) => `${key} = ${String(value)}${key === 'INCLINATION' ? ' [deg]' : ''}`)
        .join('\n')}\n`,
      `<?xml version="1.0"?><ndm><omm>${Object.entries(record)
        .map(([key, value]) => `<${key}>${String(value)}</${key}>`)
        .join('')}</omm></ndm>`,
    ];
    const [first, ...others] = texts.map((text) => parseElements(text, 'a'));
    assert.equal(first.length, 1);
    for (const one of others) assert.deepEqual(one, first);
  });
});

describe('orbits', () => {
  const folder = temporaryFolder('orbits');
  const path = join(folder, 'orbits');
  const use = (text: string, old: 'refused' | 'accepted' = 'refused'): Promise<void> => {
    writeFileSync(path, text);
    return useOrbits([path], { old });
  };
  after(() => useOrbits([]));

  it('propagate as the published cases of SGP4 do', () => {
    for (const [one, two, places] of published)
      for (const [minutes, ...place] of places) {
        const found = sgp4(twoline2satrec(one, two), minutes)?.position;
        assert.ok(found);
        for (const [k, value] of [found.x, found.y, found.z].entries())
          assert.ok(
            Math.abs(value - place[k]) < 1e-6,
            `${one.slice(2, 7)} at ${minutes}: ${value}, ${place[k]}`,
          );
      }
  });

  it('stand where geometry puts them: a satellite that stays over the ground', async () => {
    await use(JSON.stringify([omm()]));
    const moment = parseInstant('2026-06-21T00:00:00Z');
    const [satellite] = findSources(['STILL 1 (PRN 07)']);
    // Sidereal time of Greenwich at that midnight, 269.1°: it is over 300° − 269.1° east of Greenwich.
    const days = (Date.UTC(2026, 5, 21) - Date.UTC(2000, 0, 1, 12)) / 86_400e3;
    const greenwichDeg = (280.46061837 + 360.98564736629 * days) % 360;
    const overDeg = 300 - greenwichDeg;
    const radius = 42_164.2;
    for (const [latitudeDeg, east] of [
      [0, 0],
      [-35, 20],
      [50, -15],
    ]) {
      const frame = skyFrame({ latitudeDeg, longitudeDeg: overDeg + east, heightM: 0 }, moment);
      const direction = frame.directionEnu(satellite.position(frame));
      // By plane trigonometry over a sphere of the ellipsoid's local radius.
      const [phi, lambda] = [(latitudeDeg * Math.PI) / 180, (east * Math.PI) / 180];
      const normal = 6378.137 / Math.sqrt(1 - 0.00669438 * Math.sin(phi) ** 2);
      const here = [normal * Math.cos(phi), 0, normal * (1 - 0.00669438) * Math.sin(phi)];
      const there = [radius * Math.cos(-lambda), radius * Math.sin(-lambda), 0];
      const [x, y, z] = there.map((value, k) => value - here[k]);
      const up = x * Math.cos(phi) + z * Math.sin(phi);
      const north = -x * Math.sin(phi) + z * Math.cos(phi);
      const altitude = (Math.atan2(up, Math.hypot(y, north)) * 180) / Math.PI;
      const azimuth = ((Math.atan2(y, north) * 180) / Math.PI + 360) % 360;
      assert.ok(Math.abs(altitudeDeg(direction) - altitude) < 0.05, `${altitudeDeg(direction)} ${altitude}`);
      if (latitudeDeg !== 0)
        assert.ok(Math.abs(azimuthDeg(direction) - azimuth) < 0.05, `${azimuthDeg(direction)} ${azimuth}`);
    }
  });

  it('report the age of what was used, warn and refuse: low ones sooner', async () => {
    const [one, two] = ISS;
    await use(`ISS\n${one}\n${two}\n`);
    const epoch = parseElements(`${one}\n${two}`, 'a')[0].epoch;
    const at = (days: number) => skyFrame(site, addSeconds(epoch, days * 86_400));
    const [iss] = findSources(['iss']);
    takeOrbitReport();
    iss.position(at(1));
    iss.position(at(-2));
    const report = takeOrbitReport();
    assert.ok(report && Math.abs(report.mostAgeDays - 2) < 1e-6 && report.old.length === 0);
    assert.equal(takeOrbitReport(), undefined);
    iss.position(at(3.1));
    assert.deepEqual(takeOrbitReport()?.old, ['ISS']);
    iss.position(at(13.9));
    for (const days of [14.1, -14.1, 365])
      assert.throws(
        () => iss.position(at(days)),
        /ISS: its elements are of 2008-09-20.*days.*old-orbits: true/,
      );
    takeOrbitReport();
    // It is left out of `all`; if that leaves none, `all` is refused.
    assert.throws(() => sourcesUp(findSources('all'), at(15), -90), /none of its satellites can be placed/);
    await use(`ISS\n${one}\n${two}\n`, 'accepted');
    findSources(['ISS'])[0].position(at(20));
    await use(JSON.stringify(omm()));
    const still = findSources(['90001'])[0];
    const later = (days: number) =>
      skyFrame(site, addSeconds(parseInstant('2026-06-21T00:00:00Z'), days * 86_400));
    takeOrbitReport();
    still.position(later(29));
    assert.deepEqual(takeOrbitReport()?.old, []);
    still.position(later(-31));
    assert.equal(takeOrbitReport()?.old.length, 1);
    assert.throws(() => still.position(later(181)), /elements are of/);
  });

  it('leave out among all those whose elements are too old, by name', async () => {
    const [one, two] = ISS;
    await use(`ISS\n${one}\n${two}\nOTHER\n${published[0][0]}\n${published[0][1]}\n`);
    const moment = addSeconds(parseElements(`${one}\n${two}`, 'a')[0].epoch, 3600);
    takeOrbitReport();
    const up = sourcesUp(findSources(['satellites']), skyFrame(site, moment), -90);
    assert.deepEqual(
      up.map(({ source }) => source.name),
      ['ISS'],
    );
    assert.deepEqual(takeOrbitReport()?.leftOut, ['OTHER']);
  });

  it('take the elements nearest in time of several of one satellite', async () => {
    const shifted = (EPOCH: string, MEAN_ANOMALY: number): object => omm({ EPOCH, MEAN_ANOMALY });
    const both = [shifted('2026-06-21T00:00:00', 300), shifted('2026-06-25T00:00:00', 90)];
    const frame = skyFrame(site, parseInstant('2026-06-24T00:00:00Z'));
    await use(JSON.stringify(both));
    const joined = findSources(['90001'])[0].position(frame);
    await use(JSON.stringify(both[1]));
    assert.deepEqual(joined, findSources(['90001'])[0].position(frame));
  });

  it('are sources with a flux, by name, code and number; the Moon and planets too', async () => {
    await use(JSON.stringify([omm(), omm({ OBJECT_NAME: 'STILL 2', NORAD_CAT_ID: 90002 })]));
    const frame = skyFrame(site, parseInstant('2026-06-21T00:00:00Z'));
    const chosen = parseSources('PRN 7:1000, 90002:5, Moon:12, jupiter:3, Cyg A, x:10:20:30')(frame);
    assert.deepEqual(
      chosen.map((one) => [one.name, Math.round(one.fluxJy(1e8))]),
      [
        ['STILL 1 (PRN 07)', 1000],
        ['STILL 2', 5],
        ['Moon', 12],
        ['Jupiter', 3],
        ['Cyg A', Math.round(findSources(['Cyg A'])[0].fluxJy(1e8))],
        ['x', 30],
      ],
    );
    assert.deepEqual(
      parseSources('satellites:7')(frame).map((one) => one.fluxJy(1)),
      [7, 7],
    );
    assert.throws(() => parseSources('STILL 3')(frame), /'STILL 3' is unknown/);
    await useOrbits([]);
    assert.throws(() => parseSources('satellites')(frame), /no orbits of satellites are known.*orbits: FILE/);
    assert.throws(() => findSources(['PRN 7']), /is unknown/);
  });
});
