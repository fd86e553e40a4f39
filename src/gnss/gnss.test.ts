import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { voltagesAT } from '../core/axes.js';
import { addSamples, parseInstant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { openFile } from '../formats/index.js';
import type { Telescope } from '../telescope/telescope.js';
import { calibrateByGnss, type GnssSettings } from './calibrate.js';
import { caCode, CHIP_RATE_HZ, CHIPS, L1_HZ } from './codes.js';
import { directionsOf } from './directions.js';
import { imageOf } from './images.js';
import { log10Tail } from './search.js';
import { along, WAVENUMBER, wrapped, type Cosines } from './solve.js';

describe('C/A codes', () => {
  it('begin as IS-GPS-200 states in octal', () => {
    for (const [prn, octal] of [
      [1, '1440'],
      [2, '1620'],
      [7, '1131'],
      [19, '1633'],
      [28, '1774'],
      [31, '1625'],
      [32, '1712'],
    ] as const) {
      const bits = Array.from(caCode(prn).subarray(0, 10), (chip) => (1 - chip) / 2).join('');
      assert.equal(parseInt(bits, 2).toString(8), octal);
    }
  });

  it('are balanced and nearly orthogonal', () => {
    const [one, two] = [caCode(5), caCode(9)];
    assert.equal(Math.abs(one.reduce((sum, chip) => sum + chip, 0)), 1);
    const at = (shift: number, other: Int8Array): number =>
      one.reduce((sum, chip, k) => sum + chip * other[(k + shift) % CHIPS], 0);
    for (let shift = 0; shift < CHIPS; shift += 31) {
      assert.ok([-65, -1, 63].includes(at(shift, two)), `${at(shift, two)}`);
      if (shift > 0) assert.ok([-65, -1, 63].includes(at(shift, one)));
    }
  });
});

it('the tail of a sum of exponentials', () => {
  // One exponential: e^(−x). Two: e^(−x)(1 + x).
  assert.ok(Math.abs(log10Tail(5, 1) + 5 / Math.LN10) < 1e-12);
  assert.ok(Math.abs(log10Tail(9, 2) - Math.log10(10 * Math.exp(-9))) < 1e-12);
});

interface Sent extends Cosines {
  readonly prn: number;
  readonly dopplerHz: number;
  readonly codeStart: number;
}
const sent: readonly Sent[] = [
  { prn: 3, l: 0.4, m: 0.3, dopplerHz: 640, codeStart: 1000 },
  { prn: 17, l: -0.5, m: 0.2, dopplerHz: -820, codeStart: 3100.5 },
  { prn: 29, l: 0.1, m: -0.6, dopplerHz: 130, codeStart: 40 },
  { prn: 12, l: -0.2, m: 0.55, dopplerHz: 300, codeStart: 2222 },
  { prn: 21, l: 0.55, m: -0.35, dopplerHz: -150, codeStart: 777 },
];
const RATE_HZ = 4.4e6;
const MS = 12;
const SAMPLES = (RATE_HZ * MS) / 1000;
const start = parseInstant('2026-06-12T11:20:40Z');
/** Not on a grid, or shifts of the sky by whole grating lobes would fit equally well. */
const places = [
  [0, 0],
  [0.313, 0.087],
  [0.471, 0.633],
  [-0.429, 0.517],
  [-0.726, -0.183],
  [0.139, -0.841],
  [0.852, -0.468],
  [-0.284, -1.127],
];
const telescope: Telescope = {
  name: 'eight',
  title: 'Eight',
  site: { latitudeDeg: -18.9, longitudeDeg: 47.5, heightM: 1280 },
  stations: places.map(([eastM, northM], s) => ({ name: `ant${s}`, eastM, northM, upM: 0 })),
  polarisations: 1,
  band: { lowHz: 1.57e9, highHz: 1.58e9 },
  recording: { centreFrequencyHz: 1575e6, sampleRateHz: RATE_HZ, channels: 64, bits: 8 },
  beamExponent: 0,
};
const phaseOf = (a: number): number => (a === 0 ? 0 : 2.1 * a - 0.3 * a * a);
const sizeOf = (a: number): number => 1 + 0.1 * a;

/** Complex samples centred 0.4 MHz below L1, with data bits, noise and antenna gains. */
function simulated(satellites: readonly Sent[], input7: 'alive' | 'dead' = 'alive') {
  const centreFrequencyHz = L1_HZ - 0.4e6;
  const voltages = new Float32Array(2 * places.length * SAMPLES);
  const random = randomStream(3, 'gnss');
  for (let a = 0; a < places.length; a++) {
    const level = a === 7 && input7 === 'dead' ? 0 : sizeOf(a);
    const turns = satellites.map(
      ({ l, m }) => phaseOf(a) + WAVENUMBER * along({ x: places[a][0], y: places[a][1], z: 0 }, { l, m }),
    );
    for (let t = 0; t < SAMPLES; t++) {
      let [re, im] = [random.gaussian(), random.gaussian()];
      for (const [s, { prn, dopplerHz, codeStart }] of satellites.entries()) {
        const chip = ((t - codeStart) / RATE_HZ) * CHIP_RATE_HZ * (1 + dopplerHz / L1_HZ);
        const value = 0.35 * level * codes[prn][((Math.floor(chip) % CHIPS) + CHIPS) % CHIPS];
        // A data bit changes sign after seven codes.
        const bit = chip > 7 * CHIPS ? -1 : 1;
        const phase = 2 * Math.PI * ((0.4e6 + dopplerHz) / RATE_HZ) * t + turns[s];
        re += bit * value * Math.cos(phase);
        im += bit * value * Math.sin(phase);
      }
      voltages[2 * (a * SAMPLES + t)] = re;
      voltages[2 * (a * SAMPLES + t) + 1] = im;
    }
  }
  return {
    ...({ kind: 'voltages', type: 'cf32', inputs: places.length, polarisations: 1, path: 'eight' } as const),
    sampleRateHz: RATE_HZ,
    centreFrequencyHz,
    start,
    samples: SAMPLES,
    close: () => Promise.resolve(),
    blocks: async function* (blockSamples: number) {
      for (let first = 0; first < SAMPLES; first += blockSamples) {
        await Promise.resolve();
        const samples = Math.min(blockSamples, SAMPLES - first);
        const part = new Float32Array(2 * places.length * samples);
        for (let a = 0; a < places.length; a++)
          part.set(
            voltages.subarray(2 * (a * SAMPLES + first), 2 * (a * SAMPLES + first + samples)),
            2 * a * samples,
          );
        yield {
          ...({ type: 'cf32', inputs: places.length, samples, gaps: [] } as const),
          voltages: voltagesAT(part, 'cf32', places.length, samples),
          start: addSamples(start, first, RATE_HZ),
        };
      }
    },
  };
}
const codes = Object.fromEntries(sent.map(({ prn }) => [prn, caCode(prn)]));
const settings: GnssSettings = {
  durationS: 1,
  mostDopplerHz: 1000,
  positions: 'given',
  directions: new Map<number, Cosines>(),
};
const DEGREE = Math.PI / 180;

describe('gains by satellites', () => {
  it('finds those that are there, their codes, Dopplers, directions and the gains; with directions no tilt is left', async () => {
    const directions = new Map(sent.slice(0, 2).map(({ prn, l, m }) => [prn, { l, m }]));
    const made = await calibrateByGnss(simulated(sent), telescope, { ...settings, directions });
    assert.deepEqual(
      made.waves.map(({ prn }) => prn).sort((x, y) => x - y),
      [3, 12, 17, 21, 29],
    );
    assert.equal(made.solved.tilt, 'known');
    for (const [s, { prn, dopplerHz, codeStartSamples }] of made.waves.entries()) {
      const truth = sent.find((one) => one.prn === prn);
      assert.ok(truth);
      assert.ok(Math.abs(dopplerHz - truth.dopplerHz) < 15, `${prn}: ${dopplerHz} Hz`);
      assert.ok(Math.abs(codeStartSamples - truth.codeStart) < 0.5, `${prn}: ${codeStartSamples}`);
      const { l, m } = made.solved.satellites[s];
      assert.ok(Math.hypot(l - truth.l, m - truth.m) < 0.005, `${prn}: ${l}, ${m}`);
    }
    const { gains } = made.solved;
    for (let a = 0; a < places.length; a++) {
      const error = wrapped(Math.atan2(gains[2 * a + 1], gains[2 * a]) - phaseOf(a));
      assert.ok(Math.abs(error) < 4 * DEGREE, `input ${a}: ${error / DEGREE}° off`);
      const size = Math.hypot(gains[2 * a], gains[2 * a + 1]) / Math.hypot(gains[0], gains[1]);
      assert.ok(Math.abs(size / sizeOf(a) - 1) < 0.05, `input ${a}: ${size}`);
    }
    assert.ok(made.solved.rmsRad < 4 * DEGREE);
    // The image of each peaks in its direction.
    const [wave] = made.waves;
    const { peak } = imageOf(
      wave,
      places.map(([x, y]) => ({ x, y, z: 0 })),
      made.solved,
    );
    const { l, m } = made.solved.satellites[0];
    assert.ok(Math.hypot(peak.l - l, peak.m - m) < 0.03);
  });

  it('without directions the sky is right but for a shift, which is reported; a dead input has no gain', async () => {
    const made = await calibrateByGnss(simulated(sent, 'dead'), telescope, settings);
    assert.equal(made.solved.tilt, 'undetermined');
    assert.match(made.warnings.join(), /tilt of the sky is undetermined/);
    assert.match(made.warnings.join(), /8 inputs and no known direction/);
    assert.deepEqual([...made.solved.solved], [1, 1, 1, 1, 1, 1, 1, 0]);
    assert.ok(Number.isNaN(made.solved.gains[14]));
    const shifts = made.solved.satellites.map(({ prn, l, m }) => {
      const truth = sent.find((one) => one.prn === prn);
      assert.ok(truth);
      return [l - truth.l, m - truth.m];
    });
    for (const [east, north] of shifts)
      assert.ok(Math.hypot(east - shifts[0][0], north - shifts[0][1]) < 0.01);
    assert.ok(Math.max(...made.solved.satellites.map(({ l, m }) => Math.hypot(l, m))) < 0.8);
  });

  it('moves an antenna to where it is, with directions known', async () => {
    const directions = new Map(sent.map(({ prn, l, m }) => [prn, { l, m }]));
    const [east, north] = [0.012, -0.008];
    const stations = telescope.stations.map((station, s) =>
      s === 4 ? { ...station, eastM: station.eastM - east, northM: station.northM - north } : station,
    );
    const moved = { ...telescope, stations };
    const made = await calibrateByGnss(simulated(sent), moved, {
      ...settings,
      directions,
      positions: 'solved',
    });
    const four = made.positions?.antennas.find(({ input }) => input === 4);
    assert.ok(four);
    assert.ok(Math.abs(four.offsetM[0] - east) < 0.003, `${four.offsetM[0]}`);
    assert.ok(Math.abs(four.offsetM[1] - north) < 0.003, `${four.offsetM[1]}`);
    assert.ok(four.covarianceM2[0][0] > 0 && Math.sqrt(four.covarianceM2[0][0]) < 0.004);
    const few = new Map([...directions].slice(0, 3));
    await assert.rejects(
      calibrateByGnss(simulated(sent), telescope, { ...settings, directions: few, positions: 'solved' }),
      /directions of 3 satellites are known; it takes 4/,
    );
  });

  it('finds none in noise, and refuses what lacks L1', async () => {
    await assert.rejects(calibrateByGnss(simulated([]), telescope, settings), /no GPS satellite was found/);
    const elsewhere = { ...simulated([]), centreFrequencyHz: 1.42e9 };
    await assert.rejects(calibrateByGnss(elsewhere, telescope, settings), /does not hold GPS L1/);
  });

  it('reads directions', () => {
    const { l, m } = directionsOf(['31@60:90'], 'directions').get(31) ?? { l: 0, m: 0 };
    assert.ok(Math.abs(l - 0.5) < 1e-12 && Math.abs(m) < 1e-12);
    for (const bad of ['31@60', '33@60:90', '31@-5:90', 'Sun@10:10'])
      assert.throws(() => directionsOf([bad], 'directions'), /is no direction of a satellite/);
    assert.throws(() => directionsOf(['3@60:90', 'G03@50:90'], 'directions'), /given twice/);
  });
});

const real = join(process.env.CORELLA_TEST_DATA ?? '', 'tart', 'mg-tana-raw.hdf');
describe('a real recording', { skip: existsSync(real) ? false : 'no tart/ in CORELLA_TEST_DATA' }, () => {
  it('has the eleven satellites that other acquisitions find, and its phases agree', async () => {
    const file = await openFile(real);
    assert.ok(file.kind === 'voltages' && file.telescope);
    const made = await calibrateByGnss(file, file.telescope, {
      ...settings,
      durationS: 0.06,
      mostDopplerHz: 7000,
    });
    await file.close();
    // Code phases and Dopplers (to 1 kHz) from an independent search program.
    const others = new Map([
      [31, [1826, 0]],
      [27, [2386, 1000]],
      [26, [13_713, 0]],
      [28, [15_769, -2000]],
      [8, [5353, 2000]],
      [16, [2436, 0]],
      [18, [3047, -1000]],
      [32, [14_795, -3000]],
      [4, [12_068, 1000]],
      [2, [13_098, 3000]],
      [9, [8472, 2589]],
    ]);
    assert.deepEqual(
      made.waves.map(({ prn }) => prn).sort((x, y) => x - y),
      [...others.keys()].sort((x, y) => x - y),
    );
    for (const { prn, dopplerHz, codeStartSamples } of made.waves) {
      const [code, doppler] = others.get(prn) ?? [0, 0];
      assert.ok(Math.abs(codeStartSamples - code) <= 2, `${prn}: ${codeStartSamples}`);
      assert.ok(Math.abs(dopplerHz - doppler) <= 1000, `${prn}: ${dopplerHz}`);
    }
    assert.ok(made.solved.rmsRad < 17 * DEGREE);
    assert.equal(made.solved.tilt, 'undetermined');
  });
});
