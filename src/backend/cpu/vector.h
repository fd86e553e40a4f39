// Vectors as wide as the level's registers, in the compiler's own notation: no intrinsics, any architecture.
// For sources compiled for each level.
#pragma once
#include "native.h"

/** For small functions on vectors: a call would pass them through memory. */
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

/** The sum of all lanes, by halves. */
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

#if defined(__clang__)
#define CORELLA_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int32_t Picks __attribute__((vector_size(VECTOR_BYTES)));
#define CORELLA_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (Picks){__VA_ARGS__})
#endif

// Two vectors of sums into one: each of their groups of lanes (one, two or four groups a vector) is added by halves,
// and a's come before b's.
#if defined(__AVX512F__)
constexpr int FLOATS_FOLDED = 8;
CORELLA_INLINE Floats halveOnce(Floats a, Floats b) {
  return CORELLA_SHUFFLE(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
         CORELLA_SHUFFLE(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
}
CORELLA_INLINE Floats halveTwice(Floats a, Floats b) {
  return CORELLA_SHUFFLE(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
         CORELLA_SHUFFLE(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
}
CORELLA_INLINE Floats halveThrice(Floats a, Floats b) {
  return CORELLA_SHUFFLE(a, b, 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29) +
         CORELLA_SHUFFLE(a, b, 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31);
}
#elif defined(__AVX2__)
constexpr int FLOATS_FOLDED = 8;
CORELLA_INLINE Floats halveOnce(Floats a, Floats b) {
  return CORELLA_SHUFFLE(a, b, 0, 1, 2, 3, 8, 9, 10, 11) + CORELLA_SHUFFLE(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
}
CORELLA_INLINE Floats halveTwice(Floats a, Floats b) {
  return CORELLA_SHUFFLE(a, b, 0, 1, 4, 5, 8, 9, 12, 13) + CORELLA_SHUFFLE(a, b, 2, 3, 6, 7, 10, 11, 14, 15);
}
CORELLA_INLINE Floats halveThrice(Floats a, Floats b) {
  return CORELLA_SHUFFLE(a, b, 0, 2, 4, 6, 8, 10, 12, 14) + CORELLA_SHUFFLE(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
}
#else
constexpr int FLOATS_FOLDED = 4;
CORELLA_INLINE Floats halveOnce(Floats a, Floats b) {
  return CORELLA_SHUFFLE(a, b, 0, 1, 4, 5) + CORELLA_SHUFFLE(a, b, 2, 3, 6, 7);
}
CORELLA_INLINE Floats halveTwice(Floats a, Floats b) {
  return CORELLA_SHUFFLE(a, b, 0, 2, 4, 6) + CORELLA_SHUFFLE(a, b, 1, 3, 5, 7);
}
#endif

/** Lane k of the result, k < 4, is the sum of all lanes of x[k]; other lanes are unspecified. */
CORELLA_INLINE Floats totalsOfFour(const Floats *x) {
  const Floats folded = halveTwice(halveOnce(x[0], x[1]), halveOnce(x[2], x[3]));
#if defined(__AVX512F__)
  return CORELLA_SHUFFLE(folded, folded, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12) +
         CORELLA_SHUFFLE(folded, folded, 1, 5, 9, 13, 1, 5, 9, 13, 1, 5, 9, 13, 1, 5, 9, 13) +
         (CORELLA_SHUFFLE(folded, folded, 2, 6, 10, 14, 2, 6, 10, 14, 2, 6, 10, 14, 2, 6, 10, 14) +
          CORELLA_SHUFFLE(folded, folded, 3, 7, 11, 15, 3, 7, 11, 15, 3, 7, 11, 15, 3, 7, 11, 15));
#elif defined(__AVX2__)
  return CORELLA_SHUFFLE(folded, folded, 0, 2, 4, 6, 0, 2, 4, 6) +
         CORELLA_SHUFFLE(folded, folded, 1, 3, 5, 7, 1, 3, 5, 7);
#else
  return folded;
#endif
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella
