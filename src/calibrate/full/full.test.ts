import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../../backend/reference.js';
import { baselineIndex } from '../../core/axes.js';
import { adjoint, inverseMatrix, timesMatrix } from '../../core/jones.js';
import { planCalibration, prepareFullCalibrator } from '../index.js';
import { fullCases, fullSample, type FullSampleOptions } from './cases.js';
import { fullModelVisibilities } from './model.js';
import { commonOutputs, type FullBatch } from './plan.js';
import { solveFullReference } from './reference.js';
import type { FullCalibration, FullInput } from './solve.js';

const near = (found: ArrayLike<number>, wanted: readonly number[], tolerance = 1e-12): void => {
  assert.equal(found.length, wanted.length);
  wanted.forEach((value, n) => {
    assert.ok(Math.abs(found[n] - value) <= tolerance, `element ${n}: ${found[n]}, not ${value}`);
  });
};

/** Three stations, lower triangle 00, 10, 11, 20, 21, 22; autocorrelations are garbage without weight. */
const threeStations = (pairs: { data: number[]; model: number[]; weight?: number }[], count: number) => {
  const batch: FullBatch = {
    solves: 1,
    stations: 3,
    data: new Float64Array(48).fill(99),
    model: new Float64Array(48).fill(77),
    weights: new Float64Array(6),
    gains: Float64Array.from({ length: 24 }, (_, n) => (n % 8 === 0 || n % 8 === 6 ? 1 : 0)),
    iterations: { kind: 'fixed', count },
    iterationsRun: new Int32Array(1),
    lastChange: new Float64Array(1),
    ...commonOutputs(1),
  };
  pairs.forEach(({ data, model, weight = 1 }, n) => {
    const b = [1, 3, 4][n];
    batch.data.set(data, 8 * b);
    batch.model.set(model, 8 * b);
    batch.weights[b] = weight;
  });
  return batch;
};
const ONE = [1, 0, 0, 0, 0, 0, 1, 0];
const solve = async (
  input: FullInput,
  options: { readonly stations: number; readonly channels: number; readonly referenceStation?: number },
): Promise<FullCalibration> => {
  const plan = planCalibration({ ...options, polarisations: 2 });
  return (await prepareFullCalibrator(plan, openReference())).solve(input);
};
const jonesOf = ({ gains, leakage }: FullCalibration, at: number): Float64Array =>
  Float64Array.of(
    ...gains.subarray(4 * at, 4 * at + 2),
    ...leakage.subarray(4 * at, 4 * at + 4),
    ...gains.subarray(4 * at + 2, 4 * at + 4),
  );

describe('matrices of 2 × 2', () => {
  // a = [[1, i], [2, 3 + i]]: det = 3 + i − 2i = 3 − i
  const a = [1, 0, 0, 1, 2, 0, 3, 1];
  it('multiply from the left, turn over and invert', () => {
    // [[1, i], [2, 3 + i]]·[[0, 1], [i, 0]] = [[−1, 1], [−1 + 3i, 2]]
    near(timesMatrix(a, [0, 0, 1, 0, 0, 1, 0, 0]), [-1, 0, 1, 0, -1, 3, 2, 0]);
    near(adjoint(a), [1, 0, 2, 0, 0, -1, 3, -1]);
    const inverse = inverseMatrix(a) ?? [];
    near(timesMatrix(a, inverse), ONE);
    // [[3 + i, −i], [−2, 1]]/(3 − i): its last is (3 + i)/10
    near(inverse.slice(6), [0.3, 0.1]);
    assert.equal(inverseMatrix([1, 0, 2, 0, 2, 0, 4, 0]), undefined);
  });
});

