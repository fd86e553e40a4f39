// Transforms of up to 32 points in registers, e^(-2 pi i k n / points): input in bit-reversed order, output in natural order.
#pragma once

template <int POINTS>
__host__ __device__ constexpr int reversed(int i) {
  int turned = 0;
  for (int bit = 1; bit < POINTS; bit *= 2) turned = 2 * turned + (i & bit ? 1 : 0);
  return turned;
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
__host__ __device__ constexpr float turnRe(int i) { return i <= 8 ? cosine32(i) : -cosine32(16 - i); }  // i = 0..15
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

// With constant twiddles; 1 and -i need no product.
template <int POINTS>
__device__ __forceinline__ void transform(float (&r)[POINTS], float (&i)[POINTS]) {
#pragma unroll
  for (int n = 2; n <= POINTS; n *= 2)
#pragma unroll
    for (int b = 0; b < POINTS; b += n)
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

// One level of a transform whose input n is first multiplied by omega^n: the factor is merged into the twiddles, and
// that multiplication costs nothing.
template <int SPAN, int POINTS>
__device__ __forceinline__ void turnedLevel(float (&r)[POINTS], float (&i)[POINTS], const float4 *twiddles) {
  constexpr int DISTINCT = SPAN >= 4 ? SPAN / 4 : 1, OFFSET = (POINTS - SPAN) / 2;
#pragma unroll
  for (int k = 0; k < DISTINCT; ++k) {
    const float4 both = twiddles[(OFFSET + k) / 2];
    const float wr = (OFFSET + k) % 2 ? both.z : both.x, wi = (OFFSET + k) % 2 ? both.w : both.y;
#pragma unroll
    for (int b = 0; b < POINTS; b += SPAN) {
      butterfly(r[b + k], i[b + k], r[b + k + SPAN / 2], i[b + k + SPAN / 2], wr, wi);
      if (SPAN >= 4) {  // a quarter further the twiddle is -i times this one
        const int q = b + k + SPAN / 4;
        butterfly(r[q], i[q], r[q + SPAN / 2], i[q + SPAN / 2], wi, -wr);
      }
    }
  }
}

// twiddles, POINTS / 2 complex: omega W_N^k, k < N / 4, with N = POINTS; after them omega^2 with N / 2, and so on; the
// last two are omega^(POINTS / 4) and omega^(POINTS / 2).
template <int POINTS>
__device__ __forceinline__ void turnedTransform(float (&r)[POINTS], float (&i)[POINTS], const float4 *twiddles) {
  turnedLevel<2>(r, i, twiddles);
  turnedLevel<4>(r, i, twiddles);
  turnedLevel<8>(r, i, twiddles);
  turnedLevel<16>(r, i, twiddles);
  if constexpr (POINTS == 32) turnedLevel<32>(r, i, twiddles);
}
