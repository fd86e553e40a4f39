import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { RADIANS_PER_DEGREE } from '../core/units.js';
import { loadTelescope, parseTelescope } from './load.js';
import { parsePositions } from './positions.js';
import { telescopeNames } from './registry.js';
import { inputName } from './telescope.js';
import { selectStations } from './select.js';
import { isUnplaced, refuseUnplaced, unplaced } from './unplaced.js';
import type { Site } from './telescope.js';

const description = {
  name: 'pair',
  title: 'Two posts in a field',
  site: { latitudeDeg: 10, longitudeDeg: 20, heightM: 30 },
  positions: 'pair.csv',
  polarisations: 1,
  band: { lowHz: 40e6, highHz: 80e6 },
  recording: { centreFrequencyHz: 60e6, sampleRateHz: 1e6, channels: 16, bits: 8 },
  beamExponent: 1,
};
const table = 'name,east_m,north_m,up_m\nfirst,0,0,0\nsecond,12.5,-3,0.25\n';
const parse = (given: unknown, positions = table) =>
  parseTelescope({
    description: {
      path: 'pair.json',
      text: typeof given === 'string' ? given : JSON.stringify(given, null, 2),
    },
    positions: { path: 'pair.csv', text: positions },
  });

/** WGS84, written again here so that the presets' sites are checked by independent code. */
function ecefM({ latitudeDeg, longitudeDeg, heightM }: Site): [number, number, number] {
  const e2 = 0.00669437999014;
  const lat = latitudeDeg * RADIANS_PER_DEGREE;
  const lon = longitudeDeg * RADIANS_PER_DEGREE;
  const n = 6378137 / Math.sqrt(1 - e2 * Math.sin(lat) ** 2);
  const p = (n + heightM) * Math.cos(lat);
  return [p * Math.cos(lon), p * Math.sin(lon), (n * (1 - e2) + heightM) * Math.sin(lat)];
}

describe('telescopes we carry', () => {
  it('load, with as many stations as they have', async () => {
    const counts = {
      lwasv: 256,
      lwa1: 256,
      lwana: 64,
      'ovro-lwa': 256,
      eda2: 256,
      aavs2: 256,
      aavs3: 256,
      's8-1': 256,
      's8-6': 256,
      's9-2': 256,
      's10-3': 256,
      mwa128: 128,
      'mwa2-compact': 128,
      'mwa2-extended': 128,
      mwa3: 256,
      hera350: 350,
      meerkat: 64,
      'vla-a': 27,
      'vla-b': 27,
      'vla-c': 27,
      'vla-d': 27,
      'tart-mg-tana': 24,
      'tart-nz-dunedin': 24,
      'tart-mu-belair': 24,
    };
    assert.deepEqual(telescopeNames(), Object.keys(counts));
    for (const [name, count] of Object.entries(counts)) {
      const telescope = await loadTelescope(name);
      assert.equal(telescope.name, name);
      assert.equal(telescope.stations.length, count);
      assert.equal(telescope.polarisations, name.startsWith('tart-') ? 1 : 2);
      // Up is local: no site has hills above 15 m. Over kilometres the Earth curves away and the plain rises.
      const mostM = name.startsWith('vla') ? 80 : name === 'meerkat' ? 25 : 15;
      assert.ok(
        telescope.stations.every(({ upM }) => Math.abs(upM) < mostM),
        name,
      );
    }
  });

  it('lwasv has its outrigger far in the west', async () => {
    const { stations } = await loadTelescope('lwasv');
    assert.equal(stations[255].name, 'stand256');
    assert.ok(stations[255].eastM < -290);
  });

  it('MeerKAT’s m000 and the VLA’s pads stand where others computed them in ITRF', async () => {
    // ska-sdp-wflow-pointing-offset's antenna; pads W9 and E2 of an observation in D in 2010; E72 of SCHED's catalogue.
    for (const [telescope, station, given, withinM] of [
      ['meerkat', 'm000', [5109271.497, 2006808.893, -3239130.736], 0.01],
      ['vla-d', 'W09', [-1601710.017, -5042006.9282, 3554602.3556], 0.1],
      ['vla-d', 'E02', [-1601150.0595, -5042000.6198, 3554860.7294], 0.1],
      ['vla-a', 'E09', [-1584460.9138, -5052385.2827, 3547599.7357], 0.6],
    ] as const) {
      const { site, stations } = await loadTelescope(telescope);
      const found = stations.find(({ name }) => name === station);
      assert.ok(found);
      const centre = ecefM(site);
      const [lat, lon] = [site.latitudeDeg * RADIANS_PER_DEGREE, site.longitudeDeg * RADIANS_PER_DEGREE];
      const { eastM: e, northM: n, upM: u } = found;
      const out = u * Math.cos(lat) - n * Math.sin(lat);
      const place = [
        centre[0] - e * Math.sin(lon) + out * Math.cos(lon),
        centre[1] + e * Math.cos(lon) + out * Math.sin(lon),
        centre[2] + n * Math.cos(lat) + u * Math.sin(lat),
      ];
      place.forEach((value, axis) => {
        assert.ok(Math.abs(value - given[axis]) < withinM, `${telescope} ${station} axis ${axis}: ${value}`);
      });
    }
  });

  it('the MWA’s phases share the tiles that stayed', async () => {
    const [compact, extended, all] = await Promise.all(
      ['mwa2-compact', 'mwa2-extended', 'mwa3'].map(async (name) => (await loadTelescope(name)).stations),
    );
    const later = new Map(all.map((station) => [station.name, station]));
    for (const { name, eastM, northM } of [...compact, ...extended]) {
      const there = later.get(name);
      assert.ok(there, name);
      assert.ok(Math.hypot(eastM - there.eastM, northM - there.northM) < 1, name);
    }
  });

  for (const [name, given] of [
    ['aavs2', [-2559301.91, 5095070.37, -2848888.28]],
    ['aavs3', [-2559377.99, 5095349.75, -2849124.07]],
    ['s8-1', [-2561233.12, 5085888.9, -2864153.98]],
    ['s8-6', [-2561290.83, 5085918.52, -2864050.87]],
    ['s9-2', [-2562250.14, 5083999.56, -2866587.96]],
    ['s10-3', [-2557932.36, 5087123.71, -2864895.58]],
  ] as const) {
    it(`${name} stands where its ECEF position states`, async () => {
      const { site } = await loadTelescope(name);
      ecefM(site).forEach((value, axis) => {
        assert.ok(Math.abs(value - given[axis]) < 0.02, `axis ${axis}: ${value}`);
      });
    });
  }
});

describe('positions in other axes', () => {
  const site = { latitudeDeg: -26.7, longitudeDeg: 116.67, heightM: 360 };
  const near = (table: string, wanted: readonly number[]): void => {
    const [{ eastM, northM, upM }] = parsePositions(table, 'p.csv', site);
    [eastM, northM, upM].forEach((value, axis) => {
      assert.ok(Math.abs(value - wanted[axis]) < 0.05, `axis ${axis}: ${value}`);
    });
  };
  it('ITRF, longitude and latitude, and bare numbers come out east, north and up', () => {
    // The site itself, ten metres higher: by code independent of the reader's.
    const [x, y, z] = ecefM({ ...site, heightM: 370 });
    near(`name,x_m,y_m,z_m\na,${x},${y},${z}\n`, [0, 0, 10]);
    const geodetic = 'name,longitude_deg,latitude_deg,height_m\n';
    near(`${geodetic}a,116.67,-26.7,365\n`, [0, 0, 5]);
    // A thousandth of a degree of longitude is 99.53 m there, of latitude 110.78 m.
    near(`${geodetic}a,116.671,-26.699,360\n`, [99.53, 110.78, 0]);
    assert.deepEqual(parsePositions('1,2,3\n4,5,6\n', 'p.csv', site), [
      { name: '1', eastM: 1, northM: 2, upM: 3 },
      { name: '2', eastM: 4, northM: 5, upM: 6 },
    ]);
    assert.throws(
      () => parsePositions('name,x_m,y_m,z_m\na,1,2,3\n', 'p.csv', site),
      /p\.csv, line 2, column [xyz]_m: '\d' is not within 1000000 m of the site/,
    );
  });

  it('a table that states where on Earth it is is a telescope by itself', async () => {
    const path = join(temporaryFolder('places'), 'yard.csv');
    const geodetic = 'name,longitude_deg,latitude_deg,height_m\n';
    const apartDeg = 0.0001;
    await writeFile(
      path,
      `${geodetic}west,${116.67 - apartDeg},-26.7,360\n\neast,${116.67 + apartDeg},-26.7,360\n`,
    );
    const yard = await loadTelescope(path);
    assert.deepEqual([yard.name, yard.stations.length, yard.polarisations], ['yard', 2, 2]);
    assert.ok(
      Math.abs(yard.site.longitudeDeg - 116.67) < 1e-9 && Math.abs(yard.site.latitudeDeg + 26.7) < 1e-9,
    );
    // A thousandth of a degree of longitude is 99.53 m there.
    assert.ok(Math.abs(yard.stations[1].eastM - 9.953) < 1e-3 && Math.abs(yard.stations[1].northM) < 1e-3);
    const [x, y, z] = ecefM({ ...site, heightM: 370 });
    await writeFile(path, `name,x_m,y_m,z_m\na,${x},${y},${z}\nb,${x},${y},${z}\n`);
    const { site: found } = await loadTelescope(path);
    assert.ok(Math.abs(found.heightM - 370) < 1e-3 && Math.abs(found.latitudeDeg + 26.7) < 1e-8);
    for (const [text, reason] of [
      [table, /yard\.csv: positions in local metres do not state where on Earth they are/],
      [`name,x_m,y_m,z_m\na,${x / 1000},${y / 1000},${z / 1000}\n`, /are -\d+ m above the ellipsoid/],
      [`${geodetic}a,116,here,3\n`, /line 2, column latitude_deg: 'here' is not an angle/],
    ] as const) {
      await writeFile(path, text);
      await assert.rejects(loadTelescope(path), reason);
    }
  });

  it('an SSMIF is a telescope by itself', async () => {
    const path = join(temporaryFolder('ssmif'), 'station.txt');
    const lines = ['STATION_ID VL', 'GEO_N +34.07 # deg', 'GEO_E -107.6', 'GEO_EL 2133.6', 'N_STD 2'];
    await writeFile(path, [...lines, 'STD_LX[2] -1.5', 'STD_LY[2] 7', ''].join('\n'));
    const { name, stations, site: at } = await loadTelescope(path);
    assert.deepEqual([name, at.longitudeDeg, stations.length], ['VL', -107.6, 2]);
    assert.deepEqual(stations[1], { name: 'stand2', eastM: -1.5, northM: 7, upM: 0 });
  });
});

