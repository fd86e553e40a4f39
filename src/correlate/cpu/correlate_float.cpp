// levels: portable avx2 avx512
// Float spectra: sixteen inputs j side by side in a vector, a few inputs i spread over one each.
#include "correlate/cpu/correlate_kernels.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

// A vector as wide as the level's registers, and as many rows as leave their sums in registers.
#if defined(__AVX512F__)
constexpr int WIDTH = 16, ROWS = 8;
#elif defined(__AVX2__)
constexpr int WIDTH = 8, ROWS = 2;
#else
constexpr int WIDTH = 4, ROWS = 1;
#endif
constexpr int PARTS = 16 / WIDTH;
typedef float Vector __attribute__((vector_size(4 * WIDTH), may_alias));

/** Called with few samples, so that float32 sums round little before they are added to float64. */
void addRows(const float *vectorsI, const float *vectorsJ, int64_t samples, double *sums) {
  Vector re[ROWS][PARTS] = {}, im[ROWS][PARTS] = {};
  for (int64_t t = 0; t < samples; t++) {
    const float *i = vectorsI + t * FLOATS_PER_SAMPLE, *j = vectorsJ + t * FLOATS_PER_SAMPLE;
    const Vector *bRe = reinterpret_cast<const Vector *>(j);
    const Vector *bIm = reinterpret_cast<const Vector *>(j + TILE_INPUTS);
#pragma GCC unroll 8
    for (int row = 0; row < ROWS; row++) {
      const float aRe = i[row], aIm = i[TILE_INPUTS + row];
#pragma GCC unroll 4
      for (int part = 0; part < PARTS; part++) {
        re[row][part] += aRe * bRe[part];
        re[row][part] += aIm * bIm[part];
        im[row][part] += aIm * bRe[part];
        im[row][part] -= aRe * bIm[part];
      }
    }
  }
  for (int row = 0; row < ROWS; row++) {
    float flatRe[TILE_INPUTS], flatIm[TILE_INPUTS];
    __builtin_memcpy(flatRe, re[row], sizeof flatRe);
    __builtin_memcpy(flatIm, im[row], sizeof flatIm);
    for (int64_t j = 0; j < TILE_INPUTS; j++) {
      sums[row * TILE_INPUTS + j] += static_cast<double>(flatRe[j]);
      sums[PAIR_VALUES + row * TILE_INPUTS + j] += static_cast<double>(flatIm[j]);
    }
  }
}

void addPair(const float *vectorsI, const float *vectorsJ, int64_t samples, double *sums) {
  for (int64_t row = 0; row < TILE_INPUTS; row += ROWS) {
    addRows(vectorsI + row, vectorsJ, samples, sums + row * TILE_INPUTS);
  }
}

}  // namespace

extern const AddFloatPair addFloatPair = addPair;

}  // namespace CORELLA_LEVEL
}  // namespace corella
