/** The X-engine's integer kernel, compiled and ready: one launch adds one time range of one block. */
import { fieldsOf } from '../../backend/cuda/arguments.js';
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { DeviceMemory, Stream } from '../../backend/cuda/session.js';
import { offsetBy } from '../../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import { describeTensor } from '../../backend/cuda/tensor-map.js';
import { nothingToClose, type Closable } from '../../core/closing.js';
import { HOPPER_WORK, launchShape, planXEngine, type XEngineOptions } from './plan.js';
import type { CorrelatePlan } from '../plan.js';

interface XEngine extends Closable {
  /**
   * Samples [first, first + count) of the block into sums : [c][b][p_i][p_j], complex int32. `first` is a multiple of
   * 64; the caller keeps the total within int32.
   */
  launch(block: CudaSpectraBlock, first: number, count: number, sums: DeviceMemory, stream: Stream): void;
}

const BYTES_PER_SAMPLE = 2;

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
  const put = fieldsOf(kernel.argument(2).view, HOPPER_WORK);
  /** A view of the block as (byte in row, input, channel): values outside it are zeros. */
  const describe = (n: 0 | 1, rows: number, block: CudaSpectraBlock, first: number, count: number): void => {
    describeTensor(session, kernel, n, {
      element: 'byte',
      pointer: offsetBy(block.pointer, first * BYTES_PER_SAMPLE),
      sizes: [count * BYTES_PER_SAMPLE, inputs, channels],
      strideBytes: [block.pitchBytes, block.pitchBytes * inputs],
      box: [128, rows, 1],
      swizzle: 'bytes128',
      fetchBytes,
    });
  };
  return {
    close: () => counter.close(),
    launch: (block, first, count, sums, stream) => {
      describe(0, boxRows, block, first, count);
      describe(1, boxRows / 2, block, first, count);
      const items = channels * engine.itemsPerChannel;
      put({ kSteps: steps(count), items, sums: sums.pointer, counter: counter.pointer });
      kernel.launch(shape, stream);
    },
  };
}
