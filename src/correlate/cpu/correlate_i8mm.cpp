// levels: i8mm
// SMMLA multiplies two rows of eight bytes by two others and adds the four products to 32-bit sums: twice
// the work of SDOT. Both sides need pairs of inputs with eight samples each, which are two lines of spectra.h with
// their words interleaved; that is done once for a group of i, and once for each j of a group. −bᵢ is wrong for −128,
// which only flagged inputs may have: their products are discarded.
#include <arm_neon.h>

#include "correlate/cpu/correlate_kernels.h"

namespace corella {
namespace i8mm {
namespace {

constexpr int EIGHTS = TILE_SAMPLES / 8;
/** Pairs of inputs in a block. */
constexpr int PAIRS = TILE_INPUTS / 2;

inline int8x16_t low(int8x16_t a, int8x16_t b) {
  return vreinterpretq_s8_s32(vzip1q_s32(vreinterpretq_s32_s8(a), vreinterpretq_s32_s8(b)));
}
inline int8x16_t high(int8x16_t a, int8x16_t b) {
  return vreinterpretq_s8_s32(vzip2q_s32(vreinterpretq_s32_s8(a), vreinterpretq_s32_s8(b)));
}

/** panel : [pair / 2][eight samples][aᵣ of 2 pairs, aᵢ of 2 pairs, −aᵣ of 2 pairs][2 inputs][8 samples] */
constexpr int64_t STEP_I = 6 * 16;
void prepareI(const int8_t *tiles, int64_t timeBlocks, void *panel) {
  const int64_t stride = timeBlocks * EIGHTS * STEP_I;
  for (int64_t block = 0; block < timeBlocks; block++) {
    for (int eight = 0; eight < EIGHTS; eight++) {
      const int8_t *from = tiles + block * TILE_BYTES + eight * 128;
      int8_t *to = static_cast<int8_t *>(panel) + (block * EIGHTS + eight) * STEP_I;
      for (int quad = 0; quad < TILE_INPUTS / 4; quad++, from += 16, to += stride) {
        const int8x16_t re0 = vld1q_s8(from), re1 = vld1q_s8(from + 64);
        const int8x16_t im0 = vld1q_s8(from + PLANE_BYTES), im1 = vld1q_s8(from + PLANE_BYTES + 64);
        const int8x16_t re[2] = {low(re0, re1), high(re0, re1)};
        vst1q_s8(to, re[0]);
        vst1q_s8(to + 16, re[1]);
        vst1q_s8(to + 32, low(im0, im1));
        vst1q_s8(to + 48, high(im0, im1));
        vst1q_s8(to + 64, vnegq_s8(re[0]));
        vst1q_s8(to + 80, vnegq_s8(re[1]));
      }
    }
  }
}

/** notes : [half of j][eight samples][bᵣ of 4 pairs, bᵢ of 4 pairs][2 inputs][8 samples] */
constexpr int64_t STEP_J = 8 * 16;
void prepareJ(const int8_t *tiles, int64_t timeBlocks, void *notes) {
  const int64_t stride = timeBlocks * EIGHTS * STEP_J;
  for (int64_t block = 0; block < timeBlocks; block++) {
    for (int eight = 0; eight < EIGHTS; eight++) {
      const int8_t *from = tiles + block * TILE_BYTES + eight * 128;
      int8_t *to = static_cast<int8_t *>(notes) + (block * EIGHTS + eight) * STEP_J;
      for (int quad = 0; quad < TILE_INPUTS / 4; quad++, from += 16) {
        int8_t *at = to + quad / 2 * stride + quad % 2 * 32;
        const int8x16_t re0 = vld1q_s8(from), re1 = vld1q_s8(from + 64);
        const int8x16_t im0 = vld1q_s8(from + PLANE_BYTES), im1 = vld1q_s8(from + PLANE_BYTES + 64);
        vst1q_s8(at, low(re0, re1));
        vst1q_s8(at + 16, high(re0, re1));
        vst1q_s8(at + 64, low(im0, im1));
        vst1q_s8(at + 80, high(im0, im1));
      }
    }
  }
}

/** Two rows of 4 j each from two sums of 2 × 2, and the reverse: words 0,1 of each are the first row. */
inline __attribute__((always_inline)) void toSquares(const int32_t *at, int32x4_t *squares) {
  const int64x2_t row0 = vreinterpretq_s64_s32(vld1q_s32(at)),
                  row1 = vreinterpretq_s64_s32(vld1q_s32(at + TILE_INPUTS));
  squares[0] = vreinterpretq_s32_s64(vzip1q_s64(row0, row1));
  squares[1] = vreinterpretq_s32_s64(vzip2q_s64(row0, row1));
}
inline __attribute__((always_inline)) void fromSquares(const int32x4_t *squares, int32_t *at) {
  const int64x2_t a = vreinterpretq_s64_s32(squares[0]), b = vreinterpretq_s64_s32(squares[1]);
  vst1q_s32(at, vreinterpretq_s32_s64(vzip1q_s64(a, b)));
  vst1q_s32(at + TILE_INPUTS, vreinterpretq_s32_s64(vzip2q_s64(a, b)));
}

/** Four rows of i by eight j: 16 sums; 6 forms of the i side and 8 of the j side, these one after the other. */
void addEight(const int8_t *i, const int8_t *j, int64_t timeBlocks, int32_t *sums) {
  int32x4_t re[2][4], im[2][4];
#pragma GCC unroll 2
  for (int pair = 0; pair < 2; pair++) {
#pragma GCC unroll 2
    for (int two = 0; two < 2; two++) {
      toSquares(sums + 2 * pair * TILE_INPUTS + 4 * two, re[pair] + 2 * two);
      toSquares(sums + PAIR_VALUES + 2 * pair * TILE_INPUTS + 4 * two, im[pair] + 2 * two);
    }
  }
  for (int64_t step = 0; step < timeBlocks * EIGHTS; step++, i += STEP_I, j += STEP_J) {
    const int8x16_t aRe[2] = {vld1q_s8(i), vld1q_s8(i + 16)}, aIm[2] = {vld1q_s8(i + 32), vld1q_s8(i + 48)};
    const int8x16_t minusRe[2] = {vld1q_s8(i + 64), vld1q_s8(i + 80)};
#pragma GCC unroll 4
    for (int at = 0; at < 4; at++) {
      const int8x16_t bRe = vld1q_s8(j + 16 * at);
#pragma GCC unroll 2
      for (int pair = 0; pair < 2; pair++) {
        re[pair][at] = vmmlaq_s32(re[pair][at], aRe[pair], bRe);
        im[pair][at] = vmmlaq_s32(im[pair][at], aIm[pair], bRe);
      }
    }
#pragma GCC unroll 4
    for (int at = 0; at < 4; at++) {
      const int8x16_t bIm = vld1q_s8(j + 64 + 16 * at);
#pragma GCC unroll 2
      for (int pair = 0; pair < 2; pair++) {
        re[pair][at] = vmmlaq_s32(re[pair][at], aIm[pair], bIm);
        im[pair][at] = vmmlaq_s32(im[pair][at], minusRe[pair], bIm);
      }
    }
  }
#pragma GCC unroll 2
  for (int pair = 0; pair < 2; pair++) {
#pragma GCC unroll 2
    for (int two = 0; two < 2; two++) {
      fromSquares(re[pair] + 2 * two, sums + 2 * pair * TILE_INPUTS + 4 * two);
      fromSquares(im[pair] + 2 * two, sums + PAIR_VALUES + 2 * pair * TILE_INPUTS + 4 * two);
    }
  }
}

void addPair(const int8_t *, const void *panel, const int8_t *, const void *notes, int64_t timeBlocks, int32_t *sums) {
  for (int quad = 0; quad < TILE_INPUTS / 4; quad++) {
    const int8_t *i = static_cast<const int8_t *>(panel) + quad * timeBlocks * EIGHTS * STEP_I;
    for (int half = 0; half < 2; half++) {
      const int8_t *j = static_cast<const int8_t *>(notes) + half * timeBlocks * EIGHTS * STEP_J;
      addEight(i, j, timeBlocks, sums + quad * 4 * TILE_INPUTS + 8 * half);
    }
  }
}

}  // namespace

extern const CorrelateKernels correlateKernels = {nothing,  nothing, TILE_BYTES * 3 / 2, TILE_BYTES, prepareI,
                                                  prepareJ, addPair};

}  // namespace i8mm
}  // namespace corella
