/** Full-polarisation StEFCal compared with four solves of one gain per input. */
import type { Backend } from '../backend/backend.js';
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { prepareCudaFullSolver, prepareCudaSolver } from '../calibrate/on-card.js';
import { prepareFullSolver, prepareSolver, type FullBatch, type SolveBatch } from '../calibrate/index.js';
import { baselineCount } from '../core/axes.js';
import type { Closers } from '../core/closing.js';
import { randomStream } from '../core/random.js';
import type { BenchCase, KernelBench, PreparedCase } from './bench.js';
import { cardContestant } from './correlate-cuda.js';

/** Model content: a simpler sky needs fewer products per pair. */
type Sky = 'unpolarised' | 'beams' | 'polarised';

interface Size {
  readonly antennas: number;
  readonly solves: number;
  readonly sky: Sky;
  /** Exactly this many, or until no gain changes by more than 1e-8. */
  readonly iterations: number | 'until 1e-8';
}

const skies = ['unpolarised', 'beams', 'polarised'] as const satisfies readonly Sky[];
const overSkies = (antennas: number, solves: number, iterations: Size['iterations']): Size[] =>
  skies.map((sky) => ({ antennas, solves, sky, iterations }));

const sizes = {
  reference: [{ antennas: 32, solves: 1, sky: 'polarised', iterations: 4 }],
  cpu: [
    ...overSkies(64, 16, 50),
    ...overSkies(64, 16, 'until 1e-8'),
    ...overSkies(256, 4, 50),
    ...overSkies(256, 4, 'until 1e-8'),
    ...overSkies(500, 2, 50),
    ...overSkies(500, 2, 'until 1e-8'),
    ...overSkies(1000, 1, 'until 1e-8'),
  ],
  cuda: [
    ...overSkies(64, 384, 100),
    ...overSkies(64, 384, 'until 1e-8'),
    ...overSkies(256, 64, 100),
    ...overSkies(256, 64, 'until 1e-8'),
    ...overSkies(500, 5, 100),
    ...overSkies(1000, 1, 100),
    ...overSkies(1000, 1, 'until 1e-8'),
  ],
} satisfies Record<Backend['kind'], readonly Size[]>;

const TITLE = 'four solves of a gain an input';

export const fullCalibrateBench: KernelBench = {
  kernel: 'calibrate-full',
  cases: (backend) =>
    sizes[backend.kind].map((size: Size): BenchCase => ({
      parameters: { ...size },
      unit: typeof size.iterations === 'number' ? 'iterations/s' : 'solves/s',
      scale: 1,
      prepare: (closers) =>
        backend.kind === 'cuda' && typeof size.iterations === 'number'
          ? onCard(size, size.iterations, backend, closers)
          : whole(size, backend, closers),
    })),
};

/** From a batch in host memory to its gains in host memory. */
async function whole(size: Size, backend: Backend, closers: Closers): Promise<PreparedCase> {
  const { full, each } = samples(size);
  const [fullSolver, solver] = [
    closers.keep(await prepareFullSolver(full, backend)),
    closers.keep(await prepareSolver(each, backend)),
  ];
  const [fullGuess, guess] = [full.gains.slice(), each.gains.slice()];
  const work = size.solves * (typeof size.iterations === 'number' ? size.iterations : 1);
  return {
    ours: {
      run: async () => {
        full.gains.set(fullGuess);
        await fullSolver.solve(full);
        return work;
      },
    },
    ceiling: {
      title: TITLE,
      run: async () => {
        each.gains.set(guess);
        await solver.solve(each);
        return work;
      },
    },
  };
}

/** Iterations alone, timed by GPU events. */
async function onCard(
  size: Size,
  iterations: number,
  backend: CudaBackend,
  closers: Closers,
): Promise<PreparedCase> {
  const { full, each } = samples(size);
  const fullSolver = closers.keep(await prepareCudaFullSolver(full, backend));
  const solver = closers.keep(await prepareCudaSolver(each, backend));
  await fullSolver.solve(full);
  await solver.solve(each);
  const work = size.solves * iterations;
  const again = (): void => {
    fullSolver.launchAgain(iterations);
  };
  return {
    ours: cardContestant(backend.session, again, work),
    ceiling: { title: TITLE, ...cardContestant(backend.session, solver.launchAgain, work) },
  };
}

/** XX, XY, YX, YY of three sources in Jy. */
const brightness = {
  unpolarised: [[[10, 0], [0, 0], [0, 0], [10, 0]], [[7, 0], [0, 0], [0, 0], [7, 0]], [[5, 0], [0, 0], [0, 0], [5, 0]]],
  beams: [[[10, 0], [0, 0], [0, 0], [9, 0]], [[7, 0], [0, 0], [0, 0], [4, 0]], [[4, 0], [0, 0], [0, 0], [6, 0]]],
  polarised: [[[10, 0], [0, 0], [0, 0], [10, 0]], [[6.7, 0], [4.2, -0.7], [4.2, 0.7], [7.3, 0]], [[7, 0], [0.5, -1], [0.5, 1], [3, 0]]],
} as const satisfies Record<Sky, readonly (readonly Complex[])[]>; // prettier-ignore

