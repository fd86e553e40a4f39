// Common to the inner loops of both solvers. For sources compiled for each level.
#pragma once
#include "backend/cpu/vector.h"
#include "calibrate/cpu/stefcal_kernels.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** Columns of a panel that are processed together. */
constexpr int COLUMNS = LANES<float>;

/** As many float64 as a register has float32: the compiler uses two registers. */
typedef double WideDoubles __attribute__((vector_size(2 * VECTOR_BYTES)));
/** As many float32 as a register has float64. */
typedef float NarrowFloats __attribute__((vector_size(VECTOR_BYTES / 2)));

template <class Vector>
CORELLA_INLINE Vector loadMatrix(const float *from) {
  return __builtin_convertvector(loadVector<Floats>(from), Vector);
}
CORELLA_INLINE Doubles loadNarrow(const float *from) {
  return __builtin_convertvector(loadVector<NarrowFloats>(from), Doubles);
}
CORELLA_INLINE void storeNarrow(float *to, const Doubles &values) {
  storeVector(to, __builtin_convertvector(values, NarrowFloats));
}

/** Adds to four sums the totals of their vectors. */
CORELLA_INLINE void addTotals(const Floats *rows, float *sums) {
  typedef float Four __attribute__((vector_size(16)));
  const Floats totals = totalsOfFour(rows);
  storeVector(sums, loadVector<Four>(sums) + loadVector<Four>(&totals));
}
CORELLA_INLINE void addTotals(const WideDoubles *rows, double *sums) {
  for (int64_t row = 0; row < PANEL_ROWS; row++) sums[row] += total<double>(rows[row]);
}

// Four factors for vectors: ARM multiplies by a lane of a register, x86 by a number in memory.
#if CORELLA_ARM
template <class Real>
using RowFactors __attribute__((vector_size(PANEL_ROWS * sizeof(Real)))) = Real;
#else
template <class Real>
using RowFactors = const Real *;
#endif
template <class Real>
CORELLA_INLINE RowFactors<Real> rowFactors(const Real *from) {
#if CORELLA_ARM
  return loadVector<RowFactors<Real>>(from);
#else
  return from;
#endif
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella
