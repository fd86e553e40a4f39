// 32-point transforms in registers, e^(-2 pi i k n / 32): input in bit-reversed order, output in natural order.
#pragma once

__host__ __device__ constexpr int reversed(int i) {
  return (i & 1) << 4 | (i & 2) << 2 | (i & 4) | (i & 8) >> 2 | (i & 16) >> 4;
}
__host__ __device__ constexpr float cosine32(int i) {  // cos(2 pi i / 32), i = 0..8
  return i == 0   ? 1.0f
         : i == 1 ? 0.98078528040323043f
         : i == 2 ? 0.92387953251128674f
         : i == 3 ? 0.83146961230254524f
         : i == 4 ? 0.70710678118654752f
         : i == 5 ? 0.55557023301960218f
         : i == 6 ? 0.38268343236508977f
         : i == 7 ? 0.19509032201612825f
                  : 0.0f;
}
__host__ __device__ constexpr float turnRe(int i) { return i <= 8 ? cosine32(i) : -cosine32(16 - i); }   // i = 0..15
__host__ __device__ constexpr float turnIm(int i) { return i <= 8 ? -cosine32(8 - i) : -cosine32(i - 8); }

// a' = a + w b in four steps, b' = 2 a - a' in two: the twiddle costs nothing beside the butterfly.
__device__ __forceinline__ void butterfly(float &ar, float &ai, float &br, float &bi, float wr, float wi) {
  const float tr = fmaf(-wi, bi, fmaf(wr, br, ar));
  const float ti = fmaf(wi, br, fmaf(wr, bi, ai));
  br = fmaf(2.0f, ar, -tr);
  bi = fmaf(2.0f, ai, -ti);
  ar = tr;
  ai = ti;
}

// With constant twiddles; 1 and -i are free.
__device__ __forceinline__ void transform32(float (&r)[32], float (&i)[32]) {
#pragma unroll
  for (int n = 2; n <= 32; n *= 2)
#pragma unroll
    for (int b = 0; b < 32; b += n)
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

// One level of a transform whose input n is first multiplied by omega^n: every twiddle is then a number of its own, and
// that multiplication costs nothing.
template <int SPAN, int OFFSET>
__device__ __forceinline__ void turnedLevel(float (&r)[32], float (&i)[32], const float4 *twiddles) {
  constexpr int DISTINCT = SPAN >= 4 ? SPAN / 4 : 1;
#pragma unroll
  for (int pair = 0; pair < (DISTINCT + 1) / 2; ++pair) {
    const float4 both = twiddles[OFFSET / 2 + pair];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (DISTINCT == 1 && half != (OFFSET & 1)) continue;
      const int k = DISTINCT == 1 ? 0 : 2 * pair + half;
      const float wr = half ? both.z : both.x, wi = half ? both.w : both.y;
#pragma unroll
      for (int b = 0; b < 32; b += SPAN) {
        butterfly(r[b + k], i[b + k], r[b + k + SPAN / 2], i[b + k + SPAN / 2], wr, wi);
        if (SPAN >= 4) {  // a quarter further the twiddle is -i times this one
          const int q = b + k + SPAN / 4;
          butterfly(r[q], i[q], r[q + SPAN / 2], i[q + SPAN / 2], wi, -wr);
        }
      }
    }
  }
}

// twiddles, 16 complex: 0-7 omega W_32^k, 8-11 omega^2 W_16^k, 12-13 omega^4 W_8^k, 14 omega^8, 15 omega^16.
__device__ __forceinline__ void turnedTransform32(float (&r)[32], float (&i)[32], const float4 *twiddles) {
  turnedLevel<2, 15>(r, i, twiddles);
  turnedLevel<4, 14>(r, i, twiddles);
  turnedLevel<8, 12>(r, i, twiddles);
  turnedLevel<16, 8>(r, i, twiddles);
  turnedLevel<32, 0>(r, i, twiddles);
}
