// Transforms of 1 to 16 points in registers, e^(-2 pi i k n / R), in natural order.
#pragma once
#include "shape.cuh"

__device__ __forceinline__ float2 plus(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ float2 minus(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ __forceinline__ float2 timesMinusI(float2 a) { return make_float2(a.y, -a.x); }

template <int R>
struct Transform;

template <>
struct Transform<1> {
  static __device__ __forceinline__ void run(float2 (&)[1]) {}
};

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

// x * e^(-2 pi i k / 16) for k = 0..9, for 4 x 4 and 2 x 4 points.
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

// n = n1 + 2 n2, k = 4 k1 + k2: two transforms of four, twiddles, four of two.
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

// n = n1 + 4 n2, k = 4 k1 + k2: four transforms of four, twiddles of n1 k2, four of four.
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
  if (R == 3) return -0.5f;
  if (R == 5) return k == 1 ? 0.30901699437494745f : -0.80901699437494734f;
  if (R == 7) return k == 1 ? 0.62348980185873359f : k == 2 ? -0.22252093395631434f : -0.90096886790241903f;
  if (R == 11)
    return k == 1   ? 0.84125353283118121f
           : k == 2 ? 0.41541501300188644f
           : k == 3 ? -0.14231483827328500f
           : k == 4 ? -0.65486073394528499f
                    : -0.95949297361449737f;
  return k == 1   ? 0.88545602565320991f
         : k == 2 ? 0.56806474673115592f
         : k == 3 ? 0.12053668025532301f
         : k == 4 ? -0.35460488704253545f
         : k == 5 ? -0.74851074817110119f
                  : -0.97094181742605201f;
}
__device__ constexpr float sines(int R, int k) {
  if (R == 3) return 0.86602540378443871f;
  if (R == 5) return k == 1 ? 0.95105651629515353f : 0.58778525229247325f;
  if (R == 7) return k == 1 ? 0.78183148246802980f : k == 2 ? 0.97492791218182362f : 0.43388373911755823f;
  if (R == 11)
    return k == 1   ? 0.54064081745559756f
           : k == 2 ? 0.90963199535451833f
           : k == 3 ? 0.98982144188093280f
           : k == 4 ? 0.75574957435425827f
                    : 0.28173255684142967f;
  return k == 1   ? 0.46472317204376851f
         : k == 2 ? 0.82298386589365635f
         : k == 3 ? 0.99270887409805397f
         : k == 4 ? 0.93501624268541483f
         : k == 5 ? 0.66312265824079519f
                  : 0.23931566428755768f;
}

// Odd points by their pairs: x_m + x_(R-m) needs only cosines, x_m - x_(R-m) only sines.
template <int R>
struct OddTransform {
  static_assert(R == 3 || R == 5 || R == 7 || R == 11 || R == 13, "no such transform");
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
template <>
struct Transform<3> : OddTransform<3> {};
template <>
struct Transform<5> : OddTransform<5> {};
template <>
struct Transform<7> : OddTransform<7> {};
template <>
struct Transform<11> : OddTransform<11> {};
template <>
struct Transform<13> : OddTransform<13> {};

// A and B without a common factor: with n = B n1 + A n2, k mod A = k1 and k mod B = k2 no twiddles are needed between
// the two.
template <int A, int B>
struct ProductTransform {
  static __device__ __forceinline__ void run(float2 (&x)[A * B]) {
    constexpr int R = A * B, toA = B * inverse(B, A), toB = A * inverse(A, B);
    float2 rows[B][A];
#pragma unroll
    for (int n2 = 0; n2 < B; ++n2) {
#pragma unroll
      for (int n1 = 0; n1 < A; ++n1) rows[n2][n1] = x[(B * n1 + A * n2) % R];
      Transform<A>::run(rows[n2]);
    }
#pragma unroll
    for (int k1 = 0; k1 < A; ++k1) {
      float2 column[B];
#pragma unroll
      for (int n2 = 0; n2 < B; ++n2) column[n2] = rows[n2][k1];
      Transform<B>::run(column);
#pragma unroll
      for (int k2 = 0; k2 < B; ++k2) x[(toA * k1 + toB * k2) % R] = column[k2];
    }
  }
  static __device__ constexpr int inverse(int a, int modulus) {
    for (int i = 1; i < modulus; ++i)
      if (a * i % modulus == 1) return i;
    return 1;
  }
};
template <>
struct Transform<6> : ProductTransform<2, 3> {};
template <>
struct Transform<10> : ProductTransform<2, 5> {};
template <>
struct Transform<12> : ProductTransform<4, 3> {};
template <>
struct Transform<14> : ProductTransform<2, 7> {};
template <>
struct Transform<15> : ProductTransform<5, 3> {};

// n = n1 + 3 n2, k = 3 k1 + k2: three transforms of three, twiddles of n1 k2, three of three.
template <>
struct Transform<9> {
  static __device__ __forceinline__ void run(float2 (&x)[9]) {
    const float2 turns[3] = {make_float2(0.76604444311897804f, -0.64278760968653933f),
                             make_float2(0.17364817766693035f, -0.98480775301220806f),
                             make_float2(-0.93969262078590838f, -0.34202014332566873f)};
    float2 rows[3][3];
#pragma unroll
    for (int n1 = 0; n1 < 3; ++n1) {
#pragma unroll
      for (int n2 = 0; n2 < 3; ++n2) rows[n1][n2] = x[n1 + 3 * n2];
      Transform<3>::run(rows[n1]);
    }
    rows[1][1] = times(rows[1][1], turns[0]);
    rows[1][2] = times(rows[1][2], turns[1]);
    rows[2][1] = times(rows[2][1], turns[1]);
    rows[2][2] = times(rows[2][2], turns[2]);
#pragma unroll
    for (int k2 = 0; k2 < 3; ++k2) {
      float2 column[3] = {rows[0][k2], rows[1][k2], rows[2][k2]};
      Transform<3>::run(column);
#pragma unroll
      for (int k1 = 0; k1 < 3; ++k1) x[3 * k1 + k2] = column[k1];
    }
  }
};
