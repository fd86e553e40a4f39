// Vectors as wide as the level's registers, in the compiler's own notation: no intrinsics, any architecture.
// For sources compiled for each level.
#pragma once
#include "native.h"

/** For small functions on vectors: a call would carry them through memory. */
#define CORELLA_INLINE inline __attribute__((always_inline))

namespace corella {
namespace CORELLA_LEVEL {
namespace {

#if defined(__AVX512F__)
constexpr int VECTOR_BYTES = 64;
#elif defined(__AVX2__)
constexpr int VECTOR_BYTES = 32;
#else
constexpr int VECTOR_BYTES = 16;
#endif

typedef float Floats __attribute__((vector_size(VECTOR_BYTES)));
typedef double Doubles __attribute__((vector_size(VECTOR_BYTES)));

template <class Real>
struct VectorOf;
template <>
struct VectorOf<float> {
  typedef Floats type;
};
template <>
struct VectorOf<double> {
  typedef Doubles type;
};

/** Numbers in a register. */
template <class Real>
constexpr int LANES = VECTOR_BYTES / static_cast<int>(sizeof(Real));

template <class Vector, class Element>
CORELLA_INLINE Vector loadVector(const Element *from) {
  Vector vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}

template <class Vector, class Element>
CORELLA_INLINE void storeVector(Element *to, const Vector &vector) {
  __builtin_memcpy(to, &vector, sizeof vector);
}

/** The sum of all lanes, halves upon halves. */
template <class Real, int BYTES>
CORELLA_INLINE Real totalOf(const Real *lanes) {
  if constexpr (BYTES == sizeof(Real)) {
    return lanes[0];
  } else {
    typedef Real Half __attribute__((vector_size(BYTES / 2)));
    const Half sum = loadVector<Half>(lanes) + loadVector<Half>(lanes + BYTES / 2 / sizeof(Real));
    Real rest[BYTES / 2 / sizeof(Real)];
    storeVector(rest, sum);
    return totalOf<Real, BYTES / 2>(rest);
  }
}

template <class Real, class Vector>
CORELLA_INLINE Real total(const Vector &vector) {
  Real lanes[sizeof(Vector) / sizeof(Real)];
  storeVector(lanes, vector);
  return totalOf<Real, sizeof(Vector)>(lanes);
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella
