// levels: avx512
// VPDPBUSD adds four stations at once to each of sixteen spectra, unsigned bytes by signed ones: spectra
// are raised by 128, which adds 128·Σw, known beforehand. panel : [quad][re, im][64 spectra][4 stations]
#include <immintrin.h>

#include "beamform/cpu/beamform_turn.h"

namespace corella {
namespace avx512 {
namespace {

inline __m512i fourStations(const int8_t *at) {
  int32_t word;
  __builtin_memcpy(&word, at, 4);
  return _mm512_set1_epi32(word);
}

/** Vectors of sixteen spectra: with four beams 16 sums, 4 of spectra and the weights fit the 32 registers. */
constexpr int AT_ONCE = 2;

void sum(const int8_t *panel, int64_t quads, const int8_t *weights, const int32_t *excess, int32_t *sums) {
  for (int64_t first = 0; first < TILE_SAMPLES; first += 16 * AT_ONCE) {
    __m512i re[AT_ONCE][GROUP], im[AT_ONCE][GROUP];
    for (int n = 0; n < AT_ONCE; n++)
      for (int64_t beam = 0; beam < GROUP; beam++) {
        re[n][beam] = _mm512_set1_epi32(-excess[2 * beam]);
        im[n][beam] = _mm512_set1_epi32(-excess[2 * beam + 1]);
      }
    const int8_t *x = panel + first * QUAD, *w = weights;
    for (int64_t quad = 0; quad < quads; quad++, x += QUAD_BYTES, w += WEIGHT_BYTES) {
#pragma GCC unroll 2
      for (int n = 0; n < AT_ONCE; n++) {
        const __m512i xRe = _mm512_load_si512(x + 64 * n), xIm = _mm512_load_si512(x + QUAD_BYTES / 2 + 64 * n);
#pragma GCC unroll 4
        for (int64_t beam = 0; beam < GROUP; beam++) {
          re[n][beam] = _mm512_dpbusd_epi32(re[n][beam], xRe, fourStations(w + 4 * beam));
          im[n][beam] = _mm512_dpbusd_epi32(im[n][beam], xRe, fourStations(w + 16 + 4 * beam));
          re[n][beam] = _mm512_dpbusd_epi32(re[n][beam], xIm, fourStations(w + 32 + 4 * beam));
          im[n][beam] = _mm512_dpbusd_epi32(im[n][beam], xIm, fourStations(w + 4 * beam));
        }
      }
    }
    for (int n = 0; n < AT_ONCE; n++)
      for (int64_t beam = 0; beam < GROUP; beam++) {
        int32_t *to = sums + beam * 2 * TILE_SAMPLES + first + 16 * n;
        _mm512_store_si512(to, re[n][beam]);
        _mm512_store_si512(to + TILE_SAMPLES, im[n][beam]);
      }
  }
}

}  // namespace

extern const BeamKernel beamKernel = {GROUP, 1, QUAD_BYTES, true, turn<-128>, sum, nothing, nothing};

}  // namespace avx512
}  // namespace corella
