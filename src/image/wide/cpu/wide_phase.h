// Phases of visibilities: sine and cosine of a number of turns, a vector at a time. For sources compiled for each
// level.
#pragma once
#include "image/wide/cpu/wide_transpose.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** Nearest integer, halves to even, in one instruction where there is one. */
CORELLA_INLINE double nearest(double x) { return __builtin_rint(x); }

/** Taylor's terms of sin and cos up to a quarter of a turn, to the last bit of Real and a little more. */
template <class Real>
struct Series;
template <>
struct Series<float> {
  static constexpr int TERMS = 7;
};
template <>
struct Series<double> {
  static constexpr int TERMS = 11;
};

/** (cos, sin) of 2π·turns, |turns| ≤ ½. */
template <class Real>
CORELLA_INLINE void turnBy(Real turns, Real &cosine, Real &sine) {
  constexpr Real TAU = Real(6.283185307179586476925);
  // whole half turns only change the sign
  const Real halves = sizeof(Real) == 4 ? __builtin_rintf(2 * turns) : __builtin_rint(2 * turns);
  const Real sign = 1 - 2 * halves * halves;
  const Real x = TAU * (turns - Real(0.5) * halves), x2 = x * x;
  Real s = 1, c = 1;
#pragma GCC unroll 16
  for (int k = Series<Real>::TERMS - 1; k > 0; k--) {
    s = 1 - s * x2 * (Real(1) / Real(2 * k * (2 * k + 1)));
    c = 1 - c * x2 * (Real(1) / Real(2 * k * (2 * k - 1)));
  }
  sine = sign * s * x;
  cosine = sign * c;
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella
