/** Tensor maps for the copy engine: a view of a block of spectra, which is copied in boxes. */
import type { ArgumentKind, Kernel } from '../../backend/cuda/kernels.js';
import type { CudaSession, DevicePointer } from '../../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../../backend/cuda/spectra.js';

/** The size of cuTensorMapEncodeTiled's result. */
const MAP_BYTES = 128;
export const mapArgument: ArgumentKind = { bytes: MAP_BYTES, align: MAP_BYTES, type: 'TensorMap' };

/** cuda.h: two bytes an element, which is one sample; neither interleaved, swizzled, promoted nor filled. */
const UINT16 = 1;
const PLAIN = 0;

/** A view with the dimensions of the box, the first of them contiguous; `strides` are those of the others. */
function mapOf(session: CudaSession, argument: number, box: readonly number[]) {
  const dimensions = new BigUint64Array(box.length);
  const strides = new BigUint64Array(box.length - 1);
  const boxOf = Uint32Array.from(box);
  const everyElement = new Uint32Array(box.length).fill(1);
  return (
    kernel: Kernel,
    pointer: DevicePointer,
    sizes: readonly number[],
    stridesBytes: readonly number[],
  ): void => {
    dimensions.set(sizes.map(BigInt));
    strides.set(stridesBytes.map(BigInt));
    session.call(
      'cuTensorMapEncodeTiled',
      kernel.argument(argument).address,
      UINT16,
      box.length,
      pointer,
      dimensions,
      strides,
      boxOf,
      everyElement,
      PLAIN,
      PLAIN,
      PLAIN,
      PLAIN,
    );
  };
}

interface OutputMap {
  /** For the kernel's first argument: values past the last spectrum are not written. */
  describe(kernel: Kernel, out: CudaSpectraBlock, spectra: number): void;
}

/** A view as (spectrum, input, k low, k high), k = k low + `low` · k high; `box` is the box of one copy. */
export function outputMap(
  session: CudaSession,
  { inputs, channels, low }: { readonly inputs: number; readonly channels: number; readonly low: number },
  box: readonly [number, number, number, number],
): OutputMap {
  const map = mapOf(session, 0, box);
  return {
    describe: (kernel, out, spectra) => {
      const row = inputs * out.pitchBytes;
      map(kernel, out.pointer, [spectra, inputs, low, channels / low], [out.pitchBytes, row, low * row]);
    },
  };
}
