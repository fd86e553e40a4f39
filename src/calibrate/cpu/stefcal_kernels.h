// The inner loop of StEFCal, one for each instruction-set level: products of a Hermitian matrix A and a symmetric
// matrix B with vectors, reading only the half below the diagonal. Each element serves its row and its column:
//
//   a(i) += A_ij x_j      a(j) += conj(A_ij) x_i      b(i) += B_ij w_j      b(j) += B_ij w_i        (i > j)
//
// The half lies in panels of four rows, columns 0 … up to the panel's last, in the order they are read:
//
//   panel : [column / lanes][row of 4][re A, im A, B][column mod lanes]   float
//
// with zeros on and above the diagonal and past the last station. The diagonal is the caller's.
#pragma once
#include "backend/cpu/native.h"

namespace corella {

constexpr int64_t PANEL_ROWS = 4;

/** Three planes of one number a station: re x, im x, w; or re a, im a, b. `stride` lies between planes. */
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

/** All that a step needs of the stations, in planes [re, im, power][s] `stride` apart; zeros past the last. */
struct Stations {
  int64_t stride;
  double *gains;
  const double *anchor, *anchorSums, *diagonal;
  /** partial : [part][plane][s], to be added to anchorSums. */
  const float *partial;
  int64_t parts;
  /** Out: gains less anchor. */
  float *distance;
  /** What turns a quotient of sums into a gain. */
  double ratio;
  /** With the gains before. */
  bool average;
};

/** Squares, summed over stations: of the step, of the gains, of their distance from the anchor. */
struct Movement {
  double change, size, distance;
};

struct StefcalKernels {
  /** Floats in a vector: stations are padded to multiples of it, and of PANEL_ROWS. */
  int64_t lanes;
  /** Adds to `sums` what the range's elements give. */
  void (*sweep)(const PanelRange &range, StationPlanes<const float> in, StationPlanes<float> sums);
  /** The same with factors and sums in float64, several times slower. */
  void (*sweepExactly)(const PanelRange &range, StationPlanes<const double> in, StationPlanes<double> sums);
  /** Takes stations first … end − 1, both multiples of 16, one step on; those whose denominator is 0 stay. */
  Movement (*move)(const Stations &stations, int64_t first, int64_t end);
};

CORELLA_DECLARE(const StefcalKernels, stefcalKernels)

}  // namespace corella
