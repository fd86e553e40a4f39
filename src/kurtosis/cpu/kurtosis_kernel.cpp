// levels: portable avx2 avx512
#include "kurtosis/cpu/kurtosis_kernel.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** A line of a tile: four samples of sixteen inputs, real parts; the imaginary ones lie a plane further. */
constexpr int64_t LINE = 4 * TILE_INPUTS;

inline const int8_t *lineAt(const int8_t *tiles, int64_t line) {
  return tiles + line / TILE_INPUTS * TILE_BYTES + line % TILE_INPUTS * LINE;
}

// A power is at most 2·127² and fits 16 bits; four of their squares fit 32. So squares are added four lines at a time in
// 32 bits, and those sums in 64.
constexpr int64_t LINES_AT_ONCE = 4;

#if defined(__aarch64__)

/** Eight inputs of the lines [first, end): the half of each line that `half` names. */
inline void sumHalf(const int8_t *tiles, int64_t first, int64_t end, int half, double *sums) {
  uint32x4_t s1[4] = {};
  uint64x2_t s2[8] = {};
  for (int64_t line = first; line < end;) {
    // Lines of one tile follow on each other.
    const int64_t last = line / TILE_INPUTS == (end - 1) / TILE_INPUTS ? end : (line / TILE_INPUTS + 1) * TILE_INPUTS;
    const int8_t *at = lineAt(tiles, line) + half * (LINE / 2);
    for (; line < last; line += LINES_AT_ONCE) {
      uint32x4_t squares[8] = {};
      const int64_t count = last - line < LINES_AT_ONCE ? last - line : LINES_AT_ONCE;
      for (int64_t n = 0; n < count; n++, at += LINE) {
        for (int pair = 0; pair < 2; pair++) {
          const int8x16_t re = vld1q_s8(at + 16 * pair), im = vld1q_s8(at + PLANE_BYTES + 16 * pair);
          const uint16x8_t low = vreinterpretq_u16_s16(
              vmlal_s8(vmull_s8(vget_low_s8(re), vget_low_s8(re)), vget_low_s8(im), vget_low_s8(im)));
          const uint16x8_t high = vreinterpretq_u16_s16(vmlal_high_s8(vmull_high_s8(re, re), im, im));
          s1[2 * pair] = vpadalq_u16(s1[2 * pair], low);
          s1[2 * pair + 1] = vpadalq_u16(s1[2 * pair + 1], high);
          squares[4 * pair] = vmlal_u16(squares[4 * pair], vget_low_u16(low), vget_low_u16(low));
          squares[4 * pair + 1] = vmlal_high_u16(squares[4 * pair + 1], low, low);
          squares[4 * pair + 2] = vmlal_u16(squares[4 * pair + 2], vget_low_u16(high), vget_low_u16(high));
          squares[4 * pair + 3] = vmlal_high_u16(squares[4 * pair + 3], high, high);
        }
      }
      for (int n = 0; n < 8; n++) s2[n] = vpadalq_u32(s2[n], squares[n]);
      if (count < LINES_AT_ONCE) break;
    }
    line = last;
  }
  for (int input = 0; input < 8; input++) {
    const uint64x2_t both = vpaddlq_u32(s1[input / 2]);
    sums[2 * input] = static_cast<double>(vgetq_lane_u64(both, 0));
    if (input % 2 == 1) sums[2 * input] = static_cast<double>(vgetq_lane_u64(both, 1));
    sums[2 * input + 1] = static_cast<double>(vgetq_lane_u64(s2[input], 0) + vgetq_lane_u64(s2[input], 1));
  }
}

void sumIntegers(const int8_t *tiles, int64_t first, int64_t end, double *sums) {
  const int64_t firstLine = first / 4, endLine = (end + 3) / 4;
  for (int half = 0; half < 2; half++) sumHalf(tiles, firstLine, endLine, half, sums + 16 * half);
}

#else

void sumIntegers(const int8_t *tiles, int64_t first, int64_t end, double *sums) {
  uint32_t s1[LINE] = {};
  uint64_t s2[LINE] = {};
  const int64_t endLine = (end + 3) / 4;
  for (int64_t line = first / 4; line < endLine; line += LINES_AT_ONCE) {
    uint32_t squares[LINE] = {};
    for (int64_t n = line; n < endLine && n < line + LINES_AT_ONCE; n++) {
      const int8_t *re = lineAt(tiles, n), *im = re + PLANE_BYTES;
      for (int64_t k = 0; k < LINE; k++) {
        const uint32_t power = static_cast<uint32_t>(re[k] * re[k] + im[k] * im[k]);
        s1[k] += power;
        squares[k] += power * power;
      }
    }
    for (int64_t k = 0; k < LINE; k++) s2[k] += squares[k];
  }
  for (int64_t input = 0; input < TILE_INPUTS; input++) {
    uint64_t power = 0, square = 0;
    for (int64_t k = 4 * input; k < 4 * input + 4; k++) {
      power += s1[k];
      square += s2[k];
    }
    sums[2 * input] = static_cast<double>(power);
    sums[2 * input + 1] = static_cast<double>(square);
  }
}

#endif

void sumFloats(const float *vectors, int64_t first, int64_t end, double *sums) {
  double s1[TILE_INPUTS] = {}, s2[TILE_INPUTS] = {};
  for (int64_t t = first; t < end; t++) {
    const float *re = vectors + t * FLOATS_PER_SAMPLE, *im = re + TILE_INPUTS;
    for (int64_t input = 0; input < TILE_INPUTS; input++) {
      const double x = re[input], y = im[input], power = x * x + y * y;
      s1[input] += power;
      s2[input] += power * power;
    }
  }
  for (int64_t input = 0; input < TILE_INPUTS; input++) {
    sums[2 * input] = s1[input];
    sums[2 * input + 1] = s2[input];
  }
}

}  // namespace

extern const KurtosisKernel kurtosisKernel = {sumIntegers, sumFloats};

}  // namespace CORELLA_LEVEL
}  // namespace corella
