// The inner loop of full-polarisation StEFCal, one for each instruction-set level. Each pair i > j below the diagonal serves
// its row and its column:
//
//   Z = G_j M_ijᴴ :  N_i += V_ij Z    D_i += Zᴴ Z        Y = G_i M_ij :  N_j += V_ijᴴ Y    D_j += Yᴴ Y
//
// Rows lie one after the other, in the order they are read, V and M times the root of the pair's weight:
//
//   row : [column / lanes][V then M: 00 re, 00 im, 01 re … 11 im][column mod lanes]   float
//
// with zeros past the diagonal. The diagonal is the caller's.
#pragma once
#include "backend/cpu/native.h"

namespace corella {

/** Numbers of a gain; of the sums of a station: N as eight, then D as 00, 11, 01 re, 01 im. */
constexpr int64_t GAIN_PLANES = 8, SUM_PLANES = 12;

struct FullRows {
  const float *values;
  /** offsets : [row], in floats, one more than there are rows. */
  const int64_t *offsets;
  int64_t first, end;
  /** Last row first: what the previous sweep touched last is still in the cache. */
  bool backwards;
};

/** Planes of one number a station, `stride` apart. */
template <class Real>
struct FullPlanes {
  Real *first;
  int64_t stride;
};

struct FullKernels {
  /** Floats in a vector: columns are padded to multiples of it. */
  int64_t lanes;
  /** Adds to `sums` what the rows give. */
  void (*sweep)(const FullRows &rows, FullPlanes<const float> gains, FullPlanes<float> sums);
  /** The same with gains and sums in float64. */
  void (*sweepExactly)(const FullRows &rows, FullPlanes<const double> gains, FullPlanes<double> sums);
};

CORELLA_DECLARE(const FullKernels, fullKernels)

}  // namespace corella
