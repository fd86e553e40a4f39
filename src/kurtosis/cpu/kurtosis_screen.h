// The first look at sums of powers, while they are at hand: which windows and pairs of windows lie outside their fences, and
// the kurtoses of the others added up. screen.ts does the same, bit for bit: no product here is added to anything, so that
// nothing can be fused.
#pragma once
#include <cstring>

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

/** The entry that noise of this strength has to lie within, and does; nullptr where it does not. */
inline const FenceEntry *within(const Fence &fence, const FenceEntry *tables, double s1, double s2) {
  if (!(s1 >= fence.leastPower && s1 <= fence.mostPower)) return nullptr;
  int64_t at = static_cast<int64_t>(fence.firstEntry);
  if (fence.entries > 1) {
    uint64_t bits;
    std::memcpy(&bits, &s1, sizeof bits);
    // The octave and a 64th of it.
    at += static_cast<int64_t>(bits >> 46) - static_cast<int64_t>(fence.firstKey);
  }
  const FenceEntry *entry = tables + at;
  const double square = s1 * s1;
  return s2 >= entry->low * square && s2 <= entry->high * square ? entry : nullptr;
}

/** A group of at most sixteen inputs in one channel's window; sums : [a][S1, S2], flags : [a]. */
inline void screenWindow(const Screen &screen, const Fence &fence, const double *sums, const uint8_t *flags,
                         int64_t inputs, uint8_t *marks, double *total) {
  double sum = 0;
  for (int64_t a = 0; a < inputs; a++) {
    marks[a] = 0;
    if (flags[a] != 0) continue;
    const double s1 = sums[2 * a], s2 = sums[2 * a + 1];
    const FenceEntry *entry = within(fence, screen.tables, s1, s2);
    if (entry == nullptr)
      marks[a] = OUTSIDE;
    else
      sum += ((fence.scale * s2) / (s1 * s1) - entry->offset) / entry->spread;
  }
  *total = sum;
}

/** The same of a window and the next. */
inline void screenPair(const Screen &screen, const Fence &fence, const double *sums, const double *next,
                       const uint8_t *flags, int64_t inputs, uint8_t *marks) {
  for (int64_t a = 0; a < inputs; a++)
    if (flags[a] == 0 &&
        within(fence, screen.tables, sums[2 * a] + next[2 * a], sums[2 * a + 1] + next[2 * a + 1]) == nullptr)
      marks[a] |= PAIR_OUTSIDE;
}

inline uint8_t allOf(const uint8_t *marks, int64_t inputs) {
  uint8_t all = 0;
  for (int64_t a = 0; a < inputs; a++) all |= marks[a];
  return all;
}

}  // namespace corella
