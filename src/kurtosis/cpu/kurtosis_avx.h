// Sums of powers with AVX2 and AVX-512 (VNNI).
#pragma once
#include <immintrin.h>

#include <cstring>

#include "backend/cpu/vector.h"
#include "kurtosis/cpu/kurtosis_lines.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

#if defined(__AVX512BW__)
typedef __m512i Vector;
CORELLA_INLINE Vector loadBytes(const int8_t *at) { return _mm512_loadu_si512(at); }
CORELLA_INLINE Vector loadWide(const int8_t *at) {
  return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(at)));
}
CORELLA_INLINE Vector nothing() { return _mm512_setzero_si512(); }
CORELLA_INLINE Vector allBytes(int8_t value) { return _mm512_set1_epi8(value); }
CORELLA_INLINE Vector allShorts(int16_t value) { return _mm512_set1_epi16(value); }
CORELLA_INLINE Vector table(__m128i sixteen) { return _mm512_broadcast_i32x4(sixteen); }
CORELLA_INLINE Vector lookUp(Vector from, Vector at) { return _mm512_shuffle_epi8(from, at); }
CORELLA_INLINE Vector both(Vector x, Vector y) { return _mm512_and_si512(x, y); }
CORELLA_INLINE Vector addBytes(Vector x, Vector y) { return _mm512_add_epi8(x, y); }
CORELLA_INLINE Vector addShorts(Vector x, Vector y) { return _mm512_add_epi16(x, y); }
CORELLA_INLINE Vector addInts(Vector x, Vector y) { return _mm512_add_epi32(x, y); }
CORELLA_INLINE Vector addLongs(Vector x, Vector y) { return _mm512_add_epi64(x, y); }
CORELLA_INLINE Vector squareShorts(Vector x) { return _mm512_mullo_epi16(x, x); }
CORELLA_INLINE Vector dotPairs(Vector x, Vector y) { return _mm512_madd_epi16(x, y); }
/** Sums of four products, x without signs. */
CORELLA_INLINE Vector dotFours(Vector sum, Vector x, Vector y) { return _mm512_dpbusd_epi32(sum, x, y); }
CORELLA_INLINE Vector lowerLongs(Vector x) { return _mm512_cvtepu32_epi64(_mm512_castsi512_si256(x)); }
CORELLA_INLINE Vector upperLongs(Vector x) { return _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(x, 1)); }
#else
typedef __m256i Vector;
CORELLA_INLINE Vector loadBytes(const int8_t *at) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(at)); }
CORELLA_INLINE Vector loadWide(const int8_t *at) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i *>(at)));
}
CORELLA_INLINE Vector nothing() { return _mm256_setzero_si256(); }
CORELLA_INLINE Vector allBytes(int8_t value) { return _mm256_set1_epi8(value); }
CORELLA_INLINE Vector allShorts(int16_t value) { return _mm256_set1_epi16(value); }
CORELLA_INLINE Vector table(__m128i sixteen) { return _mm256_broadcastsi128_si256(sixteen); }
CORELLA_INLINE Vector lookUp(Vector from, Vector at) { return _mm256_shuffle_epi8(from, at); }
CORELLA_INLINE Vector both(Vector x, Vector y) { return _mm256_and_si256(x, y); }
CORELLA_INLINE Vector addBytes(Vector x, Vector y) { return _mm256_add_epi8(x, y); }
CORELLA_INLINE Vector addShorts(Vector x, Vector y) { return _mm256_add_epi16(x, y); }
CORELLA_INLINE Vector addInts(Vector x, Vector y) { return _mm256_add_epi32(x, y); }
CORELLA_INLINE Vector addLongs(Vector x, Vector y) { return _mm256_add_epi64(x, y); }
CORELLA_INLINE Vector squareShorts(Vector x) { return _mm256_mullo_epi16(x, x); }
CORELLA_INLINE Vector dotPairs(Vector x, Vector y) { return _mm256_madd_epi16(x, y); }
/** Sums of four products, x without signs; no two of them may pass 16 bits. */
CORELLA_INLINE Vector dotFours(Vector sum, Vector x, Vector y) {
  return addInts(sum, dotPairs(_mm256_maddubs_epi16(x, y), allShorts(1)));
}
CORELLA_INLINE Vector lowerLongs(Vector x) { return _mm256_cvtepu32_epi64(_mm256_castsi256_si128(x)); }
CORELLA_INLINE Vector upperLongs(Vector x) { return _mm256_cvtepu32_epi64(_mm256_extracti128_si256(x, 1)); }
#endif

constexpr int64_t BYTES = sizeof(Vector), INTS = BYTES / 4;

// A power less 2¹⁴, q, fits 16 bits with its sign even of −128 and −128. Σp = Σq + 2¹⁴n, Σp² = Σq² + 2¹⁵ Σq + 2²⁸n. Two q² are
// at most 2²⁹: seven such sums fit 32 bits without a sign, and those are added in 64.
constexpr int64_t MIDDLE = 1 << 14, LINES_AT_ONCE = 7;

void sumIntegers(const int8_t *tiles, int64_t first, int64_t end, double *sums) {
  // As many bytes of a line as become a vector of 16 bits: two lanes of 32 bits an input.
  constexpr int64_t PART = BYTES / 2, INPUTS = PART / 4;
  const int64_t firstLine = first / 4, endLine = (end + 3) / 4;
  const int64_t samples = 4 * (endLine - firstLine);
  const Vector less = allShorts(-MIDDLE), ones = allShorts(1);
  for (int64_t part = 0; part < LINE / PART; part++) {
    Vector sum = nothing(), lower = nothing(), upper = nothing();
    for (int64_t line = firstLine; line < endLine;) {
      const int64_t last = linesOfTile(line, endLine);
      const int8_t *at = lineAt(tiles, line) + part * PART;
      while (line < last) {
        const int64_t stop = last - line < LINES_AT_ONCE ? last : line + LINES_AT_ONCE;
        Vector squares = nothing();
        for (; line < stop; line++, at += LINE) {
          const Vector re = squareShorts(loadWide(at)), im = squareShorts(loadWide(at + PLANE_BYTES));
          const Vector q = addShorts(addShorts(re, im), less);
          sum = addInts(sum, dotPairs(q, ones));
          squares = addInts(squares, dotPairs(q, q));
        }
        lower = addLongs(lower, lowerLongs(squares));
        upper = addLongs(upper, upperLongs(squares));
      }
    }
    int32_t q[INTS];
    int64_t square[INTS];
    std::memcpy(q, &sum, sizeof q);
    std::memcpy(square, &lower, BYTES);
    std::memcpy(square + INTS / 2, &upper, BYTES);
    for (int64_t n = 0; n < INPUTS; n++) {
      const int64_t one = int64_t{q[2 * n]} + q[2 * n + 1], two = square[2 * n] + square[2 * n + 1];
      double *to = sums + 2 * (part * INPUTS + n);
      to[0] = static_cast<double>(one + MIDDLE * samples);
      to[1] = static_cast<double>(two + 2 * MIDDLE * one + MIDDLE * MIDDLE * samples);
    }
  }
}

/** Squares by a table of nibbles; a power is at most 128, and p² = p(p − 64) + 64p: unsigned times signed. */
void sumNibbles(const int8_t *tiles, int64_t first, int64_t end, double *sums) {
  const Vector squares = table(_mm_setr_epi8(0, 1, 4, 9, 16, 25, 36, 49, 64, 49, 36, 25, 16, 9, 4, 1));
  const Vector low = allBytes(15), less = allBytes(-64), ones = allBytes(1);
  const int64_t endLine = (end + 3) / 4;
  for (int64_t part = 0; part < LINE / BYTES; part++) {
    Vector s1 = nothing(), s2 = nothing();
    for (int64_t line = first / 4; line < endLine;) {
      const int64_t last = linesOfTile(line, endLine);
      for (const int8_t *at = lineAt(tiles, line) + part * BYTES; line < last; line++, at += LINE) {
        const Vector re = lookUp(squares, both(loadBytes(at), low));
        const Vector im = lookUp(squares, both(loadBytes(at + PLANE_BYTES), low));
        const Vector power = addBytes(re, im);
        s1 = dotFours(s1, power, ones);
        s2 = dotFours(s2, power, addBytes(power, less));
      }
    }
    int32_t power[INTS], rest[INTS];
    std::memcpy(power, &s1, sizeof power);
    std::memcpy(rest, &s2, sizeof rest);
    for (int64_t n = 0; n < INTS; n++) {
      double *to = sums + 2 * (part * INTS + n);
      to[0] = power[n];
      to[1] = static_cast<double>(int64_t{rest[n]} + 64 * int64_t{power[n]});
    }
  }
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella
