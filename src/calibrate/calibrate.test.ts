import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { baselineCount, baselineIndex, gainsCA } from '../core/axes.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { calibrateCases, calibrationSample } from './cases.js';
import { compareGains, modelVisibilities, planCalibration, prepareCalibrator } from './index.js';
import type { CalibrationInput, CalibrationOptions } from './index.js';
import type { SolveBatch } from './plan.js';
import { solveReference } from './reference.js';

const near = (found: ArrayLike<number>, wanted: readonly number[], tolerance = 1e-12): void => {
  assert.equal(found.length, wanted.length);
  for (const [n, value] of wanted.entries()) {
    assert.ok(Math.abs(found[n] - value) <= tolerance, `element ${n}: ${found[n]}, not ${value}`);
  }
};

/** Three stations, lower triangle 00, 10, 11, 20, 21, 22; autos are garbage with weight 0. */
const threeStations = (
  pairs: { data: [number, number]; model: [number, number]; weight?: number }[],
  count: number,
): SolveBatch => {
  const spot = [1, 3, 4];
  const batch = {
    solves: 1,
    stations: 3,
    data: new Float64Array(12).fill(99),
    model: new Float64Array(12).fill(77),
    weights: new Float64Array(6),
    gains: Float64Array.of(1, 0, 1, 0, 1, 0),
    iterations: { kind: 'fixed', count },
    iterationsRun: new Int32Array(1),
    lastChange: new Float64Array(1),
  } as const satisfies SolveBatch;
  for (const [n, { data, model, weight = 1 }] of pairs.entries()) {
    batch.data.set(data, 2 * spot[n]);
    batch.model.set(model, 2 * spot[n]);
    batch.weights[spot[n]] = weight;
  }
  return batch;
};

const input = (sample: Parameters<typeof calibrationSample>[0]): CalibrationInput =>
  calibrationSample(sample).input;
const solve = async (options: CalibrationOptions, data: CalibrationInput) =>
  (await prepareCalibrator(planCalibration(options), openReference())).solve(data);

describe('StEFCal step by hand', () => {
  it('moves every station from the gains before', async () => {
    // g = (1, 2i, 3), M = 1: R_10 = 2i, R_20 = 3, R_21 = 3·conj(2i) = −6i. From g = 1 everywhere:
    // g_0 = (R_01 + R_02)/2 = (−2i + 3)/2, g_1 = (R_10 + R_12)/2 = (2i + 6i)/2, g_2 = (3 − 6i)/2
    const batch = threeStations(
      [
        { data: [0, 2], model: [1, 0] },
        { data: [3, 0], model: [1, 0] },
        { data: [0, -6], model: [1, 0] },
      ],
      1,
    );
    await solveReference(batch);
    near(batch.gains, [1.5, -1, 0, 4, 1.5, -3]);
  });
  it('averages the second with the first', async () => {
    // g = (1, 2, 3), M = 1: R_10 = 2, R_20 = 3, R_21 = 6. First (2.5, 4, 4.5), then
    // g_0 = (2·4 + 3·4.5)/(16 + 20.25), g_1 = (2·2.5 + 6·4.5)/(6.25 + 20.25), g_2 = (3·2.5 + 6·4)/(6.25 + 16)
    const batch = threeStations(
      [
        { data: [2, 0], model: [1, 0] },
        { data: [3, 0], model: [1, 0] },
        { data: [6, 0], model: [1, 0] },
      ],
      2,
    );
    await solveReference(batch);
    const wanted = [(2.5 + 21.5 / 36.25) / 2, 0, (4 + 32 / 26.5) / 2, 0, (4.5 + 31.5 / 22.25) / 2, 0];
    near(batch.gains, wanted);
    // |g − first| is |second − first|/2
    const change = Math.hypot(wanted[0] - 2.5, wanted[2] - 4, wanted[4] - 4.5);
    near(batch.lastChange, [change / Math.hypot(wanted[0], wanted[2], wanted[4])]);
    assert.equal(batch.iterationsRun[0], 2);
  });
  it('weighs, and turns back the phase of the model', async () => {
    // Station 0 has R_01 = conj(R_10) = 4 with M_01 = conj(2i) = −2i and weight 3, R_02 = 1 with M_02 = 1, weight 1:
    // g_0 = (3·4·conj(−2i) + 1)/(3·4 + 1) = (1 + 24i)/13; g_1 = 4·conj(2i)/4 and g_2 = 1 from their one pair each
    const batch = threeStations(
      [
        { data: [4, 0], model: [0, 2], weight: 3 },
        { data: [1, 0], model: [1, 0], weight: 1 },
        { data: [5, 5], model: [5, 5], weight: 0 },
      ],
      1,
    );
    await solveReference(batch);
    near(batch.gains, [1 / 13, 24 / 13, 0, -2, 1, 0]);
  });
  it('finds three known gains exactly', async () => {
    // g = (2, i, 1 + i), M_10 = i, M_20 = 2, M_21 = 1 − i, so R = g_i M_ij conj(g_j):
    // R_10 = i·i·2 = −2; R_20 = (1 + i)·2·2 = 4 + 4i; R_21 = (1 + i)(1 − i)·(−i) = −2i
    const batch = threeStations(
      [
        { data: [-2, 0], model: [0, 1] },
        { data: [4, 4], model: [2, 0] },
        { data: [0, -2], model: [1, -1] },
      ],
      300,
    );
    await solveReference(batch);
    const [re, im] = batch.gains;
    near([Math.hypot(re, im)], [2], 1e-9);
    // with the common phase taken out: conj(g_0)/|g_0| times each
    const turned = [0, 1, 2].flatMap((s) => {
      const [x, y] = batch.gains.subarray(2 * s);
      return [(x * re + y * im) / 2, (y * re - x * im) / 2];
    });
    near(turned, [2, 0, 0, 1, 1, 1], 1e-9);
  });
});

