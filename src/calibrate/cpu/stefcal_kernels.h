// The inner loop of StEFCal, one for each instruction-set level: products of a Hermitian matrix A and a symmetric
// matrix B with vectors, reading only the half below the diagonal. Each element contributes to its row and its column:
//
//   a(i) += A_ij x_j      a(j) += conj(A_ij) x_i      b(i) += B_ij w_j      b(j) += B_ij w_i        (i > j)
//
// The half is stored in panels of four rows, columns 0 … up to the panel's last, in the order they are read:
//
//   panel : [column / lanes][row of 4][re A, im A, B][column mod lanes]   float
//
// with zeros on and above the diagonal and past the last station. The caller handles the diagonal.
#pragma once
#include "backend/cpu/native.h"

namespace corella {

constexpr int64_t PANEL_ROWS = 4;

/** Three planes of one number a station: re x, im x, w; or re a, im a, b. `stride` is the distance between planes. */
template <class Real>
struct StationPlanes {
  Real *first;
  int64_t stride;
};

struct PanelRange {
  const float *panels;
  /** offsets : [panel], in floats, one more than there are panels. */
  const int64_t *offsets;
  int64_t first, end;
  /** Last panel first: what the previous sweep touched last is still in the cache. */
  bool backwards;
};

/** The station data for a step, in planes [re, im, power][s] `stride` apart; zeros past the last. */
struct Stations {
  int64_t stride;
  double *gains;
  const double *anchor, *anchorSums, *diagonal;
  /** partial : [part][plane][s], to be added to anchorSums. */
  const float *partial;
  int64_t parts;
  /** Out: gains less anchor. */
  float *distance;
  /** The factor from a quotient of sums to a gain. */
  double ratio;
  /** Whether to average with the previous gains. */
  bool average;
};

/** Sums of squares over stations: of the step, of the gains, of their distance from the anchor. */
struct Movement {
  double change, size, distance;
};

struct StefcalKernels {
  /** Floats in a vector: stations are padded to multiples of it, and of PANEL_ROWS. */
  int64_t lanes;
  /** Adds the contributions of the range's elements to `sums`. */
  void (*sweep)(const PanelRange &range, StationPlanes<const float> in, StationPlanes<float> sums);
  /** The same with factors and sums in float64, several times slower. */
  void (*sweepExactly)(const PanelRange &range, StationPlanes<const double> in, StationPlanes<double> sums);
  /** Advances stations first … end − 1, both multiples of 16, by one step; those whose denominator is 0 stay. */
  Movement (*move)(const Stations &stations, int64_t first, int64_t end);
};

CORELLA_DECLARE(const StefcalKernels, stefcalKernels)

}  // namespace corella
