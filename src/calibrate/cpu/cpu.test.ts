import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCpu, type CpuBackend } from '../../backend/cpu/cpu.js';
import { compiledLevels } from '../../backend/cpu/compiled.testing.js';
import { loadNative } from '../../backend/cpu/library.js';
import { openReference } from '../../backend/reference.js';
import { baselineCount, baselineIndex } from '../../core/axes.js';
import { randomStream } from '../../core/random.js';
import { calibrateCases, calibrationSample } from '../cases.js';
import { prepareCpuSolver } from './prepare.js';
import { planCalibration, prepareCalibrator } from '../index.js';
import type { IterationRule, SolveBatch } from '../plan.js';
import { solveReference } from '../reference.js';

const library = loadNative();

/** Random Hermitian-looking data without structure, so every element matters. */
function randomBatch(seed: number, solves: number, stations: number, iterations: IterationRule): SolveBatch {
  const random = randomStream(seed, 'batch', solves, stations);
  const length = solves * baselineCount(stations);
  const drawn = (count: number, draw: () => number) => Float64Array.from({ length: count }, draw);
  return {
    solves,
    stations,
    data: drawn(2 * length, () => random.gaussian()),
    model: drawn(2 * length, () => random.gaussian()),
    weights: drawn(length, () => random.below(5)),
    gains: drawn(2 * solves * stations, () => random.gaussian()),
    iterations,
    iterationsRun: new Int32Array(solves).fill(-7),
    lastChange: new Float64Array(solves).fill(NaN),
  };
}

const copyOf = (batch: SolveBatch): SolveBatch => ({
  ...batch,
  gains: batch.gains.slice(),
  iterationsRun: batch.iterationsRun.slice(),
  lastChange: batch.lastChange.slice(),
});

async function assertAgrees(cpu: CpuBackend, batch: SolveBatch, tolerance: number): Promise<void> {
  const wanted = copyOf(batch);
  await solveReference(wanted);
  const solver = prepareCpuSolver(batch, cpu);
  await solver.solve(copyOf(batch));
  await solver.solve(batch);
  await solver.close();
  const largest = wanted.gains.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  for (let n = 0; n < wanted.gains.length; n++) {
    const difference = Math.abs(batch.gains[n] - wanted.gains[n]);
    assert.ok(difference <= tolerance * largest, `gain element ${n} differs by ${difference / largest}`);
  }
  assert.deepEqual(batch.iterationsRun, wanted.iterationsRun);
  for (let solve = 0; solve < batch.solves; solve++) {
    const [found, expected] = [batch.lastChange[solve], wanted.lastChange[solve]];
    assert.ok(Math.abs(found - expected) <= 1e-4 * expected, `last change ${found}, expected ${expected}`);
  }
}

describe('cpu calibrator', { skip: 'what' in library ? library.what : false }, () => {
  for (const isa of compiledLevels(library)) {
    describe(`at level ${isa}`, () => {
      calibrateCases(() => openCpu({ isa, threads: 2 }));

      for (const [solves, stations, threads] of [
        [1, 1, 1],
        [5, 2, 2],
        [3, 17, 2],
        [2, 64, 1],
        [1, 257, 3],
        [4, 261, 3],
      ] as const) {
        it(`${solves} × ${stations} stations on ${threads} thread(s), autos too`, async () => {
          const cpu = await openCpu({ isa, threads });
          // Float32 keeps 6e-8; a sum of 261 terms that partly cancel loses one digit, twice over two steps.
          await assertAgrees(cpu, randomBatch(1, solves, stations, { kind: 'fixed', count: 2 }), 5e-6);
          await cpu.close();
        });
      }

      it('stations that nothing determines keep their gain', async () => {
        const cpu = await openCpu({ isa, threads: 2 });
        const batch = randomBatch(2, 2, 6, { kind: 'fixed', count: 3 });
        for (let j = 0; j < 6; j++) batch.weights[baselineIndex(Math.max(4, j), Math.min(4, j))] = 0;
        const before = [...batch.gains.subarray(8, 10)];
        await assertAgrees(cpu, batch, 5e-6);
        assert.deepEqual([...batch.gains.subarray(8, 10)], before);
        await cpu.close();
      });

      it('sizes far from 1 lose nothing', async () => {
        const cpu = await openCpu({ isa, threads: 1 });
        const batch = randomBatch(3, 1, 9, { kind: 'fixed', count: 4 });
        for (const [array, scale] of [
          [batch.data, 1e90],
          [batch.model, 1e-120],
          [batch.gains, 1e105],
        ] as const) {
          for (let n = 0; n < array.length; n++) array[n] *= scale;
        }
        await assertAgrees(cpu, batch, 5e-6);
        await cpu.close();
      });

      it('gains come to rest at 1e-13, far below what float32 holds', async () => {
        const sample = { seed: 5, stations: 40, polarisations: 1, channels: 2 } as const;
        const { input } = calibrationSample({ ...sample, noiseJy: 0.1 });
        const plan = planCalibration({
          ...sample,
          iterations: { kind: 'until', tolerance: 1e-13, most: 500 },
        });
        const wanted = await (await prepareCalibrator(plan, openReference())).solve(input);
        const cpu = await openCpu({ isa, threads: 2 });
        const found = await (await prepareCalibrator(plan, cpu)).solve(input);
        for (const [k, { iterations, converged }] of wanted.solutions.entries()) {
          assert.ok(converged && found.solutions[k].converged);
          assert.ok(Math.abs(found.solutions[k].iterations - iterations) <= 2);
        }
        // A and B are float32: each element is off by at most 6e-8, and 39 of them make a gain.
        for (const [n, gain] of wanted.gains.entries()) assert.ok(Math.abs(found.gains[n] - gain) < 1e-7);
        await cpu.close();
      });
    });
  }

  it('one thread or three give gains as close as their sums’ order allows', async () => {
    const results = [];
    for (const threads of [1, 3]) {
      const cpu = await openCpu({ threads });
      const batch = randomBatch(6, 1, 300, { kind: 'fixed', count: 2 });
      const solver = prepareCpuSolver(batch, cpu);
      await solver.solve(batch);
      results.push(batch.gains);
      await cpu.close();
    }
    for (const [n, gain] of results[0].entries()) assert.ok(Math.abs(results[1][n] - gain) < 1e-5);
  });
});