describe('model visibilities', () => {
  const frequenciesHz = Float64Array.of(SPEED_OF_LIGHT_M_PER_S / 4);
  const origin = { x: 0, y: 0, z: 0 };
  it('lead on the eastern station for a source in the east', () => {
    // 1 m at a wavelength of 4 m is a quarter turn: M_10 = +i · flux · beam²; XX = I − Q, YY = I + Q
    const model = modelVisibilities({
      stationsM: [origin, { x: 1, y: 0, z: 0 }],
      frequenciesHz,
      polarisations: 2,
      components: [
        { directionEnu: { x: 1, y: 0, z: 0 }, fluxJy: Float64Array.of(8), beam: 0.5, fractionQ: 0.25 },
      ],
    });
    near(model, [1.5, 0, 2.5, 0, 0, 1.5, 0, 2.5, 1.5, 0, 2.5, 0]);
  });
  it('add up over sources, each by its own direction', () => {
    // North 1 m: +i from the north, −i from the south, 1 from the zenith
    const up = (directionEnu: { x: number; y: number; z: number }, fluxJy: number) => ({
      directionEnu,
      fluxJy: Float64Array.of(fluxJy),
    });
    const model = modelVisibilities({
      stationsM: [origin, { x: 0, y: 1, z: 0 }],
      frequenciesHz,
      polarisations: 1,
      components: [up({ x: 0, y: 1, z: 0 }, 5), up({ x: 0, y: -1, z: 0 }, 2), up({ x: 0, y: 0, z: 1 }, 7)],
    });
    near(model, [14, 0, 7, 3, 14, 0]);
  });
  it('refuse a flux list that does not match the channels', () => {
    assert.throws(
      () =>
        modelVisibilities({
          stationsM: [origin],
          frequenciesHz,
          polarisations: 1,
          components: [{ directionEnu: { x: 0, y: 0, z: 1 }, fluxJy: new Float64Array(3) }],
        }),
      /source 0 has 3 fluxes for 1 channels/,
    );
  });
});

