/** Gridding of visibilities and their transform, over sizes; no other library has exactly this kernel. */
import { baselineCount } from '../core/axes.js';
import type { Closers } from '../core/closing.js';
import { randomStream } from '../core/random.js';
import { planImage, prepareVisibilityImager } from '../image/index.js';
import type { BenchCase, KernelBench, PreparedCase } from './bench.js';
import { hostCeiling } from './ceiling.js';
import type { HostBackend } from '../backend/backend.js';
import { noiseIntegration } from './noise.js';

interface Size {
  readonly stations: number;
  readonly pixels: number;
}

const sizes = {
  reference: [{ stations: 16, pixels: 64 }],
  cpu: [
    { stations: 64, pixels: 128 },
    { stations: 256, pixels: 128 },
    { stations: 256, pixels: 512 },
  ],
} satisfies Record<HostBackend['kind'], readonly Size[]>;

const CHANNELS = 2;
const KERNEL = 5;
const POLARISATIONS = 2;

export const gridBench: KernelBench = {
  kernel: 'grid',
  cases: (backend) => (backend.kind === 'cuda' ? [] : hostCases(backend)),
};

const hostCases = (backend: HostBackend): BenchCase[] =>
  sizes[backend.kind].map((size): BenchCase => ({
    parameters: { ...size, channels: CHANNELS, polarisations: POLARISATIONS, kernel: KERNEL },
    unit: 'M visibilities/s',
    scale: 1e6,
    prepare: (closers) => prepare(size, backend, closers),
  }));

async function prepare(
  { stations, pixels }: Size,
  backend: HostBackend,
  closers: Closers,
): Promise<PreparedCase> {
  const random = randomStream(1, 'bench');
  const stationsM = Array.from({ length: stations }, () => ({
    x: 80 * random.uniform(),
    y: 80 * random.uniform(),
    z: random.uniform(),
  }));
  const plan = planImage({
    pixels,
    field: { kind: 'all-sky' },
    stationsM,
    axes: { l: { x: 1, y: 0, z: 0 }, m: { x: 0, y: 1, z: 0 }, n: { x: 0, y: 0, z: 1 } },
    frequenciesHz: new Float64Array(CHANNELS).fill(pixels < 128 ? 20e6 : 50e6),
    polarisations: POLARISATIONS,
    kernel: { kind: 'fitted', size: KERNEL },
  });
  const integration = noiseIntegration(stations, POLARISATIONS, CHANNELS);
  const length = CHANNELS * baselineCount(stations) * POLARISATIONS ** 2;
  const imager = closers.keep(await prepareVisibilityImager(plan, backend));
  // A pair's kernels multiplied, 8 operations for K⁴ products of taps, then added to an image and a beam for each of
  // its visibilities, 12 operations per grid cell.
  const operations = (8 * KERNEL ** 4) / POLARISATIONS ** 2 + 12 * (2 * KERNEL - 1) ** 2;
  return {
    ours: {
      run: async () => {
        await imager.image([integration]);
        return length;
      },
    },
    // a register holds half as many numbers in float64
    ceiling:
      backend.kind === 'reference'
        ? hostCeiling(backend, operations)
        : { ...hostCeiling(backend, 2 * operations), title: 'float64 multiply-adds' },
  };
}
