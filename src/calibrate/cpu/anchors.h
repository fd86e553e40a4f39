// When sums in float32 need a new anchor. Sums are linear in the stations' terms, so that only their distance d from an
// anchor is summed in float32; the anchor's own sums are made in float64, a pass several times as long.
#pragma once
#include <algorithm>

namespace corella {

/** Float32 keeps 6 digits of d: a new anchor is set when the gains move by less than this fraction of it. */
constexpr double ANCHOR_BELOW = 1e-4;
/** Sums are then good to 1e-6 of d; within 1e4 tolerances of the anchor that is a hundredth of the tolerance. */
constexpr double NEAR_TOLERANCES = 1e4;
/** Within this distance of the anchor float64 itself gains no more digits. */
constexpr double NEAREST = 1e-13;
/** The tolerance assumed for a fixed number of iterations. */
constexpr double DEFAULT_TOLERANCE = 1e-8;

/** Closer than this to the anchor no new one is needed; a tolerance below 0 is that of a fixed number of iterations. */
inline double nearestAnchor(double tolerance) {
  return std::max(NEAREST, NEAR_TOLERANCES * (tolerance < 0 ? DEFAULT_TOLERANCE : tolerance));
}

}  // namespace corella
