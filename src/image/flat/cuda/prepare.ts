/** Images from visibilities on a card (visibilities.cu), in float64. */
import type { CudaBackend } from '../../../backend/cuda/cuda.js';
import type { DeviceMemory, DevicePointer } from '../../../backend/cuda/session.js';
import { downloadInto, uploadArray } from '../../../backend/cuda/transfer.js';
import { closingAfter, preparing } from '../../../core/closing.js';
import { baselineCount, weightsCP } from '../../../core/axes.js';
import { orderPairs, rowsReached } from './pairs.js';
import { channelsAtOnce } from '../../cuda/plan.js';
import { partsOfKernel, planVisibilities, SOURCE } from './plan.js';
import { inputFactors, scaleImage, unitFactors } from '../../direct/direct.js';
import { checkIntegrations, type VisibilityImageOptions } from '../../direct/gridded.js';
import { rootsOfUnity } from '../../phasor.js';
import type { ImagePlan } from '../../plan.js';
import { sumIntegrations } from '../summed.js';
import type { VisibilityImager } from '../imager.js';

/** Visibilities, weights and factors that are already on the card. */
interface DeviceVisibilities {
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

interface DeviceImageOptions extends Pick<VisibilityImageOptions, 'weight' | 'autos'> {
  /** `image` and its weights by default; `beam` images the weights themselves. */
  readonly of?: 'image' | 'beam';
  /** Where the weights' sums go instead of `weightSums`: [c][product] float64. */
  readonly weightsTo?: DevicePointer;
}

interface CudaVisibilityImager extends VisibilityImager {
  /** Leaves `sums` and, for an image, `weightSums` on the card, in order on the compute stream. Does not wait. */
  imageOnDevice(from: DeviceVisibilities, options?: DeviceImageOptions): void;
  /** sums : [c][product][m][l] float64, in the transform's order. */
  readonly sums: DeviceMemory;
  /** weightSums : [c][product] float64; Im XY has Re XY's. */
  readonly weightSums: DeviceMemory;
  /** For reports: whether the pairs' kernels are kept or made for each image. */
  readonly description: string;
}

interface CudaVisibilityOptions {
  /** `anew` makes the pairs' kernels for every image, as on cards without memory to keep them. */
  readonly pairKernels?: 'best' | 'anew';
}

const MOST_SCRATCH_BYTES = 2 ** 30;
/** A launch counts at most 65,535 planes, eight to a channel. */
const MOST_CHANNELS = 4096;
/** RUN and WARPS of visibilities.cu. */
const PAIRS_PER_WARP = 128;
const WARPS_PER_BLOCK = 4;
const ROWS_AT_ONCE = 4;
const THREADS = 128;
const PAIR_THREADS = 256;
const PAIR_CELL_BYTES = 16;
/** The pairs' kernels may use a quarter of the card: making them for every image costs far more than reading them. */
const KERNELS_SHARE = 1 / 4;

export const prepareCudaVisibilityImager = (
  plan: ImagePlan,
  backend: CudaBackend,
  options: CudaVisibilityOptions = {},
): Promise<CudaVisibilityImager> =>
  preparing(async (closers) => {
    const { session, shop } = backend;
    const { pixels, channels, stations, products } = plan;
    const stream = session.streams.compute;
    const parts = partsOfKernel(plan);
    const kernels = await shop.prepare(planVisibilities(plan));
    const baselines = baselineCount(stations);
    const plane = pixels * pixels;
    const order = orderPairs(plan);
    const rows = rowsReached(plan, order);
    const [corners, taps, turnMemory, pairs, differences, centre] = await closers.keepAll([
      uploadArray(session, 'corners', plan.corners),
      uploadArray(session, `kernels of ${channels} channels × ${stations} stations`, plan.taps),
      uploadArray(session, 'turns', rootsOfUnity(pixels)),
      uploadArray(session, 'pairs of stations', order.pairs),
      uploadArray(session, 'differences of pairs', order.differences),
      uploadArray(session, 'phases of the centre', plan.centre),
    ]);
    const gridBytes = products * plane * 16;
    const valueBytes = baselines * products * 16;
    const group = channelsAtOnce({
      channels: Math.min(channels, MOST_CHANNELS),
      bytesPerChannel: 2 * gridBytes + valueBytes + 3 * plane * 8,
      scratchBytes: Math.min(MOST_SCRATCH_BYTES, session.device.memoryBytes / 4),
      multiprocessorsPerChannel: 1,
      multiprocessors: 1,
    });
    const allocate = (what: string, sizeBytes: number): DeviceMemory =>
      closers.keep(session.allocate(what, sizeBytes));
    const grids = allocate(`uv grids of ${group} channels`, group * gridBytes);
    const alongL = allocate(`half-transformed uv grids of ${group} channels`, group * gridBytes);
    const densities = allocate(`uv densities of ${group} channels`, group * 3 * plane * 8);
    const values = allocate(`weighed visibilities of ${group} channels`, group * valueBytes);
    const sums = allocate(`sums of ${channels} channels`, channels * products * plane * 8);
    const weightSums = allocate('sums of weights', channels * products * 8);
    const pairKernels = options.pairKernels === 'anew' ? undefined : makeKernels();

    /** The same for every image, so made once, where the card has memory for them. */
    function makeKernels(): DeviceMemory | undefined {
      const sizeBytes = pairKernelBytes(plan);
      if (
        sizeBytes > KERNELS_SHARE * session.device.memoryBytes ||
        sizeBytes > session.freeMemoryBytes() / 2
      ) {
        return undefined;
      }
      const memory = allocate(`kernels of ${channels} channels × ${baselines} pairs`, sizeBytes);
      kernels.makePairKernels.set([taps.pointer, pairs.pointer, channels, memory.pointer]);
      const blocks = Math.min(65_535, Math.ceil(sizeBytes / PAIR_CELL_BYTES / PAIR_THREADS));
      kernels.makePairKernels.launch({ grid: [blocks, 1], threads: PAIR_THREADS }, stream);
      return memory;
    }

    const clear = ({ pointer, sizeBytes }: Pick<DeviceMemory, 'pointer' | 'sizeBytes'>): void => {
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
      {
        weight = 'natural',
        autos = 'leave-out',
        of = 'image',
        weightsTo = weightSums.pointer,
      }: DeviceImageOptions = {},
    ): void {
      if (of === 'image') clear({ pointer: weightsTo, sizeBytes: weightSums.sizeBytes });
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
        describe(kernels.weighPairs.argument(0).view, from, autos);
        kernels.weighPairs.set([
          null,
          first,
          weight === 'uniform' ? densities.pointer : 0n,
          pairs.pointer,
          of === 'beam' ? centre.pointer : 0n,
          values.pointer,
          of === 'beam' ? 0n : weightsTo,
        ]);
        kernels.weighPairs.launch(
          { grid: [Math.ceil(baselines / PAIR_THREADS), here], threads: PAIR_THREADS },
          stream,
        );
        kernels.gridPairs.set([
          values.pointer,
          first,
          taps.pointer,
          pairKernels?.pointer ?? 0n,
          pairs.pointer,
          differences.pointer,
          grids.pointer,
        ]);
        kernels.gridPairs.launch(
          {
            grid: [parts * Math.ceil(baselines / (PAIRS_PER_WARP * WARPS_PER_BLOCK)), here],
            threads: 32 * WARPS_PER_BLOCK,
          },
          stream,
        );
        kernels.transformRows.set([
          grids.pointer,
          turnMemory.pointer,
          rows.first,
          rows.count,
          alongL.pointer,
        ]);
        kernels.transformRows.launch(
          {
            grid: [Math.ceil(rows.count / ROWS_AT_ONCE), here * products],
            threads: THREADS,
            sharedBytes: 16 * pixels * ROWS_AT_ONCE,
          },
          stream,
        );
        kernels.transformColumns.set([
          alongL.pointer,
          turnMemory.pointer,
          rows.first,
          rows.count,
          grids.pointer,
        ]);
        kernels.transformColumns.launch(
          { grid: [Math.ceil(pixels / 8), here * products], threads: THREADS },
          stream,
        );
        kernels.collectSums.set([grids.pointer, first, sums.pointer]);
        kernels.collectSums.launch({ grid: [Math.ceil(plane / THREADS), here], threads: THREADS }, stream);
      }
    }

    const sumsOnHost = new Float64Array(channels * products * plane);
    const weightSumsOnHost = new Float64Array(channels * products);

    return {
      plan,
      sums,
      weightSums,
      description: pairKernels
        ? "pairs' kernels kept on the card"
        : "pairs' kernels made anew for every image",
      imageOnDevice,
      image: (integrations, options = {}, into) =>
        closingAfter(async (uploads) => {
          checkIntegrations(plan, integrations);
          const given = options.gains ? inputFactors(plan, options.gains, options.solved) : unitFactors(plan);
          const summed = sumIntegrations(integrations);
          const [visibilities, weights, factors, flags] = await uploads.keepAll([
            uploadArray(session, 'visibilities', summed.visibilities),
            uploadArray(session, 'weights', summed.weights),
            uploadArray(session, 'factors', given),
            uploadArray(session, 'flags', summed.flags),
          ]);
          const source = {
            visibilities: visibilities.pointer,
            weights: weights.pointer,
            weightsPerBaseline: summed.weightsPerBaseline,
            factors: factors.pointer,
            flags: flags.pointer,
          };
          imageOnDevice(source, options);
          await downloadInto(session, sums, sumsOnHost);
          await downloadInto(session, weightSums, weightSumsOnHost);
          // XY is one complex product: both its parts have one weight.
          if (products === 4)
            for (let c = 0; c < channels; c++) weightSumsOnHost[4 * c + 3] = weightSumsOnHost[4 * c + 2];
          const image = scaleImage(plan, sumsOnHost, weightSumsOnHost, into?.image);
          const made = { image, weights: weightsCP(weightSumsOnHost.slice(), channels, products) };
          if (options.beam === 'leave-out') return made;
          imageOnDevice(source, { ...options, of: 'beam' });
          await downloadInto(session, sums, sumsOnHost);
          return { ...made, beam: scaleImage(plan, sumsOnHost, weightSumsOnHost, into?.beam) };
        }),
      close: () => closers.close(),
    };
  });

/** pairKernels : [c][b][cell] complex float64, (2K − 1) cells square. */
const pairKernelBytes = ({
  channels,
  stations,
  kernelSize,
}: Pick<ImagePlan, 'channels' | 'stations' | 'kernelSize'>): number =>
  PAIR_CELL_BYTES * channels * baselineCount(stations) * (2 * kernelSize - 1) ** 2;