describe('calibration', () => {
  const shape = { stations: 12, polarisations: 2, channels: 3 } as const;
  it('recovers the gains of noiseless data', async () => {
    const { input: data, truth } = calibrationSample({ seed: 5, ...shape });
    const plan = planCalibration({ ...shape, referenceStation: 4 });
    const found = await (await prepareCalibrator(plan, openReference())).solve(data);
    const { rmsRelativeError, rmsPhaseErrorDeg, compared } = compareGains(found, truth, plan);
    // the last change is below 1e-8 and shrinks geometrically; the error left is a few hundred times that at most
    assert.ok(rmsRelativeError < 1e-6, `${rmsRelativeError}`);
    assert.ok(rmsPhaseErrorDeg < 1e-4, `${rmsPhaseErrorDeg}`);
    assert.equal(compared, 72);
    assert.deepEqual(found.solved, new Uint8Array(72).fill(1));
    for (const { converged, residual } of found.solutions) assert.ok(converged && residual < 1e-6);
    for (let c = 0; c < 3; c++) {
      for (let p = 0; p < 2; p++) {
        const at = 2 * ((c * 12 + 4) * 2 + p);
        assert.ok(found.gains[at] > 0);
        assert.equal(found.gains[at + 1], 0);
      }
    }
  });
  it('reports when it has not converged', async () => {
    const { solutions } = await solve(
      { ...shape, iterations: { kind: 'until', tolerance: 1e-12, most: 4 } },
      input({ seed: 5, ...shape }),
    );
    assert.ok(solutions.every(({ converged, iterations }) => !converged && iterations === 4));
  });
  it('measures the residual of noise it cannot explain', async () => {
    const { solutions } = await solve(shape, input({ seed: 6, ...shape, noiseJy: 1 }));
    // noise of √2 Jy on fringes of rms |g|² √(10² + 4²) ≈ 12 Jy
    for (const { residual } of solutions) assert.ok(residual > 0.05 && residual < 0.25, `${residual}`);
  });
  it('leaves out what is flagged, unlinked or dead, and reports why', async () => {
    const data = input({ seed: 7, ...shape });
    data.flaggedInputs[2 * 3] = 1;
    for (let c = 0; c < 3; c++) {
      for (let j = 0; j < 12; j++) {
        const without = (s: number): number =>
          c * baselineCount(12) + baselineIndex(Math.max(s, j), Math.min(s, j));
        data.counts[without(5)] = 0;
        data.visibilities.fill(0, 8 * without(8), 8 * without(8) + 8);
        data.model.fill(0, 4 * without(11), 4 * without(11) + 4);
      }
    }
    const { solutions, solved, gains } = await solve(shape, data);
    assert.deepEqual(solutions[0].leftOut, [
      { station: 3, reason: 'flagged' },
      { station: 5, reason: 'no baselines' },
      { station: 8, reason: 'no signal' },
      { station: 11, reason: 'no model' },
    ]);
    assert.deepEqual(
      solutions[1].leftOut.map(({ station }) => station),
      [5, 8, 11],
    );
    assert.equal(solved[2 * 3], 0);
    assert.equal(solved[2 * 3 + 1], 1);
    assert.ok(Number.isNaN(gains[2 * 2 * 3]));
    assert.ok(!Number.isNaN(gains[2 * (2 * 3 + 1)]));
  });
  it('leaves channels and polarisations without any data unsolved, and solves the others', async () => {
    const { input: data, truth } = calibrationSample({ seed: 9, ...shape });
    data.counts.fill(0, baselineCount(12), 2 * baselineCount(12));
    data.visibilities.fill(NaN, 8 * baselineCount(12), 16 * baselineCount(12));
    const plan = planCalibration(shape);
    const found = await (await prepareCalibrator(plan, openReference())).solve(data);
    assert.deepEqual(
      found.solutions.map(({ converged }) => converged),
      [true, true, false, false, true, true],
    );
    const { leftOut, iterations, residual } = found.solutions[2];
    assert.equal(leftOut.length, 12);
    assert.ok(leftOut.every(({ reason }) => reason === 'no baselines'));
    assert.deepEqual([iterations, residual], [0, NaN]);
    assert.ok(found.gains.subarray(2 * 24, 4 * 24).every(Number.isNaN));
    const { rmsRelativeError, compared } = compareGains(found, truth, plan);
    assert.equal(compared, 48);
    assert.ok(rmsRelativeError < 1e-6, `${rmsRelativeError}`);
    // Y of every station flagged: X is solved as if it were the only polarisation.
    const oneFeed = input({ seed: 9, ...shape });
    for (let s = 0; s < 12; s++) oneFeed.flaggedInputs[2 * s + 1] = 1;
    const { solved, solutions } = await solve(shape, oneFeed);
    assert.deepEqual([...solved.subarray(0, 4)], [1, 0, 1, 0]);
    assert.ok(solutions[1].leftOut.every(({ reason }) => reason === 'flagged'));
  });
  it('gains of any size fit where pairs leave them open: such channels are left unsolved', async () => {
    const { input: data, truth } = calibrationSample({ seed: 10, ...shape });
    // Channel 1 keeps only the pairs of 0 … 5 with 6 … 11.
    for (let i = 0; i < 12; i++)
      for (let j = 0; j < i; j++)
        if (i < 6 || j >= 6) data.counts[baselineCount(12) + baselineIndex(i, j)] = 0;
    const plan = planCalibration(shape);
    const { solutions, solved } = await (await prepareCalibrator(plan, openReference())).solve(data);
    assert.deepEqual(
      solutions.map(({ converged }) => converged),
      [true, true, false, false, true, true],
    );
    assert.ok(solutions[2].leftOut.every(({ reason }) => reason === 'open'));
    assert.ok(!solved.subarray(24, 48).includes(1));
    // Ten times one side's gains and a tenth of the other's give the same pairs.
    const product = (i: number, j: number, sizes: readonly [number, number]): number =>
      Math.hypot(truth[48 + 4 * i], truth[49 + 4 * i]) * (i < 6 ? sizes[0] : sizes[1]) *
      (Math.hypot(truth[48 + 4 * j], truth[49 + 4 * j]) * (j < 6 ? sizes[0] : sizes[1])); // prettier-ignore
    for (let i = 6; i < 12; i++)
      for (let j = 0; j < 6; j++)
        assert.ok(Math.abs(product(i, j, [10, 0.1]) / product(i, j, [1, 1]) - 1) < 1e-12);
    // Its own power fixes a station's amplitude, and with it all others.
    const autos = planCalibration({ ...shape, autos: 'include' });
    const fixed = await (await prepareCalibrator(autos, openReference())).solve(data);
    assert.ok(!fixed.solved.includes(0));
    assert.ok(compareGains(fixed, truth, autos).rmsRelativeError < 1e-5);
  });
  it('leaves short baselines out when asked', () => {
    const at = (x: number) => ({ x, y: 0, z: 0 });
    const plan = planCalibration({
      stations: 3,
      polarisations: 1,
      channels: 1,
      shortest: { stationsM: [at(0), at(5), at(20)], minimumM: 10 },
    });
    assert.deepEqual([...plan.usedBaselines], [0, 0, 0, 1, 1, 0]);
    // 5, 20 and 15 m: a baseline exactly as long as the shortest stays.
    const just = { stationsM: [at(0), at(5), at(20)], minimumM: 15 };
    const shape3 = { stations: 3, polarisations: 1, channels: 1 } as const;
    assert.deepEqual([...planCalibration({ ...shape3, shortest: just }).usedBaselines], [0, 0, 0, 1, 1, 0]);
    const all = planCalibration({ ...shape3, autos: 'include' });
    assert.deepEqual([...all.usedBaselines], [1, 1, 1, 1, 1, 1]);
  });
});

