// Transforms of 2, 3, 4, 5, 7, 8 and 16 points in registers, e^(-2 pi i k n / R), in natural order.
#pragma once

__device__ __forceinline__ float2 plus(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ float2 minus(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ __forceinline__ float2 timesMinusI(float2 a) { return make_float2(a.y, -a.x); }

template <int R>
struct Transform;

template <>
struct Transform<2> {
  static __device__ __forceinline__ void run(float2 (&x)[2]) {
    const float2 a = x[0];
    x[0] = plus(a, x[1]);
    x[1] = minus(a, x[1]);
  }
};

__device__ __forceinline__ void four(float2 &a, float2 &b, float2 &c, float2 &d) {
  const float2 p = plus(a, c), m = minus(a, c), q = plus(b, d), n = timesMinusI(minus(b, d));
  a = plus(p, q);
  b = plus(m, n);
  c = minus(p, q);
  d = minus(m, n);
}

template <>
struct Transform<4> {
  static __device__ __forceinline__ void run(float2 (&x)[4]) { four(x[0], x[1], x[2], x[3]); }
};

constexpr float COS_8 = 0.70710678118654752f, COS_16 = 0.92387953251128674f, SIN_16 = 0.38268343236508977f;

// x * e^(-2 pi i k / 16) for k = 0..9, what 4 x 4 and 2 x 4 points need.
template <int K>
__device__ __forceinline__ float2 turned(float2 x) {
  if constexpr (K == 0) return x;
  if constexpr (K == 1) return make_float2(fmaf(SIN_16, x.y, COS_16 * x.x), fmaf(-SIN_16, x.x, COS_16 * x.y));
  if constexpr (K == 2) return make_float2(COS_8 * (x.x + x.y), COS_8 * (x.y - x.x));
  if constexpr (K == 3) return make_float2(fmaf(COS_16, x.y, SIN_16 * x.x), fmaf(-COS_16, x.x, SIN_16 * x.y));
  if constexpr (K == 4) return timesMinusI(x);
  if constexpr (K == 6) return make_float2(COS_8 * (x.y - x.x), -COS_8 * (x.x + x.y));
  if constexpr (K == 9) return make_float2(fmaf(-SIN_16, x.y, -COS_16 * x.x), fmaf(SIN_16, x.x, -COS_16 * x.y));
  return x;
}

// n = n1 + 2 n2, k = 4 k1 + k2: two transforms of four, turned, four of two.
template <>
struct Transform<8> {
  static __device__ __forceinline__ void run(float2 (&x)[8]) {
    four(x[0], x[2], x[4], x[6]);
    four(x[1], x[3], x[5], x[7]);
    const float2 odd[4] = {x[1], turned<2>(x[3]), turned<4>(x[5]), turned<6>(x[7])};
    const float2 even[4] = {x[0], x[2], x[4], x[6]};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      x[k] = plus(even[k], odd[k]);
      x[k + 4] = minus(even[k], odd[k]);
    }
  }
};

// n = n1 + 4 n2, k = 4 k1 + k2: four transforms of four, turned by n1 k2, four of four.
template <>
struct Transform<16> {
  static __device__ __forceinline__ void run(float2 (&x)[16]) {
#pragma unroll
    for (int n1 = 0; n1 < 4; ++n1) four(x[n1], x[n1 + 4], x[n1 + 8], x[n1 + 12]);
    x[5] = turned<1>(x[5]);
    x[9] = turned<2>(x[9]);
    x[13] = turned<3>(x[13]);
    x[6] = turned<2>(x[6]);
    x[10] = turned<4>(x[10]);
    x[14] = turned<6>(x[14]);
    x[7] = turned<3>(x[7]);
    x[11] = turned<6>(x[11]);
    x[15] = turned<9>(x[15]);
#pragma unroll
    for (int k2 = 0; k2 < 4; ++k2) four(x[4 * k2], x[4 * k2 + 1], x[4 * k2 + 2], x[4 * k2 + 3]);
#pragma unroll
    for (int k2 = 0; k2 < 4; ++k2)
#pragma unroll
      for (int k1 = 0; k1 < k2; ++k1) {
        const float2 swapped = x[4 * k2 + k1];
        x[4 * k2 + k1] = x[4 * k1 + k2];
        x[4 * k1 + k2] = swapped;
      }
  }
};

// cos and sin of 2 pi k / R for k = 1..(R - 1) / 2.
__device__ constexpr float cosines(int R, int k) {
  return R == 3   ? -0.5f
         : R == 5 ? (k == 1 ? 0.30901699437494742f : -0.80901699437494742f)
                  : (k == 1 ? 0.62348980185873353f : k == 2 ? -0.22252093395631440f : -0.90096886790241913f);
}
__device__ constexpr float sines(int R, int k) {
  return R == 3   ? 0.86602540378443865f
         : R == 5 ? (k == 1 ? 0.95105651629515357f : 0.58778525229247313f)
                  : (k == 1 ? 0.78183148246802981f : k == 2 ? 0.97492791218182361f : 0.43388373911755812f);
}

// Odd points by their pairs: x_m + x_(R-m) meets cosines alone, x_m - x_(R-m) sines alone.
template <int R>
struct Transform {
  static_assert(R == 3 || R == 5 || R == 7, "no such transform");
  static __device__ __forceinline__ void run(float2 (&x)[R]) {
    constexpr int H = (R - 1) / 2;
    float2 sums[H], differences[H];
    float2 all = x[0];
#pragma unroll
    for (int m = 1; m <= H; ++m) {
      sums[m - 1] = plus(x[m], x[R - m]);
      differences[m - 1] = minus(x[m], x[R - m]);
      all = plus(all, sums[m - 1]);
    }
#pragma unroll
    for (int k = 1; k <= H; ++k) {
      float2 even = x[0], odd = make_float2(0, 0);
#pragma unroll
      for (int m = 1; m <= H; ++m) {
        const int turn = k * m % R;
        const float c = turn <= H ? cosines(R, turn) : cosines(R, R - turn);
        const float s = turn <= H ? sines(R, turn) : -sines(R, R - turn);
        even = make_float2(fmaf(c, sums[m - 1].x, even.x), fmaf(c, sums[m - 1].y, even.y));
        odd = make_float2(fmaf(s, differences[m - 1].x, odd.x), fmaf(s, differences[m - 1].y, odd.y));
      }
      const float2 side = timesMinusI(odd);
      x[k] = plus(even, side);
      x[R - k] = minus(even, side);
    }
    x[0] = all;
  }
};
