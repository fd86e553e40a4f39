import assert from 'node:assert/strict';
import { existsSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { File, ready } from 'h5wasm/node';
import { baselineIndex } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { formatInstant, parseInstant } from '../../core/instant.js';
import { randomStream } from '../../core/random.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import type { Telescope } from '../../telescope/telescope.js';
import { readGainFile } from '../gains/gain-files.js';
import type { VisibilityFile } from '../format.js';
import { openFile } from '../registry.js';
import { writeTartRaw } from './write.js';

const folder = temporaryFolder('tart');
const data = join(process.env.CORELLA_TEST_DATA ?? '', 'tart');
const skip = existsSync(data) ? false : 'no tart/ in CORELLA_TEST_DATA';

const start = parseInstant('2026-06-12T11:20:40Z');
const two: Telescope = {
  name: 'two',
  title: 'Two',
  site: { latitudeDeg: -18.9, longitudeDeg: 47.5, heightM: 1280 },
  stations: [0, 1].map((s) => ({ name: `ant${s}`, eastM: s, northM: 2 * s, upM: 0.5 })),
  polarisations: 1,
  band: { lowHz: 1571.328e6, highHz: 1579.512e6 },
  recording: { centreFrequencyHz: 1575.42e6, sampleRateHz: 8.184e6, channels: 64, bits: 8 },
  beamExponent: 0,
};
const record = (name: string): Promise<readonly string[]> =>
  writeTartRaw(join(folder, name), {
    telescope: two,
    oscillatorHz: 1571.328e6,
    sampleRateHz: 16.368e6,
    start,
    // Antenna 0: + − − − − − − −, − − − − − − − +; antenna 1 is the complement.
    packed: Uint8Array.of(0x80, 0x01, 0x7f, 0xfe),
  });

describe('raw recordings of TART', () => {
  it('unpacks the highest bit first, 1 as +1, from any sample on', async () => {
    const [path] = await record('a-raw.hdf');
    const file = await openFile(path);
    assert.ok(file.kind === 'voltages');
    assert.equal(file.format, 'tart');
    assert.deepEqual([file.inputs, file.polarisations, file.samples, file.bits], [2, 1, 16, 1]);
    assert.deepEqual([file.sampleRateHz, file.centreFrequencyHz], [16.368e6, 1575.42e6]);
    assert.equal(formatInstant(file.start), '2026-06-12T11:20:40.000Z');
    assert.deepEqual(file.telescope?.stations[1], { name: 'ant1', eastM: 1, northM: 2, upM: 0.5 });
    const expected = [1, ...new Array<number>(14).fill(-1), 1];
    const got: number[][] = [[], []];
    // Blocks of 5 begin inside bytes.
    for await (const block of file.blocks(5)) {
      assert.deepEqual(block.gaps, []);
      for (const a of [0, 1])
        got[a].push(...block.voltages.subarray(a * block.samples, (a + 1) * block.samples));
    }
    await file.close();
    assert.deepEqual(got[0], expected);
    assert.deepEqual(
      got[1],
      expected.map((value) => -value),
    );
  });

  it('finds positions beside it under either name, and has none without', async () => {
    const [path, positions] = await record('b-raw.hdf');
    renameSync(positions, join(folder, 'b-antenna_positions.json'));
    const found = await openFile(path);
    assert.equal(found.telescope?.stations.length, 2);
    await found.close();
    renameSync(join(folder, 'b-antenna_positions.json'), join(folder, 'elsewhere.json'));
    const lacking = await openFile(path);
    assert.equal(lacking.telescope, undefined);
    await lacking.close();
    writeFileSync(join(folder, 'b-antenna_positions.json'), '{"antenna_positions": [[0, 0, 0]]}');
    await assert.rejects(openFile(path), /has 2 antennas, and positions of 1/);
    writeFileSync(join(folder, 'b-antenna_positions.json'), '{"antenna_positions": [[0, 0]]}');
    await assert.rejects(openFile(path), /does not hold antenna positions/);
  });

  it('refuses bytes with the lowest bit first, which a filtered signal shows', async () => {
    // A resonance at a fourth of the rate, as wide as the receiver's filter: x(t) = −0.7·x(t−2) + noise.
    const random = randomStream(1, 'bits');
    const packed = new Uint8Array(2 * 2048);
    for (let a = 0; a < 2; a++) {
      let [last, before] = [0, 0];
      for (let t = 0; t < 8 * 2048; t++) {
        const value = -0.7 * before + random.gaussian();
        [before, last] = [last, value];
        if (value > 0) packed[2048 * a + Math.floor(t / 8)] |= 0x80 >> (t % 8);
      }
    }
    const write = (name: string, bytes: Uint8Array): Promise<readonly string[]> =>
      writeTartRaw(join(folder, name), {
        ...{ telescope: two, oscillatorHz: 1571.328e6, sampleRateHz: 16.368e6, start },
        packed: bytes,
      });
    const [good] = await write('good-raw.hdf', packed);
    await (await openFile(good)).close();
    const turned = packed.map((byte) =>
      Array.from({ length: 8 }, (_, bit) => ((byte >> bit) & 1) << (7 - bit)).reduce((x, y) => x | y),
    );
    const [bad] = await write('turned-raw.hdf', turned);
    await assert.rejects(openFile(bad), /first sample of each byte in its lowest bit.*reverse the bits/);
    // White noise shows no order.
    const [white] = await write(
      'white-raw.hdf',
      packed.map(() => Math.floor(256 * random.uniform())),
    );
    await (await openFile(white)).close();
  });

  it('refuses a file that was cut short', async () => {
    const [path] = await record('c-raw.hdf');
    truncateSync(path, 300);
    await assert.rejects(openFile(path), /damaged|cut short/);
  });
});

const config = {
  name: 'Three - Somewhere',
  L0_frequency: 1571.328e6,
  baseband_frequency: 4.092e6,
  sampling_frequency: 16.368e6,
  bandwidth: 2.5e6,
  num_antenna: 3,
  operating_frequency: 1575.42e6,
  location: { lat: -45, lon: 170, alt: 100 },
};
const positions = [
  [0, 0, 0],
  [1, 0, 0],
  [0, 2, 0],
];
const pairs = [
  [0, 1],
  [0, 2],
  [1, 2],
];
/** The value of pair k at a time. */
const value = (k: number, time: number): readonly [number, number] => [k + 1 + 10 * time, 0.5 + k];

async function checkValues(file: VisibilityFile, times: number): Promise<void> {
  const all: Integration[] = [];
  for await (const one of file.integrations()) all.push(one);
  assert.equal(all.length, times);
  for (const [time, { visibilities, counts }] of all.entries())
    pairs.forEach(([i, j], k) => {
      const b = baselineIndex(j, i);
      const [re, im] = value(k, time);
      // We store V_ji for the pair (i, j): the conjugate of the file's re + i·im.
      assert.deepEqual([visibilities[2 * b], visibilities[2 * b + 1], counts[b]], [re, -im, 1]);
    });
  // There are no autocorrelations.
  assert.equal(all[0].counts[baselineIndex(1, 1)], 0);
}

const shot = (time: number, stamp: string) => ({
  timestamp: stamp,
  data: pairs.map(([i, j], k) => ({ i, j, re: value(k, time)[0], im: value(k, time)[1] })),
});
const gains = { gain: [1, 2, 0], phase_offset: [0, Math.PI / 2, 1] };
const satellites = [{ name: 'NAVSTAR 1', az: 30, el: 60, jy: 1.5e6, r: 2e7 }];

function snapshotFile(name: string, change: object = {}): string {
  const path = join(folder, name);
  const json = {
    info: { info: config },
    ant_pos: positions,
    gains,
    data: [[shot(0, '2019-08-04T21:38:31.991Z'), satellites], [shot(1, '2019-08-04T21:38:33.991Z')]],
  };
  writeFileSync(path, JSON.stringify({ ...json, ...change }));
  return path;
}

describe('snapshots of a TART', () => {
  it('reads its JSON, with a catalogue or without', async () => {
    const file = await openFile(snapshotFile('shot.json'));
    assert.ok(file.kind === 'visibilities');
    assert.deepEqual([...file.header.frequenciesHz], [1575.42e6]);
    assert.equal(file.telescope.site.latitudeDeg, -45);
    assert.deepEqual([...(file.durationsS ?? [])], [2, 2]);
    assert.deepEqual(file.details.catalogue, [
      { name: 'NAVSTAR 1', azimuthDeg: 30, altitudeDeg: 60, fluxJy: 1.5e6 },
    ]);
    await checkValues(file, 2);
    const alone = await openFile(snapshotFile('alone.json', { data: [shot(0, '2019-08-04T21:38:31.991Z')] }));
    assert.ok(alone.kind === 'visibilities');
    assert.match(alone.assumed?.join() ?? '', /the file does not state its duration/);
    await checkValues(alone, 1);
  });

  it('has its gains as a file of gains: g = exp(iφ)/G, none where G is 0', async () => {
    const read = await readGainFile(snapshotFile('gains.json'));
    assert.deepEqual([...read.solved], [1, 1, 0]);
    assert.equal(read.gains[0], 1);
    assert.ok(Math.hypot(read.gains[2], read.gains[3] - 0.5) < 1e-12);
    assert.equal(read.fluxScale, 'relative');
    await assert.rejects(readGainFile(snapshotFile('none.json', { gains: undefined })), /holds no gains/);
  });

  it('refuses what contradicts itself', async () => {
    const refused = (change: object, words: RegExp): Promise<void> =>
      assert.rejects(openFile(snapshotFile('bad.json', change)), words);
    await refused({ ant_pos: positions.slice(1) }, /has 3 antennas, and positions of 2/);
    await refused({ info: { info: { ...config, operating_frequency: 1.2e9 } } }, /add up to/);
    await refused({ data: [{ timestamp: 'then', data: [] }] }, /is no snapshot of a TART/);
    await refused(
      { data: [{ timestamp: '2019-08-04T21:38:31Z', data: [{ i: 0, j: 3, re: 0, im: 0 }] }] },
      /the pair \(0, 3\) of 3 antennas/,
    );
  });

  it('reads visibilities in HDF5, and their gains', async () => {
    await ready;
    const path = join(folder, 'vis.hdf');
    const file = new File(path, 'w');
    const values = [0, 1].flatMap((time) => pairs.map((_, k) => value(k, time)));
    file.create_dataset({
      name: 'vis',
      shape: [2, 3],
      data: new Map([
        ['r', Float32Array.from(values, ([re]) => re)],
        ['i', Float32Array.from(values, ([, im]) => im)],
      ]),
      dtype: [
        ['r', '<f'],
        ['i', '<f'],
      ],
    });
    const set = (name: string, of: Float32Array | Int32Array, shape: number[]): unknown =>
      file.create_dataset({ name, data: of, shape });
    set('baselines', Int32Array.from(pairs.flat()), [3, 2]);
    set('antenna_positions', Float32Array.from(positions.flat()), [3, 3]);
    set('gains', Float32Array.from(gains.gain), [3]);
    set('phases', Float32Array.from(gains.phase_offset), [3]);
    const { location, ...others } = config;
    const text = [JSON.stringify({ ...others, ...location })];
    file.create_dataset({ name: 'config', data: text, shape: [1] });
    const stamps = ['2026-06-12T04:24:45.667417+00:00', '2026-06-12T04:24:46.702678+00:00'];
    file.create_dataset({ name: 'timestamp', data: stamps, shape: [2] });
    file.close();
    const opened = await openFile(path);
    assert.ok(opened.kind === 'visibilities');
    assert.equal(opened.telescope.name, 'three-somewhere');
    assert.ok(Math.abs((opened.durationsS?.[0] ?? 0) - 1.035261) < 1e-6);
    await checkValues(opened, 2);
    await opened.close();
    const read = await readGainFile(path);
    assert.ok(Math.hypot(read.gains[2], read.gains[3] - 0.5) < 1e-6);
    assert.deepEqual([...read.solved], [1, 1, 0]);
  });
});

/** Direct Fourier sum at some directions, divided by the map's rms within 0.9 of the horizon. */
async function overRms(
  path: string,
  { data: way, gains: gainWay }: { readonly data: 1 | -1; readonly gains: 1 | -1 },
): Promise<{ readonly mean: number; readonly satellites: number }> {
  const [file, own] = [await openFile(path), await readGainFile(path)];
  assert.ok(file.kind === 'visibilities');
  const { stations } = file.telescope;
  const waveM = 299_792_458 / file.header.frequenciesHz[0];
  const pixels = 161;
  const map = new Float64Array(pixels * pixels);
  for await (const { visibilities } of file.integrations())
    for (let i = 0; i < stations.length; i++)
      for (let j = 0; j < i; j++) {
        const b = baselineIndex(i, j);
        const [re, im] = [visibilities[2 * b], way * visibilities[2 * b + 1]];
        const [gi, gj] = [i, j].map((s) => [own.gains[2 * s], gainWay * own.gains[2 * s + 1]]);
        // Divided by g_i conj(g_j).
        const [gr, gm] = [gi[0] * gj[0] + gi[1] * gj[1], gi[1] * gj[0] - gi[0] * gj[1]];
        const size = gr * gr + gm * gm;
        const [vr, vi] = [(re * gr + im * gm) / size, (im * gr - re * gm) / size];
        const u = (2 * Math.PI * (stations[i].eastM - stations[j].eastM)) / waveM;
        const v = (2 * Math.PI * (stations[i].northM - stations[j].northM)) / waveM;
        for (let m = 0; m < pixels; m++)
          for (let l = 0; l < pixels; l++) {
            const phase = u * ((2 * l) / (pixels - 1) - 1) + v * ((2 * m) / (pixels - 1) - 1);
            map[m * pixels + l] += vr * Math.cos(phase) + vi * Math.sin(phase);
          }
      }
  const inside = Array.from(map).filter((_, k) => {
    const [l, m] = [(k % pixels) / 80 - 1, Math.floor(k / pixels) / 80 - 1];
    return Math.hypot(l, m) < 0.9;
  });
  const rms = Math.sqrt(inside.reduce((sum, one) => sum + one * one, 0) / inside.length);
  const catalogue = file.details.catalogue as readonly { azimuthDeg: number; altitudeDeg: number }[];
  const up = catalogue.filter(({ altitudeDeg }) => altitudeDeg > 25);
  const values = up.map(({ azimuthDeg, altitudeDeg }) => {
    const [az, alt] = [azimuthDeg, altitudeDeg].map((angle) => (angle * Math.PI) / 180);
    const l = Math.round((Math.cos(alt) * Math.sin(az) + 1) * 80);
    const m = Math.round((Math.cos(alt) * Math.cos(az) + 1) * 80);
    let peak = -Infinity;
    for (let y = m - 2; y <= m + 2; y++)
      for (let x = l - 2; x <= l + 2; x++) peak = Math.max(peak, map[y * pixels + x]);
    return peak / rms;
  });
  return { mean: values.reduce((sum, one) => sum + one, 0) / up.length, satellites: up.length };
}

describe('files of real TARTs', { skip }, () => {
  const snapshot = join(data, 'data_2019_08_04_21_38_31_UTC.json');
  it('shows the catalogued satellites with these signs, and with no others', async () => {
    const right = await overRms(snapshot, { data: 1, gains: 1 });
    assert.equal(right.satellites, 26);
    assert.ok(right.mean >= 3.3, `${right.mean}`);
    for (const wrong of [
      { data: -1, gains: 1 },
      { data: 1, gains: -1 },
      { data: -1, gains: -1 },
    ] as const) {
      const { mean } = await overRms(snapshot, wrong);
      assert.ok(mean < 1.8, `${JSON.stringify(wrong)}: ${mean}`);
    }
  });

  it('reads a raw recording as h5py and numpy do', async () => {
    const file = await openFile(join(data, 'mg-tana-raw.hdf'));
    assert.ok(file.kind === 'voltages');
    assert.equal(file.samples, 1_048_576);
    assert.equal(file.telescope?.stations[1].northM, 0.78);
    for await (const { voltages, samples } of file.blocks(1000)) {
      assert.deepEqual([...voltages.subarray(0, 8)], [-1, 1, 1, -1, -1, -1, 1, 1]);
      assert.deepEqual([...voltages.subarray(23 * samples, 23 * samples + 8)], [-1, -1, 1, 1, -1, -1, 1, 1]);
      break;
    }
    await file.close();
  });

  it('reads a minute of visibilities', async () => {
    const path = join(data, 'vis_2026-06-12_04_25_46.149086.hdf');
    const file = await openFile(path);
    assert.ok(file.kind === 'visibilities');
    assert.equal(file.integrationCount, 60);
    for await (const { visibilities, start: first } of file.integrations()) {
      assert.equal(formatInstant(first, 6), '2026-06-12T04:24:45.667417Z');
      const b = baselineIndex(2, 0);
      assert.ok(Math.abs(visibilities[2 * b] - 0.02646656) < 1e-7);
      assert.ok(Math.abs(visibilities[2 * b + 1] + 0.21064395) < 1e-7);
      break;
    }
    await file.close();
    const own = await readGainFile(path);
    assert.equal(own.solved[15], 0);
  });
});
