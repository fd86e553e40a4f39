/**
 * Direct imaging on a GPU: many channels, long and short images, gridding included; compared with half-precision matrix
 * products alone.
 */
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { prepareCeilings, preparePlainCeilings } from '../backend/cuda/ceilings.js';
import { uploadArray } from '../backend/cuda/transfer.js';
import { tapsCSKK } from '../core/axes.js';
import type { Closers } from '../core/closing.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { randomStream } from '../core/random.js';
import {
  planSampling,
  prepareDirectChoice,
  prepareFolded,
  prepareHalfCeiling,
  prepareSingle,
  touchedCells,
} from '../image/on-card.js';
import { MARGIN, planImage, type ImagePlan, type KernelSize } from '../image/index.js';
import type { BenchCase, KernelBench, PreparedCase } from './bench.js';
import { cardContestant } from './correlate-cuda.js';

const STATIONS = 256;
const POLARISATIONS = 2;
const PIXELS = 128;
const PLANNED = 6;

interface Size {
  readonly boxCells: 32 | 48 | 64;
  readonly channels: number;
  readonly kernel: KernelSize;
  /** Of one image. */
  readonly steps: number;
  /** `plain`: single precision without tensor cores. */
  readonly precision: 'half' | 'single' | 'plain';
}
const long = { channels: 792, kernel: 5, steps: 1000 } as const;
const sizes: readonly Size[] = [
  { ...long, boxCells: 32, precision: 'half' },
  { ...long, boxCells: 48, precision: 'half' },
  { ...long, boxCells: 64, precision: 'half' },
  { ...long, boxCells: 32, channels: 132, precision: 'half' },
  { ...long, boxCells: 32, precision: 'single' },
  { ...long, boxCells: 48, precision: 'single' },
  { ...long, boxCells: 64, precision: 'single' },
  { ...long, boxCells: 32, kernel: 7, precision: 'single' },
  { ...long, boxCells: 32, steps: 100, precision: 'single' },
  { ...long, boxCells: 32, steps: 25, precision: 'single' },
  { ...long, boxCells: 32, kernel: 7, steps: 25, precision: 'single' },
  { ...long, boxCells: 32, channels: 66, precision: 'plain' },
];
/** Half-precision products per product of numbers. */
const productsOf = { half: 1, single: 3, plain: 1 } satisfies Record<Size['precision'], number>;

/**
 * Operations of the pruned, folded transform of one step to n² samples, two for each product of a matrix element: per
 * polarisation n × 2·box sums of depth box, then n × 2n of depth box.
 */
const operationsPerStep = (box: number, n: number): number =>
  POLARISATIONS * 2 * (n * 2 * box * box + n * 2 * n * box);

/** Stations at random positions in a square that fills the box at the highest of the channels. */
function planFor({ boxCells, channels, kernel }: Size): ImagePlan {
  const highestHz = 60e6;
  const cellM = SPEED_OF_LIGHT_M_PER_S / highestHz / (2 * MARGIN);
  const acrossM = (boxCells - kernel - 1) * cellM;
  const random = randomStream(7, 'stations', boxCells);
  // Fitting kernels takes longer than the measurement: a few channels are planned and used for all.
  const few = planImage({
    pixels: PIXELS,
    field: { kind: 'all-sky' },
    stationsM: Array.from({ length: STATIONS }, () => ({
      x: acrossM * (random.uniform() - 0.5),
      y: acrossM * (random.uniform() - 0.5),
      z: 0,
    })),
    axes: { l: { x: 1, y: 0, z: 0 }, m: { x: 0, y: 1, z: 0 }, n: { x: 0, y: 0, z: 1 } },
    frequenciesHz: Float64Array.from({ length: PLANNED }, (_, c) => highestHz - c * 2e5),
    polarisations: POLARISATIONS,
    kernel: { kind: 'fitted', size: kernel },
  });
  const taps = new Float64Array((few.taps.length / PLANNED) * channels);
  const corners = new Int32Array((few.corners.length / PLANNED) * channels);
  for (let c = 0; c < channels; c += PLANNED) {
    taps.set(
      few.taps.subarray(0, ((channels - c) * few.taps.length) / PLANNED),
      (c * few.taps.length) / PLANNED,
    );
    corners.set(
      few.corners.subarray(0, ((channels - c) * few.corners.length) / PLANNED),
      (c * few.corners.length) / PLANNED,
    );
  }
  return { ...few, channels, corners, taps: tapsCSKK(taps, channels, STATIONS, kernel) };
}

export const cudaImageBench: KernelBench = {
  kernel: 'direct-image-card',
  cases: (backend) => (backend.kind === 'cuda' ? cases(backend) : []),
};

const cases = (backend: CudaBackend): BenchCase[] =>
  sizes
    .filter(({ precision }) => precision === 'plain' || backend.path === 'hopper')
    .map((size) => ({
      parameters: { stations: STATIONS, pixels: PIXELS, ...size },
      unit: 'M channel steps/s',
      scale: 1e6,
      prepare: (closers) => prepare(backend, size, closers),
    }));

async function prepare(backend: CudaBackend, size: Size, closers: Closers): Promise<PreparedCase> {
  const { session } = backend;
  const stream = session.streams.compute;
  const plan = planFor(size);
  const { channels, precision, steps: capacity } = size;
  const inputs = STATIONS * POLARISATIONS;
  const block = closers.keep(backend.allocateSpectra({ type: 'ci8', channels, inputs, capacity }));
  const filler = closers.keep(await prepareCeilings(backend));
  filler.fill(block.pointer, block.pitchBytes * inputs * channels, 3);
  block.doneWriting(stream, capacity, []);
  const sums = closers.keep(session.allocate('sums', channels * 4 * PIXELS * PIXELS * 8));
  const ones = Float32Array.from({ length: 2 * channels * inputs }, (_, n) => (n % 2 === 0 ? 1 : 0));
  const factors = closers.keep(await uploadArray(session, 'factors', ones));
  const choose = prepareDirectChoice(plan, backend.path, precision === 'half' ? 'half' : 'single');
  const choice = choose({ type: 'ci8', samples: capacity });
  const engine = closers.keep(
    precision === 'plain' || choice.kind === 'float'
      ? await prepareSingle(plan, backend, 'integer', sums)
      : await prepareFolded(plan, backend, { precision: choice.kind, box: choice.box, capacity }, sums),
  );
  const plain = closers.keep(await preparePlainCeilings(backend));
  const touched = touchedCells(plan);
  const box = Math.max(touched.endRow - touched.firstRow, touched.endColumn - touched.firstColumn);
  const halves = backend.path === 'hopper' ? closers.keep(await prepareHalfCeiling(backend)) : undefined;
  const samples =
    precision === 'half'
      ? planSampling(plan, { box: size.boxCells, precision, steps: capacity }).samples
      : PIXELS;
  const operations = operationsPerStep(size.boxCells, samples);
  const steps = channels * capacity;
  return {
    ours: cardContestant(
      session,
      () => {
        engine.sum(block, factors, 'replace');
      },
      steps,
    ),
    ceiling: halves
      ? {
          title: `half-precision products of ${samples}² samples in a box of ${size.boxCells} alone, ${productsOf[precision]} to a number`,
          ...cardContestant(
            session,
            () => {
              halves.launch();
            },
            halves.operations / (productsOf[precision] * operations),
          ),
        }
      : {
          title: `float32 multiply-adds of a box of ${box} alone`,
          ...cardContestant(session, plain.multiplyAdd, plain.operations / operations),
        },
  };
}
