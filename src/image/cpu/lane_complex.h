// Complex numbers whose parts are vectors, for sources compiled for each level: lanes are independent.
#pragma once
#include "backend/cpu/vector.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

template <class Vector>
struct Complex {
  Vector re, im;
};

template <class Vector>
CORELLA_INLINE Complex<Vector> operator+(const Complex<Vector> &a, const Complex<Vector> &b) {
  return {a.re + b.re, a.im + b.im};
}
template <class Vector>
CORELLA_INLINE Complex<Vector> operator-(const Complex<Vector> &a, const Complex<Vector> &b) {
  return {a.re - b.re, a.im - b.im};
}
/** −i a: a quarter turn of the forward transform. */
template <class Vector>
CORELLA_INLINE Complex<Vector> quarter(const Complex<Vector> &a) {
  return {a.im, -a.re};
}
template <class Vector, class Real>
CORELLA_INLINE Complex<Vector> turned(const Complex<Vector> &a, const Real *turn) {
  return {a.re * turn[0] - a.im * turn[1], a.re * turn[1] + a.im * turn[0]};
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella
