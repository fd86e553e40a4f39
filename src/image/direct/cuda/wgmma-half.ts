/**
 * The half-precision wgmma instructions of the direct imager, as CUDA source: their inline assembly names every
 * accumulator register, so this function generates them. Operands are K-major in core matrices of 8 × 16 bytes without
 * a swizzle (direct-hopper.cu).
 */
interface HalfWgmma {
  /** Numbers of columns, sums kept in half precision. */
  readonly halfSums: readonly number[];
  /** The same, sums kept in single precision. */
  readonly floatSums: readonly number[];
}

export function halfWgmmaHeader({ halfSums: inHalf, floatSums: inFloat }: HalfWgmma): string {
  return [
    '#pragma once',
    '#include "integers.cuh"',
    '// Sums in half precision, two to a register.',
    'template <int N> struct WgmmaHalf;',
    '// Sums in single precision.',
    'template <int N> struct WgmmaFloat;',
    ...inHalf.map(halfSums),
    ...inFloat.map(floatSums),
    '',
  ].join('\n');
}

const numbered = (count: number, text: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => text(n)).join(', ');

interface Form {
  readonly columns: number;
  readonly registers: number;
  readonly sums: 'f16' | 'f32';
  readonly constraint: string;
  readonly type: string;
}

/**
 * Rows from registers (`a`) or from shared memory (`rows`); columns by descriptor; `add` 0 starts a new sum. Sums may
 * have more registers than these columns need: the first are used.
 */
function methods({ columns, registers: r, sums, constraint, type }: Form): string {
  const d = numbered(r, (n) => `%${n}`);
  const outputs = numbered(r, (n) => `"+${constraint}"(d[${n}])`);
  const name = `wgmma.mma_async.sync.aligned.m64n${columns}k16.${sums}.f16.f16`;
  return `
  template <int R>
  static __device__ __forceinline__ void multiply(${type} (&d)[R], const uint32_t (&a)[4], uint64_t columns, int add) {
    static_assert(R >= ${r}, "a register for every sum");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %${r + 5}, 0; ${name} {${d}}, {${numbered(4, (n) => `%${r + n}`)}}, %${r + 4}, p, 1, 1, 0;}"
                 : ${outputs}
                 : ${numbered(4, (n) => `"r"(a[${n}])`)}, "l"(columns), "r"(add));
  }
  template <int R>
  static __device__ __forceinline__ void multiply(${type} (&d)[R], uint64_t rows, uint64_t columns, int add) {
    static_assert(R >= ${r}, "a register for every sum");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %${r + 2}, 0; ${name} {${d}}, %${r}, %${r + 1}, p, 1, 1, 0, 0;}"
                 : ${outputs}
                 : "l"(rows), "l"(columns), "r"(add));
  }`;
}

function halfSums(columns: number): string {
  const form = { columns, registers: columns / 4, sums: 'f16', constraint: 'r', type: 'uint32_t' } as const;
  return `template <> struct WgmmaHalf<${columns}> {${methods(form)}\n};`;
}

function floatSums(columns: number): string {
  const form = { columns, registers: columns / 2, sums: 'f32', constraint: 'f', type: 'float' } as const;
  return `template <> struct WgmmaFloat<${columns}> {${methods(form)}\n};`;
}
