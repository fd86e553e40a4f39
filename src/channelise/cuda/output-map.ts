/** How the copy engine finds its way in a block of spectra: a view of it, from which a kernel carries boxes away. */
import type { ArgumentKind, Kernel } from '../../backend/cuda/kernels.js';
import type { CudaSession } from '../../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../../backend/cuda/spectra.js';

/** What cuTensorMapEncodeTiled fills. */
const MAP_BYTES = 128;
export const mapArgument: ArgumentKind = { bytes: MAP_BYTES, align: MAP_BYTES, type: 'TensorMap' };

/** cuda.h: two bytes an element, which is one sample; neither interleaved, swizzled, promoted nor filled. */
const UINT16 = 1;
const PLAIN = 0;

export interface OutputMap {
  /** For the kernel's first argument: what lies past the last spectrum is not written. */
  describe(kernel: Kernel, out: CudaSpectraBlock, spectra: number): void;
}

/** A view as (spectrum, input, k low, k high), k = k low + `low` · k high; `box` is what one copy carries away. */
export function outputMap(
  session: CudaSession,
  shape: { readonly inputs: number; readonly channels: number; readonly low: number },
  box: readonly [number, number, number, number],
): OutputMap {
  const { inputs, channels, low } = shape;
  const dimensions = new BigUint64Array(4);
  const strides = new BigUint64Array(3);
  const boxOf = Uint32Array.from(box);
  const everyElement = new Uint32Array([1, 1, 1, 1]);
  return {
    describe: (kernel, out, spectra) => {
      const row = inputs * out.pitchBytes;
      dimensions.set([spectra, inputs, low, channels / low].map(BigInt));
      strides.set([out.pitchBytes, row, low * row].map(BigInt));
      session.call(
        'cuTensorMapEncodeTiled',
        kernel.argument(0).address,
        UINT16,
        4,
        out.pointer,
        dimensions,
        strides,
        boxOf,
        everyElement,
        PLAIN,
        PLAIN,
        PLAIN,
        PLAIN,
      );
    },
  };
}