describe('calibration refuses', () => {
  const shape = { stations: 5, polarisations: 2, channels: 2 } as const;
  it('a NaN, naming channel, polarisation and stations', async () => {
    const data = input({ seed: 1, ...shape });
    data.visibilities[2 * ((15 + baselineIndex(4, 2)) * 4 + 3)] = NaN;
    await assert.rejects(
      solve(shape, data),
      /channel 1, polarisation Y: the visibility of stations 4 and 2 is not a finite number/,
    );
  });
  it('counts that are no counts', async () => {
    for (const count of [-1, NaN, Infinity]) {
      const data = input({ seed: 1, ...shape });
      data.counts[15 + baselineIndex(3, 1)] = count;
      await assert.rejects(
        solve(shape, data),
        new RegExp(`channel 1, polarisation X: the sample count of stations 3 and 1 is ${count}`),
      );
    }
  });
  it('fewer than three good stations', async () => {
    const data = input({ seed: 1, ...shape });
    for (const s of [0, 1, 4]) data.flaggedInputs[2 * s] = 1;
    // Y is solved nevertheless.
    const { solved } = await solve(shape, data);
    assert.ok(solved.every((one, at) => one === at % 2));
    for (const s of [0, 1, 4]) data.flaggedInputs[2 * s + 1] = 1;
    await assert.rejects(solve(shape, data), /channel 0, polarisation X: 2 of 5 stations .* takes three/);
  });
  it('data of which nothing counts', async () => {
    const data = input({ seed: 1, ...shape });
    data.counts.fill(0);
    await assert.rejects(
      solve(shape, data),
      /calibrate: no baseline has samples: all are flagged or missing/,
    );
  });
  it('a model that is zero', async () => {
    const data = input({ seed: 1, ...shape });
    data.model.fill(0);
    await assert.rejects(solve(shape, data), /the model is zero on every baseline/);
  });
  it('a reference station that is left out, and names a good one', async () => {
    const data = input({ seed: 1, ...shape });
    data.flaggedInputs[1] = 1;
    await assert.rejects(
      solve({ ...shape, referenceStation: 0 }, data),
      /polarisation Y: reference station 0 is left out \(flagged\); take station 1/,
    );
    assert.equal((await solve(shape, data)).referenceStation, 1);
  });
  it('sizes and rules that make no sense', () => {
    assert.throws(
      () => planCalibration({ ...shape, stations: 2 }),
      /2 stations are too few; gains take at least three/,
    );
    assert.throws(() => planCalibration({ ...shape, referenceStation: 5 }), /reference station is 5/);
    assert.equal(planCalibration({ ...shape, referenceStation: 4 }).referenceStation, 4);
    assert.throws(
      () => planCalibration({ ...shape, shortest: { stationsM: [], minimumM: 1 } }),
      /0 positions for 5 stations/,
    );
    assert.throws(
      () => planCalibration({ ...shape, iterations: { kind: 'until', tolerance: 1e-16, most: 9 } }),
      /tolerance is 1e-16/,
    );
    assert.throws(
      () => planCalibration({ ...shape, iterations: { kind: 'fixed', count: 0 } }),
      /iteration count is 0/,
    );
  });
});

describe('comparing gains', () => {
  it('takes away the phase of the reference, and nothing else', () => {
    // truth (i, 2i, 2): rotated by −90° it is (1, 2, −2i); found (1, 2, −2i·e^(i·0.1) ·1) is off by 0.1 rad on one
    const plan = planCalibration({ stations: 3, polarisations: 1, channels: 1 });
    const truth = gainsCA(Float64Array.of(0, 1, 0, 2, 2, 0), 1, 3);
    const gains = gainsCA(Float64Array.of(1, 0, 2, 0, 2 * Math.sin(0.1), -2 * Math.cos(0.1)), 1, 3);
    const found = { gains, solved: new Uint8Array(3).fill(1), solutions: [], referenceStation: 0 };
    const { rmsRelativeError, rmsPhaseErrorDeg } = compareGains(found, truth, plan);
    // |2 − 2e^(0.1i)| = 4 sin(0.05), over √(1 + 4 + 4); phases (0, 0.1) besides the reference
    near([rmsRelativeError], [(4 * Math.sin(0.05)) / 3]);
    near([rmsPhaseErrorDeg], [((0.1 / Math.SQRT2) * 180) / Math.PI]);
  });
});

calibrateCases(() => Promise.resolve(openReference()));
