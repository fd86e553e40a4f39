// The first look at sums of powers, while they are at hand: which windows and pairs of windows lie outside their fences, and
// the kurtoses of the others added up. screen.ts does the same, bit for bit: no product here is added to anything, so that
// nothing can be fused. Loops over sixteen inputs without a branch, which compilers make vectors of.
#pragma once
#include <cstring>

#include "kurtosis/cpu/kurtosis_screen.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** Sums of sixteen inputs, and the entries that noise of their strength has to lie within. */
struct Looked {
  double s1[TILE_INPUTS], s2[TILE_INPUTS], square[TILE_INPUTS];
  double low[TILE_INPUTS], high[TILE_INPUTS], offset[TILE_INPUTS], spread[TILE_INPUTS];
  /** 1 where there is such an entry. */
  int64_t known[TILE_INPUTS];

  /** Whether it does. */
  int64_t isWithin(int64_t a) const {
    return known[a] & int64_t{s2[a] >= low[a] * square[a]} & int64_t{s2[a] <= high[a] * square[a]};
  }
};

inline void lookUp(const Fence &fence, const FenceEntry *tables, Looked &look) {
  const FenceEntry *entries = tables + static_cast<int64_t>(fence.firstEntry);
  const int64_t firstKey = static_cast<int64_t>(fence.firstKey), many = fence.entries > 1 ? -1 : 0;
  int64_t place[TILE_INPUTS];
  for (int64_t a = 0; a < TILE_INPUTS; a++) {
    int64_t bits;
    std::memcpy(&bits, &look.s1[a], sizeof bits);
    look.known[a] = int64_t{look.s1[a] >= fence.leastPower} & int64_t{look.s1[a] <= fence.mostPower};
    // The octave and a 64th of it; powers have no sign.
    place[a] = ((bits >> 46) - firstKey) & many & -look.known[a];
    look.square[a] = look.s1[a] * look.s1[a];
  }
  for (int64_t a = 0; a < TILE_INPUTS; a++) {
    const FenceEntry &entry = entries[place[a]];
    look.low[a] = entry.low;
    look.high[a] = entry.high;
    look.offset[a] = entry.offset;
    look.spread[a] = entry.spread;
  }
}

/** A group of at most sixteen inputs in one channel's window; sums : [sixteen inputs][S1, S2], flags : [a]. */
void screenWindow(const Screen &screen, const Fence &fence, const double *sums, const uint8_t *flags, int64_t inputs,
                  uint8_t *marks, double *total) {
  Looked look;
  for (int64_t a = 0; a < TILE_INPUTS; a++) {
    look.s1[a] = sums[2 * a];
    look.s2[a] = sums[2 * a + 1];
  }
  lookUp(fence, screen.tables, look);
  double terms[TILE_INPUTS];
  int64_t within[TILE_INPUTS];
  for (int64_t a = 0; a < TILE_INPUTS; a++) {
    const double term = ((fence.scale * look.s2[a]) / look.square[a] - look.offset[a]) / look.spread[a];
    within[a] = look.isWithin(a);
    terms[a] = within[a] != 0 ? term : 0;
  }
  // One after the other, as screen.ts adds them.
  double sum = 0;
  for (int64_t a = 0; a < inputs; a++) {
    marks[a] = flags[a] == 0 && within[a] == 0 ? OUTSIDE : 0;
    if (flags[a] == 0) sum += terms[a];
  }
  *total = sum;
}

/** The same of a window and the next. */
void screenPair(const Screen &screen, const Fence &fence, const double *sums, const double *next, const uint8_t *flags,
                int64_t inputs, uint8_t *marks) {
  Looked look;
  for (int64_t a = 0; a < TILE_INPUTS; a++) {
    look.s1[a] = sums[2 * a] + next[2 * a];
    look.s2[a] = sums[2 * a + 1] + next[2 * a + 1];
  }
  lookUp(fence, screen.tables, look);
  for (int64_t a = 0; a < inputs; a++)
    if (flags[a] == 0 && look.isWithin(a) == 0) marks[a] |= PAIR_OUTSIDE;
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella
