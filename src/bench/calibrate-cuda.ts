/** StEFCal iterations on a GPU, timed by GPU events, compared with float32 multiply-adds alone. */
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { preparePlainCeilings } from '../backend/cuda/plain-ceilings.js';
import { prepareCudaSolver } from '../calibrate/on-card.js';
import type { SolveBatch } from '../calibrate/index.js';
import { baselineCount } from '../core/axes.js';
import type { Closers } from '../core/closing.js';
import { randomStream } from '../core/random.js';
import type { BenchCase, PreparedCase } from './bench.js';
import { cardContestant, SECONDS_PER_TURN } from './correlate-cuda.js';

const ITERATIONS = 300;
const sizes = [
  { stations: 1000, solves: 1 },
  { stations: 2000, solves: 1 },
  { stations: 500, solves: 20 },
  { stations: 256, solves: 264 },
  { stations: 128, solves: 768 },
] as const;
/** A complex and a real multiply-add: 10 operations for each pair of stations. */
const OPERATIONS = 10;

export const cudaCalibrateCases = (backend: CudaBackend): BenchCase[] =>
  sizes.map((size) => ({
    parameters: { ...size, iterations: ITERATIONS },
    unit: 'GFLOPS',
    scale: 1e9,
    secondsPerTurn: SECONDS_PER_TURN,
    prepare: (closers) => prepare(backend, size, closers),
  }));

/** Gains of 1 and a model of noise: the work does not depend on the data. */
function benchBatch(stations: number, solves: number): SolveBatch {
  const baselines = baselineCount(stations);
  const random = randomStream(1, 'calibrate bench', stations, solves);
  const model = new Float64Array(2 * solves * baselines);
  random.addGaussians(model, 1);
  const data = model.slice();
  random.addGaussians(data, 0.1);
  const gains = new Float64Array(2 * solves * stations);
  for (let n = 0; n < gains.length; n += 2) gains[n] = 1;
  return {
    solves,
    stations,
    data,
    model,
    weights: new Float64Array(solves * baselines).fill(1),
    gains,
    iterations: { kind: 'fixed', count: ITERATIONS },
    iterationsRun: new Int32Array(solves),
    lastChange: new Float64Array(solves),
  };
}

async function prepare(
  backend: CudaBackend,
  { stations, solves }: { readonly stations: number; readonly solves: number },
  closers: Closers,
): Promise<PreparedCase> {
  const { session } = backend;
  const batch = benchBatch(stations, solves);
  const solver = closers.keep(await prepareCudaSolver(batch, backend));
  await solver.solve(batch);
  const ceilings = closers.keep(await preparePlainCeilings(backend));
  return {
    ours: cardContestant(session, solver.launchAgain, OPERATIONS * solves * stations ** 2 * ITERATIONS),
    ceiling: {
      title: 'float32 multiply-adds alone',
      ...cardContestant(session, ceilings.multiplyAdd, ceilings.operations),
    },
  };
}
