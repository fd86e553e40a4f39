// levels: avx512
// VNNI multiplies four unsigned bytes by four signed ones and adds them to a 32-bit sum. The j side is made
// unsigned by an offset, which the sums of the i side take out again at the end, all modulo 2³²:
//   Re: Σ (bᵣ + 128) aᵣ + (bᵢ + 128) aᵢ  −  128 (Σ aᵣ + Σ aᵢ)
//   Im: Σ (bᵣ + 128) aᵢ + (127 − bᵢ) aᵣ  −  128 Σ aᵢ − 127 Σ aᵣ
// 127 − b is b + 128 with all bits turned: it fits a byte for every b, −128 included.
#include <immintrin.h>

#include "correlate/correlate_kernels.h"

namespace corella {
namespace avx512 {
namespace {

void nothing() {}

/** Σ aᵣ and Σ aᵢ of sixteen inputs; lives in the panel's first two vectors. */
void prepare(const int8_t *tiles, int64_t timeBlocks, void *panel) {
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i re = _mm512_setzero_si512(), im = re;
  for (int64_t block = 0; block < timeBlocks; block++, tiles += TILE_BYTES) {
    for (int64_t line = 0; line < PLANE_BYTES; line += 64) {
      re = _mm512_dpbusd_epi32(re, ones, _mm512_load_si512(tiles + line));
      im = _mm512_dpbusd_epi32(im, ones, _mm512_load_si512(tiles + PLANE_BYTES + line));
    }
  }
  _mm512_store_si512(panel, re);
  _mm512_store_si512(static_cast<int32_t *>(panel) + 16, im);
}

/** Eight rows: 16 sums, 3 forms of the j side and 2 of the i side fit the 32 registers. */
constexpr int ROWS = 8;

inline __m512i fourSamplesOf(const int8_t *at) {
  int32_t word;
  __builtin_memcpy(&word, at, 4);
  return _mm512_set1_epi32(word);
}

void addPair(const int8_t *tilesI, const void *panel, const int8_t *tilesJ, int64_t timeBlocks, int32_t *sums) {
  const int32_t *totalRe = static_cast<const int32_t *>(panel), *totalIm = totalRe + 16;
  const __m512i offset = _mm512_set1_epi8(-128), allBits = _mm512_set1_epi32(-1);
  for (int first = 0; first < 16; first += ROWS) {
    __m512i re[ROWS], im[ROWS];
    for (int row = 0; row < ROWS; row++) {
      const uint32_t sumRe = static_cast<uint32_t>(totalRe[first + row]);
      const uint32_t sumIm = static_cast<uint32_t>(totalIm[first + row]);
      const int32_t *at = sums + (first + row) * TILE_INPUTS;
      re[row] = _mm512_sub_epi32(_mm512_load_si512(at),
                                 _mm512_set1_epi32(static_cast<int32_t>(128u * (sumRe + sumIm))));
      im[row] = _mm512_sub_epi32(_mm512_load_si512(at + PAIR_VALUES),
                                 _mm512_set1_epi32(static_cast<int32_t>(128u * sumIm + 127u * sumRe)));
    }
    const int8_t *i = tilesI + first * 4, *j = tilesJ;
    for (int64_t block = 0; block < timeBlocks; block++, i += PLANE_BYTES, j += PLANE_BYTES) {
      for (int line = 0; line < 16; line++, i += 64, j += 64) {
        const __m512i bRe = _mm512_xor_si512(_mm512_load_si512(j), offset);
        const __m512i bIm = _mm512_xor_si512(_mm512_load_si512(j + PLANE_BYTES), offset);
        const __m512i minusIm = _mm512_xor_si512(bIm, allBits);
#pragma GCC unroll 8
        for (int row = 0; row < ROWS; row++) {
          const __m512i aRe = fourSamplesOf(i + 4 * row), aIm = fourSamplesOf(i + PLANE_BYTES + 4 * row);
          re[row] = _mm512_dpbusd_epi32(re[row], bRe, aRe);
          im[row] = _mm512_dpbusd_epi32(im[row], bRe, aIm);
          re[row] = _mm512_dpbusd_epi32(re[row], bIm, aIm);
          im[row] = _mm512_dpbusd_epi32(im[row], minusIm, aRe);
        }
      }
    }
    for (int row = 0; row < ROWS; row++) {
      int32_t *at = sums + (first + row) * TILE_INPUTS;
      _mm512_store_si512(at, re[row]);
      _mm512_store_si512(at + PAIR_VALUES, im[row]);
    }
  }
}

}  // namespace

extern const CorrelateKernels correlateKernels = {nothing, nothing, 128, prepare, addPair};

}  // namespace avx512
}  // namespace corella
