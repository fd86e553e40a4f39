// Transposes squares of vectors. For sources compiled for each level.
#pragma once
#include "backend/cpu/vector.h"
#include "image/wide/cpu/wide_kernels.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

// Transposes LANES vectors of LANES numbers.
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
