// Sums of powers from those that lie beside a block, sixteen spectra each (spectra_powers.h).
#pragma once
#include "backend/cpu/spectra_powers.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** Cells follow on each other, and come from far: those of so many groups are under way. */
constexpr int64_t GROUPS_AHEAD = 5;
inline void fetchAhead(const void *cells) {
  const char *at = static_cast<const char *>(cells) + GROUPS_AHEAD * POWER_CELL_WORDS * 4;
  for (int64_t n = 0; n < POWER_CELL_WORDS * 4; n += 64) __builtin_prefetch(at + n);
}

/** cells : [group][c mod 4][S1, S2][a mod 16]; sums : [c mod 4][a mod 16][S1, S2]. */
void sumIntegerGroups(const uint32_t *cells, int64_t groups, int64_t channels, double *sums) {
  uint64_t s1[POWER_CHANNELS][TILE_INPUTS] = {}, offsets[POWER_CHANNELS][TILE_INPUTS] = {};
  for (int64_t group = 0; group < groups; group++, cells += POWER_CELL_WORDS) {
    fetchAhead(cells);
    for (int64_t c = 0; c < channels; c++) {
      const uint32_t *one = cells + c * POWER_WORDS, *two = one + TILE_INPUTS;
      for (int64_t a = 0; a < TILE_INPUTS; a++) {
        s1[c][a] += one[a];
        offsets[c][a] += offsetSquares(one[a], two[a]);
      }
    }
  }
  for (int64_t c = 0; c < channels; c++) {
    for (int64_t a = 0; a < TILE_INPUTS; a++, sums += 2) {
      sums[0] = static_cast<double>(s1[c][a]);
      sums[1] = static_cast<double>(squaresOf(s1[c][a], offsets[c][a], static_cast<uint64_t>(groups)));
    }
  }
}

void sumFloatGroups(const float *cells, int64_t groups, int64_t channels, double *sums) {
  double s1[POWER_CHANNELS][TILE_INPUTS] = {}, s2[POWER_CHANNELS][TILE_INPUTS] = {};
  for (int64_t group = 0; group < groups; group++, cells += POWER_CELL_WORDS) {
    fetchAhead(cells);
    for (int64_t c = 0; c < channels; c++) {
      const float *one = cells + c * POWER_WORDS, *two = one + TILE_INPUTS;
      for (int64_t a = 0; a < TILE_INPUTS; a++) {
        s1[c][a] += one[a];
        s2[c][a] += two[a];
      }
    }
  }
  for (int64_t c = 0; c < channels; c++) {
    for (int64_t a = 0; a < TILE_INPUTS; a++, sums += 2) {
      sums[0] = s1[c][a];
      sums[1] = s2[c][a];
    }
  }
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella
