// levels: portable avx2 avx512 dotprod
#include "kurtosis/cpu/kurtosis_kernel.h"

#include <cstring>

#include "backend/cpu/vector.h"
#include "kurtosis/cpu/kurtosis_groups.h"
#include "kurtosis/cpu/kurtosis_lines.h"
#include "kurtosis/cpu/kurtosis_look.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__AVX2__)
#include "kurtosis/cpu/kurtosis_avx.h"
#endif

namespace corella {
namespace CORELLA_LEVEL {
namespace {

#if defined(__ARM_FEATURE_DOTPROD)

// A dot product of four bytes is a sum over the four samples that an input has in a line: a lane is an input. Powers of
// 8-bit numbers have two bytes, p = 256 h + l, and p² = 65536 h² + 512 hl + l². None of the sums passes 32 bits in 65,536
// spectra: 16,384 lines of four l² are at most 4.26e9.

constexpr int QUADS = TILE_INPUTS / 4;

void sumIntegers(const int8_t *tiles, int64_t first, int64_t end, double *sums) {
  int32x4_t s1[QUADS] = {};
  uint32x4_t ll[QUADS] = {}, hl[QUADS] = {}, hh[QUADS] = {};
  const int64_t endLine = (end + 3) / 4;
  for (int64_t line = first / 4; line < endLine;) {
    const int64_t last = linesOfTile(line, endLine);
    for (const int8_t *at = lineAt(tiles, line); line < last; line++, at += LINE) {
      for (int quad = 0; quad < QUADS; quad++) {
        const int8x16_t re = vld1q_s8(at + 16 * quad), im = vld1q_s8(at + PLANE_BYTES + 16 * quad);
        const int16x8_t before = vmlal_s8(vmull_s8(vget_low_s8(re), vget_low_s8(re)), vget_low_s8(im), vget_low_s8(im));
        const int16x8_t after = vmlal_high_s8(vmull_high_s8(re, re), im, im);
        const uint8x16_t low = vuzp1q_u8(vreinterpretq_u8_s16(before), vreinterpretq_u8_s16(after));
        const uint8x16_t high = vuzp2q_u8(vreinterpretq_u8_s16(before), vreinterpretq_u8_s16(after));
        s1[quad] = vdotq_s32(vdotq_s32(s1[quad], re, re), im, im);
        ll[quad] = vdotq_u32(ll[quad], low, low);
        hl[quad] = vdotq_u32(hl[quad], high, low);
        hh[quad] = vdotq_u32(hh[quad], high, high);
      }
    }
  }
  for (int quad = 0; quad < QUADS; quad++) {
    uint32_t parts[4][4];
    vst1q_u32(parts[0], vreinterpretq_u32_s32(s1[quad]));
    vst1q_u32(parts[1], ll[quad]);
    vst1q_u32(parts[2], hl[quad]);
    vst1q_u32(parts[3], hh[quad]);
    for (int n = 0; n < 4; n++) {
      const uint64_t square = parts[1][n] + 512 * uint64_t{parts[2][n]} + 65536 * uint64_t{parts[3][n]};
      sums[2 * (4 * quad + n)] = parts[0][n];
      sums[2 * (4 * quad + n) + 1] = static_cast<double>(square);
    }
  }
}

/** A power is at most 128, a byte; four squares of it in 16,384 lines are 2³⁰. */
void sumNibbles(const int8_t *tiles, int64_t first, int64_t end, double *sums) {
  uint32x4_t s1[QUADS] = {}, s2[QUADS] = {};
  const uint8x16_t ones = vdupq_n_u8(1);
  const int64_t endLine = (end + 3) / 4;
  for (int64_t line = first / 4; line < endLine;) {
    const int64_t last = linesOfTile(line, endLine);
    for (const int8_t *at = lineAt(tiles, line); line < last; line++, at += LINE) {
      for (int quad = 0; quad < QUADS; quad++) {
        const int8x16_t re = vld1q_s8(at + 16 * quad), im = vld1q_s8(at + PLANE_BYTES + 16 * quad);
        const uint8x16_t power = vreinterpretq_u8_s8(vmlaq_s8(vmulq_s8(re, re), im, im));
        s1[quad] = vdotq_u32(s1[quad], power, ones);
        s2[quad] = vdotq_u32(s2[quad], power, power);
      }
    }
  }
  for (int quad = 0; quad < QUADS; quad++) {
    uint32_t parts[2][4];
    vst1q_u32(parts[0], s1[quad]);
    vst1q_u32(parts[1], s2[quad]);
    for (int n = 0; n < 4; n++) {
      sums[2 * (4 * quad + n)] = parts[0][n];
      sums[2 * (4 * quad + n) + 1] = parts[1][n];
    }
  }
}

#elif !defined(__AVX2__)

// A power is at most 2·128² = 2¹⁵ and fits 16 bits; three of their squares fit 32. So squares are added three lines at a
// time in 32 bits, and those sums in 64.
constexpr int64_t LINES_AT_ONCE = 3;

/** The four samples of each input in a line. */
template <class Square>
inline void addSamples(const uint32_t (&s1)[LINE], const Square (&s2)[LINE], double *sums) {
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

#if defined(__aarch64__)

/** Eight inputs of the lines [first, end): the half of each line that `half` names. */
inline void sumHalf(const int8_t *tiles, int64_t first, int64_t end, int half, double *sums) {
  uint32x4_t s1[4] = {};
  uint64x2_t s2[8] = {};
  for (int64_t line = first; line < end;) {
    const int64_t last = linesOfTile(line, end);
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
  addSamples(s1, s2, sums);
}

#endif

/** A power is at most 128, its square 2¹⁴: three of them fit 16 bits. */
void sumNibbles(const int8_t *tiles, int64_t first, int64_t end, double *sums) {
  uint32_t s1[LINE] = {}, s2[LINE] = {};
  const int64_t endLine = (end + 3) / 4;
  for (int64_t line = first / 4; line < endLine; line += LINES_AT_ONCE) {
    uint16_t powers[LINE] = {}, squares[LINE] = {};
    for (int64_t n = line; n < endLine && n < line + LINES_AT_ONCE; n++) {
      const int8_t *re = lineAt(tiles, n), *im = re + PLANE_BYTES;
      for (int64_t k = 0; k < LINE; k++) {
        const int16_t x = re[k], y = im[k];
        const uint16_t power = static_cast<uint16_t>(x * x + y * y);
        powers[k] = static_cast<uint16_t>(powers[k] + power);
        squares[k] = static_cast<uint16_t>(squares[k] + power * power);
      }
    }
    for (int64_t k = 0; k < LINE; k++) {
      s1[k] += powers[k];
      s2[k] += squares[k];
    }
  }
  addSamples(s1, s2, sums);
}

#endif

/** Everything in float64: for powers whose squares float32 cannot hold. */
void sumWideFloats(const float *vectors, int64_t first, int64_t end, double *sums) {
  for (int64_t input = 0; input < TILE_INPUTS; input++) {
    double s1 = 0, s2 = 0;
    for (int64_t t = first; t < end; t++) {
      const double re = vectors[t * FLOATS_PER_SAMPLE + input];
      const double im = vectors[t * FLOATS_PER_SAMPLE + TILE_INPUTS + input];
      const double power = re * re + im * im;
      s1 += power;
      s2 += power * power;
    }
    sums[2 * input] = s1;
    sums[2 * input + 1] = s2;
  }
}

// Sixteen spectra at a time are added in float32, to a millionth at worst, and those sums in float64: a twentieth of what
// their kurtosis would need.
constexpr int64_t SPECTRA_AT_ONCE = 16;
/** Of the mean power: within it no square is lost to float32's range but those that add nothing. */
constexpr double LEAST_MEAN = 1e-12, MOST_MEAN = 1e12;

/** Silence is silence; what is neither within nor silent, not a number too, is summed again. */
bool isWithin(const double *sums, int64_t spectra) {
  bool all = true;
  for (int64_t input = 0; input < TILE_INPUTS; input++) {
    const double mean = sums[2 * input] / static_cast<double>(spectra);
    all = all && (mean == 0 || (mean > LEAST_MEAN && mean < MOST_MEAN));
  }
  return all;
}

void sumFloats(const float *vectors, int64_t first, int64_t end, double *sums) {
  constexpr int VECTORS = TILE_INPUTS / LANES<float>;
  double s1[TILE_INPUTS] = {}, s2[TILE_INPUTS] = {};
  for (int64_t t = first; t < end;) {
    const int64_t last = end - t < SPECTRA_AT_ONCE ? end : t + SPECTRA_AT_ONCE;
    Floats powers[VECTORS] = {}, squares[VECTORS] = {};
    for (const float *at = vectors + t * FLOATS_PER_SAMPLE; t < last; t++, at += FLOATS_PER_SAMPLE) {
      for (int v = 0; v < VECTORS; v++) {
        const Floats re = loadVector<Floats>(at + v * LANES<float>);
        const Floats im = loadVector<Floats>(at + TILE_INPUTS + v * LANES<float>);
        const Floats power = re * re + im * im;
        powers[v] += power;
        squares[v] += power * power;
      }
    }
    float p[TILE_INPUTS], q[TILE_INPUTS];
    std::memcpy(p, powers, sizeof p);
    std::memcpy(q, squares, sizeof q);
    for (int64_t input = 0; input < TILE_INPUTS; input++) {
      s1[input] += p[input];
      s2[input] += q[input];
    }
  }
  for (int64_t input = 0; input < TILE_INPUTS; input++) {
    sums[2 * input] = s1[input];
    sums[2 * input + 1] = s2[input];
  }
  if (!isWithin(sums, end - first)) sumWideFloats(vectors, first, end, sums);
}

}  // namespace

extern const KurtosisKernel kurtosisKernel = {sumIntegers,    sumNibbles, sumFloats,    sumIntegerGroups,
                                              sumFloatGroups, isWithin,   screenWindow, screenPair};

}  // namespace CORELLA_LEVEL
}  // namespace corella
