// Direct imaging in single precision: every option, any box, no tensor cores. The slow twin that the half-precision path
// is compared with, and what runs where that one cannot.
//
// Kernels answer the field's edge with a small part of what they hold, the rest cancels: cells are summed in double and
// rounded once, which keeps four times the precision there and costs next to nothing.
//
// Three kernels over batches of 32 time steps, one lane of a warp per step, so that every load and store is whole lines:
//   grid : [plane][row][column][t]   ->   along l : [plane][row][l][t]   ->   along m, multiplied and summed over t
// where plane = channel in the group * POLARISATIONS + polarisation. Rows and columns count from the box's first cell:
// that shift turns the field of both polarisations by the same phase, which no product sees.
//
// Set by the plan: PIXELS, ROWS, COLUMNS (the box), KERNEL, STATIONS, POLARISATIONS, FLOAT_SAMPLES (1: cf32).
#include "integers.cuh"

constexpr int INPUTS = STATIONS * POLARISATIONS;
constexpr int STEPS = 32;
constexpr int WARPS = 8;
constexpr int PER_WARP = 8;                     // pixels a warp makes at once: each value loaded serves all of them
constexpr int PER_BLOCK = WARPS * PER_WARP;
constexpr int PIXEL_BLOCKS = (PIXELS + PER_BLOCK - 1) / PER_BLOCK;
constexpr int PRODUCTS = POLARISATIONS == 1 ? 1 : 4;

__device__ __forceinline__ float2 sampleAt(const int8_t *row, int t) {
#if FLOAT_SAMPLES
  return ((const float2 *)row)[t];
#else
  const char2 x = ((const char2 *)row)[t];
  return make_float2(x.x, x.y);
#endif
}
__device__ __forceinline__ void multiplyAdd(double2 &sum, double2 a, double2 b) {
  sum.x += a.x * b.x - a.y * b.y;
  sum.y += a.x * b.y + a.y * b.x;
}
__device__ __forceinline__ void multiplyAdd(float2 &sum, float2 a, float2 b) {
  sum.x = fmaf(a.x, b.x, fmaf(-a.y, b.y, sum.x));
  sum.y = fmaf(a.x, b.y, fmaf(a.y, b.x, sum.y));
}

// spectra : [c][a][pitch]. corners : [c][s] (row, column) in the box. taps : [c][s][row][column]. factors : [c][a].
// Each lane owns its time step's grid, and each warp every eighth row of it: nobody waits, and sums keep their order.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
    spreadFloat(const int8_t *spectra, int64_t pitch, int samples, int firstStep, int firstChannel, const int2 *corners,
                const double2 *taps, const float2 *factors, double2 *grid) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int channel = firstChannel + blockIdx.x / POLARISATIONS, polarisation = blockIdx.x % POLARISATIONS;
  const int t = firstStep + lane;
  double2 *cells = grid + (int64_t)blockIdx.x * ROWS * COLUMNS * STEPS + lane;
  for (int row = warp; row < ROWS; row += WARPS)
    for (int column = 0; column < COLUMNS; ++column) cells[(int64_t)(row * COLUMNS + column) * STEPS] = make_double2(0, 0);
  for (int s = 0; s < STATIONS; ++s) {
    const int input = s * POLARISATIONS + polarisation;
    const float2 factor = factors[(int64_t)channel * INPUTS + input];
    if (factor.x == 0 && factor.y == 0) continue;  // left out, whatever it holds
    const int2 corner = corners[(int64_t)channel * STATIONS + s];
    double2 x = make_double2(0, 0);
    if (t < samples) {
      const float2 sample = sampleAt(spectra + ((int64_t)channel * INPUTS + input) * pitch, t);
      multiplyAdd(x, make_double2(sample.x, sample.y), make_double2(factor.x, factor.y));
    }
    const double2 *weights = taps + ((int64_t)channel * STATIONS + s) * KERNEL * KERNEL;
    for (int r = 0; r < KERNEL; ++r) {
      const int row = corner.x + r;
      if (row % WARPS != warp) continue;
#pragma unroll
      for (int k = 0; k < KERNEL; ++k) {
        double2 *cell = cells + (int64_t)(row * COLUMNS + corner.y + k) * STEPS;
        double2 sum = *cell;
        multiplyAdd(sum, x, weights[r * KERNEL + k]);
        *cell = sum;
      }
    }
  }
}

