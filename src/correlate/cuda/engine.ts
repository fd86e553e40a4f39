/** The X-engine's integer kernel, compiled and ready: one launch adds one time range of one block. */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { DeviceMemory, Stream } from '../../backend/cuda/session.js';
import { offsetBy } from '../../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import { nothingToClose, type Closable } from '../../core/closing.js';
import { HOPPER_WORK, launchShape, planXEngine, type FetchBytes, type XEngineOptions } from './plan.js';
import type { CorrelatePlan } from '../plan.js';

interface XEngine extends Closable {
  /**
   * Samples [first, first + count) of the block into sums : [c][b][p_i][p_j], complex int32. `first` is a multiple of
   * 64; the caller keeps the total within int32.
   */
  launch(block: CudaSpectraBlock, first: number, count: number, sums: DeviceMemory, stream: Stream): void;
}

const BYTES_PER_SAMPLE = 2;
/** cuda.h: bytes, no interleave, 128-byte swizzle, zeros outside; L2 promotion by the bytes of a fetch. */
const UINT8 = 0;
const NO_INTERLEAVE = 0;
const SWIZZLE_128B = 3;
const FILL_ZEROS = 0;
const PROMOTION = { 64: 1, 128: 2, 256: 3 } as const satisfies Record<FetchBytes, number>;

export async function prepareXEngine(
  plan: CorrelatePlan,
  backend: CudaBackend,
  options: XEngineOptions,
): Promise<XEngine> {
  const { session, shop, path } = backend;
  const { channels, inputs } = plan;
  const engine = planXEngine(plan, path, options);
  const kernel = (await shop.prepare(engine.request))[engine.entry];
  const shape = launchShape(engine, channels, session.device.multiprocessors);
  const steps = (count: number): number => Math.ceil((count * BYTES_PER_SAMPLE) / engine.stepBytes);

  const { boxRows, fetchBytes } = engine;
  if (boxRows === undefined || fetchBytes === undefined) {
    return {
      close: nothingToClose,
      launch: (block, first, count, sums, stream) => {
        const from = offsetBy(block.pointer, first * BYTES_PER_SAMPLE);
        kernel.set([from, block.pitchBytes, steps(count), sums.pointer]);
        kernel.launch(shape, stream);
      },
    };
  }

  const counter = session.allocate('the work counter', 4);
  session.call('cuMemsetD8Async', counter.pointer, 0, 4, session.streams.compute.handle);
  const dimensions = new BigUint64Array(3);
  const strides = new BigUint64Array(2);
  const box = new Uint32Array([128, 0, 1]);
  const everyElement = new Uint32Array([1, 1, 1]);
  const work = kernel.argument(2).view;
  /** A view of the block as (byte in row, input, channel): values outside it are zeros. */
  const describe = (n: 0 | 1, rows: number, block: CudaSpectraBlock, first: number, count: number): void => {
    dimensions.set([BigInt(count * BYTES_PER_SAMPLE), BigInt(inputs), BigInt(channels)]);
    strides.set([BigInt(block.pitchBytes), BigInt(block.pitchBytes * inputs)]);
    box[1] = rows;
    session.call(
      'cuTensorMapEncodeTiled',
      kernel.argument(n).address,
      UINT8,
      3,
      offsetBy(block.pointer, first * BYTES_PER_SAMPLE),
      dimensions,
      strides,
      box,
      everyElement,
      NO_INTERLEAVE,
      SWIZZLE_128B,
      PROMOTION[fetchBytes],
      FILL_ZEROS,
    );
  };
  return {
    close: () => counter.close(),
    launch: (block, first, count, sums, stream) => {
      describe(0, boxRows, block, first, count);
      describe(1, boxRows / 2, block, first, count);
      work.setInt32(HOPPER_WORK.kSteps, steps(count), true);
      work.setInt32(HOPPER_WORK.items, channels * engine.itemsPerChannel, true);
      work.setBigUint64(HOPPER_WORK.sums, sums.pointer, true);
      work.setBigUint64(HOPPER_WORK.counter, counter.pointer, true);
      kernel.launch(shape, stream);
    },
  };
}