describe('a step of full polarisation by hand', () => {
  it('is Σ V Z over Σ Zᴴ Z, matrices from their own sides', async () => {
    // From G = 1: Z = Mᴴ. Station 1 has V_10 = [[1, 2], [3i, 4]] with M = [[2, 0], [0, 1]] and V_12 = V_21ᴴ with M = 1,
    // V_21 = [[0, i], [1, 0]], V_12 = [[0, 1], [−i, 0]]:
    // N = [[2, 2], [6i, 4]] + [[0, 1], [−i, 0]] = [[2, 3], [5i, 4]], D = diag(4 + 1, 1 + 1); G = [[2/5, 3/2], [i, 2]]
    const batch = threeStations(
      [
        { data: [1, 0, 2, 0, 0, 3, 4, 0], model: [2, 0, 0, 0, 0, 0, 1, 0] },
        { data: ONE, model: ONE, weight: 0 },
        { data: [0, 0, 0, 1, 1, 0, 0, 0], model: ONE },
      ],
      1,
    );
    await solveFullReference(batch);
    near(batch.gains.subarray(8, 16), [0.4, 0, 1.5, 0, 0, 1, 2, 0]);
    // Station 0 has V_01 = V_10ᴴ = [[1, −3i], [2, 4]] alone, Z = M = diag(2, 1): G = V M (M M)⁻¹ = [[1/2, −3i], [1, 4]]
    near(batch.gains.subarray(0, 8), [0.5, 0, 0, -3, 1, 0, 4, 0]);
    // Station 2: V_21 with Z = 1.
    near(batch.gains.subarray(16, 24), [0, 0, 0, 1, 1, 0, 0, 0]);
  });
  it('turns back a model with cross hands', async () => {
    // M_10 = [[1, i], [−i, 2]], its own adjoint; V_10 = M. Z = M, N = M M, D = M M: G_1 = 1 if all sides are right.
    const m = [1, 0, 0, 1, 0, -1, 2, 0];
    // M_21 = [[0, 1], [i, 0]] and V_21 = A M_21 with A = [[1, 2], [0, 1]]: G_2 = A.
    const batch = threeStations(
      [
        { data: m, model: m },
        { data: ONE, model: ONE, weight: 0 },
        { data: [0, 2, 1, 0, 0, 1, 0, 0], model: [0, 0, 1, 0, 0, 1, 0, 0] },
      ],
      1,
    );
    await solveFullReference(batch);
    near(batch.gains.subarray(0, 8), ONE);
    near(batch.gains.subarray(16, 24), [1, 0, 2, 0, 0, 0, 1, 0]);
  });
  it('averages the second with the first', async () => {
    const pairs = (count: number) =>
      threeStations(
        [
          { data: [2, 0, 0, 0, 0, 0, 1, 0], model: ONE },
          { data: [3, 0, 0, 0, 0, 0, 1, 0], model: ONE },
          { data: [6, 0, 0, 0, 0, 0, 1, 0], model: ONE },
        ],
        count,
      );
    const batch = pairs(2);
    await solveFullReference(batch);
    // X only is the case of calibrate.test.ts: first 2.5, 4, 4.5, then the mean with 21.5/36.25 and so on.
    near([batch.gains[0], batch.gains[8], batch.gains[16]], [(2.5 + 21.5 / 36.25) / 2, (4 + 32 / 26.5) / 2, (4.5 + 31.5 / 22.25) / 2]); // prettier-ignore
    near([batch.gains[6]], [1]);
  });
});

describe('the model with cross hands', () => {
  it('is [[I − Q, U − iV], [U + iV, I + Q]] by the fringe, through beams of single stations', () => {
    // Phase of a quarter turn from west to east: M_10 = i·B; voltages (x, y) of station 0 are (1, 1), of station 1
    // (1/2, 2).
    const beamOf = (x: number, y: number) => ({ x: Float64Array.of(x), y: Float64Array.of(y) });
    const model = fullModelVisibilities({
      stationsM: [
        { x: 0, y: 0, z: 0 },
        { x: 1, y: 0, z: 0 },
      ],
      frequenciesHz: Float64Array.of(299_792_458 / 4),
      components: [
        {
          directionEnu: { x: 1, y: 0, z: 0 },
          fluxJy: Float64Array.of(10),
          fractionQ: 0.1,
          fractionU: 0.2,
          fractionV: 0.3,
          stationBeams: [beamOf(1, 1), beamOf(0.5, 2)],
        },
      ],
    });
    // B = [[9, 2 − 3i], [2 + 3i, 11]]; times i and the row's voltage: [[4.5i, 1.5 + i], [−6 + 4i, 22i]]
    near(model.subarray(8, 16), [0, 4.5, 1.5, 1, -6, 4, 0, 22], 1e-9);
    near(model.subarray(0, 8), [9, 0, 2, -3, 2, 3, 11, 0], 1e-9);
  });
});