// turns[k] = e^(-2 pi i k / PIXELS), in shared memory.
__device__ __forceinline__ void loadTurns(float2 *to, const float2 *turns) {
  for (int k = threadIdx.x; k < PIXELS; k += blockDim.x) to[k] = turns[k];
  __syncthreads();
}

// Grid: (planes, ROWS * PIXEL_BLOCKS).
extern "C" __global__ void __launch_bounds__(32 * WARPS) rowsFloat(const double2 *grid, const float2 *turns, float2 *alongL) {
  __shared__ float2 turn[PIXELS];
  loadTurns(turn, turns);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = blockIdx.y / PIXEL_BLOCKS;
  const int first = blockIdx.y % PIXEL_BLOCKS * PER_BLOCK + warp * PER_WARP;
  const double2 *cells = grid + ((int64_t)blockIdx.x * ROWS + row) * COLUMNS * STEPS + lane;
  float2 sum[PER_WARP];
  int at[PER_WARP];
#pragma unroll
  for (int i = 0; i < PER_WARP; ++i) sum[i] = make_float2(0, 0), at[i] = 0;
  for (int column = 0; column < COLUMNS; ++column) {
    const double2 exact = cells[(int64_t)column * STEPS];
    const float2 cell = make_float2(exact.x, exact.y);
#pragma unroll
    for (int i = 0; i < PER_WARP; ++i) {
      multiplyAdd(sum[i], cell, turn[at[i]]);
      at[i] += (first + i) % PIXELS;
      if (at[i] >= PIXELS) at[i] -= PIXELS;
    }
  }
  float2 *to = alongL + (((int64_t)blockIdx.x * ROWS + row) * PIXELS) * STEPS + lane;
#pragma unroll
  for (int i = 0; i < PER_WARP; ++i)
    if (first + i < PIXELS) to[(int64_t)(first + i) * STEPS] = sum[i];
}

__device__ __forceinline__ float overSteps(float value) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(0xFFFFFFFFu, value, apart);
  return value;
}

// sums : [c][product][m][l], float64, added to. Grid: (channels of the group, PIXELS * PIXEL_BLOCKS).
extern "C" __global__ void __launch_bounds__(32 * WARPS)
    columnsFloat(const float2 *alongL, const float2 *turns, int firstChannel, double *sums) {
  __shared__ float2 turn[PIXELS];
  loadTurns(turn, turns);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int l = blockIdx.y / PIXEL_BLOCKS;
  const int first = blockIdx.y % PIXEL_BLOCKS * PER_BLOCK + warp * PER_WARP;
  float2 field[POLARISATIONS][PER_WARP];
  int at[PER_WARP];
#pragma unroll
  for (int i = 0; i < PER_WARP; ++i) {
    at[i] = 0;
#pragma unroll
    for (int p = 0; p < POLARISATIONS; ++p) field[p][i] = make_float2(0, 0);
  }
  const int64_t plane = (int64_t)blockIdx.x * POLARISATIONS;
  for (int row = 0; row < ROWS; ++row) {
    float2 value[POLARISATIONS];
#pragma unroll
    for (int p = 0; p < POLARISATIONS; ++p)
      value[p] = alongL[(((plane + p) * ROWS + row) * PIXELS + l) * STEPS + lane];
#pragma unroll
    for (int i = 0; i < PER_WARP; ++i) {
      const float2 by = turn[at[i]];
#pragma unroll
      for (int p = 0; p < POLARISATIONS; ++p) multiplyAdd(field[p][i], value[p], by);
      at[i] += (first + i) % PIXELS;
      if (at[i] >= PIXELS) at[i] -= PIXELS;
    }
  }
  constexpr int64_t PLANE = (int64_t)PIXELS * PIXELS;
#pragma unroll
  for (int i = 0; i < PER_WARP; ++i) {
    const float2 x = field[0][i], y = field[POLARISATIONS - 1][i];
    const float products[4] = {x.x * x.x + x.y * x.y, y.x * y.x + y.y * y.y, x.x * y.x + x.y * y.y,
                               x.y * y.x - x.x * y.y};
#pragma unroll
    for (int product = 0; product < PRODUCTS; ++product) {
      const float sum = overSteps(products[product]);
      if (lane == 0 && first + i < PIXELS)
        sums[((int64_t)(firstChannel + blockIdx.x) * PRODUCTS + product) * PLANE + (int64_t)(first + i) * PIXELS + l] += sum;
    }
  }
}
