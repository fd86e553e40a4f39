// Transforms whose lanes are independent, e^(−2πi jk/length): Stockham's passes, each with its turns in the order in
// which they are needed. Swapping re and im before and after makes the other sign. For sources compiled for each level.
#pragma once
#include "image/cpu/lane_complex.h"
#include "image/wide/cpu/wide_kernels.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

template <class Vector>
CORELLA_INLINE void mix4(Complex<Vector> &a, Complex<Vector> &b, Complex<Vector> &c, Complex<Vector> &d) {
  const Complex<Vector> sum = a + c, difference = a - c, other = b + d, turn = quarter(b - d);
  a = sum + other;
  b = difference + turn;
  c = sum - other;
  d = difference - turn;
}

template <int R, class Vector, class Real>
CORELLA_INLINE void butterfly(Complex<Vector> *x) {
  if constexpr (R == 2) {
    const Complex<Vector> sum = x[0] + x[1];
    x[1] = x[0] - x[1];
    x[0] = sum;
  } else if constexpr (R == 3) {
    constexpr Real SINE = Real(0.86602540378443864676);
    const Complex<Vector> sum = x[1] + x[2], difference = x[1] - x[2];
    const Complex<Vector> along = {x[0].re - sum.re * Real(0.5), x[0].im - sum.im * Real(0.5)};
    const Complex<Vector> across = {difference.im * SINE, difference.re * -SINE};
    x[0] = x[0] + sum;
    x[1] = along + across;
    x[2] = along - across;
  } else if constexpr (R == 4) {
    mix4(x[0], x[1], x[2], x[3]);
  } else if constexpr (R == 5) {
    constexpr Real C1 = Real(0.30901699437494742410), C2 = Real(-0.80901699437494742410);
    constexpr Real S1 = Real(0.95105651629515357212), S2 = Real(0.58778525229247312917);
    const Complex<Vector> s1 = x[1] + x[4], d1 = x[1] - x[4], s2 = x[2] + x[3], d2 = x[2] - x[3];
    const Complex<Vector> a1 = {x[0].re + s1.re * C1 + s2.re * C2, x[0].im + s1.im * C1 + s2.im * C2};
    const Complex<Vector> a2 = {x[0].re + s1.re * C2 + s2.re * C1, x[0].im + s1.im * C2 + s2.im * C1};
    const Complex<Vector> b1 = {d1.im * S1 + d2.im * S2, -(d1.re * S1 + d2.re * S2)};
    const Complex<Vector> b2 = {d1.im * S2 - d2.im * S1, d2.re * S1 - d1.re * S2};
    x[0] = x[0] + s1 + s2;
    x[1] = a1 + b1;
    x[2] = a2 + b2;
    x[3] = a2 - b2;
    x[4] = a1 - b1;
  } else if constexpr (R == 7) {
    constexpr Real C[4] = {1, Real(0.62348980185873353053), Real(-0.22252093395631440429),
                           Real(-0.90096886790241912624)};
    constexpr Real S[4] = {0, Real(0.78183148246802980871), Real(0.97492791218182360702), Real(0.43388373911755812048)};
    Complex<Vector> sums[3], differences[3];
    for (int j = 0; j < 3; j++) {
      sums[j] = x[j + 1] + x[6 - j];
      differences[j] = x[j + 1] - x[6 - j];
    }
    const Complex<Vector> first = x[0];
    x[0] = x[0] + sums[0] + sums[1] + sums[2];
    for (int k = 1; k <= 3; k++) {
      Complex<Vector> along = first, across = {first.re * 0, first.im * 0};
      for (int j = 1; j <= 3; j++) {
        const int e = j * k % 7;
        const Real cosine = C[e < 4 ? e : 7 - e], sine = e < 4 ? S[e] : -S[7 - e];
        along.re += sums[j - 1].re * cosine;
        along.im += sums[j - 1].im * cosine;
        across.re += differences[j - 1].im * sine;
        across.im -= differences[j - 1].re * sine;
      }
      x[k] = along + across;
      x[7 - k] = along - across;
    }
  } else {
    static_assert(R == 8, "no such radix");
    constexpr Real EIGHTH = Real(0.70710678118654752440);
    Complex<Vector> even[4], odd[4];
    for (int k = 0; k < 4; k++) {
      even[k] = x[k] + x[k + 4];
      odd[k] = x[k] - x[k + 4];
    }
    odd[1] = {(odd[1].re + odd[1].im) * EIGHTH, (odd[1].im - odd[1].re) * EIGHTH};
    odd[2] = quarter(odd[2]);
    odd[3] = {(odd[3].im - odd[3].re) * EIGHTH, (odd[3].re + odd[3].im) * -EIGHTH};
    mix4(even[0], even[1], even[2], even[3]);
    mix4(odd[0], odd[1], odd[2], odd[3]);
    for (int k = 0; k < 4; k++) {
      x[2 * k] = even[k];
      x[2 * k + 1] = odd[k];
    }
  }
}

/** `stride` transforms of what is left, `size`, lie interleaved. */
template <int R, class Vector, class Real, class Load, class Store>
CORELLA_INLINE void radixPass(const Real *turns, const Load &load, int64_t size, int64_t stride, const Store &store) {
  const int64_t parts = size / R, apart = parts * stride;
  Complex<Vector> x[R];
  for (int64_t q = 0; q < stride; q++) {
#pragma GCC unroll 8
    for (int k = 0; k < R; k++) x[k] = load(q + apart * k);
    butterfly<R, Vector, Real>(x);
#pragma GCC unroll 8
    for (int k = 0; k < R; k++) store(q + stride * k, x[k]);
  }
  for (int64_t p = 1; p < parts; p++) {
    const Real *by = turns + p * 2 * (R - 1);
    for (int64_t q = 0; q < stride; q++) {
#pragma GCC unroll 8
      for (int k = 0; k < R; k++) x[k] = load(q + stride * p + apart * k);
      butterfly<R, Vector, Real>(x);
      store(q + stride * R * p, x[0]);
#pragma GCC unroll 8
      for (int k = 1; k < R; k++) store(q + stride * (R * p + k), turned(x[k], by + 2 * (k - 1)));
    }
  }
}

template <class Vector, class Real, class Load, class Store>
inline void anyPass(int radix, const Real *turns, const Load &load, int64_t size, int64_t stride, const Store &store) {
  switch (radix) {
    case 2: return radixPass<2, Vector>(turns, load, size, stride, store);
    case 3: return radixPass<3, Vector>(turns, load, size, stride, store);
    case 4: return radixPass<4, Vector>(turns, load, size, stride, store);
    case 5: return radixPass<5, Vector>(turns, load, size, stride, store);
    case 7: return radixPass<7, Vector>(turns, load, size, stride, store);
    default: return radixPass<8, Vector>(turns, load, size, stride, store);
  }
}

template <class Vector>
struct FromBuffer {
  const Complex<Vector> *from;
  CORELLA_INLINE Complex<Vector> operator()(int64_t k) const { return from[k]; }
};
template <class Vector>
struct ToBuffer {
  Complex<Vector> *to;
  CORELLA_INLINE void operator()(int64_t k, const Complex<Vector> &value) const { to[k] = value; }
};

/**
 * Transforms what load(k) gives, by way of two buffers of the transform's length, and returns the one that holds
 * the result. Plans start with radix 4 or 8: sides are multiples of 32.
 */
template <class Vector, class Real, class Load>
CORELLA_INLINE Complex<Vector> *transformLanes(const WideFft<Real> &fft, const Load &load, Complex<Vector> *buffer,
                                               Complex<Vector> *other) {
  const int first = fft.radices[0];
  if (first == 8)
    radixPass<8, Vector>(fft.turns[0], load, fft.length, 1, ToBuffer<Vector>{buffer});
  else
    radixPass<4, Vector>(fft.turns[0], load, fft.length, 1, ToBuffer<Vector>{buffer});
  int64_t stride = first, size = fft.length / first;
  for (int pass = 1; pass < fft.passes; pass++) {
    const int radix = fft.radices[pass];
    anyPass<Vector>(radix, fft.turns[pass], FromBuffer<Vector>{buffer}, size, stride, ToBuffer<Vector>{other});
    Complex<Vector> *swapped = buffer;
    buffer = other;
    other = swapped;
    size /= radix;
    stride *= radix;
  }
  return buffer;
}

// LANES vectors of LANES numbers, turned over.
#if defined(__clang__)
#define CORELLA_PICK_LANES(mask, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int64_t LongPicks __attribute__((vector_size(VECTOR_BYTES)));
#define CORELLA_PICK_LANES(mask, a, b, ...) __builtin_shuffle(a, b, (mask){__VA_ARGS__})
#endif

#if defined(__AVX512F__)
CORELLA_INLINE Floats zipLow(Floats a, Floats b) {
  return CORELLA_PICK_LANES(Picks, a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
CORELLA_INLINE Floats zipHigh(Floats a, Floats b) {
  return CORELLA_PICK_LANES(Picks, a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
CORELLA_INLINE Doubles zipLow(Doubles a, Doubles b) {
  return CORELLA_PICK_LANES(LongPicks, a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
CORELLA_INLINE Doubles zipHigh(Doubles a, Doubles b) {
  return CORELLA_PICK_LANES(LongPicks, a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
#elif defined(__AVX2__)
CORELLA_INLINE Floats zipLow(Floats a, Floats b) { return CORELLA_PICK_LANES(Picks, a, b, 0, 8, 1, 9, 2, 10, 3, 11); }
CORELLA_INLINE Floats zipHigh(Floats a, Floats b) {
  return CORELLA_PICK_LANES(Picks, a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
CORELLA_INLINE Doubles zipLow(Doubles a, Doubles b) { return CORELLA_PICK_LANES(LongPicks, a, b, 0, 4, 1, 5); }
CORELLA_INLINE Doubles zipHigh(Doubles a, Doubles b) { return CORELLA_PICK_LANES(LongPicks, a, b, 2, 6, 3, 7); }
#else
CORELLA_INLINE Floats zipLow(Floats a, Floats b) { return CORELLA_PICK_LANES(Picks, a, b, 0, 4, 1, 5); }
CORELLA_INLINE Floats zipHigh(Floats a, Floats b) { return CORELLA_PICK_LANES(Picks, a, b, 2, 6, 3, 7); }
CORELLA_INLINE Doubles zipLow(Doubles a, Doubles b) { return CORELLA_PICK_LANES(LongPicks, a, b, 0, 2); }
CORELLA_INLINE Doubles zipHigh(Doubles a, Doubles b) { return CORELLA_PICK_LANES(LongPicks, a, b, 1, 3); }
#endif

/** Halves zipped log₂(lanes) times: element r of vector c comes from element c of vector r. */
template <int LANES_, class Vector>
CORELLA_INLINE void transpose(Vector *x) {
#pragma GCC unroll 4
  for (int step = 1; step < LANES_; step *= 2) {
    Vector y[LANES_];
#pragma GCC unroll 16
    for (int k = 0; k < LANES_ / 2; k++) {
      y[2 * k] = zipLow(x[k], x[k + LANES_ / 2]);
      y[2 * k + 1] = zipHigh(x[k], x[k + LANES_ / 2]);
    }
#pragma GCC unroll 16
    for (int k = 0; k < LANES_; k++) x[k] = y[k];
  }
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella
