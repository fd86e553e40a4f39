// From transformed points to a stage: gain, and rounding half to even.
//
// Rounded bytes are kept there, four places at a time, [place/4][re, im][t/4][place mod 4][t mod 4], until all inputs
// of an input block are done (channelise_corner.h).
#pragma once
#include "channelise/cpu/channelise_lanes.h"
#include "channelise/cpu/channelise_turns.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

constexpr int QUAD_BYTES = 4 * LANES;  // four places, LANES samples: one vector

/** To the nearest integer, halves to even; |value| below 2²². */
CORELLA_INLINE IntVec rounded(Vec value) {
#if defined(__AVX512F__)
  return (IntVec)_mm512_cvtps_epi32(value);
#elif defined(__AVX2__)
  return (IntVec)_mm256_cvtps_epi32(value);
#else
  // Added to 3·2²², a number loses its fraction by the sum's rounding.
  constexpr int32_t BITS = 0x4b400000;
  return (IntVec)(value + 12582912.0f) - BITS;
#endif
}

/** Saturates to bytes; word 4·(t/4) + place holds four samples of a place. */
CORELLA_INLINE IntVec packed(const IntVec (&v)[4]) {
#if defined(__AVX512F__)
  return (IntVec)_mm512_packs_epi16(_mm512_packs_epi32((__m512i)v[0], (__m512i)v[1]),
                                    _mm512_packs_epi32((__m512i)v[2], (__m512i)v[3]));
#elif defined(__AVX2__)
  return (IntVec)_mm256_packs_epi16(_mm256_packs_epi32((__m256i)v[0], (__m256i)v[1]),
                                    _mm256_packs_epi32((__m256i)v[2], (__m256i)v[3]));
#else
  // LANES is 4 here: each vector becomes one word.
  IntVec words;
  for (int place = 0; place < 4; place++) {
    uint32_t word = 0;
    for (int t = 3; t >= 0; t--) word = word << 8 | (static_cast<uint32_t>(v[place][t]) & 0xffu);
    words[place] = static_cast<int32_t>(word);
  }
  return words;
#endif
}

CORELLA_INLINE void scaledQuad(const float *at, const float *gains, int part, Vec (&values)[4]) {
  each<4>(CORELLA_EACH { values[i] = load(at + i * POINT + part * LANES) * broadcast(gains[i]); });
}

/**
 * Exact for any value; returns how many saturated. Both rails are odd: their half is rounded up, past them. gains :
 * from `first` on.
 */
int64_t roundWithRails(const float *work, const float *gains, float rail, int64_t first, int64_t end, char *stage) {
  IntVec passed = {};
  for (int64_t place = first; place < end; place += 4) {
    for (int part = 0; part < 2; part++) {
      Vec values[4];
      IntVec whole[4];
      scaledQuad(work + place * POINT, gains + (place - first), part, values);
      each<4>(CORELLA_EACH {
        const Vec most = broadcast(rail), x = values[i];
        passed -= (IntVec)(x >= most + 0.5f) + (IntVec)(x <= -most - 0.5f);
        const Vec below = x > most ? most : x;
        whole[i] = rounded(below < -most ? -most : below);
      });
      *reinterpret_cast<IntVec *>(stage + (place / 4 * 2 + part) * QUAD_BYTES) = packed(whole);
    }
  }
  int64_t count = 0;
  for (int lane = 0; lane < LANES; lane++) count += passed[lane];
  return count;
}

#if defined(__AVX512F__)
/**
 * Right only for values within the rails; `largest` records this (allWithin). Here it keeps magnitudes of 16-bit
 * halves.
 */
CORELLA_INLINE IntVec packedWithin(const Vec (&v)[4], IntVec &largest, int) {
  // Values past 32 bits become the most negative number, and show in the magnitude.
  const __m512i a = _mm512_packs_epi32(_mm512_cvtps_epi32(v[0]), _mm512_cvtps_epi32(v[1]));
  const __m512i b = _mm512_packs_epi32(_mm512_cvtps_epi32(v[2]), _mm512_cvtps_epi32(v[3]));
  const __m512i here = _mm512_max_epu16(_mm512_abs_epi16(a), _mm512_abs_epi16(b));
  largest = (IntVec)_mm512_max_epu16((__m512i)largest, here);
  return (IntVec)_mm512_packs_epi16(a, b);
}
CORELLA_INLINE bool allWithin(IntVec largest, int rail) {
  return _mm512_cmpgt_epu16_mask((__m512i)largest, _mm512_set1_epi16(static_cast<int16_t>(rail))) == 0;
}
#elif defined(__AVX2__)
CORELLA_INLINE IntVec packedWithin(const Vec (&v)[4], IntVec &largest, int) {
  const __m256i a = _mm256_packs_epi32(_mm256_cvtps_epi32(v[0]), _mm256_cvtps_epi32(v[1]));
  const __m256i b = _mm256_packs_epi32(_mm256_cvtps_epi32(v[2]), _mm256_cvtps_epi32(v[3]));
  const __m256i here = _mm256_max_epu16(_mm256_abs_epi16(a), _mm256_abs_epi16(b));
  largest = (IntVec)_mm256_max_epu16((__m256i)largest, here);
  return (IntVec)_mm256_packs_epi16(a, b);
}
CORELLA_INLINE bool allWithin(IntVec largest, int rail) {
  const __m256i over = _mm256_subs_epu16((__m256i)largest, _mm256_set1_epi16(static_cast<int16_t>(rail)));
  return _mm256_testz_si256(over, over) != 0;
}
#elif defined(__ARM_FEATURE_DOTPROD)
/**
 * y = n + rail, from 0 to 2 · rail, from the low bits of the sum with 3·2²² (and 128: even, so that halves are rounded
 * the same way).
 */
CORELLA_INLINE IntVec packedWithin(const Vec (&v)[4], IntVec &largest, int rail) {
  const Vec magic = broadcast(12582912.0f + 128.0f);
  const uint32x4_t bits = vdupq_n_u32(0x4b400000u + 128u - static_cast<uint32_t>(rail));
  uint32x4_t y[4];
  each<4>(CORELLA_EACH {
    Vec value = v[i];
    __asm__("" : "+w"(value));  // rounded to a float before the sum, as on every level: halves stay halves
    y[i] = vsubq_u32((uint32x4_t)(value + magic), bits);
    largest = (IntVec)vmaxq_u32((uint32x4_t)largest, y[i]);
  });
  const uint16x8_t a = vuzp1q_u16(vreinterpretq_u16_u32(y[0]), vreinterpretq_u16_u32(y[1]));
  const uint16x8_t b = vuzp1q_u16(vreinterpretq_u16_u32(y[2]), vreinterpretq_u16_u32(y[3]));
  const uint8x16_t words = vuzp1q_u8(vreinterpretq_u8_u16(a), vreinterpretq_u8_u16(b));
  return (IntVec)vsubq_u8(words, vdupq_n_u8(static_cast<uint8_t>(rail)));
}
CORELLA_INLINE bool allWithin(IntVec largest, int rail) {
  return vmaxvq_u32((uint32x4_t)largest) <= static_cast<uint32_t>(2 * rail);
}
#endif
constexpr int railOf(SpectraType output) { return output == SpectraType::ci4 ? 7 : 127; }

CORELLA_INLINE Complex gained(Complex x, const ChanneliseRows &rows, int64_t place) {
  const Vec gain = broadcast(rows.gains[place]);
  return {x.re * gain, x.im * gain};
}

#if CORELLA_ROUNDS_FROM_REGISTERS
/** Four points of neighbouring places, right only for values within the rails; `largest` records this. */
template <bool Gained = false>
CORELLA_INLINE void roundQuad(const Complex *x, const ChanneliseRows &rows, int64_t place, int rail, IntVec &largest) {
  Vec re[4], im[4];
  each<4>(CORELLA_EACH {
    const Complex scaled = Gained ? x[i] : gained(x[i], rows, place + i);
    re[i] = scaled.re;
    im[i] = scaled.im;
  });
  IntVec *to = reinterpret_cast<IntVec *>(rows.stage + place / 4 * 2 * QUAD_BYTES);
  to[0] = packedWithin(re, largest, rail);
  to[1] = packedWithin(im, largest, rail);
}
#endif

/** Four points, delayed or not; delayed ones are stored, so that they are not delayed twice. */
template <bool Delayed>
CORELLA_INLINE void loadQuad(const ChanneliseJob &job, const ChanneliseRows &rows, int64_t place, Complex (&quad)[4]) {
  each<4>(CORELLA_EACH { quad[i] = loadPoint(rows.work + (place + i) * POINT); });
  if constexpr (Delayed) delayQuad(job, rows, place, quad);
}
CORELLA_INLINE void keepQuad(const ChanneliseRows &rows, int64_t place, const Complex (&quad)[4]) {
  each<4>(CORELLA_EACH { storePoint(rows.work + (place + i) * POINT, quad[i]); });
}

/** Places first…end−1, multiples of 4, into the stage; returns how many parts saturated. */
template <bool Delayed>
int64_t roundPlaces(const ChanneliseJob &job, const ChanneliseRows &rows, int64_t first, int64_t end) {
  if (job.output == SpectraType::cf32) {
    float *stage = reinterpret_cast<float *>(rows.stage);
    for (int64_t place = first; place < end; place += 4) {
      Complex quad[4];
      loadQuad<Delayed>(job, rows, place, quad);
      each<4>(CORELLA_EACH { storePoint(stage + (place + i) * POINT, gained(quad[i], rows, place + i)); });
    }
    return 0;
  }
#if CORELLA_ROUNDS_FROM_REGISTERS
  int64_t passed = 0;
  const int rail = railOf(job.output);
  for (int64_t place = first; place < end; place += 4) {
    Complex quad[4];
    IntVec largest = {};
    loadQuad<Delayed>(job, rows, place, quad);
    roundQuad(quad, rows, place, rail, largest);
    if (__builtin_expect(allWithin(largest, rail), 1)) continue;
    if constexpr (Delayed) keepQuad(rows, place, quad);
    passed += roundWithRails(rows.work, rows.gains + place, static_cast<float>(rail), place, place + 4, rows.stage);
  }
  return passed;
#else
  for (int64_t place = first; Delayed && place < end; place += 4) {
    Complex quad[4];
    loadQuad<Delayed>(job, rows, place, quad);
    keepQuad(rows, place, quad);
  }
  return roundWithRails(rows.work, rows.gains + first, static_cast<float>(railOf(job.output)), first, end, rows.stage);
#endif
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella
