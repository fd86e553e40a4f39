// Panels of AVX-512 and AMX. panel : [quad][re, im][64 spectra][4 stations]
#pragma once
#include <immintrin.h>

#include "beamform/cpu/beamform_kernels.h"

namespace corella {
namespace {

constexpr int64_t QUAD_BYTES = 2 * TILE_SAMPLES * QUAD;
constexpr int LINES = TILE_SAMPLES / 4;

/** A line's sixteen inputs to four quads of [4 spectra][4 stations], those of the polarisation first. */
template <int8_t RAISED>
void turn(const int8_t *tiles, int64_t stride, int64_t quads, int64_t polarisations, int64_t p, int8_t *panel) {
  const __m512i transpose = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  const __m512i inOrder = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i everySecond = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
  const __m512i order = polarisations == 1 ? inOrder
                        : p == 0           ? everySecond
                                           : _mm512_shuffle_i64x2(everySecond, everySecond, 0x4E);
  const __m512i raised = _mm512_set1_epi8(RAISED);
  const int64_t perTile = TILE_INPUTS / QUAD / polarisations;
  for (int64_t first = 0; first < quads; first += perTile) {
    const int8_t *tile = tiles + first / perTile * stride;
    const int64_t here = quads - first < perTile ? quads - first : perTile;
    for (int part = 0; part < 2; part++)
      for (int line = 0; line < LINES; line++) {
        const __m512i from = _mm512_load_si512(tile + part * PLANE_BYTES + 64 * line);
        const __m512i turned =
            _mm512_xor_si512(_mm512_shuffle_epi8(_mm512_permutexvar_epi32(order, from), transpose), raised);
        int8_t *to = panel + first * QUAD_BYTES + part * (QUAD_BYTES / 2) + 16 * line;
        alignas(64) int8_t lanes[64];
        _mm512_store_si512(lanes, turned);
        for (int64_t quad = 0; quad < here; quad++) __builtin_memcpy(to + quad * QUAD_BYTES, lanes + 16 * quad, 16);
      }
  }
}

}  // namespace
}  // namespace corella
