// The inner loops of direct imaging, one set for each instruction-set level.
//
// As many time steps as a vector has lanes are processed together, each in its own lane: their voltages are spread on
// the box of grid cells that the antennas touch, then transformed. The position of the box on the grid rotates the
// whole field's phase, which cancels in products of two fields; so the box is put at the origin, and only its rows and
// columns take part in
//
//   field(l, m) = Σ_rows Σ_columns box[row][column] e^(−2πi (column·l + row·m)/n)
//
// Both axes are cut the same way. Outputs k ≡ r (mod S) for S = `classes` are a transform of length M = n/S:
//
//   X[S·j + r] = Σ_{p<M} y_r[p] e^(−2πi pj/M)   with   y_r[p] = e^(−2πi rp/n) Σ_k x[p + kM] e^(−2πi rk/S)
//
// which reads only existing cells, and lets the work proceed by a class of columns at a time in cache.
#pragma once
#include "backend/cpu/spectra.h"
#include "image/cpu/fft_plan.h"

namespace corella {

/** Shared by all channels. */
template <class Real>
struct DirectShape {
  int64_t pixels, classes, stations, polarisations, kernelSize;
  /** Length M; its `turns` are those of M. */
  LaneFft<Real> fft;
  /** classTurns : [class r][p] = (cos, −sin)(2πrp/n), p < M. */
  const Real *classTurns;
  /** slots : [l] by the transform's bin, a column's place among the shown ones, or −1. */
  const int32_t *slots;
  int64_t slotCount;
  /** shownGroups : [slot][class][group], 1 where some pixel of the `fold` outputs is shown. */
  const uint8_t *shownGroups;
  /** Groups of `fold` outputs in a class: M / fold, rounded up. */
  int64_t groups;

  int64_t products() const { return polarisations == 1 ? 1 : 4; }
  /** Vectors of sums of one product. */
  int64_t sumVectors() const { return slotCount * classes * groups; }
};

/** One channel of one block of spectra. */
template <class Real>
struct DirectChannel {
  int64_t rows, columns;
  /** Stations from the first row to the last, so that neighbours on the grid are spread one after the other. */
  const int32_t *order;
  /** corners : [place in order][row, column] within the box. */
  const int32_t *corners;
  /** taps : [place in order][row][column] complex. */
  const Real *taps;
  /** factors : [a] complex; an input with 0 is left out, whatever its values. */
  const Real *factors;
  SpectraLayout layout;
  /** The channel's first input block. */
  const char *spectra;
  int64_t samples;
};

/** In vectors; every worker has its own. */
template <class Real>
struct DirectScratch {
  /** grid : [p][row][column] complex. */
  void *grid;
  /** between : [p][column of a class][row] complex, rows `betweenRows` apart. */
  void *between;
  int64_t betweenRows;
  /** Two transforms of M, and the finished column of each polarisation, M rounded up to `fold`. */
  void *buffers, *fields;
  /** sums : [product][slot][class][group]. */
  Real *sums;
};

template <class Real>
struct DirectKernels {
  /** Time steps processed together; how many outputs' sums, over a few lanes each, share a vector. */
  int64_t lanes, fold;
  /** Adds time steps first · lanes … end · lanes − 1, those past the last sample being 0. */
  void (*addSteps)(const DirectShape<Real> &shape, const DirectChannel<Real> &channel,
                   const DirectScratch<Real> &scratch, int64_t first, int64_t end);
  /** Adds sums to totals : [product][slot][class][j], M rounded up to `fold`, and clears them. */
  void (*flush)(const DirectShape<Real> &shape, Real *sums, double *totals);
};

CORELLA_DECLARE(const DirectKernels<float>, directKernels)
CORELLA_DECLARE(const DirectKernels<double>, directKernelsExact)

}  // namespace corella
