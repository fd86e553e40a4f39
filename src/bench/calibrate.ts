/** StEFCal over sizes; the peer is the same algorithm with vector instructions over full matrices. */
import type { HostBackend } from '../backend/backend.js';
import { cpuCeilings, type Ceiling } from '../backend/cpu/ceilings.js';
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { preparePlainCeilings } from '../backend/cuda/ceilings.js';
import { prepareSolver, type SolveBatch } from '../calibrate/index.js';
import { prepareCudaSolver } from '../calibrate/on-card.js';
import { baselineCount, baselineIndex } from '../core/axes.js';
import type { Closers } from '../core/closing.js';
import { randomStream } from '../core/random.js';
import type { BenchCase, KernelBench, PreparedCase } from './bench.js';
import { hostCeiling } from './ceiling.js';
import { cardContestant } from './correlate-cuda.js';
import { callPeer, type Peers } from './peers.js';

interface Size {
  readonly antennas: number;
  readonly solves: number;
  readonly iterations: number;
}

const sizes = {
  reference: [{ antennas: 64, solves: 1, iterations: 10 }],
  cpu: [
    { antennas: 64, solves: 64, iterations: 300 },
    { antennas: 256, solves: 8, iterations: 300 },
    { antennas: 500, solves: 20, iterations: 100 },
    { antennas: 500, solves: 1, iterations: 300 },
    { antennas: 1000, solves: 1, iterations: 300 },
    { antennas: 2000, solves: 1, iterations: 100 },
  ],
} satisfies Record<HostBackend['kind'], readonly Size[]>;

export const calibrateBench: KernelBench = {
  kernel: 'calibrate',
  cases: (backend) => (backend.kind === 'cuda' ? cudaCases(backend) : hostCases(backend)),
};

const hostCases = (backend: HostBackend): BenchCase[] =>
  sizes[backend.kind].map((size) => calibrateCase(size, backend));

export const calibrateCase = (size: Size, backend: HostBackend): BenchCase => ({
  parameters: { ...size },
  unit: 'iterations/s',
  scale: 1,
  prepare: (closers, peers) => prepare(size, backend, closers, peers),
});

async function prepare(
  size: Size,
  backend: HostBackend,
  closers: Closers,
  peers: Peers | undefined,
): Promise<PreparedCase> {
  const batch = sample(size);
  const guess = batch.gains.slice();
  const solver = closers.keep(await prepareSolver(batch, backend));
  const work = size.solves * size.iterations;
  return {
    ours: {
      run: async () => {
        batch.gains.set(guess);
        await solver.solve(batch);
        return work;
      },
    },
    ceiling: ceilingFor(backend, size, closers),
    peer: peers && backend.kind === 'cpu' ? fullMatrix(peers, batch, size, backend.threads) : undefined,
  };
}

/** Unit gains of random phase on a model of random phases, and some noise: the time does not depend on the data. */
function sample({ antennas, solves, iterations }: Size): SolveBatch {
  const random = randomStream(1, 'bench', antennas);
  const baselines = baselineCount(antennas);
  const batch: SolveBatch = {
    solves,
    stations: antennas,
    data: new Float64Array(2 * solves * baselines),
    model: new Float64Array(2 * solves * baselines),
    weights: new Float64Array(solves * baselines).fill(1),
    gains: Float64Array.from({ length: 2 * solves * antennas }, (_, n) => (n % 2 === 0 ? 1 : 0)),
    iterations: { kind: 'fixed', count: iterations },
    iterationsRun: new Int32Array(solves),
    lastChange: new Float64Array(solves),
  };
  const phases = Float64Array.from({ length: antennas }, () => 2 * Math.PI * random.uniform());
  for (let i = 0; i < antennas; i++) {
    for (let j = 0; j <= i; j++) {
      const b = baselineIndex(i, j);
      const phase = 2 * Math.PI * random.uniform();
      const turned = phase + phases[i] - phases[j];
      batch.weights[b] = i === j ? 0 : 1;
      batch.model.set([Math.cos(phase), Math.sin(phase)], 2 * b);
      batch.data.set([Math.cos(turned) + 0.1 * random.gaussian(), Math.sin(turned)], 2 * b);
    }
  }
  for (let k = 1; k < solves; k++) {
    batch.data.copyWithin(2 * k * baselines, 0, 2 * baselines);
    batch.model.copyWithin(2 * k * baselines, 0, 2 * baselines);
    batch.weights.copyWithin(k * baselines, 0, baselines);
  }
  return batch;
}

/**
 * An iteration must read half of A and B, twelve bytes per baseline, from the cache that holds them, and takes five
 * multiply-adds for each of two triangles: the slower of the two is the ceiling.
 */
function ceilingFor(
  backend: HostBackend,
  { antennas, solves }: Size,
  closers: Closers,
): PreparedCase['ceiling'] {
  const baselines = baselineCount(antennas);
  const flops = 20 * baselines;
  if (backend.kind === 'reference') return hostCeiling(backend, flops);
  const sharing = solves % backend.threads === 0 ? 1 : backend.threads;
  const ceilings = cpuCeilings(backend);
  const read = closers.keep(ceilings.read(Math.ceil((12 * baselines) / sharing / 512) * 512));
  const multiply = closers.keep(ceilings.floats());
  const megabytes = `${(12e-6 * baselines).toPrecision(2)} MB by each ${sharing === 1 ? 'thread' : 'team'}`;
  return {
    title: `reading ${megabytes}, or its multiply-adds where they take longer`,
    run: async () => {
      const reading = await timed(read, 12 * baselines);
      const multiplying = await timed(multiply, flops);
      const seconds = reading.seconds + multiplying.seconds;
      const rate = Math.min(reading.work / reading.seconds, multiplying.work / multiplying.seconds);
      return { work: rate * seconds, seconds };
    },
  };
}

/** One run of a ceiling, in iterations that need `each` of its units. */
async function timed(ceiling: Ceiling, each: number): Promise<{ work: number; seconds: number }> {
  const started = performance.now();
  const work = (await ceiling.run()) / each;
  return { work, seconds: (performance.now() - started) / 1000 };
}

function fullMatrix(
  peers: Peers,
  batch: SolveBatch,
  { iterations }: Size,
  threads: number,
): PreparedCase['peer'] {
  const solve = peers.bind(
    'stefcal_full',
    'void peer_stefcal_full(int64_t solves, int64_t stations, const double *data, const double *model, ' +
      'const double *weights, double *gains, int64_t iterations, int32_t threads)',
  );
  const vectors = peers.bind('stefcal_full', 'const char *peer_stefcal_vectors()');
  if (!solve || !vectors) return undefined;
  const guess = batch.gains.slice();
  const gains = batch.gains.slice();
  const { solves, stations, data, model, weights } = batch;
  return {
    name: `full matrices in ${String(vectors())}`,
    run: async () => {
      gains.set(guess);
      await callPeer(solve, solves, stations, data, model, weights, gains, iterations, threads);
      return solves * iterations;
    },
  };
}

const CARD_ITERATIONS = 300;
const cardSizes = [
  { stations: 1000, solves: 1 },
  { stations: 2000, solves: 1 },
  { stations: 500, solves: 20 },
  { stations: 256, solves: 264 },
  { stations: 128, solves: 768 },
] as const;
/** A complex and a real multiply-add: 10 operations for each pair of stations. */
const OPERATIONS = 10;

/** Iterations on a GPU, timed by GPU events, compared with float32 multiply-adds alone. */
const cudaCases = (backend: CudaBackend): BenchCase[] =>
  cardSizes.map(({ stations, solves }): BenchCase => ({
    parameters: { stations, solves, iterations: CARD_ITERATIONS },
    unit: 'GFLOPS',
    scale: 1e9,
    prepare: async (closers) => {
      const { session } = backend;
      const batch = sample({ antennas: stations, solves, iterations: CARD_ITERATIONS });
      const solver = closers.keep(await prepareCudaSolver(batch, backend));
      await solver.solve(batch);
      const ceilings = closers.keep(await preparePlainCeilings(backend));
      const operations = OPERATIONS * solves * stations ** 2 * CARD_ITERATIONS;
      return {
        ours: cardContestant(session, solver.launchAgain, operations),
        ceiling: {
          title: 'float32 multiply-adds alone',
          ...cardContestant(session, ceilings.multiplyAdd, ceilings.operations),
        },
      };
    },
  }));
