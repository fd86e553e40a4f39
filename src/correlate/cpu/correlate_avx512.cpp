// levels: avx512
// VNNI multiplies four unsigned bytes by four signed ones and adds them to a 32-bit sum. The i side is
// made unsigned by an offset, which is subtracted with the sums of the j side, all modulo 2³²:
//   Re: Σ (aᵣ + 128) bᵣ + (aᵢ + 128) bᵢ  −  128 (Σ bᵣ + Σ bᵢ)
//   Im: Σ (aᵢ + 128) bᵣ + (aᵣ + 128) (−bᵢ)  −  128 (Σ bᵣ − Σ bᵢ)
// −b is wrong for −128, which only flagged inputs may have: their products are discarded.
#include <immintrin.h>

#include "correlate/cpu/correlate_kernels.h"

namespace corella {
namespace avx512 {
namespace {

/** aᵣ + 128 and aᵢ + 128, as unsigned bytes. */
void prepareI(const int8_t *tiles, int64_t timeBlocks, void *panel) {
  const __m512i offset = _mm512_set1_epi8(-128);
  for (int64_t at = 0; at < timeBlocks * TILE_BYTES; at += 64) {
    _mm512_store_si512(static_cast<int8_t *>(panel) + at, _mm512_xor_si512(_mm512_load_si512(tiles + at), offset));
  }
}

/** The offset's contribution to Re and to Im, for each of sixteen j. */
void prepareJ(const int8_t *tiles, int64_t timeBlocks, void *notes) {
  const __m512i offset = _mm512_set1_epi8(-128);  // 128, unsigned
  // Two sums of each, because an addition has a latency of five cycles.
  __m512i re[2] = {}, im[2] = {};
  for (int64_t block = 0; block < timeBlocks; block++, tiles += TILE_BYTES) {
#pragma GCC unroll 16
    for (int line = 0; line < 16; line++) {
      re[line % 2] = _mm512_dpbusd_epi32(re[line % 2], offset, _mm512_load_si512(tiles + line * 64));
      im[line % 2] = _mm512_dpbusd_epi32(im[line % 2], offset, _mm512_load_si512(tiles + PLANE_BYTES + line * 64));
    }
  }
  const __m512i sumRe = _mm512_add_epi32(re[0], re[1]), sumIm = _mm512_add_epi32(im[0], im[1]);
  _mm512_store_si512(notes, _mm512_add_epi32(sumRe, sumIm));
  _mm512_store_si512(static_cast<int32_t *>(notes) + 16, _mm512_sub_epi32(sumRe, sumIm));
}

/** Eight rows: 16 sums, 3 forms of the j side and 2 of the i side fit the 32 registers. */
constexpr int ROWS = 8;

inline __m512i fourSamplesOf(const int8_t *at) {
  int32_t word;
  __builtin_memcpy(&word, at, 4);
  return _mm512_set1_epi32(word);
}

void addPair(const int8_t *, const void *panel, const int8_t *tilesJ, const void *notes, int64_t timeBlocks,
             int32_t *sums) {
  const __m512i excessRe = _mm512_load_si512(notes),
                excessIm = _mm512_load_si512(static_cast<const int32_t *>(notes) + 16);
  for (int first = 0; first < 16; first += ROWS) {
    __m512i re[ROWS], im[ROWS];
    for (int row = 0; row < ROWS; row++) {
      const int32_t *at = sums + (first + row) * TILE_INPUTS;
      re[row] = _mm512_sub_epi32(_mm512_load_si512(at), excessRe);
      im[row] = _mm512_sub_epi32(_mm512_load_si512(at + PAIR_VALUES), excessIm);
    }
    const int8_t *i = static_cast<const int8_t *>(panel) + first * 4, *j = tilesJ;
    for (int64_t block = 0; block < timeBlocks; block++, i += PLANE_BYTES, j += PLANE_BYTES) {
#pragma GCC unroll 2
      for (int line = 0; line < 16; line++, i += 64, j += 64) {
        const __m512i bRe = _mm512_load_si512(j), bIm = _mm512_load_si512(j + PLANE_BYTES);
        const __m512i minusIm = _mm512_sub_epi8(_mm512_setzero_si512(), bIm);
#pragma GCC unroll 8
        for (int row = 0; row < ROWS; row++) {
          const __m512i aRe = fourSamplesOf(i + 4 * row), aIm = fourSamplesOf(i + PLANE_BYTES + 4 * row);
          re[row] = _mm512_dpbusd_epi32(re[row], aRe, bRe);
          im[row] = _mm512_dpbusd_epi32(im[row], aIm, bRe);
          re[row] = _mm512_dpbusd_epi32(re[row], aIm, bIm);
          im[row] = _mm512_dpbusd_epi32(im[row], aRe, minusIm);
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

extern const CorrelateKernels correlateKernels = {nothing,  nothing,  TILE_BYTES, 2 * TILE_INPUTS * 4,
                                                  prepareI, prepareJ, addPair};

}  // namespace avx512
}  // namespace corella
