/**
 * The shared cases on a card, and the sizes and memory variants that only a card has. Without a card all of it is
 * skipped, with a message; plan.test.ts has the tests that need none.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeCuda, openCuda, type CudaBackend } from '../../backend/cuda/cuda.js';
import { randomStream } from '../../core/random.js';
import { calibrateCases, calibrationSample } from '../cases.js';
import { prepareCudaSolver, type CudaSolverOptions } from './prepare.js';
import { planCalibration, prepareCalibrator } from '../index.js';
import type { IterationRule, SolveBatch } from '../plan.js';
import { solveReference } from '../reference.js';

const presence = describeCuda();
if (!presence.present) {
  it('calibration on a card', { skip: `${presence.reason}; ${presence.fix}` }, () => undefined);
} else {
  describe('cuda', () => {
    calibrateCases(() => openCuda());
    sizes();
  });
}

/** Batches with noise, unequal weights and a station without any. */
function randomBatch(stations: number, solves: number, iterations: IterationRule): SolveBatch {
  const random = randomStream(51, stations, solves);
  const baselines = (stations * (stations + 1)) / 2;
  const batch: SolveBatch = {
    solves,
    stations,
    data: new Float64Array(2 * solves * baselines),
    model: new Float64Array(2 * solves * baselines),
    weights: new Float64Array(solves * baselines),
    gains: new Float64Array(2 * solves * stations),
    iterations,
    iterationsRun: new Int32Array(solves),
    lastChange: new Float64Array(solves),
  };
  for (let k = 0; k < solves; k++) {
    const turn = (size: number): [number, number] => {
      const angle = 2 * Math.PI * random.uniform();
      return [size * Math.cos(angle), size * Math.sin(angle)];
    };
    const truth = Array.from({ length: stations }, () => turn(0.5 + random.uniform()));
    const sky = Array.from({ length: stations }, () => [turn(1), turn(1)]);
    const dead = k % 2 === 1 ? k % stations : -1;
    for (let i = 0, b = k * baselines; i < stations; i++) {
      for (let j = 0; j <= i; j++, b++) {
        const [first, second] = [0, 1].map((q) => times(sky[i][q], conjugate(sky[j][q])));
        const model = [10 * first[0] + 4 * second[0], 10 * first[1] + 4 * second[1]] as const;
        const data = times(times(truth[i], model), conjugate(truth[j]));
        batch.model.set(model, 2 * b);
        batch.data.set([data[0] + random.gaussian(), data[1] + (i === j ? 0 : random.gaussian())], 2 * b);
        batch.weights[b] = i === j || i === dead || j === dead ? 0 : 500 + 1000 * random.uniform();
      }
    }
    for (let i = 0; i < stations; i++) batch.gains[2 * (k * stations + i)] = i === dead ? 0 : 1;
  }
  return batch;
}
type Complex = readonly [number, number];
const times = (a: Complex, b: Complex): Complex => [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]];
const conjugate = (a: Complex): Complex => [a[0], -a[1]];
const copyOf = (batch: SolveBatch): SolveBatch => ({
  ...batch,
  gains: batch.gains.slice(),
  iterationsRun: new Int32Array(batch.solves),
  lastChange: new Float64Array(batch.solves),
});

function sizes(): void {
  let backend: CudaBackend;
  before(async () => {
    backend = await openCuda();
  });
  after(() => backend.close());

  const agree = async (
    stations: number,
    solves: number,
    iterations: IterationRule,
    options: CudaSolverOptions = {},
  ): Promise<SolveBatch> => {
    const batch = randomBatch(stations, solves, iterations);
    const wanted = copyOf(batch);
    await solveReference(wanted);
    const solver = await prepareCudaSolver({ stations, solves, iterations }, backend, options);
    await solver.solve(randomBatch(stations, solves, iterations)); // remains of it would show
    await solver.solve(batch);
    await solver.close();
    let worst = 0;
    wanted.gains.forEach((value, n) => {
      const difference = Math.abs(batch.gains[n] - value);
      worst = difference <= worst ? worst : difference; // a NaN stays
    });
    assert.ok(worst < 1e-5, `gains differ by ${worst}`);
    for (let k = 0; k < solves; k++) {
      assert.ok(
        Math.abs(batch.iterationsRun[k] - wanted.iterationsRun[k]) <= 2,
        `solve ${k}: ${batch.iterationsRun[k]} iterations, not ${wanted.iterationsRun[k]}`,
      );
    }
    return batch;
  };
  const fixed = (count: number): IterationRule => ({ kind: 'fixed', count });
  const until = (tolerance: number): IterationRule => ({ kind: 'until', tolerance, most: 500 });

  for (const [stations, solves] of [
    [3, 7],
    [64, 5],
    [65, 40],
    [129, 3],
    [250, 12],
    [256, 2],
    [400, 1],
  ] as const) {
    it(`${stations} stations, ${solves} at once, 20 iterations`, async () => {
      await agree(stations, solves, fixed(20));
    });
  }
  it('each solve stops when it may', async () => {
    await agree(48, 30, until(1e-5));
  });
  it('an odd limit is kept', async () => {
    const batch = await agree(20, 3, { kind: 'until', tolerance: 1e-15, most: 7 });
    assert.deepEqual([...batch.iterationsRun], [7, 7, 7]);
  });
  it('finer than float32 resolves', async () => {
    const batch = await agree(40, 4, until(1e-10));
    for (const change of batch.lastChange) assert.ok(change < 1e-10, `${change}`);
  });
  it('from memory', async () => {
    await agree(40, 6, until(1e-8), { hold: 'memory' });
  });
  it('from memory, an odd number of iterations', async () => {
    await agree(30, 3, fixed(5), { hold: 'memory' });
  });
  for (const variant of [
    { THREADS: 512, GROUP: 512, COLUMNS: 2, ROWS: 8, REGISTER_ROWS: 8, CHUNK: 8 },
    { THREADS: 256, GROUP: 256, COLUMNS: 4, ROWS: 16, REGISTER_ROWS: 7, CHUNK: 4 },
    { THREADS: 256, GROUP: 128, COLUMNS: 4, ROWS: 4, REGISTER_ROWS: 4, CHUNK: 4 },
    { THREADS: 128, GROUP: 64, COLUMNS: 8, ROWS: 10, REGISTER_ROWS: 7, CHUNK: 5 },
    { THREADS: 128, GROUP: 32, COLUMNS: 8, ROWS: 3, REGISTER_ROWS: 2, CHUNK: 3 },
  ]) {
    const name = Object.entries(variant).join(' ');
    it(`dealt as ${name}`, async () => {
      await agree(200, 5, until(1e-5), { variant });
    });
    it(`dealt as ${name}, an odd number of stations`, async () => {
      await agree(201, 2, fixed(9), { variant });
    });
  }

  it('calibrates to the truth, with the default rule', async () => {
    const shape = { stations: 30, polarisations: 2, channels: 3 } as const;
    const { input } = calibrationSample({ seed: 5, ...shape });
    const calibrator = await prepareCalibrator(planCalibration(shape), backend);
    const { solutions } = await calibrator.solve(input);
    for (const { residual, converged } of solutions) assert.ok(residual < 1e-6 && converged);
    await calibrator.close();
  });
}
