// levels: portable avx2 avx512 dotprod
#include "kurtosis/cpu/kurtosis_kernel.h"

#include "backend/cpu/spectra_powers.h"

// Plain loops over sixteen inputs, which compilers vectorise at every level.
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

void store(const double (&s1)[TILE_INPUTS], const double (&s2)[TILE_INPUTS], double *sums) {
  for (int64_t input = 0; input < TILE_INPUTS; input++) {
    sums[2 * input] = s1[input];
    sums[2 * input + 1] = s2[input];
  }
}

void sumFloats(const float *vectors, int64_t first, int64_t end, double *sums) {
  double s1[TILE_INPUTS] = {}, s2[TILE_INPUTS] = {};
  for (int64_t t = first; t < end; t++)
    for (int64_t input = 0; input < TILE_INPUTS; input++) {
      const double re = vectors[t * FLOATS_PER_SAMPLE + input];
      const double im = vectors[t * FLOATS_PER_SAMPLE + TILE_INPUTS + input];
      const double power = re * re + im * im;
      s1[input] += power;
      s2[input] += power * power;
    }
  store(s1, s2, sums);
}

/** cells : [group][c mod 4][S1, S2][a mod 16], from a channel on. */
void sumIntegerGroups(const uint32_t *cells, int64_t groups, double *sums) {
  uint64_t s1[TILE_INPUTS] = {}, offsets[TILE_INPUTS] = {};
  for (int64_t group = 0; group < groups; group++, cells += POWER_CELL_WORDS)
    for (int64_t a = 0; a < TILE_INPUTS; a++) {
      s1[a] += cells[a];
      offsets[a] += offsetSquares(cells[a], cells[TILE_INPUTS + a]);
    }
  for (int64_t a = 0; a < TILE_INPUTS; a++) {
    sums[2 * a] = static_cast<double>(s1[a]);
    sums[2 * a + 1] = static_cast<double>(squaresOf(s1[a], offsets[a], static_cast<uint64_t>(groups)));
  }
}

void sumFloatGroups(const float *cells, int64_t groups, double *sums) {
  double s1[TILE_INPUTS] = {}, s2[TILE_INPUTS] = {};
  for (int64_t group = 0; group < groups; group++, cells += POWER_CELL_WORDS)
    for (int64_t a = 0; a < TILE_INPUTS; a++) {
      s1[a] += cells[a];
      s2[a] += cells[TILE_INPUTS + a];
    }
  store(s1, s2, sums);
}

}  // namespace

extern const KurtosisKernel kurtosisKernel = {sumIntegers, sumFloats, sumIntegerGroups, sumFloatGroups};

}  // namespace CORELLA_LEVEL
}  // namespace corella
