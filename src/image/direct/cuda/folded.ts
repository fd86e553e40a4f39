/**
 * Direct imaging on tensor cores, in half precision (direct-grid.cu, direct-hopper.cu) or single (direct-grid-split.cu,
 * direct-hopper-split.cu): the first of either spreads and folds a group of channels, the second transforms, multiplies
 * and sums them.
 */
import type { CudaBackend } from '../../../backend/cuda/cuda.js';
import { offsetBy, type DeviceMemory } from '../../../backend/cuda/session.js';
import { uploadArray } from '../../../backend/cuda/transfer.js';
import { preparing } from '../../../core/closing.js';
import { roundUp } from '../../../core/round-up.js';
import type { DirectEngine } from './engine.js';
import { channelsAtOnce, planFactors } from '../../cuda/plan.js';
import { gridTables, type GridBox } from './tables.js';
import { FOLDED_BOXES, gridBytes, planGridding, planImaging, stepsAtOnce } from './folded-plan.js';
import { halfTurns, type HalfTurns } from './halves/half-rounding.js';
import type { ImagePlan } from '../../plan.js';
import { sampleWeights } from './sampling.js';
import { splitTurns, TAP_SCALE, type FoldedPrecision } from './halves/split-halves.js';

const THREADS = 256;
const BATCH = 8;
/**
 * Steps that a gridding block processes: many, to pay for its start, yet so few that there are blocks for eight waves.
 */
const spanOf = (steps: number, blocks: number, multiprocessors: number): number =>
  Math.max(16, roundUp(Math.ceil(steps / Math.ceil((8 * multiprocessors) / blocks)), BATCH));
/** Sums of products stay in single precision within a launch. */
const stepsPerLaunch = { half: 4096, split: 1024 } satisfies Record<FoldedPrecision, number>;
/** Grids go through device memory; more at once only costs memory. */
const MOST_SCRATCH_BYTES = 3 * 2 ** 30;
const BYTES_PER_SAMPLE = 2;

interface FoldedOptions {
  readonly precision: FoldedPrecision;
  readonly box: GridBox;
  /** Most steps of a block. */
  readonly capacity: number;
  /** Samples of a block, where it is not filled. */
  readonly steps?: number;
}

export const prepareFolded = (
  plan: ImagePlan,
  backend: CudaBackend,
  { precision, box, capacity, steps: expected = capacity }: FoldedOptions,
  sums: DeviceMemory,
): Promise<DirectEngine> =>
  preparing(async (closers) => {
    const { session, shop } = backend;
    const { channels, stations, polarisations } = plan;
    const size = FOLDED_BOXES.find((one) => one === box.size) ?? 64;
    const gridding = planGridding(plan, size, precision);
    const imaging = planImaging(plan, { box: size, precision, steps: expected });
    const { samples, refining } = imaging;
    const [{ scaleFactors }, { spreadFolded }, { imageFolded }, refiner] = await Promise.all([
      shop.prepare(planFactors(plan)),
      shop.prepare(gridding.request),
      shop.prepare(imaging.request),
      refining && shop.prepare(refining.request),
    ]);
    const tables = gridTables(plan, box, precision);
    const { turns, unscale: unscaleTurns } = turnsFor[precision]({ ...plan, pixels: samples }, size);
    const [tasks, groups, tapSumMemory, turnMemory, turnScales, weights] = await closers.keepAll([
      uploadArray(session, 'gridding tasks', tables.tasks),
      uploadArray(session, 'gridding weights', tables.groups),
      uploadArray(session, 'sums of kernels', tapSums(plan, precision)),
      uploadArray(session, 'factors of the transform', turns),
      uploadArray(session, 'their scales', unscaleTurns),
      uploadArray(
        session,
        'weights of samples',
        refining ? sampleWeights(samples, plan.pixels) : new Float32Array(1),
      ),
    ]);
    const allocate = (what: string, bytes: number): DeviceMemory =>
      closers.keep(session.allocate(what, bytes));
    const scaled = allocate('scaled factors', 8 * channels * stations * polarisations);
    const unscale = allocate('scales', 8 * channels);
    const scratchBytes = Math.min(MOST_SCRATCH_BYTES, session.device.memoryBytes / 4);
    const { multiprocessors } = session.device;
    const mostSteps = stepsAtOnce({
      steps: Math.min(stepsPerLaunch[precision], capacity),
      bytesPerStep: gridBytes(size, BATCH, polarisations, precision) / BATCH,
      channels: Math.min(channels, Math.ceil(multiprocessors / imaging.multiprocessors)),
      scratchBytes,
    });
    const bytesPerChannel = gridBytes(size, mostSteps, polarisations, precision);
    const group = channelsAtOnce({
      channels,
      bytesPerChannel,
      scratchBytes,
      multiprocessors,
      multiprocessorsPerChannel: imaging.multiprocessors,
    });
    // One polarisation uses its steps in pairs: half a pair too many may be read, and is not used.
    const grids = allocate(`grids of ${group} channels`, group * bytesPerChannel);
    const coarse = refining
      ? allocate(`samples of ${group} channels`, 4 * group * plan.products * samples * samples)
      : undefined;
    const stream = session.streams.compute;
    return {
      close: () => closers.close(),
      sum: (block, factors, mode) => {
        scaleFactors.set([factors.pointer, tapSumMemory.pointer, scaled.pointer, unscale.pointer]);
        scaleFactors.launch({ grid: [channels, 1], threads: THREADS }, stream);
        for (let step = 0; step < block.samples; step += mostSteps) {
          const count = Math.min(mostSteps, block.samples - step);
          const steps = roundUp(count, BATCH);
          const pairs = polarisations === 2 ? count : Math.ceil(count / 2);
          for (let first = 0; first < channels; first += group) {
            const here = Math.min(group, channels - first);
            const span = spanOf(steps, here * gridding.blocksPerSpan, multiprocessors);
            spreadFolded.set([
              offsetBy(block.pointer, step * BYTES_PER_SAMPLE),
              block.pitchBytes,
              steps,
              span,
              first,
              scaled.pointer,
              tasks.pointer,
              groups.pointer,
              grids.pointer,
            ]);
            spreadFolded.launch(
              {
                grid: [Math.ceil(steps / span) * gridding.blocksPerSpan, here],
                threads: gridding.threads,
                sharedBytes: gridding.sharedBytes,
              },
              stream,
            );
            const slots = steps * polarisations;
            const adds = mode === 'replace' && step === 0 ? 0 : 1;
            imageFolded.set([
              grids.pointer,
              slots,
              pairs,
              first,
              adds,
              unscale.pointer,
              turnMemory.pointer,
              turnScales.pointer,
              (coarse ?? sums).pointer,
            ]);
            imageFolded.launch(
              { grid: [imaging.tiles, here], threads: imaging.threads, sharedBytes: imaging.sharedBytes },
              stream,
            );
            if (!refining || !refiner || !coarse) continue;
            const { refineSums } = refiner;
            const planes = here * plan.products;
            refineSums.set([
              coarse.pointer,
              weights.pointer,
              planes,
              first,
              adds,
              unscale.pointer,
              sums.pointer,
            ]);
            // Two blocks to a multiprocessor share the planes.
            const blocks = Math.min(planes, Math.ceil((2 * multiprocessors) / refining.tiles));
            refineSums.launch(
              { grid: [refining.tiles, blocks], threads: THREADS, sharedBytes: refining.sharedBytes },
              stream,
            );
          }
        }
      },
    };
  });

/** Factors of the transform, and the square root of a product's scale at each pixel. */
const turnsFor = {
  half: halfTurns,
  split: (plan, size) => ({
    turns: splitTurns(plan, size),
    unscale: new Float64Array(plan.pixels).fill(1 / TAP_SCALE),
  }),
} satisfies Record<FoldedPrecision, (plan: ImagePlan, size: number) => HalfTurns>;

/** sums : [c][s], Σ |tap| over a kernel, as its weights are scaled. */
function tapSums(
  { channels, stations, kernelSize, taps }: ImagePlan,
  precision: FoldedPrecision,
): Float32Array {
  const cells = kernelSize * kernelSize;
  const scale = precision === 'split' ? TAP_SCALE : 1;
  return Float32Array.from({ length: channels * stations }, (_, at) => {
    let sum = 0;
    for (let n = at * cells; n < (at + 1) * cells; n++) sum += Math.hypot(taps[2 * n], taps[2 * n + 1]);
    return scale * sum;
  });
}
