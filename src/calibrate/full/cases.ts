/**
 * Shared cases for every backend's solver of full polarisation, compared with the reference; registered by each
 * backend's tests.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Backend } from '../../backend/backend.js';
import { baselineCount, baselineIndex, countsCB, visibilitiesCBPP } from '../../core/axes.js';
import { adjoint, timesMatrix } from '../../core/jones.js';
import { randomStream } from '../../core/random.js';
import type { IterationRule } from '../plan.js';
import type { ModelComponent } from '../model.js';
import { prepareFullSolver } from '../index.js';
import { fullModelVisibilities } from './model.js';
import type { FullBatch, FullSolver } from './plan.js';
import { solveFullReference } from './reference.js';
import type { FullInput } from './solve.js';

export interface FullSampleOptions {
  readonly seed: number;
  readonly stations: number;
  readonly channels: number;
  /** Amplitude of a station's leakage over its gain. */
  readonly leakage?: number;
  /** Rms noise of each part of each visibility in Jy, beside sources of 10, 8 and 6 Jy. */
  readonly noiseJy?: number;
  /** Stokes Q, U, V over I of the three sources; in different directions by default. */
  readonly polarised?: readonly (readonly [q: number, u: number, v: number])[];
}

export interface FullSample {
  readonly input: FullInput;
  /** truth : [c][s][2][2] */
  readonly truth: Float64Array;
  /** Rms noise of each part that gaussian() added to the data. */
  readonly noiseJy: number;
}

const POLARISED = [
  [0, 0, 0],
  [0.05, 0.6, 0.1],
  [-0.3, 0.1, 0.2],
] as const;

/** Skies whose models need fewer products: M = m·1, and M = diag(m, n). */
const SIMPLER = [
  ['an unpolarised sky', [[0, 0, 0], [0, 0, 0], [0, 0, 0]]],
  ['a diagonal model', [[0.1, 0, 0], [-0.2, 0, 0], [0.3, 0, 0]]],
] as const; // prettier-ignore

/** Three sources over a random array; gains of any phase, amplitudes 0.7 … 1.3, and leakage of any phase. */
export function fullSample(options: FullSampleOptions): FullSample {
  const { seed, stations, channels, leakage = 0.2, noiseJy = 0, polarised = POLARISED } = options;
  const random = randomStream(seed, 'full sample', stations, channels);
  const stationsM = Array.from({ length: stations }, () => ({
    x: 100 * random.gaussian(),
    y: 100 * random.gaussian(),
    z: random.gaussian(),
  }));
  const directions = [
    { x: 0.48, y: 0.6, z: 0.64 },
    { x: -0.6, y: 0, z: 0.8 },
    { x: 0, y: -0.28, z: 0.96 },
  ];
  const components = directions.map((directionEnu, q): ModelComponent => {
    const [fractionQ, fractionU, fractionV] = polarised[q];
    return {
      directionEnu,
      fractionQ,
      fractionU,
      fractionV,
      fluxJy: new Float64Array(channels).fill(10 - 2 * q),
    };
  });
  const frequenciesHz = Float64Array.from({ length: channels }, (_, c) => 60e6 + 25e3 * c);
  const model = fullModelVisibilities({ stationsM, frequenciesHz, components });
  const turned = (size: number): [number, number] => {
    const phase = 2 * Math.PI * random.uniform();
    return [size * Math.cos(phase), size * Math.sin(phase)];
  };
  const truth = new Float64Array(8 * channels * stations);
  for (let at = 0; at < truth.length; at += 8) {
    const [x, y] = [0.7 + 0.6 * random.uniform(), 0.7 + 0.6 * random.uniform()];
    truth.set([...turned(x), ...turned(leakage * x), ...turned(leakage * y), ...turned(y)], at);
  }
  const baselines = baselineCount(stations);
  const values = new Float64Array(8 * channels * baselines);
  const counts = new Float64Array(channels * baselines);
  for (let c = 0; c < channels; c++) {
    for (let i = 0; i < stations; i++) {
      for (let j = 0; j <= i; j++) {
        const b = c * baselines + baselineIndex(i, j);
        counts[b] = 100 + random.below(100);
        const gainOf = (s: number): Float64Array =>
          truth.subarray(8 * (c * stations + s), 8 * (c * stations + s + 1));
        const seen = timesMatrix(
          timesMatrix(gainOf(i), model.subarray(8 * b, 8 * b + 8)),
          adjoint(gainOf(j)),
        );
        for (let n = 0; n < 8; n++) values[8 * b + n] = counts[b] * (seen[n] + noiseJy * random.gaussian());
      }
    }
  }
  return {
    input: {
      visibilities: visibilitiesCBPP(values, channels, baselines, 2),
      counts: countsCB(counts, channels, baselines),
      flaggedInputs: new Uint8Array(2 * stations),
      model,
    },
    truth,
    noiseJy,
  };
}

