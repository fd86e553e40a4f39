// A_ij = w_ij R_ij conj(M_ij) and B_ij = w_ij |M_ij|^2 from the lower triangles, as both triangles in float32.
#include "baselines.cuh"

// data, model : [k][b] complex float64; weights : [k][b] float64; scales : [k][2], factors for A and B so that gains
// and B are near 1. numerator : [k][i][j] complex float32; denominator : [k][i][j] float32. A block makes 32 x 32 pairs
// and transposes them in shared memory, so that the other triangle is written in rows as well. Grid: (tiles (tiles + 1)
// / 2, solves), grid-stride over solves; 256 threads.
extern "C" __global__ void __launch_bounds__(256)
    makeMatrices(const double2 *data, const double2 *model, const double *weights, const double *scales,
                 float2 *numerator, float *denominator, int solves, int stations) {
  constexpr int TILE = 32, ROWS = 8;
  __shared__ float2 turnedA[TILE][TILE + 1];
  __shared__ float turnedB[TILE][TILE + 1];
  const int64_t baselines = (int64_t)stations * (stations + 1) / 2;
  int64_t ti, tj;
  stationsOf(blockIdx.x, ti, tj);
  const int x = threadIdx.x % TILE, y = threadIdx.x / TILE;
  for (int64_t k = blockIdx.y; k < solves; k += gridDim.y) {
    const int64_t matrix = k * stations * stations;
    const double scaleA = scales[2 * k], scaleB = scales[2 * k + 1];
    __syncthreads();
    for (int row = y; row < TILE; row += ROWS) {
      const int64_t i = ti * TILE + row, j = tj * TILE + x;
      if (i >= stations || j > i) continue;
      const int64_t e = k * baselines + i * (i + 1) / 2 + j;
      const double2 r = data[e], m = model[e];
      const double forA = weights[e] * scaleA, forB = weights[e] * scaleB;
      const float re = (float)(forA * (r.x * m.x + r.y * m.y)), im = (float)(forA * (r.y * m.x - r.x * m.y));
      const float power = (float)(forB * (m.x * m.x + m.y * m.y));
      numerator[matrix + i * stations + j] = make_float2(re, im);
      denominator[matrix + i * stations + j] = power;
      turnedA[row][x] = make_float2(re, -im);
      turnedB[row][x] = power;
    }
    __syncthreads();
    for (int row = y; row < TILE; row += ROWS) {
      const int64_t i = tj * TILE + row, j = ti * TILE + x;  // the other triangle
      if (j >= stations || i >= j) continue;
      numerator[matrix + i * stations + j] = turnedA[x][row];
      denominator[matrix + i * stations + j] = turnedB[x][row];
    }
  }
}
