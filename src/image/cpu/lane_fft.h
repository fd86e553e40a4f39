// Fourier transforms over independent vector lanes: every element is a pair of vectors (re, im), so that any radix
// works. Stockham's self-sorting passes, forward, e^(−2πi jk/length). For sources compiled for each level.
#pragma once
#include "image/cpu/fft_plan.h"
#include "image/cpu/lane_complex.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

template <class Vector>
CORELLA_INLINE void butterfly2(Complex<Vector> *x) {
  const Complex<Vector> sum = x[0] + x[1];
  x[1] = x[0] - x[1];
  x[0] = sum;
}

template <class Vector>
CORELLA_INLINE void butterfly4(Complex<Vector> *x) {
  const Complex<Vector> sum02 = x[0] + x[2], difference02 = x[0] - x[2];
  const Complex<Vector> sum13 = x[1] + x[3], difference13 = quarter(x[1] - x[3]);
  x[0] = sum02 + sum13;
  x[1] = difference02 + difference13;
  x[2] = sum02 - sum13;
  x[3] = difference02 - difference13;
}

/** Even outputs are a radix 4 of sums, odd ones of differences rotated by eighths. */
template <class Vector, class Real>
CORELLA_INLINE void butterfly8(Complex<Vector> *x) {
  constexpr Real EIGHTH = static_cast<Real>(0.70710678118654752440);
  Complex<Vector> even[4], odd[4];
  for (int k = 0; k < 4; k++) {
    even[k] = x[k] + x[k + 4];
    odd[k] = x[k] - x[k + 4];
  }
  odd[1] = {(odd[1].re + odd[1].im) * EIGHTH, (odd[1].im - odd[1].re) * EIGHTH};
  odd[2] = quarter(odd[2]);
  odd[3] = {(odd[3].im - odd[3].re) * EIGHTH, (odd[3].re + odd[3].im) * -EIGHTH};
  butterfly4(even);
  butterfly4(odd);
  for (int k = 0; k < 4; k++) {
    x[2 * k] = even[k];
    x[2 * k + 1] = odd[k];
  }
}

/** Odd radices: inputs j and R − j share their cosines, and their sines but for the sign. */
template <int R, class Vector, class Real>
CORELLA_INLINE void butterflyOdd(Complex<Vector> *x, const Real *turns, int64_t step) {
  constexpr int HALF = (R - 1) / 2;
  Complex<Vector> sums[HALF], differences[HALF];
  for (int j = 0; j < HALF; j++) {
    sums[j] = x[j + 1] + x[R - 1 - j];
    differences[j] = x[j + 1] - x[R - 1 - j];
  }
  const Complex<Vector> first = x[0];
  for (int j = 0; j < HALF; j++) x[0] = x[0] + sums[j];
  for (int k = 1; k <= HALF; k++) {
    Complex<Vector> along = first, across = {first.re * 0, first.im * 0};
    for (int j = 0; j < HALF; j++) {
      const Real *turn = turns + 2 * ((j + 1) * k % R * step);
      along.re += sums[j].re * turn[0];
      along.im += sums[j].im * turn[0];
      across.re -= differences[j].im * turn[1];
      across.im += differences[j].re * turn[1];
    }
    x[k] = along + across;
    x[R - k] = along - across;
  }
}

template <int R, class Vector, class Real>
CORELLA_INLINE void butterfly(Complex<Vector> *x, const Real *turns, int64_t step) {
  if constexpr (R == 2)
    butterfly2(x);
  else if constexpr (R == 4)
    butterfly4(x);
  else if constexpr (R == 8)
    butterfly8<Vector, Real>(x);
  else
    butterflyOdd<R>(x, turns, step);
}

/** `size` is the length still to transform, `stride` how many such transforms are interleaved. */
template <int R, class Vector, class Real, class Load, class Store>
void radixPass(const LaneFft<Real> &fft, const Load &load, int64_t size, int64_t stride, const Store &store) {
  const int64_t apart = size / R * stride;
  const auto loadAndMix = [&](int64_t first, Complex<Vector> * x) __attribute__((always_inline)) {
#pragma GCC unroll 8
    for (int k = 0; k < R; k++) x[k] = load(first + apart * k);
    butterfly<R>(x, fft.turns, fft.length / R);
  };
  Complex<Vector> x[R];
  for (int64_t q = 0; q < stride; q++) {
    loadAndMix(q, x);
#pragma GCC unroll 8
    for (int k = 0; k < R; k++) store(q + stride * k, x[k]);
  }
  for (int64_t p = 1; p < size / R; p++) {
    for (int64_t q = 0; q < stride; q++) {
      loadAndMix(q + stride * p, x);
      store(q + stride * R * p, x[0]);
#pragma GCC unroll 8
      for (int k = 1; k < R; k++) {
        store(q + stride * (R * p + k), turned(x[k], fft.turns + 2 * p * k * stride));
      }
    }
  }
}

/** Any other radix, by the direct sums. */
template <class Vector, class Real, class Load, class Store>
void slowPass(const LaneFft<Real> &fft, int64_t radix, const Load &load, int64_t size, int64_t stride,
              const Store &store) {
  const int64_t parts = size / radix, step = fft.length / radix;
  for (int64_t p = 0; p < parts; p++) {
    for (int64_t q = 0; q < stride; q++) {
      for (int64_t k = 0; k < radix; k++) {
        Complex<Vector> sum = load(q + stride * p);
        for (int64_t j = 1; j < radix; j++) {
          sum = sum + turned(load(q + stride * (p + parts * j)), fft.turns + 2 * (j * k % radix * step));
        }
        store(q + stride * (radix * p + k), turned(sum, fft.turns + 2 * p * k * stride));
      }
    }
  }
}

template <class Vector, class Real, class Load, class Store>
inline void anyPass(const LaneFft<Real> &fft, int radix, const Load &load, int64_t size, int64_t stride,
                    const Store &store) {
  switch (radix) {
    case 2: return radixPass<2, Vector>(fft, load, size, stride, store);
    case 3: return radixPass<3, Vector>(fft, load, size, stride, store);
    case 4: return radixPass<4, Vector>(fft, load, size, stride, store);
    case 5: return radixPass<5, Vector>(fft, load, size, stride, store);
    case 7: return radixPass<7, Vector>(fft, load, size, stride, store);
    case 8: return radixPass<8, Vector>(fft, load, size, stride, store);
    default: return slowPass<Vector>(fft, radix, load, size, stride, store);
  }
}

template <class Vector>
struct FromMemory {
  const Complex<Vector> *from;
  CORELLA_INLINE Complex<Vector> operator()(int64_t k) const { return from[k]; }
};

/** Results a fixed distance apart. */
template <class Vector>
struct ToMemory {
  Complex<Vector> *to;
  int64_t apart;
  CORELLA_INLINE void operator()(int64_t k, const Complex<Vector> &value) const { to[k * apart] = value; }
};

/** Passes from the first after `buffer` was filled to before `end`; returns the buffer that holds the result. */
template <class Vector, class Real>
inline Complex<Vector> *middlePasses(const LaneFft<Real> &fft, int end, Complex<Vector> *buffer,
                                     Complex<Vector> *other) {
  int64_t stride = fft.radices[0];
  for (int pass = 1; pass < end; pass++) {
    anyPass<Vector>(fft, fft.radices[pass], FromMemory<Vector>{buffer}, fft.length / stride, stride,
                    ToMemory<Vector>{other, 1});
    stride *= fft.radices[pass];
    Complex<Vector> *swapped = buffer;
    buffer = other;
    other = swapped;
  }
  return buffer;
}

/** Fills `buffer` by the first pass. Lengths with a factor 4 load in it, others before it. */
template <class Vector, class Real, class Load>
inline void firstPass(const LaneFft<Real> &fft, const Load &load, Complex<Vector> *buffer, Complex<Vector> *other) {
  const int radix = fft.radices[0];
  const ToMemory<Vector> store{buffer, 1};
  if (radix == 4) return radixPass<4, Vector>(fft, load, fft.length, 1, store);
  if (radix == 8) return radixPass<8, Vector>(fft, load, fft.length, 1, store);
  for (int64_t k = 0; k < fft.length; k++) other[k] = load(k);
  anyPass<Vector>(fft, radix, FromMemory<Vector>{other}, fft.length, 1, store);
}

/**
 * Transforms the values load(k), using two buffers of the transform's length, and returns the one that holds the
 * result.
 */
template <class Vector, class Real, class Load>
inline Complex<Vector> *transformLanes(const LaneFft<Real> &fft, const Load &load, Complex<Vector> *buffer,
                                       Complex<Vector> *other) {
  firstPass<Vector>(fft, load, buffer, other);
  return middlePasses<Vector>(fft, fft.passes, buffer, other);
}

/** The same, handing over each result. All is loaded before anything is stored; the order of stores is unspecified. */
template <class Vector, class Real, class Load, class Store>
inline void transformLanes(const LaneFft<Real> &fft, const Load &load, Complex<Vector> *buffer, Complex<Vector> *other,
                           const Store &store) {
  const int radix = fft.radices[fft.passes - 1];
  if (fft.passes == 1) {
    for (int64_t k = 0; k < fft.length; k++) other[k] = load(k);
    return anyPass<Vector>(fft, radix, FromMemory<Vector>{other}, fft.length, 1, store);
  }
  firstPass<Vector>(fft, load, buffer, other);
  const FromMemory<Vector> last{middlePasses<Vector>(fft, fft.passes - 1, buffer, other)};
  anyPass<Vector>(fft, radix, last, radix, fft.length / radix, store);
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella
