// Adds the int32 sums of some launches to the float64 totals of an integration, and zeroes flagged inputs.
#include "shape.cuh"

// totals : [c][b][p_i][p_j][re, im], float64: whole numbers, exact below 2^53. Grid-stride over complex products.
extern "C" __global__ void addToTotals(const int2 *sums, double2 *totals, int64_t products, int add) {
  const int64_t stride = (int64_t)gridDim.x * blockDim.x;
  for (int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; e < products; e += stride) {
    const int2 sum = sums[e];
    const double2 old = add ? totals[e] : make_double2(0, 0);
    totals[e] = make_double2(old.x + sum.x, old.y + sum.y);
  }
}

// Adds totals of short integrations to those of a long one: longer (+)= totals. Grid-stride over complex products.
extern "C" __global__ void addToLonger(const double2 *totals, double2 *longer, int64_t products, int add) {
  const int64_t stride = (int64_t)gridDim.x * blockDim.x;
  for (int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; e < products; e += stride) {
    const double2 more = totals[e];
    const double2 old = add ? longer[e] : make_double2(0, 0);
    longer[e] = make_double2(old.x + more.x, old.y + more.y);
  }
}

// counts : [c][b] = rows[run][b] of each channel's run. Grid: (spans of baselines, channels; strided over).
extern "C" __global__ void spreadCounts(const double *rows, const int *runOf, double *counts, int channels) {
  const int64_t b = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= BASELINES) return;
  for (int c = blockIdx.y; c < channels; c += gridDim.y) counts[c * BASELINES + b] = rows[runOf[c] * BASELINES + b];
}

// flagged : [a], 1 where an input is left out: its products become zero. Grid-stride over baselines.
extern "C" __global__ void zeroFlagged(double2 *totals, const uint8_t *flagged, int channels) {
  const int64_t stride = (int64_t)gridDim.x * blockDim.x;
  for (int64_t b = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; b < BASELINES; b += stride) {
    // float64 keeps the square root exact enough for one correction either way.
    int64_t i = (int64_t)((sqrt(8.0 * b + 1.0) - 1.0) * 0.5);
    if ((i + 1) * (i + 2) / 2 <= b) ++i;
    if (i * (i + 1) / 2 > b) --i;
    const int64_t j = b - i * (i + 1) / 2;
    for (int pi = 0; pi < POLARISATIONS; ++pi)
      for (int pj = 0; pj < POLARISATIONS; ++pj)
        if (flagged[i * POLARISATIONS + pi] || flagged[j * POLARISATIONS + pj])
          for (int c = 0; c < channels; ++c)
            totals[c * PRODUCTS + (b * POLARISATIONS + pi) * POLARISATIONS + pj] = make_double2(0, 0);
  }
}
