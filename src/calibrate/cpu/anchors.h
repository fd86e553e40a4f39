// When sums in float32 need a new anchor. Sums are linear in what the stations bring, so that only its distance d from an
// anchor needs to go through float32; the anchor's own sums are made in float64, a pass several times as long.
#pragma once
#include <algorithm>

namespace corella {

/** Float32 keeps 6 digits of d: a new anchor is set when the gains move by less than this fraction of it. */
constexpr double ANCHOR_BELOW = 1e-4;
/** Sums are then good to 1e-6 of d; within 1e4 tolerances of the anchor that is a hundredth of the tolerance. */
constexpr double NEAR_TOLERANCES = 1e4;
/** Within this distance of the anchor float64 itself has no more digits to win. */
constexpr double NEAREST = 1e-13;
/** What a fixed number of iterations is held to. */
constexpr double DEFAULT_TOLERANCE = 1e-8;

/** Closer than this to the anchor no new one is needed; a tolerance below 0 is that of a fixed number of iterations. */
inline double nearestAnchor(double tolerance) {
  return std::max(NEAREST, NEAR_TOLERANCES * (tolerance < 0 ? DEFAULT_TOLERANCE : tolerance));
}

}  // namespace corella
