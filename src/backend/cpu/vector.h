// Vectors as wide as the level's registers, in the compiler's own notation: no intrinsics, any architecture.
// For sources compiled for each level.
#pragma once
#include "native.h"

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

/** Floats in a register. */
constexpr int LANES = VECTOR_BYTES / 4;

template <class Vector, class Element>
inline Vector loadVector(const Element *from) {
  Vector vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}

template <class Vector, class Element>
inline void storeVector(Element *to, const Vector &vector) {
  __builtin_memcpy(to, &vector, sizeof vector);
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella
