// Before pairs are made: the sizes of a solve's data, model and gains, and the form of its models (full/plan.ts), so
// that V' = sigma V, M' = mu M and G' = G / unit are near 1; then G' = N' D'^-1 mu / (sigma unit^2).
#include "integers.cuh"

// Non-negative numbers are in the order of their bits.
__device__ __forceinline__ void atLeast(double *largest, double value) {
  atomicMax((unsigned long long *)largest, (unsigned long long)__double_as_longlong(value));
}

// data, model : [k][b][8] float64; weights : [k][b]; largest : [k][2], of data and model times their weights' roots; forms : [k].
// Both outputs zero before. Grid: (parts of the baselines, solves), grid-stride over both; 256 threads.
extern "C" __global__ void __launch_bounds__(256)
    largestOf(const double *data, const double *model, const double *weights, double *largest, int *forms, int solves,
              int stations) {
  const int64_t baselines = (int64_t)stations * (stations + 1) / 2;
  for (int64_t k = blockIdx.y; k < solves; k += gridDim.y) {
    double ofData = 0, ofModel = 0;
    int form = 0;
    for (int64_t b = (int64_t)blockIdx.x * 256 + threadIdx.x; b < baselines; b += (int64_t)gridDim.x * 256) {
      const double weight = weights[k * baselines + b];
      if (weight == 0) continue;
      const double *v = data + 8 * (k * baselines + b), *m = model + 8 * (k * baselines + b);
      double mostData = 0, mostModel = 0;
#pragma unroll
      for (int n = 0; n < 8; ++n) mostData = fmax(mostData, fabs(v[n])), mostModel = fmax(mostModel, fabs(m[n]));
      ofData = fmax(ofData, sqrt(weight) * mostData), ofModel = fmax(ofModel, sqrt(weight) * mostModel);
      const bool general = m[2] != 0 || m[3] != 0 || m[4] != 0 || m[5] != 0;
      form = max(form, general ? 2 : m[0] != m[6] || m[1] != m[7] ? 1 : 0);
    }
#pragma unroll
    for (int lanes = 16; lanes >= 1; lanes /= 2) {
      ofData = fmax(ofData, __shfl_xor_sync(0xFFFFFFFFu, ofData, lanes));
      ofModel = fmax(ofModel, __shfl_xor_sync(0xFFFFFFFFu, ofModel, lanes));
      form = max(form, __shfl_xor_sync(0xFFFFFFFFu, form, lanes));
    }
    if (threadIdx.x % 32 > 0) continue;
    atLeast(largest + 2 * k, ofData), atLeast(largest + 2 * k + 1, ofModel);
    atomicMax(forms + k, form);
  }
}

// gains : [k][8 stations], in and out in units of the largest; scales : [k][sigma, mu]; ratios, units : [k]. Grid: solves; 256
// threads.
extern "C" __global__ void __launch_bounds__(256)
    scaleSolves(const double *largest, double *gains, double *scales, double *ratios, double *units, int stations) {
  const int64_t k = blockIdx.x;
  double *own = gains + k * 8 * stations;
  double unit = 0;
  for (int n = threadIdx.x; n < 8 * stations; n += 256) unit = fmax(unit, fabs(own[n]));
#pragma unroll
  for (int lanes = 16; lanes >= 1; lanes /= 2) unit = fmax(unit, __shfl_xor_sync(0xFFFFFFFFu, unit, lanes));
  __shared__ double parts[8];
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = unit;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < 8; ++w) unit = fmax(unit, parts[w]);
  if (unit == 0) unit = 1;
  for (int n = threadIdx.x; n < 8 * stations; n += 256) own[n] /= unit;
  if (threadIdx.x > 0) return;
  const double sigma = largest[2 * k] > 0 ? 1 / largest[2 * k] : 1,
               mu = largest[2 * k + 1] > 0 ? 1 / largest[2 * k + 1] : 1;
  scales[2 * k] = sigma, scales[2 * k + 1] = mu;
  units[k] = unit;
  ratios[k] = mu / sigma / (unit * unit);
}
