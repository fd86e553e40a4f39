// The X-engine for float32 spectra: products in fp32, sums of at most 256 samples, those in float64.
//
// 256 products of fp32 lose at most 256 * 2^-24 of the sum of their magnitudes, in practice sixteen times less; the
// error of the float64 sums is negligible for any length of integration.
#include "shape.cuh"

constexpr int TILE = 64, SAMPLES = 16;  // per step
constexpr int STEPS_PER_SUM = 16;       // steps of fp32 before the sum is added to float64
constexpr int PITCH = TILE + 2;         // float2: keeps 16-byte alignment of pairs, spreads the transposing stores
constexpr int BLOCKS = (INPUTS + TILE - 1) / TILE;
constexpr int TILES = BLOCKS * (BLOCKS + 1) / 2;

__device__ __forceinline__ void storeDouble(double2 *channelTotals, int row, int col, double re, double im, int add) {
  const int si = row / POLARISATIONS, sj = col / POLARISATIONS;
  if (row >= INPUTS || sj > si) return;
  const int64_t baseline = (int64_t)si * (si + 1) / 2 + sj;
  double2 *to = channelTotals + (baseline * POLARISATIONS + row % POLARISATIONS) * POLARISATIONS + col % POLARISATIONS;
  const double2 old = add ? *to : make_double2(0, 0);
  *to = make_double2(old.x + re, old.y + im);
}

// spectra : [c][a][pitch], float32 (re, im). totals : [c][b][p_i][p_j][re, im], float64.
// Grid: channels * TILES blocks of 256 threads, each 4 x 4 products.
extern "C" __global__ void __launch_bounds__(256)
    correlateFloat(const int8_t *spectra, int64_t pitchBytes, int samples, int add, double2 *totals) {
  __shared__ __align__(16) float2 rowSamples[SAMPLES][PITCH], colSamples[SAMPLES][PITCH];
  const int channel = blockIdx.x / TILES;
  int tileRow, tileCol;
  triangleTile(blockIdx.x - channel * TILES, tileRow, tileCol);
  const int8_t *rows = spectra + (int64_t)channel * INPUTS * pitchBytes;
  auto fetch = [&](int input, int t) {
    return input < INPUTS && t < samples ? ((const float2 *)(rows + input * pitchBytes))[t] : make_float2(0, 0);
  };
  const int threadRow = threadIdx.x / 16 * 4, threadCol = threadIdx.x % 16 * 4;
  float re[4][4] = {}, im[4][4] = {};
  double reSum[4][4] = {}, imSum[4][4] = {};
  const int steps = (samples + SAMPLES - 1) / SAMPLES;
  for (int k = 0; k < steps; ++k) {
    __syncthreads();
    for (int i = threadIdx.x; i < TILE * SAMPLES; i += 256) {
      const int r = i / SAMPLES, s = i % SAMPLES;
      rowSamples[s][r] = fetch(tileRow * TILE + r, k * SAMPLES + s);
      colSamples[s][r] = fetch(tileCol * TILE + r, k * SAMPLES + s);
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < SAMPLES; ++s) {
      float2 a[4], b[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) a[i] = rowSamples[s][threadRow + i], b[i] = colSamples[s][threadCol + i];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          re[i][j] = fmaf(a[i].x, b[j].x, fmaf(a[i].y, b[j].y, re[i][j]));
          im[i][j] = fmaf(a[i].y, b[j].x, fmaf(-a[i].x, b[j].y, im[i][j]));
        }
    }
    if ((k + 1) % STEPS_PER_SUM == 0 || k + 1 == steps) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          reSum[i][j] += re[i][j], imSum[i][j] += im[i][j];
          re[i][j] = im[i][j] = 0;
        }
    }
  }
  double2 *channelTotals = totals + channel * PRODUCTS;
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      storeDouble(channelTotals, tileRow * TILE + threadRow + i, tileCol * TILE + threadCol + j, reSum[i][j],
                  imSum[i][j], add);
}
