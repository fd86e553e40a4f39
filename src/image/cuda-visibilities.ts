/** Images from visibilities on a card (visibilities.cu), in float64. */
import type { CudaBackend } from '../backend/cuda/cuda.js';
import type { DeviceMemory, DevicePointer } from '../backend/cuda/session.js';
import { downloadInto, uploadArray } from '../backend/cuda/transfer.js';
import { baselineCount } from '../core/axes.js';
import { pairChunks } from './cuda-pairs.js';
import { channelsAtOnce, planVisibilities } from './cuda-plan.js';
import { inputFactors, scaleImage, unitFactors } from './direct.js';
import { checkIntegrations, type VisibilityImageOptions } from './gridded.js';
import type { ImagePlan } from './plan.js';
import { sumIntegrations } from './summed.js';
import type { VisibilityImager } from './visibility-imager.js';

/** Visibilities, weights and factors that are already on the card. */
export interface DeviceVisibilities {
  /** visibilities : [c][b][pi][pj] complex float64. */
  readonly visibilities: DevicePointer;
  /** weights : [c][b], or [c][b][pi][pj] where `weightsPerBaseline` is more than 1. */
  readonly weights: DevicePointer;
  readonly weightsPerBaseline: number;
  /** factors : [c][a] complex float64. */
  readonly factors: DevicePointer;
  /** flags : [a], bytes. */
  readonly flags: DevicePointer;
}

export interface CudaVisibilityImager extends VisibilityImager {
  /** sums : [image, beam][c][product][m][l] float64, in the transform's order, and their weights, left on the card. */
  imageOnDevice(from: DeviceVisibilities, options?: Pick<VisibilityImageOptions, 'weight' | 'autos'>): void;
  readonly sums: DeviceMemory;
  /** weightSums : [c][product] float64; Im XY has Re XY's. */
  readonly weightSums: DeviceMemory;
}

const MOST_SCRATCH_BYTES = 2 ** 30;
/** A launch counts at most 65,535 planes, eight to a channel. */
const MOST_CHANNELS = 4096;
const CHUNKS_PER_BLOCK = 4;
const THREADS = 128;
/** struct Source of visibilities.cu. */
export const SOURCE = {
  visibilities: 0,
  weights: 8,
  factors: 16,
  flags: 24,
  corners: 32,
  weightsPerBaseline: 40,
  includeAutos: 44,
  bytes: 48,
} as const;

