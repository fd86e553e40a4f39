/** Direct imaging in single precision on any card (direct-float.cu): every option, batches of 32 time steps. */
import type { CudaBackend } from '../../../backend/cuda/cuda.js';
import type { DeviceMemory } from '../../../backend/cuda/session.js';
import { uploadArray } from '../../../backend/cuda/transfer.js';
import { preparing } from '../../../core/closing.js';
import { roundUp } from '../../../core/round-up.js';
import type { DirectEngine } from './engine.js';
import { channelsAtOnce } from '../../cuda/plan.js';
import { planSingle } from './single-plan.js';
import { touchedCells, type Touched } from './choice.js';
import type { ImagePlan } from '../../plan.js';

const STEPS = 32;
const TILE = 128;
/** Depths of a product at a time: its factors are padded with zeros to a multiple. */
const DEPTH = 16;
const THREADS = 256;
const MOST_SCRATCH_BYTES = 2 ** 29;

export const prepareSingle = (
  plan: ImagePlan,
  backend: CudaBackend,
  samples: 'integer' | 'float',
  sums: DeviceMemory,
): Promise<DirectEngine> =>
  preparing(async (closers) => {
    const { session, shop } = backend;
    const { pixels, channels, polarisations, products } = plan;
    const touched = touchedCells(plan);
    const rows = roundUp(touched.endRow - touched.firstRow, 2);
    const columns = roundUp(touched.endColumn - touched.firstColumn, 2);
    const kernels = await shop.prepare(planSingle(plan, { rows, columns, samples }));
    const lists = cellLists(plan, touched, { rows, columns });
    const tiles = Math.ceil(pixels / TILE);
    const turns = foldedTurns(pixels, tiles * TILE, Math.max(rows, columns));
    const [startMemory, stationMemory, tapMemory, turnMemory] = await closers.keepAll([
      uploadArray(session, `cells of ${channels} channels`, lists.starts),
      uploadArray(session, 'their stations', lists.stations),
      uploadArray(session, 'their weights', lists.taps),
      uploadArray(session, 'turns', turns),
    ]);
    const planeBytes = 8 * STEPS * rows;
    const group = channelsAtOnce({
      channels,
      bytesPerChannel: polarisations * planeBytes * (columns + pixels),
      scratchBytes: Math.min(MOST_SCRATCH_BYTES, session.device.memoryBytes / 4),
      multiprocessorsPerChannel: pixels,
      multiprocessors: session.device.multiprocessors,
    });
    const grid = closers.keep(
      session.allocate(`grids of ${group} channels`, group * polarisations * planeBytes * columns),
    );
    const alongL = closers.keep(
      session.allocate(
        `half-transformed grids of ${group} channels`,
        group * polarisations * planeBytes * pixels,
      ),
    );
    const stream = session.streams.compute;
    return {
      close: () => closers.close(),
      sum: (block, factors, mode) => {
        if (mode === 'replace')
          session.call(
            'cuMemsetD8Async',
            sums.pointer,
            0,
            8 * channels * products * pixels ** 2,
            stream.handle,
          );
        for (let first = 0; first < channels; first += group) {
          const here = Math.min(group, channels - first);
          const planes = here * polarisations;
          for (let step = 0; step < block.samples; step += STEPS) {
            kernels.spreadFloat.set([
              block.pointer,
              block.pitchBytes,
              block.samples,
              step,
              first,
              startMemory.pointer,
              stationMemory.pointer,
              tapMemory.pointer,
              factors.pointer,
              grid.pointer,
            ]);
            kernels.spreadFloat.launch({ grid: [planes, rows], threads: THREADS }, stream);
            kernels.rowsFloat.set([grid.pointer, turnMemory.pointer, alongL.pointer]);
            kernels.rowsFloat.launch({ grid: [planes, (rows / 2) * tiles], threads: THREADS }, stream);
            kernels.columnsFloat.set([alongL.pointer, turnMemory.pointer, first, sums.pointer]);
            kernels.columnsFloat.launch({ grid: [pixels * tiles, here], threads: THREADS }, stream);
          }
        }
      },
    };
  });

/** turns : [depth = 2·|u| + parity][pixel, padded]: cos, then −sin, of 2π·pixel·(|u| + ½)/n. */
function foldedTurns(pixels: number, padded: number, depths: number): Float32Array {
  const turns = new Float32Array(padded * roundUp(depths, DEPTH));
  for (let depth = 0; depth < depths; depth++) {
    for (let pixel = 0; pixel < pixels; pixel++) {
      const angle = (2 * Math.PI * pixel * (Math.floor(depth / 2) + 0.5)) / pixels;
      turns[depth * padded + pixel] = depth % 2 === 0 ? Math.cos(angle) : -Math.sin(angle);
    }
  }
  return turns;
}

interface CellLists {
  /** starts : [c][cell + 1], where the antennas of each cell begin. */
  readonly starts: Uint32Array;
  readonly stations: Int32Array;
  /** Complex, beside each station. */
  readonly taps: Float64Array;
}

export function cellLists(
  plan: Pick<ImagePlan, 'channels' | 'stations' | 'kernelSize' | 'corners' | 'taps'>,
  { firstRow, firstColumn }: Touched,
  { rows, columns }: { readonly rows: number; readonly columns: number },
): CellLists {
  const { channels, stations: antennas, kernelSize: size, corners, taps: given } = plan;
  const entries = channels * antennas * size * size;
  const starts = new Uint32Array(channels * (rows * columns + 1));
  const stations = new Int32Array(entries);
  const taps = new Float64Array(2 * entries);
  const filled = new Uint32Array(rows * columns);
  /** Of every tap of an antenna, in their order. */
  const cellOf = (at: number, tap: number): number =>
    (corners[2 * at] - firstRow + Math.floor(tap / size)) * columns +
    (corners[2 * at + 1] - firstColumn + (tap % size));
  for (let c = 0; c < channels; c++) {
    const first = c * (rows * columns + 1);
    filled.fill(0);
    for (let s = 0; s < antennas; s++)
      for (let tap = 0; tap < size * size; tap++) filled[cellOf(c * antennas + s, tap)]++;
    starts[first] = c * antennas * size * size;
    for (const [cell, count] of filled.entries()) starts[first + cell + 1] = starts[first + cell] + count;
    filled.set(starts.subarray(first, first + rows * columns));
    for (let s = 0; s < antennas; s++) {
      const at = c * antennas + s;
      for (let tap = 0; tap < size * size; tap++) {
        const entry = filled[cellOf(at, tap)]++;
        stations[entry] = s;
        taps[2 * entry] = given[2 * (at * size * size + tap)];
        taps[2 * entry + 1] = given[2 * (at * size * size + tap) + 1];
      }
    }
  }
  return { starts, stations, taps };
}