/** Of a sample: means, autocorrelations with weight or without, gains of 1. */
export function fullBatchOf(
  { input, truth }: FullSample,
  iterations: IterationRule,
  autos: 'include' | 'leave-out' = 'leave-out',
): FullBatch {
  const solves = input.counts.length === 0 ? 0 : truth.length / 8 / stationsOf(input);
  const stations = stationsOf(input);
  const baselines = baselineCount(stations);
  const weights = input.counts.slice();
  if (autos === 'leave-out')
    for (let k = 0; k < solves; k++)
      for (let s = 0; s < stations; s++) weights[k * baselines + baselineIndex(s, s)] = 0;
  const gains = new Float64Array(truth.length);
  for (let at = 0; at < gains.length; at += 8) gains[at] = gains[at + 6] = 1;
  return {
    solves,
    stations,
    weights,
    gains,
    iterations,
    data: input.visibilities.map((value, n) => value / input.counts[Math.floor(n / 8)]),
    model: input.model.slice(),
    iterationsRun: new Int32Array(solves).fill(-7),
    lastChange: new Float64Array(solves).fill(NaN),
    commonNormal: new Float64Array(64 * solves).fill(NaN),
    commonVariance: new Float64Array(solves).fill(NaN),
  };
}

const stationsOf = ({ flaggedInputs }: FullInput): number => flaggedInputs.length / 2;

const copyOf = (batch: FullBatch): FullBatch => ({
  ...batch,
  gains: batch.gains.slice(),
  iterationsRun: batch.iterationsRun.slice(),
  lastChange: batch.lastChange.slice(),
  commonNormal: batch.commonNormal.slice(),
  commonVariance: batch.commonVariance.slice(),
});

/** G_i M_ij G_jᴴ of every pair that has a weight. */
export function seenOf({ solves, stations, model, weights, gains }: FullBatch): Float64Array {
  const seen: number[] = [];
  for (let k = 0, b = 0; k < solves; k++)
    for (let i = 0; i < stations; i++)
      for (let j = 0; j <= i; j++, b++) {
        if (weights[b] === 0) continue;
        const gainOf = (s: number) => gains.subarray(8 * (k * stations + s), 8 * (k * stations + s + 1));
        seen.push(
          ...timesMatrix(timesMatrix(gainOf(i), model.subarray(8 * b, 8 * b + 8)), adjoint(gainOf(j))),
        );
      }
  return Float64Array.from(seen);
}

/** What all stations share, from sums that partly cancel: the variance is the remainder of Σ w |V|². */
function sharedAlike(batch: FullBatch, wanted: FullBatch, k: number): void {
  const [of, normal] = [batch, wanted].map((one) => one.commonNormal.subarray(64 * k, 64 * (k + 1)));
  const largest = normal.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const trace = (matrix: Float64Array): number =>
    matrix.filter((_, n) => n % 9 === 0).reduce((a, b) => a + b);
  // Where mixed steps end elsewhere along open modes, only its trace is the same.
  const isSame = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-4 * largest;
  if (batch.iterations.kind === 'fixed') assert.ok(normal.every((value, n) => isSame(of[n], value)));
  assert.ok(
    Math.abs(trace(of) - trace(normal)) <= 1e-2 * trace(normal),
    `${trace(of)}, not ${trace(normal)}`,
  );
  const [found, expected] = [batch.commonVariance[k], wanted.commonVariance[k]];
  assert.ok(
    Math.abs(found - expected) <= 1e-3 * expected + 1e-6 * largest,
    `variance ${found}, not ${expected}`,
  );
}

export interface FullCaseOptions {
  /** Largest |found − reference| over the largest gain: float32 keeps 7 digits, and sums of hundreds lose one. */
  readonly gains?: number;
  /** Instead of the backend's default solver. */
  readonly prepare?: (plan: FullBatch, backend: Backend) => Promise<FullSolver>;
}

