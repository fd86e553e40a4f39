// The lower triangle of baselines: how many products, and which tile is where.
// Set by the plan: INPUTS (a = s * POLARISATIONS + p) and POLARISATIONS.
#pragma once
#include "integers.cuh"

static_assert(POLARISATIONS == 1 || POLARISATIONS == 2, "one or two polarisations");
constexpr int STATIONS = INPUTS / POLARISATIONS;
static_assert(STATIONS * POLARISATIONS == INPUTS, "inputs come in whole stations");
constexpr int64_t BASELINES = (int64_t)STATIONS * (STATIONS + 1) / 2;
constexpr int64_t PRODUCTS = BASELINES * POLARISATIONS * POLARISATIONS;  // complex, per channel

// Block row and column of tile t in a lower triangle counted row by row.
__device__ __forceinline__ void triangleTile(int t, int &row, int &col) {
  int i = (int)((sqrtf(8.0f * t + 1.0f) - 1.0f) * 0.5f);
  if ((i + 1) * (i + 2) / 2 <= t) ++i;
  if (i * (i + 1) / 2 > t) --i;
  row = i;
  col = t - i * (i + 1) / 2;
}