/** The same array with and without leakage, three sources, some noise. */
function samples({ antennas, solves, sky, iterations: count }: Size): {
  readonly full: FullBatch;
  readonly each: SolveBatch;
} {
  const iterations =
    typeof count === 'number'
      ? ({ kind: 'fixed', count } as const)
      : ({ kind: 'until', tolerance: 1e-8, most: 1000 } as const);
  const baselines = baselineCount(antennas);
  const empty = (count_: number) => ({
    stations: antennas,
    solves: count_,
    iterations,
    weights: new Float64Array(count_ * baselines).fill(1),
    iterationsRun: new Int32Array(count_),
    lastChange: new Float64Array(count_),
  });
  const full: FullBatch = {
    ...empty(solves),
    commonNormal: new Float64Array(64 * solves),
    commonVariance: new Float64Array(solves),
    data: new Float64Array(8 * solves * baselines),
    model: new Float64Array(8 * solves * baselines),
    gains: Float64Array.from({ length: 8 * solves * antennas }, (_, n) =>
      n % 8 === 0 || n % 8 === 6 ? 1 : 0,
    ),
  };
  const each: SolveBatch = {
    ...empty(4 * solves),
    data: new Float64Array(8 * solves * baselines),
    model: new Float64Array(8 * solves * baselines),
    gains: Float64Array.from({ length: 8 * solves * antennas }, (_, n) => 1 - (n % 2)),
  };
  const random = randomStream(1, 'full bench', antennas);
  const turned = (): Complex => {
    const phase = 2 * Math.PI * random.uniform();
    return [Math.cos(phase), Math.sin(phase)];
  };
  const sources = brightness[sky].map((b) => ({ fringes: Array.from({ length: antennas }, turned), b }));
  const jones = Array.from({ length: antennas }, (): Complex[] => {
    const across = [turned(), turned()].map(([a, b]): Complex => [0.1 * a, 0.1 * b]);
    return [turned(), across[0], across[1], turned()];
  });
  for (let i = 0, b = 0; i < antennas; i++) {
    for (let j = 0; j <= i; j++, b++) {
      if (i === j) {
        full.weights[b] = each.weights[b] = 0;
        continue;
      }
      const model: Complex[] = [0, 1, 2, 3].map((n) =>
        sources.reduce<Complex>(
          (sum, { fringes, b: of }) => plus(sum, times(times(fringes[i], conj(fringes[j])), of[n])),
          [0, 0],
        ),
      );
      const data = product(product(jones[i], model), adjointOf(jones[j]));
      for (let n = 0; n < 4; n++) {
        const noise: Complex = [0.5 * random.gaussian(), 0.5 * random.gaussian()];
        full.model.set(model[n], 8 * b + 2 * n);
        full.data.set(plus(data[n], noise), 8 * b + 2 * n);
        // XX, YY, XX, YY: the data of four scalar solves, without leakage.
        const own = n % 2 === 0 ? 0 : 3;
        each.model.set(model[own], 2 * (n * baselines + b));
        each.data.set(plus(times(times(jones[i][own], model[own]), conj(jones[j][own])), noise), 2 * (n * baselines + b)); // prettier-ignore
        each.weights[n * baselines + b] = 1;
      }
    }
  }
  for (let n = 0; n < 4; n++)
    for (let s = 0; s < antennas; s++) each.weights[n * baselines + (s * (s + 3)) / 2] = 0;
  for (let k = 1; k < solves; k++) {
    for (const values of [full.data, full.model, each.data, each.model])
      values.copyWithin(8 * k * baselines, 0, 8 * baselines);
    full.weights.copyWithin(k * baselines, 0, baselines);
    each.weights.copyWithin(4 * k * baselines, 0, 4 * baselines);
  }
  return { full, each };
}

type Complex = readonly [number, number];
const times = ([a, b]: Complex, [c, d]: Complex): Complex => [a * c - b * d, a * d + b * c];
const plus = ([a, b]: Complex, [c, d]: Complex): Complex => [a + c, b + d];
const conj = ([a, b]: Complex): Complex => [a, -b];
const product = (a: readonly Complex[], b: readonly Complex[]): Complex[] =>
  [0, 1, 2, 3].map((n) => {
    const [row, column] = [n & 2, n % 2];
    return plus(times(a[row], b[column]), times(a[row + 1], b[2 + column]));
  });
const adjointOf = (a: readonly Complex[]): Complex[] => [conj(a[0]), conj(a[2]), conj(a[1]), conj(a[3])];