export async function prepareCudaVisibilityImager(
  plan: ImagePlan,
  backend: CudaBackend,
): Promise<CudaVisibilityImager> {
  const { session, shop } = backend;
  const { pixels, channels, stations, products } = plan;
  const stream = session.streams.compute;
  const kernels = await shop.prepare(planVisibilities(plan));
  const baselines = baselineCount(stations);
  const plane = pixels * pixels;
  const turns = Float64Array.from({ length: 2 * pixels }, (_, n) => {
    const angle = (-2 * Math.PI * Math.floor(n / 2)) / pixels;
    return n % 2 === 0 ? Math.cos(angle) : Math.sin(angle);
  });
  const order = pairChunks(plan);
  const tables = await Promise.all([
    uploadArray(session, 'corners', plan.corners),
    uploadArray(session, `kernels of ${channels} channels × ${stations} stations`, plan.taps),
    uploadArray(session, 'turns', turns),
    uploadArray(session, 'pairs of stations', order.pairs),
    uploadArray(session, 'chunks of pairs', order.chunks),
    uploadArray(session, 'chunks of channels', order.starts),
  ]);
  const [corners, taps, turnMemory, pairs, chunks, starts] = tables;
  const planes = 2 * products; // image and beam of each combination
  const gridBytes = planes * plane * 16;
  const group = channelsAtOnce({
    channels: Math.min(channels, MOST_CHANNELS),
    bytesPerChannel: 2 * gridBytes + 3 * plane * 8,
    scratchBytes: Math.min(MOST_SCRATCH_BYTES, session.device.memoryBytes / 4),
    blocksPerChannel: 1,
    multiprocessors: 1,
  });
  const grids = session.allocate(`uv grids of ${group} channels`, group * gridBytes);
  const alongL = session.allocate(`half-transformed uv grids of ${group} channels`, group * gridBytes);
  const densities = session.allocate(`uv densities of ${group} channels`, group * 3 * plane * 8);
  const sums = session.allocate(`sums of ${channels} channels`, 2 * channels * products * plane * 8);
  const weightSums = session.allocate('sums of weights', channels * products * 8);
  const held = [...tables, grids, alongL, densities, sums, weightSums];

  const clear = ({ pointer, sizeBytes }: DeviceMemory): void => {
    session.call('cuMemsetD8Async', pointer, 0, sizeBytes, stream.handle);
  };

  function describe(view: DataView, from: DeviceVisibilities, autos: 'include' | 'leave-out'): void {
    view.setBigUint64(SOURCE.visibilities, from.visibilities, true);
    view.setBigUint64(SOURCE.weights, from.weights, true);
    view.setBigUint64(SOURCE.factors, from.factors, true);
    view.setBigUint64(SOURCE.flags, from.flags, true);
    view.setBigUint64(SOURCE.corners, corners.pointer, true);
    view.setInt32(SOURCE.weightsPerBaseline, from.weightsPerBaseline, true);
    view.setInt32(SOURCE.includeAutos, autos === 'include' ? 1 : 0, true);
  }

  function imageOnDevice(
    from: DeviceVisibilities,
    { weight = 'natural', autos = 'leave-out' }: Pick<VisibilityImageOptions, 'weight' | 'autos'> = {},
  ): void {
    clear(weightSums);
    for (let first = 0; first < channels; first += group) {
      const here = Math.min(group, channels - first);
      clear(grids);
      if (weight === 'uniform') {
        clear(densities);
        describe(kernels.addDensities.argument(0).view, from, autos);
        kernels.addDensities.set([null, first, densities.pointer]);
        kernels.addDensities.launch(
          { grid: [Math.ceil(baselines / THREADS), here], threads: THREADS },
          stream,
        );
      }
      describe(kernels.gridPairs.argument(0).view, from, autos);
      const density = weight === 'uniform' ? densities.pointer : 0n;
      kernels.gridPairs.set([
        ...[null, first, taps.pointer, density, pairs.pointer, chunks.pointer, starts.pointer],
        ...[grids.pointer, weightSums.pointer],
      ]);
      kernels.gridPairs.launch(
        { grid: [Math.ceil(order.most / CHUNKS_PER_BLOCK), here], threads: 32 * CHUNKS_PER_BLOCK },
        stream,
      );
      kernels.transformRows.set([grids.pointer, turnMemory.pointer, alongL.pointer]);
      kernels.transformRows.launch(
        { grid: [pixels, here * planes], threads: THREADS, sharedBytes: 16 * pixels },
        stream,
      );
      kernels.transformColumns.set([alongL.pointer, turnMemory.pointer, grids.pointer]);
      kernels.transformColumns.launch(
        { grid: [Math.ceil(pixels / 8), here * planes], threads: THREADS },
        stream,
      );
      kernels.collectSums.set([grids.pointer, first, channels, sums.pointer]);
      kernels.collectSums.launch({ grid: [Math.ceil(plane / THREADS), here], threads: THREADS }, stream);
    }
  }

  return {
    plan,
    sums,
    weightSums,
    imageOnDevice,
    image: async (integrations, options = {}) => {
      checkIntegrations(plan, integrations);
      const factors = options.gains ? inputFactors(plan, options.gains, options.solved) : unitFactors(plan);
      const summed = sumIntegrations(integrations);
      const uploads = await Promise.all([
        uploadArray(session, 'visibilities', summed.visibilities),
        uploadArray(session, 'weights', summed.weights),
        uploadArray(session, 'factors', factors),
        uploadArray(session, 'flags', summed.flags),
      ]);
      try {
        const [visibilities, weights, onCard, flags] = uploads.map(({ pointer }) => pointer);
        const { weightsPerBaseline } = summed;
        imageOnDevice({ visibilities, weights, weightsPerBaseline, factors: onCard, flags }, options);
        const both = new Float64Array(2 * channels * products * plane);
        const perProduct = new Float64Array(channels * products);
        await downloadInto(session, sums, both);
        await downloadInto(session, weightSums, perProduct);
        // XY is one complex product: both its parts have one weight.
        if (products === 4) for (let c = 0; c < channels; c++) perProduct[4 * c + 3] = perProduct[4 * c + 2];
        const half = both.length / 2;
        return {
          image: scaleImage(plan, both.subarray(0, half), perProduct),
          beam: scaleImage(plan, both.subarray(half), perProduct),
        };
      } finally {
        for (const memory of uploads) memory.free();
      }
    },
    close: () => {
      for (const memory of held) memory.free();
    },
  };
}
