// levels: portable avx2 avx512
#include "kurtosis/cpu/kurtosis_kernel.h"

#include <cstring>

#include "backend/cpu/vector.h"

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
  bool isWithin = true;
  const double spectra = static_cast<double>(end - first);
  for (int64_t input = 0; input < TILE_INPUTS; input++) {
    const double mean = s1[input] / spectra;
    // Silence is silence; what is neither within nor silent, not a number too, is summed again.
    isWithin = isWithin && (mean == 0 || (mean > LEAST_MEAN && mean < MOST_MEAN));
    sums[2 * input] = s1[input];
    sums[2 * input + 1] = s2[input];
  }
  if (!isWithin) sumWideFloats(vectors, first, end, sums);
}

}  // namespace

extern const KurtosisKernel kurtosisKernel = {sumIntegers, sumFloats};

}  // namespace CORELLA_LEVEL
}  // namespace corella
