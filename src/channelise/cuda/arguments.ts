/** Writes the fields of a structure that a kernel takes by value. */
import type { Kernel } from '../../backend/cuda/kernels.js';

export const writer = (kernel: Kernel, argument = 0) => {
  const { view } = kernel.argument(argument);
  return {
    pointer: (at: number, value: bigint) => {
      view.setBigUint64(at, value, true);
    },
    long: (at: number, value: number) => {
      view.setBigInt64(at, BigInt(value), true);
    },
    int: (at: number, value: number) => {
      view.setInt32(at, value, true);
    },
    float: (at: number, value: number) => {
      view.setFloat32(at, value, true);
    },
  };
};
