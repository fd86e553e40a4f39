// Visibilities in the order in which they are gridded: tile by tile, plane by plane.
#pragma once
#include <vector>

#include "backend/cpu/context.h"
#include "image/wide/cpu/wide_kernels.h"

namespace corella {

/** The runs of one tile: first … last − 1 of all, in rising first plane. */
struct WideSpan {
  uint32_t tile;
  size_t first, last;
  int leastPlane, mostPlane;
};

struct WideRuns {
  std::vector<WideRun> runs;
  std::vector<WideSpan> spans;
  double weightSum = 0;
  int64_t visibilities = 0;
};

/** Rows without weights are all used. The same for any number of threads. */
template <class Real>
WideRuns sortRuns(Pool &pool, const WideKernels<Real> &kernels, const WideShape<Real> &shape,
                  const WideRows<Real> &rows);

extern template WideRuns sortRuns(Pool &, const WideKernels<float> &, const WideShape<float> &,
                                  const WideRows<float> &);
extern template WideRuns sortRuns(Pool &, const WideKernels<double> &, const WideShape<double> &,
                                  const WideRows<double> &);

}  // namespace corella
