// levels: portable avx2 avx512 dotprod
#include "kurtosis/cpu/kurtosis_kernel.h"

#include "backend/cpu/spectra_powers.h"

// Plain loops over sixteen inputs, which compilers make vectors of at every level.
namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** A line of a tile: four samples of sixteen inputs, real parts; the imaginary ones are a plane further. */
constexpr int64_t LINE = 4 * TILE_INPUTS;
/** A power is at most 2·128² = 2¹⁵: squares of three fit 32 bits. Their sums are added in 64. */
constexpr int64_t LINES_AT_ONCE = 3;

void sumIntegers(const int8_t *tiles, int64_t first, int64_t end, double *sums) {
  uint32_t s1[LINE] = {};
  uint64_t s2[LINE] = {};
  const int64_t endLine = (end + 3) / 4;
  for (int64_t line = first / 4; line < endLine; line += LINES_AT_ONCE) {
    uint32_t squares[LINE] = {};
    for (int64_t n = line; n < endLine && n < line + LINES_AT_ONCE; n++) {
      const int8_t *re = tiles + n / TILE_INPUTS * TILE_BYTES + n % TILE_INPUTS * LINE, *im = re + PLANE_BYTES;
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

void store(const double (&s1)[TILE_INPUTS], const double (&s2)[TILE_INPUTS], double *sums) {
  for (int64_t input = 0; input < TILE_INPUTS; input++) {
    sums[2 * input] = s1[input];
    sums[2 * input + 1] = s2[input];
  }
}

/** `atOnce` spectra are added in Number: sixteen in float32 to a millionth, a twentieth of what kurtosis would need. */
template <class Number>
void sumVectors(const float *vectors, int64_t first, int64_t end, double *sums) {
  constexpr int64_t AT_ONCE = 16;
  double s1[TILE_INPUTS] = {}, s2[TILE_INPUTS] = {};
  for (int64_t from = first; from < end; from += AT_ONCE) {
    Number powers[TILE_INPUTS] = {}, squares[TILE_INPUTS] = {};
    for (int64_t t = from; t < end && t < from + AT_ONCE; t++)
      for (int64_t input = 0; input < TILE_INPUTS; input++) {
        const Number re = vectors[t * FLOATS_PER_SAMPLE + input];
        const Number im = vectors[t * FLOATS_PER_SAMPLE + TILE_INPUTS + input];
        const Number power = re * re + im * im;
        powers[input] += power;
        squares[input] += power * power;
      }
    for (int64_t input = 0; input < TILE_INPUTS; input++) {
      s1[input] += powers[input];
      s2[input] += squares[input];
    }
  }
  store(s1, s2, sums);
}

void sumFloats(const float *vectors, int64_t first, int64_t end, double *sums) {
  sumVectors<float>(vectors, first, end, sums);
  if (!isWithin(sums, end - first)) sumVectors<double>(vectors, first, end, sums);
}

/** cells : [group][c mod 4][S1, S2][a mod 16]; sums : [c mod 4][a mod 16][S1, S2]. */
void sumIntegerGroups(const uint32_t *cells, int64_t groups, int64_t channels, double *sums) {
  for (int64_t c = 0; c < channels; c++) {
    uint64_t s1[TILE_INPUTS] = {}, offsets[TILE_INPUTS] = {};
    for (int64_t group = 0; group < groups; group++) {
      const uint32_t *one = cells + group * POWER_CELL_WORDS + c * POWER_WORDS, *two = one + TILE_INPUTS;
      for (int64_t a = 0; a < TILE_INPUTS; a++) {
        s1[a] += one[a];
        offsets[a] += offsetSquares(one[a], two[a]);
      }
    }
    for (int64_t a = 0; a < TILE_INPUTS; a++, sums += 2) {
      sums[0] = static_cast<double>(s1[a]);
      sums[1] = static_cast<double>(squaresOf(s1[a], offsets[a], static_cast<uint64_t>(groups)));
    }
  }
}

void sumFloatGroups(const float *cells, int64_t groups, int64_t channels, double *sums) {
  for (int64_t c = 0; c < channels; c++, sums += 2 * TILE_INPUTS) {
    double s1[TILE_INPUTS] = {}, s2[TILE_INPUTS] = {};
    for (int64_t group = 0; group < groups; group++) {
      const float *one = cells + group * POWER_CELL_WORDS + c * POWER_WORDS, *two = one + TILE_INPUTS;
      for (int64_t a = 0; a < TILE_INPUTS; a++) {
        s1[a] += one[a];
        s2[a] += two[a];
      }
    }
    store(s1, s2, sums);
  }
}

}  // namespace

extern const KurtosisKernel kurtosisKernel = {sumIntegers, sumFloats, sumIntegerGroups, sumFloatGroups, isWithin};

}  // namespace CORELLA_LEVEL
}  // namespace corella
