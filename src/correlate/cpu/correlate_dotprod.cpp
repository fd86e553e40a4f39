// levels: dotprod
// SDOT multiplies four bytes by four in each of four lanes and adds them to 32-bit sums; its by-element
// form takes one input's four samples for all lanes, which is a line of spectra.h unchanged: no unpacking on the j
// side. −aᵣ is wrong for −128, which only flagged inputs may have: their products are discarded.
#include <arm_neon.h>

#include "correlate/cpu/correlate_kernels.h"

namespace corella {
namespace dotprod {
namespace {

/** Inputs in a vector of four samples each. */
constexpr int QUAD = 4;
constexpr int QUADS = TILE_INPUTS / QUAD;
constexpr int LINES = TILE_SAMPLES / 4;
/** aᵣ, aᵢ and −aᵣ of four inputs and four samples. */
constexpr int64_t STEP_BYTES = 3 * 16;

/** panel : [quad][line of all time blocks][aᵣ, aᵢ, −aᵣ][4 inputs][4 samples] */
void prepareI(const int8_t *tiles, int64_t timeBlocks, void *panel) {
  const int64_t quadBytes = timeBlocks * LINES * STEP_BYTES;
  for (int64_t block = 0; block < timeBlocks; block++) {
    for (int line = 0; line < LINES; line++) {
      const int8_t *from = tiles + block * TILE_BYTES + line * 64;
      int8_t *to = static_cast<int8_t *>(panel) + (block * LINES + line) * STEP_BYTES;
      for (int quad = 0; quad < QUADS; quad++, to += quadBytes) {
        const int8x16_t re = vld1q_s8(from + 16 * quad);
        vst1q_s8(to, re);
        vst1q_s8(to + 16, vld1q_s8(from + PLANE_BYTES + 16 * quad));
        vst1q_s8(to + 32, vnegq_s8(re));
      }
    }
  }
}

/** Adds to four rows of four j each. */
inline __attribute__((always_inline)) void addFour(int32x4_t (&sums)[QUAD], int8x16_t b, int8x16_t a) {
  sums[0] = vdotq_laneq_s32(sums[0], b, a, 0);
  sums[1] = vdotq_laneq_s32(sums[1], b, a, 1);
  sums[2] = vdotq_laneq_s32(sums[2], b, a, 2);
  sums[3] = vdotq_laneq_s32(sums[3], b, a, 3);
}

/** Of one line: four inputs of the i side, eight of the j side. */
struct Operands {
  int8x16_t aRe, aIm, minusRe, bRe[2], bIm[2];
};
/** The same as four i × eight j: 16 sums. */
using Sums = int32x4_t[2][QUAD];

inline __attribute__((always_inline)) Operands loadOperands(const int8_t *i, const int8_t *j) {
  return {vld1q_s8(i),
          vld1q_s8(i + 16),
          vld1q_s8(i + 32),
          {vld1q_s8(j), vld1q_s8(j + 16)},
          {vld1q_s8(j + PLANE_BYTES), vld1q_s8(j + PLANE_BYTES + 16)}};
}

/** Multiplies one line while the next is loaded: both sets and the sums just fit in 32 registers. */
inline __attribute__((always_inline)) void addLine(Sums &re, Sums &im, const Operands &now, Operands &next,
                                                   const int8_t *nextI, const int8_t *nextJ) {
  next.aRe = vld1q_s8(nextI);
  addFour(re[0], now.bRe[0], now.aRe);
  next.aIm = vld1q_s8(nextI + 16);
  addFour(im[0], now.bRe[0], now.aIm);
  next.minusRe = vld1q_s8(nextI + 32);
  addFour(re[1], now.bRe[1], now.aRe);
  next.bIm[0] = vld1q_s8(nextJ + PLANE_BYTES);
  addFour(im[1], now.bRe[1], now.aIm);
  next.bIm[1] = vld1q_s8(nextJ + PLANE_BYTES + 16);
  addFour(re[0], now.bIm[0], now.aIm);
  next.bRe[0] = vld1q_s8(nextJ);
  addFour(im[0], now.bIm[0], now.minusRe);
  next.bRe[1] = vld1q_s8(nextJ + 16);
  addFour(re[1], now.bIm[1], now.aIm);
  addFour(im[1], now.bIm[1], now.minusRe);
}

void addEight(const int8_t *i, const int8_t *j, int64_t timeBlocks, int32_t *sums) {
  Sums re, im;
#pragma GCC unroll 2
  for (int v = 0; v < 2; v++) {
#pragma GCC unroll 4
    for (int row = 0; row < QUAD; row++) {
      re[v][row] = vld1q_s32(sums + row * TILE_INPUTS + 4 * v);
      im[v][row] = vld1q_s32(sums + PAIR_VALUES + row * TILE_INPUTS + 4 * v);
    }
  }
  Operands even = loadOperands(i, j), odd;
  for (int64_t block = 0; block < timeBlocks; block++) {
    for (int line = 0; line < LINES - 2; line += 2, i += 2 * STEP_BYTES, j += 128) {
      addLine(re, im, even, odd, i + STEP_BYTES, j + 64);
      addLine(re, im, odd, even, i + 2 * STEP_BYTES, j + 128);
    }
    addLine(re, im, even, odd, i + STEP_BYTES, j + 64);
    // the next block's first line; after the last block, any readable memory
    const bool more = block + 1 < timeBlocks;
    addLine(re, im, odd, even, more ? i + 2 * STEP_BYTES : i, more ? j + 128 + PLANE_BYTES : j);
    i += 2 * STEP_BYTES;
    j += 128 + PLANE_BYTES;
  }
#pragma GCC unroll 2
  for (int v = 0; v < 2; v++) {
#pragma GCC unroll 4
    for (int row = 0; row < QUAD; row++) {
      vst1q_s32(sums + row * TILE_INPUTS + 4 * v, re[v][row]);
      vst1q_s32(sums + PAIR_VALUES + row * TILE_INPUTS + 4 * v, im[v][row]);
    }
  }
}

void addPair(const int8_t *, const void *panel, const int8_t *tilesJ, const void *, int64_t timeBlocks, int32_t *sums) {
  for (int quad = 0; quad < QUADS; quad++) {
    const int8_t *i = static_cast<const int8_t *>(panel) + quad * timeBlocks * LINES * STEP_BYTES;
    for (int half = 0; half < 2; half++) {
      addEight(i, tilesJ + 32 * half, timeBlocks, sums + quad * QUAD * TILE_INPUTS + 8 * half);
    }
  }
}

}  // namespace

extern const CorrelateKernels correlateKernels = {nothing,        nothing, TILE_BYTES * 3 / 2, 0, prepareI,
                                                  prepareNothing, addPair};

}  // namespace dotprod
}  // namespace corella
