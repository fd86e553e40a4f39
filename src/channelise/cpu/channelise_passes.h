// Transforms of any length, in place and depth first: a pass splits N = R·M points into R consecutive transforms of M,
// and each is finished before the next is begun, so that data stay in the cache where they fit. Bins are in
// digit-reversed places, which costs nothing: each is copied to its own place afterwards anyway.
#pragma once
#include "channelise/cpu/channelise_butterflies.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

template <int R>
CORELLA_INLINE void passColumns(const Pass &pass, float *at, int first, int end) {
  const int64_t leg = pass.pitch * POINT;
  for (int j = first; j < end; j++) {
    float *column = at + static_cast<int64_t>(pass.column[j]) * POINT;
    Complex x[R];
    each<R>(CORELLA_EACH { x[i] = loadPoint(column + i * leg); });
    butterfly<R>(x);
    storePoint(column, x[0]);
    const float *twiddle = pass.twiddles + static_cast<int64_t>(j) * 2 * (R - 1);
    each<R - 1>(CORELLA_EACH { storePoint(column + (i + 1) * leg, times(x[i + 1], twiddle[i], twiddle[R - 1 + i])); });
  }
}

/** The last pass has one column and no twiddles. */
template <int R>
CORELLA_INLINE void lastColumn(const Pass &pass, float *at) {
  const int64_t leg = pass.pitch * POINT;
  Complex x[R];
  each<R>(CORELLA_EACH { x[i] = loadPoint(at + i * leg); });
  butterfly<R>(x);
  each<R>(CORELLA_EACH { storePoint(at + i * leg, x[i]); });
}

/** A prime radix without code of its own: plain sums over pairs of legs, i and R − i. */
void anyColumns(const Pass &pass, float *at, int first, int end) {
  const int radix = pass.radix, half = (radix - 1) / 2;
  const int64_t leg = pass.pitch * POINT;
  Complex sum[MOST_RADIX / 2 + 1], difference[MOST_RADIX / 2 + 1];
  for (int j = first; j < end; j++) {
    float *column = at + static_cast<int64_t>(pass.column[j]) * POINT;
    const float *twiddle = pass.twiddles + static_cast<int64_t>(j) * 2 * (radix - 1);
    const Complex middle = loadPoint(column);
    Complex all = middle;
    for (int i = 1; i <= half; i++) {
      const Complex a = loadPoint(column + i * leg), b = loadPoint(column + (radix - i) * leg);
      sum[i] = a + b;
      difference[i] = a - b;
      all = all + sum[i];
    }
    storePoint(column, all);
    for (int k = 1; k <= half; k++) {
      Complex even = middle, odd = {};
      for (int i = 1; i <= half; i++) {
        const float c = pass.circle[2 * (i * k % radix)], s = pass.circle[2 * (i * k % radix) + 1];
        even = {even.re + c * sum[i].re, even.im + c * sum[i].im};
        odd = {odd.re - s * difference[i].re, odd.im - s * difference[i].im};
      }
      const Complex turn = turned(odd);
      storePoint(column + k * leg, times(even + turn, twiddle[k - 1], twiddle[radix + k - 2]));
      const int mirror = radix - k;
      storePoint(column + mirror * leg, times(even - turn, twiddle[mirror - 1], twiddle[radix + mirror - 2]));
    }
  }
}

template <int R>
CORELLA_INLINE void columnsOf(const Pass &pass, float *at, int first, int end) {
  if (pass.columns == 1) {
    lastColumn<R>(pass, at);
  } else {
    passColumns<R>(pass, at, first, end);
  }
}

void runPass(const Pass &pass, float *at, int first, int end) {
  switch (pass.radix) {
    case 2: return columnsOf<2>(pass, at, first, end);
    case 3: return columnsOf<3>(pass, at, first, end);
    case 4: return columnsOf<4>(pass, at, first, end);
    case 5: return columnsOf<5>(pass, at, first, end);
    case 7: return columnsOf<7>(pass, at, first, end);
    case 8: return columnsOf<8>(pass, at, first, end);
    case 16: return columnsOf<16>(pass, at, first, end);
    default: return anyColumns(pass, at, first, end);
  }
}

/** All passes from `level` on, over one transform of that level. */
void finishTransform(const Transform &transform, int level, float *at) {
  if (level == transform.passCount) return;
  const Pass &pass = transform.passes[level];
  runPass(pass, at, 0, pass.columns);
  if (level + 1 == transform.passCount) return;
  for (int i = 0; i < pass.radix; i++) finishTransform(transform, level + 1, at + i * pass.pitch * POINT);
}

/**
 * The transform of C points as a convolution, its first pass still to be made (Bluestein): with w = e^(−πi n²/C), X[k]
 * = w[k] Σ_n (x[n] w[n]) conj(w[k − n]). The samples are in `work`; bins go to places 0…C−1 of it.
 */
void convolve(const ChanneliseJob &job, float *work, float *more) {
  const Transform &transform = job.transform;
  const Chirp &chirp = *job.chirp;
  const auto point = [](float *base, int64_t place) { return base + place * POINT; };
  for (int n = 0; n < transform.points; n++) {
    float *at = point(work, transform.placeOf[n]);
    const Complex turned = n < job.points ? times(loadPoint(at), chirp.turn[2 * n], chirp.turn[2 * n + 1]) : Complex{};
    storePoint(at, turned);
  }
  finishTransform(transform, 0, work);
  // The inverse transform is the forward one with real and imaginary parts swapped before and after.
  for (int k = 0; k < transform.points; k++) {
    const int32_t bin = transform.binAt[k];
    const Complex product = times(loadPoint(point(work, bin)), chirp.spectrum[2 * bin], chirp.spectrum[2 * bin + 1]);
    storePoint(point(more, transform.placeOf[k]), {product.im, product.re});
  }
  finishTransform(transform, 0, more);
  for (int k = 0; k < job.points; k++) {
    const Complex swapped = loadPoint(point(more, transform.binAt[k]));
    storePoint(point(work, k), times({swapped.im, swapped.re}, chirp.turn[2 * k], chirp.turn[2 * k + 1]));
  }
}

/**
 * Real samples were transformed as z[n] = x[2n] + i·x[2n+1]. With Z its transform, S = Z[k] + conj Z[C−k] and D =
 * −i(Z[k] − conj Z[C−k])·e^(−πi k/C): 2X[k] = S + D and 2X[C−k] = conj(S − D).
 */
void untangle(const ChanneliseJob &job, float *work) {
  float *zero = work + static_cast<int64_t>(job.binAt[0]) * POINT;
  const Complex z = loadPoint(zero);
  storePoint(zero, {2 * (z.re + z.im), Vec{}});
  for (int k = 1; k <= job.points / 2; k++) {
    float *low = work + static_cast<int64_t>(job.binAt[k]) * POINT;
    float *high = work + static_cast<int64_t>(job.binAt[job.points - k]) * POINT;
    const Complex a = loadPoint(low), b = conjugate(loadPoint(high));
    const Complex sum = a + b;
    const Complex difference = times(turned(a - b), job.untangle[2 * k], job.untangle[2 * k + 1]);
    storePoint(high, conjugate(sum - difference));
    storePoint(low, sum + difference);
  }
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella
