/** Many stations: a core first, then all of them together, ends at the reference's result. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCpu } from '../../../backend/cpu/cpu.js';
import { compiledLevels } from '../../../backend/cpu/compiled.testing.js';
import { loadNative } from '../../../backend/cpu/library.js';
import { baselineIndex } from '../../../core/axes.js';
import { fullBatchOf, fullSample, seenOf, type FullSampleOptions } from '../cases.js';
import type { FullBatch } from '../plan.js';
import { solveFullReference } from '../reference.js';
import { prepareCpuFullSolver } from '../../cpu/prepare.js';

const UNTIL = { kind: 'until', tolerance: 1e-8, most: 1000 } as const;
const UNPOLARISED = [[0, 0, 0], [0, 0, 0], [0, 0, 0]] as const; // prettier-ignore
const DIAGONAL = [[0.1, 0, 0], [-0.2, 0, 0], [0.3, 0, 0]] as const; // prettier-ignore

interface Case {
  readonly name: string;
  readonly sample: FullSampleOptions & { readonly noiseJy: number };
  readonly autos?: 'include';
  readonly change?: (batch: FullBatch) => void;
}

/** Pairs of these stations with each other have no weight, and must not be read. */
const without =
  (stations: number, isOut: (i: number, j: number) => boolean) =>
  ({ weights, data, model }: FullBatch): void => {
    for (let i = 0; i < stations; i++)
      for (let j = 0; j <= i; j++) {
        if (!isOut(i, j)) continue;
        const b = baselineIndex(i, j);
        weights[b] = 0;
        data.fill(NaN, 8 * b, 8 * b + 8);
        model.fill(NaN, 8 * b, 8 * b + 8);
      }
  };

const shape = { seed: 1, channels: 1, noiseJy: 0.5 };
const cases: readonly Case[] = [
  { name: 'a polarised model', sample: { ...shape, stations: 50 } },
  { name: 'a diagonal model', sample: { ...shape, stations: 49, polarised: DIAGONAL } },
  { name: 'an unpolarised model', sample: { ...shape, stations: 51, polarised: UNPOLARISED } },
  {
    name: 'autocorrelations too',
    sample: { ...shape, stations: 48 },
    autos: 'include',
    change: ({ data }) => {
      // Independent noise in XY and YX, which no model of autocorrelations can fit.
      for (let s = 0; s < 48; s++) {
        const at = 8 * baselineIndex(s, s);
        data[at + 1] = data[at + 7] = 0;
        data.set([data[at + 2], -data[at + 3]], at + 4);
      }
    },
  },
  { name: 'as much noise as signal', sample: { ...shape, stations: 48, noiseJy: 10 } },
  {
    name: 'half of the core without data, and a station without pairs with the rest',
    sample: { ...shape, stations: 53 },
    change: without(53, (i, j) => (j < 8 && i < 16) || (i === 40 && j < 16) || (i === 16 && j < 16)),
  },
  {
    name: 'no core at all',
    sample: { ...shape, stations: 48 },
    change: without(48, (i) => i < 16),
  },
];

/** The same data, with memory for the results. */
const emptyOf = (batch: FullBatch, guess: Float64Array): FullBatch => ({
  ...batch,
  gains: guess.slice(),
  iterationsRun: new Int32Array(1).fill(-7),
  lastChange: new Float64Array(1).fill(NaN),
  commonNormal: new Float64Array(64).fill(NaN),
  commonVariance: new Float64Array(1).fill(NaN),
});

const farthest = (found: Float64Array, expected: Float64Array): number => {
  const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return expected.reduce((worst, value, n) => Math.max(worst, Math.abs(found[n] - value) / largest), 0);
};

const library = loadNative();

describe('full polarisation of many stations', { skip: 'what' in library ? library.what : false }, () => {
  const levels = compiledLevels(library);
  for (const { name, sample, autos, change } of cases)
    it(name, async () => {
      const wanted = fullBatchOf(fullSample(sample), UNTIL, autos);
      change?.(wanted);
      const guess = wanted.gains.slice();
      await solveFullReference(wanted);
      for (const isa of levels) {
        const cpu = await openCpu({ isa, threads: 1 });
        const [batch, again] = [emptyOf(wanted, guess), emptyOf(wanted, guess)];
        const solver = prepareCpuFullSolver(batch, cpu);
        await solver.solve(again);
        await solver.solve(batch);
        await cpu.close();
        // The same from run to run, independent of earlier solves.
        assert.deepEqual(batch.gains, again.gains);
        assert.ok(batch.lastChange[0] < 1e-8);
        // Wrong steps would converge as well, but later.
        const most = sample.noiseJy < 1 ? wanted.iterationsRun[0] + 8 : 1000;
        assert.ok(
          batch.iterationsRun[0] <= most,
          `${batch.iterationsRun[0]} passes, ${wanted.iterationsRun[0]}`,
        );
        // Data are float32 there: 6e-8 of each, over the root of tens of pairs.
        const worst = farthest(seenOf(batch), seenOf(wanted));
        assert.ok(worst < 1e-7, `${isa}: ${worst} of the largest`);
        const [variance, known] = [batch.commonVariance[0], wanted.commonVariance[0]];
        assert.ok(Math.abs(variance / known - 1) < 1e-3, `variance ${variance}, not ${known}`);
      }
    });

  for (const [name, polarised] of [
    ['polarised', undefined],
    ['diagonal', DIAGONAL],
  ] as const)
    // prettier-ignore
    it(`${name}, shared by three threads as by one`, async () => {
      const sample = fullSample({ ...shape, stations: 131, polarised });
      const [alone, shared] = [fullBatchOf(sample, UNTIL), fullBatchOf(sample, UNTIL)];
      for (const [batch, threads] of [[alone, 1], [shared, 3]] as const) { // prettier-ignore
        const cpu = await openCpu({ threads });
        await prepareCpuFullSolver(batch, cpu).solve(batch);
        await cpu.close();
      }
      assert.ok(shared.lastChange[0] < 1e-8);
      assert.equal(shared.iterationsRun[0], alone.iterationsRun[0]);
      const worst = farthest(seenOf(shared), seenOf(alone));
      assert.ok(worst < 1e-8, `${worst} of the largest`);
      assert.ok(Math.abs(shared.commonVariance[0] / alone.commonVariance[0] - 1) < 1e-6);
    });
});
