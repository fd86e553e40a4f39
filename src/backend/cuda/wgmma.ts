/**
 * The wgmma instruction for each number of columns, as CUDA source. Its inline assembly names every accumulator
 * register, up to 128 of them, so this function generates it.
 */

/** Numbers of columns that Hopper's row groups use (src/correlate/cuda/correlate-hopper.cu). */
const WGMMA_COLUMNS = [32, 64, 96, 128, 160, 192, 224, 256] as const;

/** `Wgmma<N>::multiplyAdd`: m64nNk32, int32 += int8 × int8, rows in registers, columns by descriptor. */
export function wgmmaHeader(columns: readonly number[] = WGMMA_COLUMNS): string {
  return [
    '#pragma once',
    '#include "integers.cuh"',
    'template <int N> struct Wgmma;',
    ...columns.map(one),
    '',
  ].join('\n');
}

function one(columns: number): string {
  const registers = columns / 2;
  const numbers = Array.from({ length: registers }, (_, r) => r);
  const sums = numbers.map((r) => `%${r}`).join(', ');
  const operands = [0, 1, 2, 3].map((a) => `%${registers + a}`).join(', ');
  const constraints = numbers.map((r) => `"+r"(d[${r}])`).join(', ');
  // The trailing 1 is the predicate "add to d"; integer wgmma takes no scale and no transpose operands.
  return `template <> struct Wgmma<${columns}> {
  static __device__ __forceinline__ void multiplyAdd(int (&d)[${registers}], uint32_t a0, uint32_t a1, uint32_t a2,
                                                     uint32_t a3, uint64_t columns) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n${columns}k32.s32.s8.s8 {${sums}}, {${operands}}, %${registers + 4}, 1;"
                 : ${constraints}
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(columns));
  }
};`;
}