describe('full polarisation', () => {
  for (const leakage of [0.05, 0.2])
    it(`recovers gains and leakage of ${100 * leakage} %, any phase between X and Y`, async () => {
      const shape = { stations: 12, channels: 2 } as const;
      const { input, truth } = fullSample({ seed: 5, ...shape, leakage });
      const found = await solve(input, { ...shape, referenceStation: 4 });
      assert.ok(found.solutions.every(({ converged, residual }) => converged && residual < 1e-6));
      assert.deepEqual([...found.frame.openRotations], [0, 0]);
      for (let c = 0; c < 2; c++) {
        const [re, im] = truth.subarray(8 * (12 * c + 4));
        const phase = Math.atan2(im, re);
        for (let s = 0; s < 12; s++) {
          const wanted = timesMatrix(truth.subarray(8 * (12 * c + s), 8 * (12 * c + s + 1)), [Math.cos(phase), -Math.sin(phase), 0, 0, 0, 0, Math.cos(phase), -Math.sin(phase)]); // prettier-ignore
          near(jonesOf(found, 12 * c + s), [...wanted], 1e-5);
        }
        assert.ok(Math.abs(found.gains[2 * (24 * c + 8) + 1]) < 1e-12 && found.gains[2 * (24 * c + 8)] > 0);
        const [yRe, yIm] = found.gains.subarray(2 * (24 * c + 9));
        near([found.crossHand.phaseRad[c]], [Math.atan2(yIm, yRe)]);
      }
      assert.equal(found.crossHand.how, 'model');
    });

  it('a weakly polarised sky still holds all four, in few iterations', async () => {
    const polarised = [
      [0, 0, 0],
      [0, 0.03, 0],
      [0.02, 0, 0.02],
    ] as const;
    const { input } = fullSample({ seed: 6, stations: 12, channels: 1, polarised });
    const found = await solve(input, { stations: 12, channels: 1 });
    assert.ok(found.solutions[0].converged && found.solutions[0].iterations < 500);
    assert.equal(found.frame.openRotations[0], 0);
  });

  for (const [name, polarised, open] of [
    [
      'an unpolarised sky',
      [
        [0, 0, 0],
        [0, 0, 0],
        [0, 0, 0],
      ],
      3,
    ],
    [
      'one way of polarisation',
      [
        [0, 0, 0],
        [0, 0.6, 0.1],
        [0, 0.6, 0.1],
      ],
      1,
    ],
    [
      'two ways',
      [
        [0.1, 0, 0],
        [0, 0.6, 0.1],
        [0, 0.6, 0.1],
      ],
      1,
    ],
  ] as const)
    // prettier-ignore
    it(`${name} leaves ${open} rotation(s) open, reported and not called calibrated`, async () => {
      const { input, truth } = fullSample({ seed: 7, stations: 16, channels: 1, polarised });
      const found = await solve(input, { stations: 16, channels: 1 });
      assert.ok(found.solutions.every(({ converged, residual }) => converged && residual < 1e-6));
      assert.equal(found.frame.openRotations[0], open);
      assert.equal(found.crossHand.how, 'unknown');
      assert.ok(Number.isNaN(found.crossHand.phaseRad[0]));
      // What all stations share is one matrix: G_i⁻¹ of the truth times the found one.
      const common = timesMatrix(inverseMatrix(truth.subarray(0, 8)) ?? [], jonesOf(found, 0));
      for (let s = 1; s < 16; s++)
        near(jonesOf(found, s), [...timesMatrix(truth.subarray(8 * s, 8 * s + 8), common)], 1e-4);
      // The least leakage over all stations is at most that of the truth.
      const leaked = (of: (s: number) => Float64Array): number =>
        Array.from({ length: 16 }, (_, s) => of(s).slice(2, 6)).flatMap((x) => [...x]).reduce((sum, x) => sum + x * x, 0); // prettier-ignore
      if (open === 3)
        assert.ok(leaked((s) => jonesOf(found, s)) <= leaked((s) => truth.subarray(8 * s, 8 * s + 8)));
    });

  it('noise makes a weakly polarised sky determine less', async () => {
    const options: FullSampleOptions = {
      seed: 8,
      stations: 12,
      channels: 1,
      noiseJy: 2,
      polarised: [[0, 0, 0], [0, 0.01, 0], [0.01, 0, 0]], // prettier-ignore
    };
    const found = await solve(fullSample(options).input, { stations: 12, channels: 1 });
    assert.ok(found.frame.openRotations[0] > 0);
    assert.equal(found.crossHand.how, 'unknown');
  });

  it('leaves out stations of which X or Y is flagged, and reports why', async () => {
    const { input } = fullSample({ seed: 9, stations: 8, channels: 1 });
    input.flaggedInputs[2 * 3 + 1] = 1;
    for (let j = 0; j < 8; j++) input.counts[baselineIndex(Math.max(5, j), Math.min(5, j))] = 0;
    const { solutions, solved, gains, leakage } = await solve(input, { stations: 8, channels: 1 });
    for (const { leftOut } of solutions)
      assert.deepEqual(leftOut, [
        { station: 3, reason: 'flagged' },
        { station: 5, reason: 'no baselines' },
      ]);
    assert.deepEqual([...solved.subarray(4, 12)], [1, 1, 0, 0, 1, 1, 0, 0]);
    assert.ok(Number.isNaN(gains[12]) && Number.isNaN(leakage[14]));
  });

  it('a channel of one or two stations has no gains, the others have, as without leakage', async () => {
    for (const left of [1, 2]) {
      const { input } = fullSample({ seed: 10, stations: 6, channels: 3 });
      for (let i = 0; i < 6; i++)
        for (let j = 0; j <= i; j++) if (i >= left) input.counts[21 + baselineIndex(i, j)] = 0;
      const { solutions, solved, gains } = await solve(input, { stations: 6, channels: 3 });
      assert.deepEqual([...solved.subarray(12, 24)], new Array<number>(12).fill(0));
      assert.ok(gains.subarray(24, 48).every((value) => Number.isNaN(value)));
      assert.deepEqual(solutions.map(({ converged }) => converged), [true, true, false, false, true, true]); // prettier-ignore
      assert.equal(solutions[2].leftOut.length, 6);
      // The third channel equals a solve of it alone.
      const alone = fullSample({ seed: 10, stations: 6, channels: 3 }).input;
      const whole = await solve(alone, { stations: 6, channels: 3 });
      near(gains.subarray(48), [...whole.gains.subarray(48)], 1e-6);
    }
    const { input } = fullSample({ seed: 10, stations: 6, channels: 1 });
    for (let i = 2; i < 6; i++) for (let j = 0; j <= i; j++) input.counts[baselineIndex(i, j)] = 0;
    await assert.rejects(solve(input, { stations: 6, channels: 1 }), /2 of 6 stations have data and a model/);
  });

  it('refuses what cannot be solved, by name', async () => {
    const shape = { stations: 5, channels: 1 } as const;
    const whole = fullSample({ seed: 1, ...shape, polarised: [[1, 0, 0], [1, 0, 0], [1, 0, 0]] }); // prettier-ignore
    await assert.rejects(solve(whole.input, shape), /channel 0: the model is fully polarised/);
    const { input } = fullSample({ seed: 1, ...shape });
    input.visibilities[8 * baselineIndex(4, 2) + 3] = NaN;
    await assert.rejects(solve(input, shape), /the visibility of stations 4 and 2 is not a finite number/);
    const empty = fullSample({ seed: 1, ...shape }).input;
    empty.counts.fill(0);
    await assert.rejects(solve(empty, shape), /no baseline has samples/);
    const dark = fullSample({ seed: 1, ...shape }).input;
    dark.model.fill(0);
    await assert.rejects(solve(dark, shape), /the model is zero on every baseline/);
  });
});

fullCases(() => Promise.resolve(openReference()));
