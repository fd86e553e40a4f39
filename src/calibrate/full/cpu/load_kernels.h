// Copies a batch's pairs into panels (stefcal_full_kernels.h), one kernel for each instruction-set level.
#pragma once
#include "calibrate/full/cpu/stefcal_full_kernels.h"

namespace corella {

/** A station's pairs with those before it: data, model : [j][8], weights : [j]; data and model are scaled by these. */
struct PairRow {
  int64_t station;
  const double *data, *model, *weights;
  double scaleData, scaleModel;
  /** Its panel, so many vectors wide. */
  float *panel;
  int64_t vectors;
};

/** For the pairs that have a weight; the largest are those of w |V|² and w |M|², within a factor of four. */
struct PairSizes {
  double largestData = 0, largestModel = 0, power = 0;
  int64_t pairs = 0;
  int form = UNPOLARISED;
};

struct LoadKernels {
  /** Adds the sizes of `count` pairs. */
  void (*measure)(const double *data, const double *model, const double *weights, int64_t count, PairSizes &sizes);
  /** By the form. */
  void (*load[FORMS])(const PairRow &row);
};

CORELLA_DECLARE(const LoadKernels, loadKernels)

}  // namespace corella
