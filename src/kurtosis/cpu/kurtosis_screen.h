// What the first look at sums of powers (kurtosis_look.h) goes by, and what it finds.
#pragma once
#include "backend/cpu/spectra.h"

namespace corella {

/** A fence's head as TypeScript packs it (fences.ts): six float64. */
struct Fence {
  double leastPower, mostPower, scale, firstKey, entries, firstEntry;
};
static_assert(sizeof(Fence) == 6 * sizeof(double), "fences.ts packs heads of six float64");

/** Of S2/S1²: within low and high it is noise's. SK less noise's mean over its spread is (scale·S2/S1² − offset)/spread. */
struct FenceEntry {
  double low, high, offset, spread;
};

/** marks : [w][c][a]; groupMarks, totals : [w][c][a / 16]. No heads: nothing is screened. */
struct Screen {
  const Fence *heads;
  const FenceEntry *tables;
  const int32_t *places;         // [w][complex, real][window, pair]
  const uint8_t *flaggedInputs;  // [a]
  int64_t realChannels;
  uint8_t *marks, *groupMarks;
  double *totals;
};

enum : uint8_t { OUTSIDE = 1, PAIR_OUTSIDE = 2 };

inline uint8_t allOf(const uint8_t *marks, int64_t inputs) {
  uint8_t all = 0;
  for (int64_t a = 0; a < inputs; a++) all |= marks[a];
  return all;
}

}  // namespace corella
