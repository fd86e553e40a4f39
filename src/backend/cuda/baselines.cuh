// The two stations of baseline b = i (i + 1) / 2 + j, i >= j.
#pragma once
#include "integers.cuh"

__device__ __forceinline__ void stationsOf(int64_t b, int64_t &i, int64_t &j) {
  i = (int64_t)((sqrt(8.0 * b + 1.0) - 1.0) * 0.5);  // exact enough for one correction either way
  if ((i + 1) * (i + 2) / 2 <= b) ++i;
  if (i * (i + 1) / 2 > b) --i;
  j = b - i * (i + 1) / 2;
}
