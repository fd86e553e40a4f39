// levels: amx
// Tiles of 16 × 64 bytes: one instruction multiplies 16 inputs by 16 over 64 samples.
#include "backend/cpu/amx.h"
#include "correlate/cpu/correlate_kernels.h"

namespace corella {
namespace amx {
namespace {

/**
 * A 16 × 16 transpose of 4-byte words: lines of [16 inputs][4 t] become rows of one input, [16][4 t] = 64
 * samples. Lanes are gathered by masked loads, which leaves only half the shuffles to the one port that does them.
 */
inline void transpose(const int8_t *from, int8_t *to) {
  __m512i lanes[16];
  // lanes[4·g + r]: words 4g…4g+3 of lines r, r+4, r+8, r+12, one per 128-bit lane
  for (int g = 0; g < 4; g++) {
    for (int r = 0; r < 4; r++) {
      const int8_t *at = from + r * 64 + g * 16;
      __m512i v = _mm512_castsi128_si512(_mm_load_si128(reinterpret_cast<const __m128i *>(at)));
      v = _mm512_mask_broadcast_i32x4(v, 0x00f0, _mm_load_si128(reinterpret_cast<const __m128i *>(at + 4 * 64)));
      v = _mm512_mask_broadcast_i32x4(v, 0x0f00, _mm_load_si128(reinterpret_cast<const __m128i *>(at + 8 * 64)));
      v = _mm512_mask_broadcast_i32x4(v, 0xf000, _mm_load_si128(reinterpret_cast<const __m128i *>(at + 12 * 64)));
      lanes[4 * g + r] = v;
    }
  }
  // A 4 × 4 transpose inside every lane puts word w of lines 0…15 in order.
  for (int g = 0; g < 4; g++) {
    const __m512i *v = lanes + 4 * g;
    const __m512i low01 = _mm512_unpacklo_epi32(v[0], v[1]), high01 = _mm512_unpackhi_epi32(v[0], v[1]);
    const __m512i low23 = _mm512_unpacklo_epi32(v[2], v[3]), high23 = _mm512_unpackhi_epi32(v[2], v[3]);
    int8_t *row = to + 4 * g * 64;
    _mm512_store_si512(row, _mm512_unpacklo_epi64(low01, low23));
    _mm512_store_si512(row + 64, _mm512_unpackhi_epi64(low01, low23));
    _mm512_store_si512(row + 128, _mm512_unpacklo_epi64(high01, high23));
    _mm512_store_si512(row + 192, _mm512_unpackhi_epi64(high01, high23));
  }
}

void prepareI(const int8_t *tiles, int64_t timeBlocks, void *panel) {
  for (int64_t plane = 0; plane < 2 * timeBlocks; plane++) {
    transpose(tiles + plane * PLANE_BYTES, static_cast<int8_t *>(panel) + plane * PLANE_BYTES);
  }
}

/**
 * Four accumulators, one for each kind of product: the multiplier takes 16 cycles an instruction but its latency is 52,
 * so each accumulator is used once in four.
 */
void addPair(const int8_t *, const void *panel, const int8_t *tilesJ, const void *, int64_t timeBlocks, int32_t *sums) {
  const int8_t *a = static_cast<const int8_t *>(panel);
  const int8_t *b = tilesJ;
  int32_t *re = sums, *im = sums + PAIR_VALUES;
  _tile_loadd(0, re, 64);
  _tile_zero(1);
  _tile_loadd(2, im, 64);
  _tile_zero(3);
  for (int64_t block = 0; block < timeBlocks; block++, a += TILE_BYTES, b += TILE_BYTES) {
    _tile_loadd(4, a, 64);
    _tile_loadd(6, b, 64);
    _tile_loadd(5, a + PLANE_BYTES, 64);
    _tile_loadd(7, b + PLANE_BYTES, 64);
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(1, 5, 7);
    _tile_dpbssd(3, 4, 7);
  }
  alignas(64) int32_t imIm[PAIR_VALUES], reIm[PAIR_VALUES];
  _tile_stored(0, re, 64);
  _tile_stored(1, imIm, 64);
  _tile_stored(2, im, 64);
  _tile_stored(3, reIm, 64);
  __asm__ volatile("" : : : "memory");
  for (int64_t at = 0; at < PAIR_VALUES; at += 16) {
    _mm512_store_si512(re + at, _mm512_add_epi32(_mm512_load_si512(re + at), _mm512_load_si512(imIm + at)));
    _mm512_store_si512(im + at, _mm512_sub_epi32(_mm512_load_si512(im + at), _mm512_load_si512(reIm + at)));
  }
}

}  // namespace

extern const CorrelateKernels correlateKernels = {enter, leave, TILE_BYTES, 0, prepareI, prepareNothing, addPair};

}  // namespace amx
}  // namespace corella
