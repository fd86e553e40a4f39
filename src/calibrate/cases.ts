/** Shared cases for every backend's calibrator, compared with the reference; registered by each backend's tests. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Backend } from '../backend/backend.js';
import { openReference } from '../backend/reference.js';
import {
  baselineCount,
  baselineIndex,
  countsCB,
  gainsCA,
  visibilitiesCBPP,
  type GainsCA,
} from '../core/axes.js';
import { randomStream } from '../core/random.js';
import {
  modelVisibilities,
  planCalibration,
  prepareCalibrator,
  type Calibration,
  type CalibrationInput,
  type CalibrationPlan,
  type Calibrator,
  type IterationRule,
  type ModelOptions,
} from './index.js';

export interface SampleOptions {
  readonly seed: number;
  readonly stations: number;
  readonly polarisations: 1 | 2;
  readonly channels: number;
  /** Rms noise of each visibility in Jy, beside sources of 10 and 4 Jy. */
  readonly noiseJy?: number;
}

export interface CalibrationSample {
  readonly input: CalibrationInput;
  readonly truth: GainsCA;
  /** The sky of the model. */
  readonly sky: ModelOptions;
}

/** Two sources over a random array with random gains: any phases, amplitudes 0.5…1.5, unequal counts. */
export function calibrationSample(options: SampleOptions): CalibrationSample {
  const { seed, stations, polarisations, channels, noiseJy = 0 } = options;
  const random = randomStream(seed, 'calibration sample', stations, polarisations, channels);
  const baselines = baselineCount(stations);
  const inputs = stations * polarisations;
  const stationsM = Array.from({ length: stations }, () => ({
    x: 100 * random.gaussian(),
    y: 100 * random.gaussian(),
    z: random.gaussian(),
  }));
  const frequenciesHz = Float64Array.from({ length: channels }, (_, c) => 60e6 + 25e3 * c);
  const sky: ModelOptions = {
    stationsM,
    frequenciesHz,
    polarisations,
    components: [
      { directionEnu: { x: 0.48, y: 0.6, z: 0.64 }, fluxJy: new Float64Array(channels).fill(10) },
      {
        directionEnu: { x: -0.6, y: 0, z: 0.8 },
        fluxJy: new Float64Array(channels).fill(4),
        fractionQ: 0.2,
      },
    ],
  };
  const model = modelVisibilities(sky);
  const truth = gainsCA(new Float64Array(2 * channels * inputs), channels, inputs);
  for (let at = 0; at < channels * inputs; at++) {
    const size = 0.5 + random.uniform();
    const phase = 2 * Math.PI * random.uniform();
    truth[2 * at] = size * Math.cos(phase);
    truth[2 * at + 1] = size * Math.sin(phase);
  }
  // Cross products (X with Y) are garbage: they must not be read.
  const visibilities = visibilitiesCBPP(
    new Float64Array(2 * channels * baselines * polarisations ** 2).fill(1e9),
    channels,
    baselines,
    polarisations,
  );
  const counts = countsCB(new Float64Array(channels * baselines), channels, baselines);
  for (let c = 0; c < channels; c++) {
    for (let i = 0; i < stations; i++) {
      for (let j = 0; j <= i; j++) {
        const b = c * baselines + baselineIndex(i, j);
        counts[b] = 100 + random.below(100);
        for (let p = 0; p < polarisations; p++) {
          const gi = 2 * (c * inputs + i * polarisations + p);
          const gj = 2 * (c * inputs + j * polarisations + p);
          const pairRe = truth[gi] * truth[gj] + truth[gi + 1] * truth[gj + 1];
          const pairIm = truth[gi + 1] * truth[gj] - truth[gi] * truth[gj + 1];
          const m = 2 * (b * polarisations + p);
          const v = 2 * ((b * polarisations + p) * polarisations + p);
          const re = pairRe * model[m] - pairIm * model[m + 1] + noiseJy * random.gaussian();
          const im = pairRe * model[m + 1] + pairIm * model[m] + noiseJy * random.gaussian();
          visibilities[v] = re * counts[b];
          visibilities[v + 1] = im * counts[b];
        }
      }
    }
  }
  return { input: { visibilities, counts, flaggedInputs: new Uint8Array(inputs), model }, truth, sky };
}

/** Another way to calibrate than from arrays on the host; it may inspect the sample beforehand. */
export type PrepareCase = (
  plan: CalibrationPlan,
  backend: Backend,
  sample: CalibrationSample,
) => Promise<Pick<Calibrator, 'solve' | 'close'>>;

export interface CalibrateCaseOptions {
  /** Largest |found − reference| over the rms gain: float32 keeps 7 digits, and sums of hundreds lose one. */
  readonly gains?: number;
  readonly prepare?: PrepareCase;
  /** The reason, where channels without any data are refused instead of left unsolved. */
  readonly refusesEmptyChannels?: string;
}

/** Registers the cases; `open` is called once for each. */
export function calibrateCases(
  open: () => Promise<Backend>,
  { gains = 1e-5, prepare = prepareCalibrator, refusesEmptyChannels }: CalibrateCaseOptions = {},
): void {
  const compare = (found: Calibration, wanted: Calibration): void => {
    assert.deepEqual(found.solved, wanted.solved);
    assert.equal(found.referenceStation, wanted.referenceStation);
    const size = Math.sqrt(
      wanted.gains.reduce((sum, value) => sum + (value || 0) ** 2, 0) / (wanted.gains.length / 2),
    );
    for (let n = 0; n < wanted.gains.length; n++) {
      if (Number.isNaN(wanted.gains[n])) assert.ok(Number.isNaN(found.gains[n]));
      else assert.ok(Math.abs(found.gains[n] - wanted.gains[n]) <= gains * size, `gain element ${n}`);
    }
    for (const [k, solution] of wanted.solutions.entries()) {
      assert.deepEqual(found.solutions[k].leftOut, solution.leftOut);
      if (Number.isNaN(solution.residual)) assert.ok(Number.isNaN(found.solutions[k].residual));
      else assert.ok(Math.abs(found.solutions[k].residual - solution.residual) <= 10 * gains);
    }
  };
  const both = async (
    sample: SampleOptions,
    iterations: IterationRule,
    change: (input: CalibrationInput) => void = () => undefined,
  ): Promise<void> => {
    const made = calibrationSample(sample);
    const { input } = made;
    const { input: other } = calibrationSample({ ...sample, seed: sample.seed + 1000 });
    change(input);
    const plan = planCalibration({ ...sample, iterations });
    const wanted = await (await prepareCalibrator(plan, openReference())).solve(input);
    const backend = await open();
    const calibrator = await prepare(plan, backend, made);
    // other data first, so that remains of it would show
    await calibrator.solve(other);
    compare(await calibrator.solve(input), wanted);
    await calibrator.close();
    await backend.close();
  };
  describe('calibrate cases', () => {
    const until: IterationRule = { kind: 'until', tolerance: 1e-6, most: 1000 };
    for (const stations of [3, 4, 19, 33]) {
      it(`${stations} stations, both polarisations, until nothing moves`, () =>
        both({ seed: 1, stations, polarisations: 2, channels: 2 }, until));
    }
    for (const count of [1, 2, 3, 8]) {
      it(`${count} iterations exactly`, () =>
        both({ seed: 2, stations: 7, polarisations: 1, channels: 3, noiseJy: 1 }, { kind: 'fixed', count }));
    }
    it('noise, zero weights and flags', () =>
      both({ seed: 3, stations: 11, polarisations: 2, channels: 3, noiseJy: 0.5 }, until, (input) => {
        input.flaggedInputs[2 * 4 + 1] = 1;
        input.flaggedInputs[2 * 7] = 1;
        const baselines = baselineCount(11);
        for (const [i, j] of [
          [3, 1],
          [10, 2],
          [6, 5],
        ]) {
          input.counts[baselines + baselineIndex(i, j)] = 0;
        }
        // station 9 has no data in channel 2
        for (let j = 0; j < 11; j++) {
          input.counts[2 * baselines + baselineIndex(Math.max(9, j), Math.min(9, j))] = 0;
        }
      }));
    it('stations that no pair leads to from the others', () =>
      both({ seed: 6, stations: 19, polarisations: 2, channels: 2, noiseJy: 0.1 }, until, (input) => {
        // In channel 1 a triangle, a pair, and one whose only neighbour is flagged, apart from fourteen others.
        const groupOf = (s: number): number => (s < 3 ? 0 : s === 17 || s === 4 ? 1 : s === 18 ? 2 : 3);
        input.flaggedInputs.set([1, 1], 2 * 10);
        for (let i = 0; i < 19; i++)
          for (let j = 0; j < i; j++) {
            const isKept = groupOf(i) === groupOf(j) || (i === 18 && j === 10);
            if (!isKept) input.counts[baselineCount(19) + baselineIndex(i, j)] = 0;
          }
      }));
    it('pairs that leave gains open are refused by name', async () => {
      const sample = { seed: 7, stations: 18, polarisations: 1, channels: 2 } as const;
      const made = calibrationSample(sample);
      // Two clusters with only the pairs between them, in all channels.
      for (let c = 0; c < 2; c++)
        for (let i = 0; i < 18; i++)
          for (let j = 0; j < i; j++)
            if (i < 9 || j >= 9) made.input.counts[c * baselineCount(18) + baselineIndex(i, j)] = 0;
      const plan = planCalibration({ ...sample, iterations: until });
      const backend = await open();
      const calibrator = await prepare(plan, backend, made);
      await assert.rejects(
        calibrator.solve(made.input),
        /channel 0, polarisation X: the pairs of 18 stations leave their gains open/,
      );
      await calibrator.close();
      await backend.close();
    });
    it('a channel and a feed without data', { skip: refusesEmptyChannels ?? false }, () =>
      both({ seed: 5, stations: 6, polarisations: 2, channels: 3 }, until, (input) => {
        input.counts.fill(0, baselineCount(6), 2 * baselineCount(6));
        for (let s = 0; s < 6; s++) input.flaggedInputs[2 * s + 1] = 1;
      }),
    );
    it('one channel, one polarisation, very bright', () =>
      both({ seed: 4, stations: 5, polarisations: 1, channels: 1 }, until, (input) => {
        for (let n = 0; n < input.visibilities.length; n++) input.visibilities[n] *= 1e12;
      }));
  });
}
