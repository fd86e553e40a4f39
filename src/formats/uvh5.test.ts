import assert from 'node:assert/strict';
import { copyFileSync, readdirSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { baselineCount, baselineIndex, countsCB, visibilitiesCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { addSeconds, parseInstant, secondsBetween } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { dot } from '../core/vector.js';
import { skyFrame } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import type { VisibilityHeader } from './format.js';
import { texts } from './hdf5/items.js';
import { openHdf5 } from './hdf5/read.js';
import { createHdf5, type GroupPlan } from './hdf5/write.js';
import { openOutput } from './output.js';
import { openUvh5 } from './uvh5-read.js';
import { createUvh5 } from './uvh5-write.js';
import { planUvh5 } from './uvh5-plan.js';

const folder = await mkdtemp(join(tmpdir(), 'corella-uvh5-'));
let files = 0;
const nextPath = (): string => join(folder, `${files++}.uvh5`);

const telescope: Telescope = {
  name: 'trio',
  title: 'three in a field',
  site: { latitudeDeg: -26.7, longitudeDeg: 116.67, heightM: 360 },
  stations: [
    { name: 'one', eastM: 0, northM: 0, upM: 0 },
    { name: 'two', eastM: 12, northM: -3, upM: 0.5 },
    { name: 'three', eastM: -7, northM: 20, upM: -1 },
  ],
  polarisations: 2,
  band: { lowHz: 50e6, highHz: 350e6 },
  recording: { centreFrequencyHz: 160e6, sampleRateHz: 1e6, channels: 2, bits: 8 },
  beamExponent: 1,
};
const start = parseInstant('2021-12-11T04:00:00');
const header: VisibilityHeader = {
  telescope,
  polarisations: 2,
  frequenciesHz: Float64Array.of(159e6, 160e6),
  channelWidthHz: 1e6,
  phaseCentre: { raDeg: 250, decDeg: -30 },
  object: 'a place',
  history: ['first line', 'second line'],
};
const baselines = baselineCount(3);

/** Whole numbers, autocorrelations real and positive, conjugate products as they must be. */
function integration(k: number): Integration {
  const random = randomStream(7, 'uvh5', k);
  const values = new Float64Array(2 * baselines * 4 * 2);
  const counts = new Float64Array(2 * baselines);
  for (let c = 0; c < 2; c++) {
    for (let i = 0; i < 3; i++) {
      for (let j = 0; j <= i; j++) {
        const cell = c * baselines + baselineIndex(i, j);
        counts[cell] = 1000 - random.below(10);
        for (let pair = 0; pair < 4; pair++) {
          values[2 * (cell * 4 + pair)] = random.below(20_001) - 10_000;
          values[2 * (cell * 4 + pair) + 1] = random.below(20_001) - 10_000;
        }
        if (i === j) {
          values[8 * cell + 1] = values[8 * cell + 7] = 0;
          values[8 * cell + 4] = values[8 * cell + 2];
          values[8 * cell + 5] = -values[8 * cell + 3];
        }
      }
    }
  }
  return {
    start: addSeconds(start, 2 * k),
    durationS: 2,
    channels: 2,
    stations: 3,
    polarisations: 2,
    visibilities: visibilitiesCBPP(values, 2, baselines, 2),
    counts: countsCB(counts, 2, baselines),
    flaggedInputs: new Uint8Array(6),
  };
}

async function readAll(path: string) {
  const file = await openUvh5(path);
  const all: Integration[] = [];
  for await (const one of file.integrations()) all.push(one);
  await file.close();
  return { file, all };
}

describe('UVH5', () => {
  it('gives back what was written: values, counts, flags, times, telescope', async () => {
    const path = nextPath();
    const writer = await createUvh5(path, header, { values: 'complex128' });
    const written = Array.from({ length: 70 }, (_, k) => integration(k));
    written[3].flaggedInputs[2] = 1;
    written[3].counts[baselineIndex(2, 0)] = 0;
    for (const one of written) await writer.append(one);
    await writer.finish();
    const { file, all } = await readAll(path);
    assert.deepEqual(file.telescope, telescope);
    assert.deepEqual([...file.header.frequenciesHz], [159e6, 160e6]);
    assert.ok(Math.abs(file.header.phaseCentre.raDeg - 250) < 1e-9);
    assert.deepEqual(file.header.history, header.history);
    assert.equal(file.integrationCount, 70);
    all.forEach((one, k) => {
      // A Julian Date in one double resolves 40 µs.
      assert.ok(Math.abs(secondsBetween(one.start, written[k].start)) < 5e-5);
      if (k === 3) return;
      assert.deepEqual(one.counts, written[k].counts);
      one.visibilities.forEach((value, at) => {
        // Two turns of phase and a division in float64: a few units of 1e-16 × 1.5e4.
        assert.ok(Math.abs(value - written[k].visibilities[at]) < 1e-10);
      });
    });
    assert.deepEqual([...all[3].flaggedInputs], [0, 0, 1, 0, 0, 0]);
    assert.equal(all[3].counts[baselineIndex(2, 0)], 0);
    assert.equal(all[3].counts[baselineIndex(2, 1)], written[3].counts[baselineIndex(2, 1)]);
  });

  it('keeps whole sums bit for bit, fringes running', async () => {
    const path = nextPath();
    const writer = await createUvh5(path, header, { values: 'int32' });
    const written = integration(0);
    await writer.append(written);
    await writer.finish();
    const raw = await openHdf5(path);
    // Row 1 is antennas 0 and 1; its XY (third product) is conj(V₀₁[X][Y]) = V₁₀[Y][X].
    const from = 2 * (baselineIndex(1, 0) * 4 + 2);
    assert.deepEqual(
      [...raw.dataset('Data/visdata').rows(1, 1).subarray(4, 6)],
      [written.visibilities[from], written.visibilities[from + 1]],
    );
    // uvw = r₂ − r₁, east, north, up.
    assert.deepEqual([...raw.dataset('Header/uvw_array').rows(1, 1)], [12, -3, 0.5]);
    raw.close();
    const { all } = await readAll(path);
    assert.deepEqual(all[0].visibilities, written.visibilities);
    const half = integration(1);
    half.visibilities[0] = 0.5;
    const refusing = await createUvh5(nextPath(), header, { values: 'int32' });
    await assert.rejects(refusing.append(half), /no 32-bit whole number/);
    await refusing.abandon();
  });

  it('stops fringes: a source beside the centre has the phase +2π(ul + vm + w(n − 1))', async () => {
    const path = nextPath();
    const middle = addSeconds(start, 1);
    const frame = skyFrame(telescope.site, middle);
    const source = frame.directionEnu({ raDeg: 262, decDeg: -24 });
    const one = integration(0);
    one.visibilities.fill(0);
    one.counts.fill(10);
    const position = telescope.stations.map((s) => ({ x: s.eastM, y: s.northM, z: s.upM }));
    for (let c = 0; c < 2; c++) {
      for (let i = 0; i < 3; i++) {
        for (let j = 0; j <= i; j++) {
          // The house's own law: V_ij = I·e^(+2πi f (r_i − r_j)·ŝ/c), summed over 10 samples.
          const delayS = (dot(position[i], source) - dot(position[j], source)) / SPEED_OF_LIGHT_M_PER_S;
          const phase = 2 * Math.PI * header.frequenciesHz[c] * delayS;
          for (const pair of [0, 3]) {
            const at = 2 * ((c * baselines + baselineIndex(i, j)) * 4 + pair);
            one.visibilities[at] = 10 * Math.cos(phase);
            one.visibilities[at + 1] = 10 * Math.sin(phase);
          }
        }
      }
    }
    const writer = await createUvh5(path, header, { values: 'complex128' });
    await writer.append(one);
    await writer.finish();
    const axes = frame.tangentAxes(header.phaseCentre);
    const [l, m, n] = [dot(axes.l, source), dot(axes.m, source), dot(axes.n, source)];
    assert.ok(l > 0.05 && m > 0.05, 'east and north of the centre');
    const raw = await openHdf5(path);
    const uvw = raw.dataset('Header/uvw_array').rows(0, baselines);
    const values = raw.dataset('Data/visdata').rows(0, baselines);
    for (let row = 0; row < baselines; row++) {
      for (let c = 0; c < 2; c++) {
        const [u, v, w] = uvw.subarray(3 * row, 3 * row + 3);
        const phase =
          ((2 * Math.PI * header.frequenciesHz[c]) / SPEED_OF_LIGHT_M_PER_S) * (u * l + v * m + w * (n - 1));
        const at = 2 * ((row * 2 + c) * 4);
        assert.ok(Math.abs(values[at] - Math.cos(phase)) < 1e-9);
        assert.ok(Math.abs(values[at + 1] - Math.sin(phase)) < 1e-9);
      }
    }
    raw.close();
  });

  it('leaves a readable file with every finished integration when it is cut off', async () => {
    const path = nextPath();
    const writer = await createUvh5(path, header);
    for (let k = 0; k < 3; k++) await writer.append(integration(k));
    const part = readdirSync(folder).find((name) => name.endsWith('.part')) ?? '';
    const left = nextPath();
    copyFileSync(join(folder, part), left);
    const { all } = await readAll(left);
    assert.equal(all.length, 3);
    await writer.abandon();
    assert.ok(!readdirSync(folder).some((name) => name.endsWith('.part')));
  });

  /** A file like ours with some items changed. */
  async function altered(
    change: (items: Record<string, GroupPlan['items'][string]>) => void,
  ): Promise<string> {
    const path = nextPath();
    const plan = planUvh5(header, { values: 'complex64' }, { count: () => 2, first: () => undefined });
    const grow = (group: string): Record<string, GroupPlan['items'][string]> => ({
      ...(plan.items[group] as GroupPlan).items,
    });
    const headerItems = grow('Header');
    const fixed = (values: number[], dims = [values.length]) =>
      ({
        kind: 'fixed',
        type: 'float64',
        dims,
        bytes: new Uint8Array(Float64Array.from(values).buffer),
      }) as const;
    const pairs = [0, 1].flatMap(() => [
      [0, 0],
      [0, 1],
      [0, 2],
      [1, 1],
      [1, 2],
      [2, 2],
    ]);
    const twelve = (value: (row: number) => number) => fixed(pairs.map((_, row) => value(row)));
    Object.assign(headerItems, {
      ant_1_array: twelve((row) => pairs[row][0]),
      ant_2_array: twelve((row) => pairs[row][1]),
      time_array: twelve((row) => 2_459_559.5 + Math.floor(row / 6) / 43_200),
      integration_time: twelve(() => 2),
      lst_array: twelve(() => 0),
      uvw_array: fixed(new Array<number>(36).fill(0), [12, 3]),
      phase_center_app_ra: twelve(() => 0),
      phase_center_app_dec: twelve(() => 0),
      phase_center_frame_pa: twelve(() => 0),
      phase_center_id_array: twelve(() => 0),
    });
    const cells = 12 * 2 * 4;
    const dataItems: Record<string, GroupPlan['items'][string]> = {
      visdata: {
        kind: 'fixed',
        type: 'complex64',
        dims: [12, 2, 4],
        bytes: new Uint8Array(Float32Array.from({ length: 2 * cells }, (_, k) => k % 7).buffer),
      },
      flags: { kind: 'fixed', type: 'boolean', dims: [12, 2, 4], bytes: new Uint8Array(cells) },
      nsamples: {
        kind: 'fixed',
        type: 'float32',
        dims: [12, 2, 4],
        bytes: new Uint8Array(Float32Array.from({ length: cells }, () => 5).buffer),
      },
    };
    const all = {
      ...headerItems,
      ...Object.fromEntries(Object.entries(dataItems).map(([name, item]) => [`Data/${name}`, item])),
    };
    change(all);
    const pick = (isData: 'data' | 'header') =>
      Object.fromEntries(
        Object.entries(all)
          .filter(([name]) => name.startsWith('Data/') === (isData === 'data'))
          .map(([name, item]) => [name.replace('Data/', ''), item]),
      );
    const output = await openOutput(path);
    const file = await createHdf5(output, {
      kind: 'group',
      items: {
        Header: { kind: 'group', items: pick('header') },
        Data: { kind: 'group', items: pick('data') },
      },
    });
    await file.commit();
    await output.finish();
    return path;
  }
  const reals = (values: number[], dims = [values.length]) =>
    ({
      kind: 'fixed',
      type: 'float64',
      dims,
      bytes: new Uint8Array(Float64Array.from(values).buffer),
    }) as const;

  it('reads old files: no version, an axis of spectral windows, a phase type', async () => {
    const path = await altered((items) => {
      for (const name of ['version', 'phase_center_catalog', 'phase_center_id_array', 'extra_keywords']) {
        Reflect.deleteProperty(items, name);
      }
      items.phase_type = { kind: 'fixed', type: { textBytes: 5 }, dims: [], bytes: Buffer.from('drift') };
      items['Data/visdata'] = { ...items['Data/visdata'], dims: [12, 1, 2, 4] } as GroupPlan['items'][string];
      items.freq_array = reals([159e6, 160e6], [1, 2]);
    });
    const { file, all } = await readAll(path);
    assert.equal(file.details.version, '0.x');
    assert.equal(all.length, 2);
    assert.equal(all[0].counts[0], 5);
    // Their antennas stand where ours were put, by way of the Earth's centre.
    telescope.stations.forEach(({ name, eastM, northM, upM }, s) => {
      const there = file.telescope.stations[s];
      assert.equal(there.name, name);
      assert.ok(Math.hypot(eastM - there.eastM, northM - there.northM, upM - there.upM) < 1e-6, name);
    });
  });

  it('believes the arrays where someone has moved or renamed the antennas of a file of ours', async () => {
    const untouched = await readAll(await altered(() => undefined));
    assert.equal(untouched.file.telescope.title, telescope.title);
    const shifted = await altered((items) => {
      const { bytes } = items.antenna_positions as { bytes: Uint8Array };
      const places = new Float64Array(bytes.slice().buffer);
      places[4] += 5;
      items.antenna_positions = reals([...places], [3, 3]);
    });
    const [, two] = (await readAll(shifted)).file.telescope.stations;
    assert.equal(two.name, 'two');
    assert.ok(Math.abs(Math.hypot(two.eastM - 12, two.northM + 3, two.upM - 0.5) - 5) < 1e-6);
    const renamed = await altered((items) => {
      items.antenna_names = texts(['one', 'three', 'two']);
    });
    assert.deepEqual(
      (await readAll(renamed)).file.telescope.stations.map(({ name }) => name),
      ['one', 'three', 'two'],
    );
  });

  it('takes unset sample counts as one each', async () => {
    const path = await altered((items) => {
      items['Data/nsamples'] = {
        ...items['Data/nsamples'],
        bytes: new Uint8Array(12 * 8 * 4),
      } as GroupPlan['items'][string];
    });
    assert.equal((await readAll(path)).all[0].counts[0], 1);
  });

  it('exchanges the polarisations of a file whose X lies north', async () => {
    const east = (await readAll(await altered(() => undefined))).all[0];
    const path = await altered((items) => {
      items.x_orientation = { kind: 'fixed', type: { textBytes: 5 }, dims: [], bytes: Buffer.from('north') };
    });
    const north = (await readAll(path)).all[0];
    assert.deepEqual([...north.visibilities.subarray(0, 2)], [...east.visibilities.subarray(6, 8)]);
  });

  it('takes integrations of different lengths, close together in time', async () => {
    // The second time is 2 s after the first and lasts 10 s: they overlap, but at each time all baselines agree.
    const path = await altered((items) => {
      items.integration_time = reals(Array.from({ length: 12 }, (_, row) => (row < 6 ? 2 : 10)));
    });
    const { all } = await readAll(path);
    assert.deepEqual(
      all.map(({ durationS }) => durationS),
      [2, 10],
    );
  });

  it('leaves right and left alone in a file whose X lies north', async () => {
    const circular = (items: Parameters<Parameters<typeof altered>[0]>[0]): void => {
      items.polarization_array = reals([-1, -2, -3, -4]);
    };
    const { file, all } = await readAll(await altered(circular));
    assert.equal(file.header.feeds, 'circular');
    const north = await readAll(
      await altered((items) => {
        circular(items);
        items.x_orientation = {
          kind: 'fixed',
          type: { textBytes: 5 },
          dims: [],
          bytes: Buffer.from('north'),
        };
      }),
    );
    assert.deepEqual(north.all[0].visibilities, all[0].visibilities);
  });

  it('refuses baseline-dependent averaging and what contradicts itself', async () => {
    const refuses = async (change: Parameters<typeof altered>[0], words: RegExp): Promise<void> => {
      await assert.rejects(openUvh5(await altered(change)), { name: 'CorellaError', message: words });
    };
    await refuses((items) => {
      // The fifth row lasts twice as long and is at a time of its own: one time has five pairs, another six.
      items.integration_time = reals(Array.from({ length: 12 }, (_, row) => (row === 4 ? 4 : 2)));
      items.time_array = reals(Array.from({ length: 12 }, (_, row) => 2_459_560 + (row < 5 ? 0 : 1e-4)));
    }, /baseline-dependent averaging/);
    await refuses((items) => {
      items.ant_2_array = reals(new Array<number>(12).fill(9));
    }, /antenna 9 is in the data but not in antenna_numbers/);
    await refuses((items) => {
      items.time_array = reals([1, 2, 3]);
    }, /time_array holds 3 values where 12 belong/);
    await refuses((items) => {
      Reflect.deleteProperty(items, 'Data/flags');
    }, /has no Data\/flags/);
    await refuses((items) => {
      items.polarization_array = reals([1, 2, 3, 4]);
    }, /polarisation 1, no product/);
    await refuses((items) => {
      items.latitude = reals([Number.NaN]);
    }, /latitude holds NaN/);
  });

  it('refuses to finish empty, and a time twice', async () => {
    const path = nextPath();
    const writer = await createUvh5(path, header);
    await assert.rejects(writer.finish(), /no integration was written/);
    const twice = await createUvh5(path, header);
    await twice.append(integration(0));
    await assert.rejects(twice.append(integration(0)), /two integrations are at Julian Date/);
    await twice.abandon();
  });
});
