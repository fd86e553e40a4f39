/** UVFITS as other programs write it, made here number by number, and after damage. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Integration } from '../../../core/blocks.js';
import { formatInstant, fromJulianDate } from '../../../core/instant.js';
import { temporaryFolder } from '../../../core/testing/temporary-folder.js';
import { dot, scale } from '../../../core/vector.js';
import { skyFrame } from '../../../sky/frame.js';
import { ecefToEnu, ecefToSite } from '../../../telescope/earth.js';
import { realCard, remarkCards } from '../../fits/fits.js';
import { tableBytes } from '../../fits/table.js';
import { axis, direction, foreignBytes, least, type Foreign } from '../../testing/foreign-uvfits.js';
import { openUvfits } from './read.js';
import { readVisibilities, writeVisibilities } from '../../testing/visibility-files.js';

describe('UVFITS of other programs', () => {
  const folder = temporaryFolder('foreign');
  const path = (): string => join(folder, 'foreign.uvfits');
  const readBytes = async (bytes: Uint8Array) => {
    await writeFile(path(), bytes);
    const file = await openUvfits(path());
    try {
      const integrations: Integration[] = [];
      for await (const one of file.integrations()) integrations.push(one);
      return { file, integrations };
    } finally {
      await file.close();
    }
  };
  const read = (of: Foreign) => readBytes(foreignBytes(of));

  it('large baseline numbers, antennas not from 1, absolute positions, no INTTIM', async () => {
    const { file, integrations } = await read(least);
    assert.deepEqual(file.details.antennaNumbers, [41, 300]);
    assert.equal(file.details.antennaPositions, 'absolute');
    // The antennas are 259 m apart along x; the site is their midpoint.
    const [a, b] = file.telescope.stations;
    assert.ok(Math.abs(Math.hypot(a.eastM - b.eastM, a.northM - b.northM, a.upM - b.upM) - 259) < 1e-6);
    assert.ok(Math.abs(a.eastM + b.eastM) < 1e-6);
    const [one] = integrations;
    // A1 = 41 is station 0, A2 = 300 station 1: V_10 = conj(1 + 2i), times the weight 3; there are no autocorrelations.
    assert.deepEqual([...one.visibilities], [0, 0, 3, -6, 0, 0]);
    assert.deepEqual([...one.counts], [0, 3, 0]);
    assert.deepEqual([...one.flaggedInputs], [0, 0]);
    assert.equal(one.durationS, 1);
    // JD 2460000.75 is 2023-02-25 06:00, the middle of one second.
    assert.equal(formatInstant(one.start), '2023-02-25T05:59:59.500Z');
  });

  it('as casacore exports them: numbers without an antenna stand at (0, 0, 0), and are no part of the site', async () => {
    const bare = await read(least);
    const { file } = await read({ ...least, antennas: [41, 300, 7, 8], placeless: [7, 8] });
    // The mean of two antennas on the ground, without two at the Earth's centre.
    assert.deepEqual(file.telescope.site, bare.file.telescope.site);
    assert.deepEqual(
      file.telescope.stations.map(({ name, number }) => [name, number]),
      [
        ['A41', 41],
        ['A300', 300],
      ],
    );
    assert.deepEqual(file.header.unusedAntennas, undefined);
    await assert.rejects(
      read({ ...least, placeless: [41] }),
      /antenna 41 is in the data but has no position: its STABXYZ is \(0, 0, 0\)/,
    );
  });

  it('reports what it assumed', async () => {
    const { file } = await read(least);
    assert.deepEqual(file.assumed, [
      'the integration time of its data is unknown (no INTTIM): assumed to be 1 s, since it has one time',
      'its time system is unknown (no TIMSYS): UTC is assumed',
    ]);
    const later = least.groups.map((group) => group.map((value, k) => (k === 3 ? 0.25 + 1 / 8192 : value)));
    const two = await read({ ...least, groups: [...least.groups, ...later] });
    assert.match(String(two.file.assumed), /assumed to be the spacing of its times, 10\.5 s at first/);
  });

  it('lengths that cannot be are unknown, and that is reported', async () => {
    const parameters = [...least.parameters, ['INTTIM', 1, 0]] as const;
    const at = (timeOfDay: number, antennas: readonly [number, number], lengthS: number): number[] => [
      0,
      0,
      0,
      timeOfDay,
      65_536 + 2048 * antennas[0] + antennas[1],
      lengthS,
      1,
      2,
      3,
    ];
    const groups = [
      at(0.25, [41, 300], 2 ** 32),
      at(0.25, [41, 41], 10),
      at(0.25 + 1 / 8192, [41, 300], Number.NaN),
    ];
    const { file, integrations } = await read({ ...least, parameters, groups, clock: 'UTC' });
    assert.deepEqual(
      integrations.map(({ durationS }) => durationS),
      [10, 86_400 / 8192],
    );
    assert.match(String(file.assumed), /2 rows have an INTTIM above a day, or not a number/);
  });

  it('tables by the name that AIPS had for them before FITS did', async () => {
    const bytes = Buffer.from(foreignBytes(least));
    bytes.write('A3DTABLE', bytes.indexOf("'BINTABLE'") + 1);
    assert.deepEqual((await readBytes(bytes)).file.details.antennaNumbers, [41, 300]);
  });

  it('keeps antennas that are in no pair apart, and gives no memory to their pairs', async () => {
    const { file, integrations } = await read({ ...least, antennas: [5, 41, 6, 300] });
    assert.equal(file.telescope.stations.length, 2);
    assert.deepEqual(
      file.header.unusedAntennas?.map(({ station, place }) => [station.name, station.number, place]),
      [
        ['A5', 5, 0],
        ['A6', 6, 2],
      ],
    );
    assert.equal(integrations[0].counts.length, 3);
    assert.deepEqual(integrations[0].pairs, Uint8Array.of(0, 1, 0));
  });

  it('scaled parameters, swapped pairs, unsorted times, flags', async () => {
    const of: Foreign = {
      ...least,
      axes: [axis('COMPLEX', 3), axis('STOKES', 4, -5, -1), axis('FREQ', 1, 1e8, 1e6), ...direction],
      parameters: [
        ['UU--', 1, 0],
        ['VV--', 1, 0],
        ['WW--', 1e-9, 0],
        ['DATE', 1, 2_460_000.5],
        ['_DATE', 1e-3, 0],
        ['ANTENNA1', 1, 0],
        ['ANTENNA2', 1, 0],
        ['SUBARRAY', 1, 0],
        ['INTTIM', 1, 0],
      ],
      antennas: [2, 5],
      groups: [
        // Later time first. Pair (5, 2): stations 1, 0, so V_10 = S·e^(+2πi f WW); WW = 2.5 ns is a quarter cycle.
        [0, 0, 2.5, 0.25, 0.5, 5, 2, 1, 10, 1, 2, 2, 3, 4, 2, 5, 6, 2, 7, 8, 2],
        // Earlier time, pair (2, 5).
        [0, 0, 0, 0.25, 0, 2, 5, 1, 10, 7, 0, 4, 7, 0, 4, 7, 0, 4, 7, 0, 4],
        // An autocorrelation with flagged YY while Y is good elsewhere: not a zero.
        [0, 0, 0, 0.25, 0, 2, 2, 1, 10, 9, 0, 4, 9, 0, -4, 1, 0, 4, 1, 0, 4],
      ],
    };
    const { integrations } = await read(of);
    assert.deepEqual(
      integrations.map((one) => formatInstant(one.start)),
      ['2023-02-25T05:59:55.000Z', '2023-02-25T06:00:38.200Z'],
    );
    assert.equal(integrations[0].durationS, 10);
    assert.deepEqual([...integrations[0].counts], [4, 4, 0]);
    // XX, XY, YX, YY of each pair: a flagged product does not affect the others.
    assert.deepEqual([...(integrations[0].productCounts ?? [])], [4, 4, 4, 0, 4, 4, 4, 4, 0, 0, 0, 0]);
    assert.deepEqual([...integrations[0].visibilities.subarray(8, 16)], [28, 0, 28, 0, 28, 0, 28, 0]);
    // S·i with weight 2, XX YY XY YX in the file, XX XY YX YY here: i(1+2i) = −2+i, i(5+6i) = −6+5i, …
    const turned = integrations[1].visibilities.subarray(8, 16);
    [-4, 2, -12, 10, -16, 14, -8, 6].forEach((value, n) => {
      assert.ok(Math.abs(turned[n] - value) < 1e-6, `${n}: ${turned[n]}`);
    });
    // The same pair again at the same time, in the other order: neither row is preferable.
    const twice = {
      ...of,
      groups: [...of.groups, [0, 0, 0, 0.25, 0, 5, 2, 1, 10, ...of.groups[1].slice(9)]],
    };
    await assert.rejects(
      read(twice),
      /the pair of its antennas 1 and 0 \(counted from 0\) is there twice at one time/,
    );
  });

  it('numbers of 64 bits, as pyuvdata writes double precision', async () => {
    const precise = 1 + 2 ** -40;
    const [group] = least.groups;
    const { integrations } = await read({ ...least, elementBytes: 8, groups: [group.with(5, precise)] });
    assert.deepEqual([...integrations[0].visibilities], [0, 0, 3 * precise, -6, 0, 0]);
  });

  it('feeds at right angles state where X points; both at 0 were never measured', async () => {
    const four = {
      ...least,
      axes: [axis('COMPLEX', 3), axis('STOKES', 4, -5, -1), axis('FREQ', 1, 1e8, 1e6), ...direction],
      groups: [[...least.groups[0].slice(0, 5), 1, 0, 1, 2, 0, 1, 3, 0, 1, 4, 0, 1]],
    };
    for (const [feedsDeg, orientation, xx] of [
      [[90, 0], 'east', 1],
      [[0, 90], 'east', 2],
      [[0, 0], 'unknown', 1],
    ] as const) {
      const { file, integrations } = await read({ ...four, feedsDeg });
      assert.deepEqual([file.header.xOrientation, integrations[0].visibilities[8]], [orientation, xx]);
      assert.equal(String(file.assumed).includes('X and Y are exchanged'), xx === 2);
    }
  });

  it('comments and where the antennas pointed go with it', async () => {
    const cards = [
      realCard('OBSRA', 12.5),
      realCard('OBSDEC', -21),
      ...remarkCards('COMMENT', 'made by Cotter'),
    ];
    const { file, integrations } = await read({ ...least, cards });
    const wanted = { OBSRA: 12.5, OBSDEC: -21, COMMENT: 'made by Cotter' };
    assert.deepEqual(file.header.extraKeywords, wanted);
    for (const name of ['pointed.uvfits', 'pointed.uvh5']) {
      const to = await writeVisibilities(join(folder, name), file.header, integrations);
      assert.deepEqual((await readVisibilities(to)).file.header.extraKeywords, wanted);
    }
  });

  it('XY alone is XY, and its copies state it', async () => {
    const { file, integrations } = await read({
      ...least,
      axes: [axis('COMPLEX', 3), axis('STOKES', 1, -7, -1), axis('FREQ', 1, 1e8, 1e6), ...direction],
      antennas: [2, 5],
      // Pair (5, 2) is stations 1, 0: V_10 of X and Y, mean 3 + 4i, weight 2.
      groups: [[0, 0, 0, 0.25, 256 * 5 + 2, 3, 4, 2]],
    });
    // We write the earlier station first: there it is YX.
    assert.deepEqual([file.header.products, file.header.polarisations], [[-8], 2]);
    assert.deepEqual([...integrations[0].counts], [0, 2, 0]);
    assert.deepEqual([...integrations[0].visibilities.subarray(8, 16)], [0, 0, 6, 8, 0, 0, 0, 0]);
    for (const name of ['lone.uvfits', 'lone.uvh5']) {
      const path = await writeVisibilities(join(temporaryFolder('lone'), name), file.header, integrations);
      const copy = await readVisibilities(path);
      assert.deepEqual(copy.file.header.products, [-8]);
      const values = copy.all[0].visibilities.subarray(8, 16);
      [0, 0, 6, 8, 0, 0, 0, 0].forEach((value, k) => {
        assert.ok(Math.abs(values[k] - value) < 1e-5, `${name} ${k}: ${values[k]}`);
      });
    }
  });

  it('a lone XY of pairs in both orders has no one name', async () => {
    const lone = {
      ...least,
      axes: [axis('COMPLEX', 3), axis('STOKES', 1, -7, -1), axis('FREQ', 1, 1e8, 1e6), ...direction],
      antennas: [2, 5],
    };
    const forward = [0, 0, 0, 0.25, 256 * 2 + 5, 3, 4, 2];
    assert.deepEqual((await read({ ...lone, groups: [forward] })).file.header.products, [-7]);
    await assert.rejects(
      read({ ...lone, groups: [forward, [0, 0, 0, 0.5, 256 * 5 + 2, 3, 4, 2]] }),
      /holds XY without its counterpart of pairs in both orders/,
    );
  });

  it('several IFs, falling frequencies, no weights, circular hands', async () => {
    const of: Foreign = {
      ...least,
      axes: [
        axis('COMPLEX', 2),
        axis('STOKES', 2, -1, -1),
        axis('FREQ', 2, 8e9, -1e6),
        axis('IF', 2),
        ...direction,
      ],
      // [IF][f][RR, LL]: frequencies 8000, 7999, then 8100, 8099 MHz.
      groups: [[0, 0, 0, 0.25, 256 + 2, 1, 0, -1, 0, 2, 0, -2, 0, 3, 0, -3, 0, 4, 0, -4, 0]],
      antennas: [1, 2],
      tables: [
        tableBytes(
          'AIPS FQ',
          [
            { name: 'FRQSEL', form: '1J', rows: [[1]] },
            { name: 'IF FREQ', form: '2D', rows: [[0, 1e8]] },
          ],
          [],
        ),
      ],
    };
    const { file, integrations } = await read(of);
    assert.deepEqual([...file.header.frequenciesHz], [7.999e9, 8e9, 8.099e9, 8.1e9]);
    assert.deepEqual(file.details.products, ['RR', 'LL']);
    // Baseline 1 of 3, RR then (absent) RL, LR, then LL of each channel, re only.
    const values = [...integrations[0].visibilities];
    const perChannel = [0, 1, 2, 3].map((c) => [0, 2, 4, 6].map((p) => values[c * 24 + 8 + p]));
    assert.deepEqual(perChannel, [
      [2, 0, 0, -2],
      [1, 0, 0, -1],
      [4, 0, 0, -4],
      [3, 0, 0, -3],
    ]);
    assert.deepEqual([...integrations[0].counts.subarray(0, 3)], [0, 1, 0]);
    await assert.rejects(read({ ...of, tables: [] }), /has 2 IFs but no AIPS FQ table/);
  });

  it('takes the direction of a multi-source file from its SU table', async () => {
    const { file } = await read({
      ...least,
      axes: [...least.axes.slice(0, 3), axis('RA', 1, 0), axis('DEC', 1, 0)],
      tables: [
        tableBytes(
          'AIPS SU',
          [
            { name: 'SOURCE', form: '8A', rows: ['3C84'] },
            { name: 'RAEPO', form: '1D', rows: [[49.95]] },
            { name: 'DECEPO', form: '1D', rows: [[41.5]] },
          ],
          [],
        ),
      ],
    });
    assert.deepEqual(file.header.phaseCentre, { raDeg: 49.95, decDeg: 41.5 });
    assert.equal(file.header.object, '3C84');
  });

  it('takes the direction of the source that its groups are of, wherever the SU table has it', async () => {
    const of = (id: number, equinox = 2000): Foreign => ({
      ...least,
      axes: [...least.axes.slice(0, 3), axis('RA', 1, 0), axis('DEC', 1, 0)],
      parameters: [...least.parameters, ['SOURCE', 1, 0]],
      groups: least.groups.map((group) => group.toSpliced(least.parameters.length, 0, id)),
      tables: [
        tableBytes(
          'AIPS SU',
          [
            { name: 'ID. NO.', form: '1J', rows: [[3], [7]] },
            { name: 'SOURCE', form: '8A', rows: ['3C84', '3C286'] },
            { name: 'RAEPO', form: '1D', rows: [[49.95], [202.78]] },
            { name: 'DECEPO', form: '1D', rows: [[41.5], [30.5]] },
            { name: 'EPOCH', form: '1D', rows: [[equinox], [equinox]] },
          ],
          [],
        ),
      ],
    });
    const { file, integrations } = await read(of(7));
    assert.deepEqual(file.header.phaseCentre, { raDeg: 202.78, decDeg: 30.5 });
    assert.equal(file.header.object, '3C286');
    assert.deepEqual(integrations[0].passThrough?.stopped?.phaseCentre, { raDeg: 202.78, decDeg: 30.5 });
    await assert.rejects(read(of(5)), /group 0 is of source 5, which its AIPS SU table lacks/);
    await assert.rejects(read(of(7, 1950)), /its AIPS SU table gives places for the equinox 1950/);
  });

  it('a left-handed antenna table without XYZHAND is turned where uvw leave no doubt', async () => {
    // Of the VLBA: Brewster, Fort Davis, Hancock.
    const ecef = [
      { x: -2_112_065, y: -3_705_357, z: 4_726_814 },
      { x: -1_324_009, y: -5_332_182, z: 3_231_962 },
      { x: 1_446_375, y: -4_447_940, z: 4_322_306 },
    ];
    const mean = scale(
      ecef.reduce((sum, { x, y, z }) => ({ x: sum.x + x, y: sum.y + y, z: sum.z + z })),
      1 / 3,
    );
    const site = ecefToSite(mean);
    const middle = fromJulianDate(2_460_000.5, 0.25);
    const { l, m, n } = skyFrame(site, middle).tangentAxes({ raDeg: 10, decDeg: -20 });
    /** r₁ − r₂, and `offM` more in u, in seconds. */
    const uvwS = (one: number, two: number, offM: number): number[] => {
      const [a, b] = [ecef[one], ecef[two]];
      const apart = ecefToEnu({ x: a.x - b.x, y: a.y - b.y, z: a.z - b.z }, site);
      return [dot(l, apart) + offM, dot(m, apart), dot(n, apart)].map((part) => part / 299_792_458);
    };
    const of = (hand: 'LEFT' | 'RIGHT' | undefined, offM = 0, y: 1 | -1 = -1): Foreign => ({
      ...least,
      elementBytes: 8,
      antennas: [1, 2, 3],
      places: ecef.map((at) => [at.x, y * at.y, at.z]),
      ...(hand && { hand }),
      groups: (
        [
          [0, 1],
          [0, 2],
          [1, 2],
        ] as const
      ).map(([one, two]) => [
        ...uvwS(one, two, two === 2 ? offM : 0),
        0.25,
        256 * (one + 1) + two + 1,
        1,
        2,
        3,
      ]),
    });
    const turned = 'the sign of a left-handed frame, by its uvw (no XYZHAND): it is turned';
    const placesIn = async (foreign: Foreign, words?: string): Promise<void> => {
      const { file } = await read(foreign);
      assert.equal(String(file.assumed).includes(turned), words === turned);
      file.telescope.stations.forEach(({ eastM, northM, upM }, s) => {
        const { x, y, z } = ecef[s];
        const enu = ecefToEnu({ x: x - mean.x, y: y - mean.y, z: z - mean.z }, site);
        const offM = Math.hypot(eastM - enu.x, northM - enu.y, upM - enu.z);
        assert.ok(offM < 1e-3, `station ${s}: ${offM} m`);
      });
    };
    await placesIn(of(undefined), turned);
    await placesIn(of('LEFT'));
    await placesIn(of(undefined, 0, 1));
    // Two metres off on two baselines, or stated to be right-handed: refused, as before.
    await assert.rejects(read(of(undefined, 2)), /its uvw contradict its antennas' places/);
    await assert.rejects(read(of('RIGHT')), /its uvw contradict its antennas' places/);
  });

  it('an equinox in words, and cards that are not as they should be', async () => {
    const card = (text: string): string => text.padEnd(80);
    // As ehtim writes it, and with RA and a string as in files of the Astrogeo database.
    const odd = ["EPOCH   = 'J2000.0'", 'RA      = 12:30:49.4', "ORIGIN  = 'someone"].map(card);
    for (const cards of [[card("EQUINOX = 'J2000   '")], odd])
      assert.equal((await read({ ...least, cards })).file.header.phaseCentre.raDeg, 10);
    const refused = (value: string, words: RegExp): Promise<void> =>
      assert.rejects(read({ ...least, cards: [card(`EQUINOX = '${value}'`)] }), words);
    await refused('B1950', /gives its phase centre for the equinox 1950; export it in J2000/);
    await refused('now', /EQUINOX = "now" is not a number/);
  });

  it('refuses damage in one clear line', async () => {
    const [group] = least.groups;
    const changed = (k: number, value: number): Foreign => ({ ...least, groups: [group.with(k, value)] });
    const stokesOf = (value: number): Foreign => ({
      ...least,
      axes: least.axes.map((one) => (one.name === 'STOKES' ? { ...one, value } : one)),
    });
    const cases: [Foreign, RegExp][] = [
      [changed(3, 9e9), /group 0: its DATE parameters sum to .*no Julian Date/],
      [changed(2, 5), /group 0: its WW is 5 s; UU, VV and WW must be in seconds/],
      [changed(4, 256 * 7 + 41), /group 0: antenna 7 is not in the AN table/],
      [changed(4, 256 * 41 + 41 + 0.01), /second subarray/],
      [stokesOf(1), /its STOKES axis has the code 1/],
      [
        {
          ...least,
          axes: least.axes.map((one) => (one.name === 'STOKES' ? { ...one, length: 2, step: 0 } : one)),
        },
        /lists XX twice among its products/,
      ],
      [{ ...least, cards: [realCard('BSCALE', 2)] }, /scales its values by BSCALE 2 and BZERO 0/],
      [{ ...least, clock: 'LST' }, /counts time in 'LST' \(TIMSYS\); export it with times in UTC or IAT/],
      [changed(4, Number.NaN), /group 0: its BASELINE is no number/],
      [{ ...least, axes: [axis('COMPLEX', 4), ...least.axes.slice(1)] }, /COMPLEX axis has length 4/],
      [{ ...least, axes: [...least.axes.slice(0, 2), axis('BAND', 1), ...direction] }, /has no FREQ axis/],
      [{ ...least, antennas: [41, 41] }, /lists a number twice/],
      [{ ...least, groups: [] }, /holds no visibilities/],
      [{ ...least, cards: [realCard('EPOCH', 1950)] }, /equinox 1950/],
      [
        {
          ...least,
          parameters: least.parameters.map(([n, s, z]) => [n === 'DATE' ? 'TIME' : n, s, z] as const),
        },
        /no parameter DATE/,
      ],
      [
        {
          ...least,
          parameters: least.parameters.map(([n, s, z]) => [n === 'BASELINE' ? 'X' : n, s, z] as const),
        },
        /neither a parameter BASELINE/,
      ],
    ];
    for (const [of, message] of cases) {
      await assert.rejects(read(of), (error: unknown) => {
        assert.ok(error instanceof Error);
        assert.equal(error.name, 'CorellaError', error.stack);
        assert.match(error.message, message);
        return true;
      });
    }
    const whole = foreignBytes(least);
    const cut = async (bytes: Uint8Array, message: RegExp): Promise<void> => {
      await assert.rejects(readBytes(bytes), (error: unknown) => {
        assert.ok(error instanceof Error && error.name === 'CorellaError');
        assert.match(error.message, message);
        return true;
      });
    };
    await cut(whole.subarray(0, 2000), /the file ends .* too early/);
    await cut(
      whole.subarray(0, 5760 + 10),
      /truncated: its header promises 1 groups, of which 22 bytes are missing/,
    );
    await cut(whole.subarray(0, 5760 + 2880), /has no AIPS AN table/);
    await cut(whole.subarray(0, 5760 + 2880 + 2880 + 20), /the file ends .* too early/);
    const text = Buffer.from(whole);
    text.write('GCOUNT  =        9999999999999', text.indexOf('GCOUNT  ='), 'latin1');
    await cut(text, /card GCOUNT = 9999999999999 is not a whole number/);
    const bits = Buffer.from(whole);
    bits.write('BITPIX  =                   16', 80, 'latin1');
    await cut(bits, /BITPIX 16|AIPS AN/);
    // Every byte of the header is altered in turn; the result must be a value or a clear refusal, never a crash.
    for (let at = 0; at < 2400; at += 7) {
      const upset = Buffer.from(whole);
      upset[at] ^= 0x15;
      await readBytes(upset).catch((error: unknown) => {
        assert.ok(error instanceof Error);
        assert.equal(error.name, 'CorellaError', `byte ${at}: ${error.stack ?? ''}`);
      });
    }
    assert.ok((await readFile(path())).length > 0);
  });
});
