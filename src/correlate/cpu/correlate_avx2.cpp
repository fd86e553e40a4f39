// levels: avx2
// Bytes widened to 16 bits: one instruction multiplies pairs of samples and adds the two products.
#include <immintrin.h>

#include "correlate/cpu/correlate_kernels.h"

namespace corella {
namespace avx2 {
namespace {

/** Words of two samples: [t / 2][re, im][16 inputs][2 t], 64 bytes of 16 inputs each. */
constexpr int64_t WIDE_VALUES = TILE_SAMPLES * TILE_INPUTS * 2;

void widen(const int8_t *tile, int16_t *wide) {
  const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
  for (int64_t line = 0; line < 16; line++) {
    for (int64_t part = 0; part < 2; part++) {
      const int8_t *from = tile + part * PLANE_BYTES + line * 64;
      for (int64_t eight = 0; eight < 2; eight++) {
        // eight inputs × four samples; words (input, t/2) are sorted by t/2 first, in the two halves
        const __m256i bytes = _mm256_load_si256(reinterpret_cast<const __m256i *>(from + 32 * eight));
        const __m256i low = _mm256_permutevar8x32_epi32(_mm256_cvtepi8_epi16(_mm256_castsi256_si128(bytes)), order);
        const __m256i high =
            _mm256_permutevar8x32_epi32(_mm256_cvtepi8_epi16(_mm256_extracti128_si256(bytes, 1)), order);
        int16_t *first = wide + (2 * line * 2 + part) * 32 + 16 * eight;
        int16_t *second = first + 64;
        _mm256_store_si256(reinterpret_cast<__m256i *>(first), _mm256_permute2x128_si256(low, high, 0x20));
        _mm256_store_si256(reinterpret_cast<__m256i *>(second), _mm256_permute2x128_si256(low, high, 0x31));
      }
    }
  }
}

inline __m256i twoSamplesOf(const int16_t *at) {
  int32_t word;
  __builtin_memcpy(&word, at, 4);
  return _mm256_set1_epi32(word);
}

inline __m256i load(const void *at) { return _mm256_load_si256(static_cast<const __m256i *>(at)); }

/** Two rows at a time: 8 sums, 4 vectors of the j side and 3 of the i side fit the 16 registers. */
void addWide(const int16_t *i, const int16_t *j, int32_t *sums) {
  for (int first = 0; first < 16; first += 2) {
    __m256i re[2][2], im[2][2];
    for (int row = 0; row < 2; row++) {
      for (int half = 0; half < 2; half++) {
        const int32_t *at = sums + (first + row) * TILE_INPUTS + 8 * half;
        re[row][half] = load(at);
        im[row][half] = load(at + PAIR_VALUES);
      }
    }
    for (int64_t step = 0; step < TILE_SAMPLES / 2; step++) {
      const int16_t *bAt = j + step * 64;
      const __m256i bRe[2] = {load(bAt), load(bAt + 16)}, bIm[2] = {load(bAt + 32), load(bAt + 48)};
#pragma GCC unroll 2
      for (int row = 0; row < 2; row++) {
        const int16_t *aAt = i + step * 64 + 2 * (first + row);
        const __m256i aRe = twoSamplesOf(aAt), aIm = twoSamplesOf(aAt + 32);
        const __m256i minusRe = _mm256_sub_epi16(_mm256_setzero_si256(), aRe);
#pragma GCC unroll 2
        for (int half = 0; half < 2; half++) {
          re[row][half] = _mm256_add_epi32(
              re[row][half], _mm256_add_epi32(_mm256_madd_epi16(aRe, bRe[half]), _mm256_madd_epi16(aIm, bIm[half])));
          im[row][half] = _mm256_add_epi32(im[row][half], _mm256_add_epi32(_mm256_madd_epi16(aIm, bRe[half]),
                                                                           _mm256_madd_epi16(minusRe, bIm[half])));
        }
      }
    }
    for (int row = 0; row < 2; row++) {
      for (int half = 0; half < 2; half++) {
        int32_t *at = sums + (first + row) * TILE_INPUTS + 8 * half;
        _mm256_store_si256(reinterpret_cast<__m256i *>(at), re[row][half]);
        _mm256_store_si256(reinterpret_cast<__m256i *>(at + PAIR_VALUES), im[row][half]);
      }
    }
  }
}

void addPair(const int8_t *tilesI, const void *, const int8_t *tilesJ, const void *, int64_t timeBlocks,
             int32_t *sums) {
  alignas(64) int16_t i[WIDE_VALUES], j[WIDE_VALUES];
  for (int64_t block = 0; block < timeBlocks; block++) {
    widen(tilesI + block * TILE_BYTES, i);
    widen(tilesJ + block * TILE_BYTES, j);
    addWide(i, j, sums);
  }
}

}  // namespace

extern const CorrelateKernels correlateKernels = {nothing, nothing, 64, 0, prepareNothing, prepareNothing, addPair};

}  // namespace avx2
}  // namespace corella
