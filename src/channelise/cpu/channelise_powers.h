// Sums of powers of the values in the corner turn's registers (spectra_powers.h).
#pragma once
#include "backend/cpu/spectra_powers.h"
#include "channelise/cpu/channelise_past.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** The cells that LANES spectra of an input block are added to. */
struct PowerCells {
  uint32_t *at;
  int64_t quadWords;
  bool isFresh;  // the first of their sixteen spectra

  /** [S1, S2][a mod 16] of a channel. */
  CORELLA_INLINE uint32_t *of(int32_t channel) const {
    const uint32_t c = static_cast<uint32_t>(channel);
    return at + c / POWER_CHANNELS * quadWords + c % POWER_CHANNELS * POWER_WORDS;
  }
};

/** From spectrum `first` on; null where there are no cells. */
inline PowerCells powerCells(uint32_t *cells, const SpectraLayout &layout, int64_t first) {
  if (cells == nullptr) return {nullptr, 0, false};
  return {cells + first / POWER_SPECTRA * POWER_CELL_WORDS, PowersLayout(layout).quadWords(),
          LANES == POWER_SPECTRA || first % POWER_SPECTRA == 0};
}

/**
 * Sums of LANES inputs. Sixteen of them are a cache line, which is stored non-temporally with the block: other cores
 * read it next, faster from memory than from this core's caches, and it need not be fetched first.
 */
template <bool Past, class Sums>
CORELLA_INLINE void storePowers(uint32_t *to, Sums sums, bool isFresh) {
  if constexpr (LANES == POWER_SPECTRA) {
    storeLine<Past>(reinterpret_cast<float *>(to), (Vec)sums);
  } else {
    auto *kept = reinterpret_cast<Sums *>(to);
    *kept = isFresh ? sums : *kept + sums;
  }
}

/** Where powers of integers cost more here than in a pass over the block afterwards, they are left to that. */
#if defined(__AVX2__)
constexpr bool SUMS_INTEGERS = true;
#else
constexpr bool SUMS_INTEGERS = false;
#endif

#if defined(__AVX2__)
typedef uint32_t WordVec __attribute__((vector_size(4 * LANES)));

#if defined(__AVX512BW__)
typedef __m512i ByteVec;
CORELLA_INLINE ByteVec magnitudes(Vec x) { return _mm512_abs_epi8((__m512i)x); }
CORELLA_INLINE ByteVec lowPairs(ByteVec x, ByteVec y) { return _mm512_unpacklo_epi8(x, y); }
CORELLA_INLINE ByteVec highPairs(ByteVec x, ByteVec y) { return _mm512_unpackhi_epi8(x, y); }
CORELLA_INLINE ByteVec pairPowers(ByteVec x) { return _mm512_maddubs_epi16(x, x); }
CORELLA_INLINE ByteVec addBytePowers(ByteVec sum, ByteVec x) { return _mm512_dpbusd_epi32(sum, x, x); }
CORELLA_INLINE ByteVec addSquares(ByteVec sum, ByteVec x) { return _mm512_dpwssd_epi32(sum, x, x); }
CORELLA_INLINE WordVec addNeighbours(ByteVec x, ByteVec y) {
  const __m512 a = _mm512_castsi512_ps(x), b = _mm512_castsi512_ps(y);
  return (WordVec)_mm512_shuffle_ps(a, b, 0x88) + (WordVec)_mm512_shuffle_ps(a, b, 0xdd);
}
#else
typedef __m256i ByteVec;
CORELLA_INLINE ByteVec magnitudes(Vec x) { return _mm256_abs_epi8((__m256i)x); }
CORELLA_INLINE ByteVec lowPairs(ByteVec x, ByteVec y) { return _mm256_unpacklo_epi8(x, y); }
CORELLA_INLINE ByteVec highPairs(ByteVec x, ByteVec y) { return _mm256_unpackhi_epi8(x, y); }
CORELLA_INLINE ByteVec pairPowers(ByteVec x) { return _mm256_maddubs_epi16(x, x); }
CORELLA_INLINE ByteVec addBytePowers(ByteVec sum, ByteVec x) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(pairPowers(x), _mm256_set1_epi16(1)));
}
CORELLA_INLINE ByteVec addSquares(ByteVec sum, ByteVec x) { return _mm256_add_epi32(sum, _mm256_madd_epi16(x, x)); }
CORELLA_INLINE WordVec addNeighbours(ByteVec x, ByteVec y) {
  const __m256 a = _mm256_castsi256_ps(x), b = _mm256_castsi256_ps(y);
  return (WordVec)_mm256_shuffle_ps(a, b, 0x88) + (WordVec)_mm256_shuffle_ps(a, b, 0xdd);
}
#endif

/** Lines of four samples of LANES inputs, PIECES of them from `place` on, every fourth. No byte is −128. */
template <bool Past>
CORELLA_INLINE void addLinePowers(const Vec (&re)[LANES], const Vec (&im)[LANES], int place, uint32_t *to,
                                  bool isFresh) {
  ByteVec s1 = {}, low = {}, high = {};
  each<PIECES>(CORELLA_EACH {
    const ByteVec x = magnitudes(re[4 * i + place]), y = magnitudes(im[4 * i + place]);
    s1 = addBytePowers(addBytePowers(s1, x), y);
    // A power of at most 2 · 127² fits 16 bits with a sign.
    low = addSquares(low, pairPowers(lowPairs(x, y)));
    high = addSquares(high, pairPowers(highPairs(x, y)));
  });
  storePowers<Past, WordVec>(to, (WordVec)s1, isFresh);
  storePowers<Past, WordVec>(to + TILE_INPUTS, addNeighbours(low, high), isFresh);
}

#endif

/**
 * LANES spectra of LANES inputs; every fourth is added to the same sum, so that additions do not wait for each other.
 */
template <bool Past>
CORELLA_INLINE void addFloatPowers(const Vec (&re)[LANES], const Vec (&im)[LANES], uint32_t *to, bool isFresh) {
  Vec s1[4], s2[4];
  each<4>(CORELLA_EACH {
    const Vec power = re[i] * re[i] + im[i] * im[i];
    s1[i] = power;
    s2[i] = power * power;
  });
  each<LANES - 4>(CORELLA_EACH {
    const Vec power = re[i + 4] * re[i + 4] + im[i + 4] * im[i + 4];
    s1[i % 4] += power;
    s2[i % 4] += power * power;
  });
  storePowers<Past>(to, (s1[0] + s1[1]) + (s1[2] + s1[3]), isFresh);
  storePowers<Past>(to + TILE_INPUTS, (s2[0] + s2[1]) + (s2[2] + s2[3]), isFresh);
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella
