/** Tensor maps for the copy engine: views of device memory, which is copied in boxes. */
import type { ArgumentKind } from './arguments.js';
import type { Kernel } from './kernels.js';
import type { CudaSession, DevicePointer } from './session.js';

/** The size of cuTensorMapEncodeTiled's result. */
const MAP_BYTES = 128;
export const mapArgument: ArgumentKind = { bytes: MAP_BYTES, align: MAP_BYTES, type: 'TensorMap' };

/** cuda.h: CUtensorMapDataType, no interleave, CUtensorMapSwizzle, L2 promotion by the bytes of a fetch, zeros outside. */
const elements = { byte: 0, sample: 1 } as const;
const NO_INTERLEAVE = 0;
const swizzles = { none: 0, bytes128: 3 } as const;
const promotions = { 0: 0, 64: 1, 128: 2, 256: 3 } as const;
const FILL_ZEROS = 0;
export type FetchBytes = keyof typeof promotions;

export interface TensorView {
  /** Bytes, or samples of two. */
  readonly element: keyof typeof elements;
  readonly pointer: DevicePointer;
  /** The first dimension is contiguous; strides are those of the others. */
  readonly sizes: readonly number[];
  readonly strideBytes: readonly number[];
  readonly box: readonly number[];
  readonly swizzle: keyof typeof swizzles;
  readonly fetchBytes: FetchBytes;
}

/** Sets argument n of a kernel. */
export function describeTensor(session: CudaSession, kernel: Kernel, n: number, view: TensorView): void {
  session.call(
    'cuTensorMapEncodeTiled',
    kernel.argument(n).address,
    elements[view.element],
    view.sizes.length,
    view.pointer,
    BigUint64Array.from(view.sizes, BigInt),
    BigUint64Array.from(view.strideBytes, BigInt),
    Uint32Array.from(view.box),
    new Uint32Array(view.box.length).fill(1),
    NO_INTERLEAVE,
    swizzles[view.swizzle],
    promotions[view.fetchBytes],
    FILL_ZEROS,
  );
}
