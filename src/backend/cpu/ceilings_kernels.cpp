// levels: portable avx2 avx512 amx dotprod i8mm
#include "ceilings.h"
#include "vector.h"

#if defined(__AMX_INT8__)
#include "amx.h"
#elif CORELLA_X86
#include <immintrin.h>
#elif CORELLA_ARM
#include <arm_neon.h>
#endif

namespace corella {
namespace CORELLA_LEVEL {
namespace {

constexpr int BYTES = VECTOR_BYTES;
typedef uint64_t Words __attribute__((vector_size(BYTES), may_alias));

/** Two multiply-adds a cycle with four cycles' latency need eight sums; a few more do no harm. */
constexpr int SUMS = 12;

/** Hides a value from the optimiser, in a register. */
#if CORELLA_X86
#define CORELLA_HIDE(value) __asm__ volatile("" : "+x"(value))
#else
#define CORELLA_HIDE(value) __asm__ volatile("" : "+w"(value))
#endif

double floats(int64_t repeats) {
  Floats sums[SUMS] = {}, factor = {}, other = {};
  CORELLA_HIDE(factor);
  CORELLA_HIDE(other);
  for (int64_t repeat = 0; repeat < repeats; repeat++) {
#pragma GCC unroll 12
    for (int n = 0; n < SUMS; n++) sums[n] += factor * other;
#pragma GCC unroll 12
    for (int n = 0; n < SUMS; n++) CORELLA_HIDE(sums[n]);
    CORELLA_HIDE(factor);
  }
  return static_cast<double>(repeats) * SUMS * (BYTES / 4) * 2;
}

#if defined(__AMX_INT8__)
double integers(int64_t repeats) {
  enter();
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
  for (int64_t repeat = 0; repeat < repeats; repeat++) {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 5, 7);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 4, 7);
  }
  leave();
  return static_cast<double>(repeats) * 4 * 16 * 16 * 64 * 2;
}
#elif defined(__AVX512VNNI__)
double integers(int64_t repeats) {
  __m512i sums[SUMS] = {}, factor = _mm512_setzero_si512(), other = factor;
  CORELLA_HIDE(other);
  for (int64_t repeat = 0; repeat < repeats; repeat++) {
    CORELLA_HIDE(factor);
#pragma GCC unroll 12
    for (int n = 0; n < SUMS; n++) sums[n] = _mm512_dpbusd_epi32(sums[n], factor, other);
#pragma GCC unroll 12
    for (int n = 0; n < SUMS; n++) CORELLA_HIDE(sums[n]);
  }
  return static_cast<double>(repeats) * SUMS * 64 * 2;
}
#elif defined(__AVX2__)
/** Multiplying pairs and adding them takes two instructions. */
double integers(int64_t repeats) {
  __m256i sums[SUMS] = {}, factor = _mm256_setzero_si256(), other = factor;
  CORELLA_HIDE(other);
  for (int64_t repeat = 0; repeat < repeats; repeat++) {
#pragma GCC unroll 12
    for (int n = 0; n < SUMS; n++) {
      CORELLA_HIDE(factor);
      sums[n] = _mm256_add_epi32(sums[n], _mm256_madd_epi16(factor, other));
    }
#pragma GCC unroll 12
    for (int n = 0; n < SUMS; n++) CORELLA_HIDE(sums[n]);
  }
  return static_cast<double>(repeats) * SUMS * 16 * 2;
}
#elif defined(__ARM_FEATURE_MATMUL_INT8)
double integers(int64_t repeats) {
  int32x4_t sums[SUMS] = {};
  int8x16_t factor = vdupq_n_s8(0), other = factor;
  CORELLA_HIDE(other);
  for (int64_t repeat = 0; repeat < repeats; repeat++) {
    CORELLA_HIDE(factor);
#pragma GCC unroll 12
    for (int n = 0; n < SUMS; n++) sums[n] = vmmlaq_s32(sums[n], factor, other);
#pragma GCC unroll 12
    for (int n = 0; n < SUMS; n++) CORELLA_HIDE(sums[n]);
  }
  return static_cast<double>(repeats) * SUMS * 32 * 2;
}
#elif defined(__ARM_FEATURE_DOTPROD)
double integers(int64_t repeats) {
  int32x4_t sums[SUMS] = {};
  int8x16_t factor = vdupq_n_s8(0), other = factor;
  CORELLA_HIDE(other);
  for (int64_t repeat = 0; repeat < repeats; repeat++) {
    CORELLA_HIDE(factor);
#pragma GCC unroll 12
    for (int n = 0; n < SUMS; n++) sums[n] = vdotq_s32(sums[n], factor, other);
#pragma GCC unroll 12
    for (int n = 0; n < SUMS; n++) CORELLA_HIDE(sums[n]);
  }
  return static_cast<double>(repeats) * SUMS * 16 * 2;
}
#else
/** The portable level multiplies small integers in float32, where they are exact. */
double integers(int64_t repeats) { return floats(repeats); }
#endif

uint64_t read(const void *memory, int64_t sizeBytes) {
  const Words *at = static_cast<const Words *>(memory);
  Words sums[8] = {};
  for (int64_t word = 0; word < sizeBytes / BYTES; word += 8) {
#pragma GCC unroll 8
    for (int n = 0; n < 8; n++) sums[n] |= at[word + n];
  }
  uint64_t any = 0;
  for (int n = 0; n < 8; n++) any |= sums[n][0] | sums[n][1];
  return any;
}

}  // namespace

extern const Ceilings ceilings = {integers, floats, read};

}  // namespace CORELLA_LEVEL
}  // namespace corella