describe('a telescope of one’s own', () => {
  it('is read from a JSON file and the CSV beside it', async () => {
    const folder = temporaryFolder('telescope');
    await writeFile(join(folder, 'pair.json'), JSON.stringify(description));
    await writeFile(join(folder, 'pair.csv'), `\uFEFF${table.replaceAll('\n', '\r\n')}`);
    const telescope = await loadTelescope(join(folder, 'pair.json'));
    assert.deepEqual(telescope.stations, [
      { name: 'first', eastM: 0, northM: 0, upM: 0 },
      { name: 'second', eastM: 12.5, northM: -3, upM: 0.25 },
    ]);
    assert.equal(telescope.beamExponent, 1);
    // The table may be in another folder: its absolute path is used unchanged.
    const elsewhere = { ...description, positions: join(folder, 'pair.csv') };
    await mkdir(join(folder, 'deeper'));
    await writeFile(join(folder, 'deeper', 'pair.json'), JSON.stringify(elsewhere));
    assert.equal((await loadTelescope(join(folder, 'deeper', 'pair.json'))).stations.length, 2);
    await rm(join(folder, 'pair.csv'));
    await assert.rejects(loadTelescope(join(folder, 'pair.json')), /pair\.csv: the positions named by/);
  });

  it('is refused when it is unknown', async () => {
    await assert.rejects(loadTelescope('lwasw'), /'lwasw' is not known; choose lwasv, lwa1/);
    await assert.rejects(loadTelescope('toString'), /not known/);
    await assert.rejects(
      loadTelescope('/nowhere/x.json'),
      /x\.json: the telescope description cannot be found; check the path/,
    );
  });

  it('is refused with file, line and reason when its JSON is wrong', () => {
    assert.throws(() => parse('{\n"name": "x",\n"title" "y"\n}'), /pair\.json, line 3: not valid JSON/);
    assert.throws(() => parse('{\n"name": "x",\n'), /pair\.json, line 3: not valid JSON/);
    for (const latitudeDeg of [90.1, -90.1]) {
      const beyond = { ...description, site: { ...description.site, latitudeDeg } };
      assert.throws(() => parse(beyond), /pair\.json, line 5: "site\.latitudeDeg"/);
    }
    const pole = { ...description, site: { ...description.site, latitudeDeg: 90 } };
    assert.equal(parse(pole).site.latitudeDeg, 90);
    assert.throws(() => parse({ ...description, polarisations: 3 }), /line 10: "polarisations"/);
    assert.throws(() => parse({ ...description, colour: 'red' }), /colour/);
    assert.throws(() => parse({ ...description, beamExponent: undefined }), /"beamExponent"/);
    const upsideDown = { ...description, band: { lowHz: 80e6, highHz: 40e6 } };
    assert.throws(() => parse(upsideDown), /line 12: "band\.lowHz" is not below highHz/);
    const line = { ...description, band: { lowHz: 60e6, highHz: 60e6 } };
    assert.throws(() => parse(line), /"band\.lowHz" is not below highHz/);
    const deaf = { ...description, band: { lowHz: 70e6, highHz: 80e6 } };
    assert.throws(() => parse(deaf), /line 16: "recording\.centreFrequencyHz" is outside the band/);
    assert.throws(
      () => parse(JSON.stringify(description).replace('"heightM":30', '"heightM":1e999')),
      /"site\.heightM"/,
    );
  });

  it('is refused with file, line and column when its CSV is wrong', () => {
    const header = 'name,east_m,north_m,up_m\n';
    assert.throws(() => parse(description, header), /pair\.csv, line 1: no stations/);
    assert.throws(() => parse(description, ''), /pair\.csv, line 1: the header is ''/);
    assert.throws(() => parse(description, 'name,x,y,z\na,0,0,0'), /line 1: the header is 'name,x,y,z'/);
    assert.throws(() => parse(description, `${header}a,0,0,0\n\nb,1,nan,0`), /line 4, column north_m: 'nan'/);
    assert.throws(() => parse(description, `${header}a,0,0,`), /line 2, column up_m: ''/);
    assert.throws(() => parse(description, `${header}a,Infinity,0,0`), /line 2, column east_m/);
    assert.throws(() => parse(description, `${header}a,0,0`), /line 2: 3 columns where 4 belong/);
    assert.throws(() => parse(description, `${header},0,0,0`), /line 2, column name: the name is empty/);
    assert.throws(
      () => parse(description, `${header}a,0,0,0\na,1,0,0`),
      /line 3, column name: 'a' is already on line 2/,
    );
  });
});

describe('stations at unknown positions', () => {
  it('are known again by standing at one place', () => {
    const four = unplaced(4, 2);
    assert.deepEqual([four.stations.length, four.stations[3].name, isUnplaced(four)], [4, 'station4', true]);
    assert.equal(isUnplaced(unplaced(1, 2)), false);
    assert.throws(() => {
      refuseUnplaced('lab.uvh5', four, 'there is no image');
    }, /lab\.uvh5:  its stations are all at one place: there is no image; name their telescope/);
  });
});

describe('selectStations', () => {
  it('spreads over the list', () => {
    const rows = Array.from({ length: 10 }, (_, i) => `s${i},${i},0,0`).join('\n');
    const ten = parse(description, `name,east_m,north_m,up_m\n${rows}`);
    // ⌊i·10/4⌋ = 0, 2, 5, 7
    assert.deepEqual(
      selectStations(ten, 4).stations.map(({ name }) => name),
      ['s0', 's2', 's5', 's7'],
    );
    assert.deepEqual(selectStations(ten, 10), ten);
    const one = selectStations(ten, 1);
    assert.deepEqual(one, { ...ten, stations: [ten.stations[0]] });
    assert.equal(one.beamExponent, 1);
    assert.throws(() => selectStations(ten, 0), /stations is 0; give a whole number from 1 to 10/);
    assert.throws(() => selectStations(ten, 11), /stations is 11/);
    assert.throws(() => selectStations(ten, 2.5), /stations is 2.5/);
  });
});

describe('inputName', () => {
  it('is the station, and its feed where it has two', () => {
    const pair = { stations: ['a', 'b'].map((name) => ({ name, eastM: 0, northM: 0, upM: 0 })) };
    assert.deepEqual(
      [
        inputName(pair, 1, 1),
        inputName(pair, 1, 2),
        inputName(pair, 2, 2),
        inputName(pair, 3, 2, 'circular'),
      ],
      ['b', 'a:Y', 'b:X', 'b:L'],
    );
  });
});
