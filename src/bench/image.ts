/** Direct imaging of a compact array over sizes; the peer is FFTW's dense transform and a square, without gridding. */
import { closes, type Closable, type Closers } from '../core/closing.js';
import type { Vector3 } from '../core/vector.js';
import { planImage, prepareDirectImager, type ImagePlan, type KernelSize } from '../image/index.js';
import { stationPositions } from '../stages/index.js';
import { loadTelescope } from '../telescope/load.js';
import { threadsOf, type BenchCase, type KernelBench, type PreparedCase } from './bench.js';
import { hostCeiling } from './ceiling.js';
import type { HostBackend } from '../backend/backend.js';
import type { Contestant } from './measure.js';
import { noiseSpectra } from './noise.js';
import { callPeer, type Peers } from './peers.js';

interface Size {
  readonly pixels: number;
  readonly frequencyMHz: number;
  readonly polarisations: 1 | 2;
  readonly kernel: KernelSize;
}

const sizes = {
  reference: [{ pixels: 64, frequencyMHz: 30, polarisations: 1, kernel: 5 }],
  cpu: [
    ...([1, 2] as const).flatMap((polarisations) =>
      [38, 50, 74].map((frequencyMHz) => ({ pixels: 128, frequencyMHz, polarisations, kernel: 5 as const })),
    ),
    ...([3, 7] as const).map((kernel) => ({
      pixels: 128,
      frequencyMHz: 38,
      polarisations: 2 as const,
      kernel,
    })),
    ...[64, 100, 256, 512].map((pixels) => ({
      pixels,
      frequencyMHz: 38,
      polarisations: 2 as const,
      kernel: 5 as const,
    })),
  ],
} satisfies Record<HostBackend['kind'], readonly Size[]>;

const CHANNELS = 4;
/** About ten milliseconds per call, so that waking threads is negligible: 512 steps of 128² pixels for four of them. */
const samplesFor = (backend: HostBackend, pixels: number): number =>
  backend.kind === 'reference'
    ? 1
    : 64 * Math.ceil((8 * 128 ** 2 * Math.max(1, threadsOf(backend) / 4)) / pixels ** 2);

export const imageBench: KernelBench = {
  kernel: 'image',
  cases: (backend) => (backend.kind === 'cuda' ? [] : hostCases(backend)),
};

const hostCases = (backend: HostBackend): BenchCase[] =>
  sizes[backend.kind].map((size): BenchCase => ({
    parameters: { ...size, stations: 255, channels: CHANNELS, samples: samplesFor(backend, size.pixels) },
    unit: 'k fields/s',
    scale: 1e3,
    prepare: (closers, peers) => prepare(size, backend, closers, peers),
  }));

/** LWA-SV without its outrigger, which is some 290 m from the other 255. */
async function coreStations(): Promise<Vector3[]> {
  const positions = stationPositions(await loadTelescope('lwasv'));
  return positions.filter(({ x, y }) => Math.hypot(x, y) < 100);
}

async function prepare(
  size: Size,
  backend: HostBackend,
  closers: Closers,
  peers: Peers | undefined,
): Promise<PreparedCase> {
  const { pixels, polarisations, kernel, frequencyMHz } = size;
  const plan = planImage({
    pixels,
    field: { kind: 'all-sky' },
    stationsM: await coreStations(),
    axes: { l: { x: 1, y: 0, z: 0 }, m: { x: 0, y: 1, z: 0 }, n: { x: 0, y: 0, z: 1 } },
    frequenciesHz: new Float64Array(CHANNELS).fill(1e6 * frequencyMHz),
    polarisations,
    kernel: { kind: 'fitted', size: kernel },
  });
  const inputs = plan.stations * polarisations;
  const samples = samplesFor(backend, pixels);
  const shape = { type: 'ci8', channels: CHANNELS, inputs, capacity: samples } as const;
  const { block } = await noiseSpectra(backend, shape, closers);
  const imager = closers.keep(await prepareDirectImager(plan, backend));
  const fields = CHANNELS * samples * polarisations;
  const peer =
    peers && backend.kind === 'cpu' ? denseTransform(peers, pixels, fields, backend.threads) : undefined;
  if (peer) closers.keep(peer);
  return {
    ours: {
      run: async () => {
        await imager.accumulate(block);
        return fields;
      },
    },
    ceiling: hostCeiling(backend, operationsPerField(plan)),
    peer,
  };
}

/**
 * Minimum operations of a field: gridding, 5 n log₂ n for each row of the box and each column shown, and the products
 * of the pixels shown.
 */
function operationsPerField(plan: ImagePlan): number {
  const { pixels, stations, kernelSize, polarisations, shown } = plan;
  const columns = new Set<number>();
  let pixelsShown = 0;
  for (let at = 0; at < shown.length; at++) {
    if (shown[at] === 0) continue;
    pixelsShown++;
    columns.add(at % pixels);
  }
  const transforms = plan.endRow - plan.firstRow + columns.size;
  // XX alone takes 4 operations per pixel, all four products 16 for two fields
  const products = polarisations === 1 ? 4 : 8;
  return (
    8 * stations * kernelSize ** 2 + 5 * pixels * Math.log2(pixels) * transforms + products * pixelsShown
  );
}

function denseTransform(
  peers: Peers,
  pixels: number,
  fields: number,
  threads: number,
): (Contestant & Closable & { readonly name: string }) | undefined {
  const open = peers.bind('fftw_image', 'void *peer_fftw_image_open(int64_t pixels, int32_t threads)');
  const run = peers.bind('fftw_image', 'void peer_fftw_image_run(void *handle, int64_t fields)');
  const close = peers.bind('fftw_image', 'void peer_fftw_image_close(void *handle)');
  if (!open || !run || !close) return undefined;
  const peer = open(pixels, threads);
  return {
    name: 'FFTW 2-D and a square, no gridding',
    run: async () => {
      await callPeer(run, peer, fields);
      return fields;
    },
    close: closes(() => {
      close(peer);
    }),
  };
}