/** Registers the cases; `open` is called once for each. */
export function fullCases(
  open: () => Promise<Backend>,
  { gains = 1e-5, prepare = prepareFullSolver }: FullCaseOptions = {},
): void {
  const both = async (
    options: FullSampleOptions,
    rule: IterationRule,
    change: (batch: FullBatch) => void = () => undefined,
    autos: 'include' | 'leave-out' = 'leave-out',
  ): Promise<FullBatch> => {
    const batch = fullBatchOf(fullSample(options), rule, autos);
    const other = fullBatchOf(fullSample({ ...options, seed: options.seed + 1000 }), rule);
    change(batch);
    const wanted = copyOf(batch);
    await solveFullReference(wanted);
    const backend = await open();
    const solver = await prepare(batch, backend);
    // other data first, so that remains of it would show
    await solver.solve(other);
    await solver.solve(batch);
    await solver.close();
    await backend.close();
    // Mixed steps may end anywhere along what the model leaves open: only the predicted visibilities are the same.
    const [found, expected] = [batch, wanted].map((one) => (rule.kind === 'fixed' ? one.gains : seenOf(one)));
    const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    expected.forEach((value, n) => {
      assert.ok(Math.abs(found[n] - value) <= gains * largest, `element ${n}: ${found[n]}, not ${value}`);
    });
    for (let k = 0; k < batch.solves; k++) {
      assert.ok(
        // Rounding changes the path of mixed steps, not its length.
        Math.abs(batch.iterationsRun[k] - wanted.iterationsRun[k]) <=
          (rule.kind === 'fixed' ? 0 : 2 + wanted.iterationsRun[k] / 2),
        `solve ${k}: ${batch.iterationsRun[k]} iterations, not ${wanted.iterationsRun[k]}`,
      );
      const [found, expected] = [batch.lastChange[k], wanted.lastChange[k]];
      if (rule.kind === 'until') assert.ok(found < rule.tolerance === expected < rule.tolerance);
      else
        assert.ok(Math.abs(found - expected) <= 1e-3 * expected + 1e-6, `change ${found}, not ${expected}`);
      sharedAlike(batch, wanted, k);
    }
    return batch;
  };
  describe('full polarisation cases', () => {
    const until: IterationRule = { kind: 'until', tolerance: 1e-6, most: 400 };
    for (const [stations, channels] of [
      [5, 2],
      [8, 2],
      [19, 2],
      [33, 2],
      [48, 1],
    ] as const)
      // prettier-ignore
      it(`${stations} stations until nothing moves`, async () => {
        await both({ seed: 1, stations, channels }, until);
      });
    for (const [name, polarised] of SIMPLER)
      for (const [stations, rule] of [
        [19, until],
        [33, until],
        [48, until],
        [18, { kind: 'fixed', count: 5 }],
      ] as const)
        it(`${name}, ${stations} stations, ${rule.kind}`, async () => {
          const noiseJy = rule.kind === 'fixed' ? 1 : 0.1;
          await both({ seed: 6, stations, channels: 2, polarised, noiseJy }, rule);
        });
    it('models of three forms in one batch', async () => {
      const shape = { seed: 7, stations: 9, channels: 3, noiseJy: 0.2 };
      await both(shape, { kind: 'fixed', count: 6 }, ({ model }) => {
        // With any data: the first channel's model is m·1, the second's diagonal.
        for (let at = 0; at < (2 * model.length) / 3; at += 8) {
          model.fill(0, at + 2, at + 6);
          if (at < model.length / 3) model.copyWithin(at + 6, at, at + 2);
        }
      });
    });
    for (const count of [1, 2, 3, 8])
      it(`${count} iterations exactly`, async () => {
        await both({ seed: 2, stations: 7, channels: 3, noiseJy: 1 }, { kind: 'fixed', count });
      });
    it('autocorrelations, zero weights and a station without any', async () => {
      const batch = await both(
        { seed: 3, stations: 11, channels: 3, noiseJy: 0.5 },
        { kind: 'fixed', count: 9 },
        ({ weights, data, model }) => {
          const baselines = baselineCount(11);
          for (const [i, j] of [
            [3, 1],
            [10, 2],
            [6, 5],
          ] as const) {
            const b = baselines + baselineIndex(i, j);
            weights[b] = 0;
            // Data without weight must not be read.
            data.fill(NaN, 8 * b, 8 * b + 8);
            model.fill(NaN, 8 * b, 8 * b + 8);
          }
          for (let j = 0; j < 11; j++)
            weights[2 * baselines + baselineIndex(Math.max(9, j), Math.min(9, j))] = 0;
        },
        'include',
      );
      // It is undetermined: it keeps the gains of its first guess.
      assert.deepEqual([...batch.gains.subarray(8 * (2 * 11 + 9), 8 * (2 * 11 + 10))], [1, 0, 0, 0, 0, 0, 1, 0]); // prettier-ignore
    });
    it('very bright, and a model in other units', async () => {
      const change = ({ data, model, gains: guess }: FullBatch): void => {
        for (let n = 0; n < data.length; n++) data[n] *= 1e12;
        for (let n = 0; n < model.length; n++) model[n] *= 1e-8;
        for (let n = 0; n < guess.length; n++) guess[n] *= 1e10;
      };
      await both({ seed: 4, stations: 5, channels: 1 }, { kind: 'fixed', count: 12 }, change);
    });
    it('a finer tolerance than float32 resolves', async () => {
      const batch = await both(
        { seed: 5, stations: 20, channels: 1, noiseJy: 0.1 },
        { kind: 'until', tolerance: 1e-11, most: 1000 },
      );
      assert.ok(batch.lastChange[0] < 1e-11);
    });
  });
}
