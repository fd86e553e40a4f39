// 16-point transforms in registers, e^(-2 pi i k n / 16): input in bit-reversed order, output in natural order.
#pragma once
#include "butterflies.cuh"

__host__ __device__ constexpr int reversed16(int i) { return (i & 1) << 3 | (i & 2) << 1 | (i & 4) >> 1 | (i & 8) >> 3; }

// With constant twiddles; 1 and -i are free.
__device__ __forceinline__ void transform16(float (&r)[16], float (&i)[16]) {
#pragma unroll
  for (int n = 2; n <= 16; n *= 2)
#pragma unroll
    for (int b = 0; b < 16; b += n)
#pragma unroll
      for (int k = 0; k < n / 2; ++k) {
        const int x = b + k, y = x + n / 2;
        if (k == 0) {
          const float tr = r[x] - r[y], ti = i[x] - i[y];
          r[x] += r[y], i[x] += i[y];
          r[y] = tr, i[y] = ti;
        } else if (4 * k == n) {
          const float tr = r[x] - i[y], ti = i[x] + r[y];
          r[x] += i[y], i[x] -= r[y];
          r[y] = tr, i[y] = ti;
        } else {
          butterfly(r[x], i[x], r[y], i[y], turnRe(k * (32 / n)), turnIm(k * (32 / n)));
        }
      }
}

// A transform whose input n is first multiplied by omega^n, which costs nothing.
// w: 0-3 omega W_16^k, 4-5 omega^2 W_8^k, 6 omega^4, 7 omega^8.
__device__ __forceinline__ void turnedTransform16(float (&r)[16], float (&i)[16], const float4 *w) {
#pragma unroll
  for (int n = 2; n <= 16; n *= 2) {
    const int distinct = n >= 4 ? n / 4 : 1, offset = n == 2 ? 7 : n == 4 ? 6 : n == 8 ? 4 : 0;
#pragma unroll
    for (int k = 0; k < distinct; ++k) {
      const float4 both = w[(offset + k) / 2];
      const float wr = (offset + k) % 2 ? both.z : both.x, wi = (offset + k) % 2 ? both.w : both.y;
#pragma unroll
      for (int b = 0; b < 16; b += n) {
        butterfly(r[b + k], i[b + k], r[b + k + n / 2], i[b + k + n / 2], wr, wi);
        if (n >= 4) {
          const int q = b + k + n / 4;
          butterfly(r[q], i[q], r[q + n / 2], i[q + n / 2], wi, -wr);
        }
      }
    }
  }
}
