// Direct imaging in single precision without tensor cores: every option, any box, any card. What the others are compared
// with, and what runs where they cannot.
//
// Kernels answer the field's edge with a small part of what they hold, the rest cancels: cells are summed in double and
// rounded once, which keeps four times the precision there. A cell is summed by one warp, over the antennas that touch it
// (cell-lists.ts), and written once.
//
// Three kernels over batches of 32 time steps:
//   grid : [plane][row][column][t]   ->   U : [plane][l][row |v|, parity][part][t]   ->   along m, multiplied, summed over t
// where plane = channel in the group * POLARISATIONS + polarisation. The box lies symmetrically about its middle and is
// folded into even and odd parts (direct-grid.cu says how), so that both stages are real matrix products, half the
// arithmetic: of factors [pixel][depth = 2 |u| + parity] by columns that are four parts of 32 steps. A block makes
// 128 pixels of 128 columns, a thread 8 of 8, as matrix products are made: each value loaded serves eight times.
//
// Set by the plan: PIXELS, ROWS, COLUMNS (the box, both even), KERNEL, STATIONS, POLARISATIONS, FLOAT_SAMPLES (1: cf32).
#include "integers.cuh"

constexpr int INPUTS = STATIONS * POLARISATIONS;
constexpr int STEPS = 32;
constexpr int WARPS = 8;
constexpr int TILE = 128;                       // pixels of a block
constexpr int TILES = (PIXELS + TILE - 1) / TILE;
constexpr int DEPTH = 16;                       // of a product at a time: 8 cells |u|, both parities
constexpr int PARTS = 2 * POLARISATIONS;        // (re, im) of each polarisation
constexpr int PRODUCTS = POLARISATIONS == 1 ? 1 : 4;

__device__ __forceinline__ float2 sampleAt(const int8_t *row, int t) {
#if FLOAT_SAMPLES
  return ((const float2 *)row)[t];
#else
  const char2 x = ((const char2 *)row)[t];
  return make_float2(x.x, x.y);
#endif
}
// spectra : [c][a][pitch]. starts : [c][cell + 1], where each cell's antennas begin. stations, taps : by antenna of a cell.
// factors : [c][a]. grid : [plane][row][column][t]. Grid: (planes, ROWS). A warp takes every eighth cell of a row, a lane one
// step.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
    spreadFloat(const int8_t *spectra, int64_t pitch, int samples, int firstStep, int firstChannel, const uint32_t *starts,
                const int *stations, const double2 *taps, const float2 *factors, float2 *grid) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = blockIdx.y;
  const int channel = firstChannel + blockIdx.x / POLARISATIONS, polarisation = blockIdx.x % POLARISATIONS;
  const int t = firstStep + lane;
  const int8_t *inputs = spectra + ((int64_t)channel * INPUTS + polarisation) * pitch;
  const float2 *factor = factors + (int64_t)channel * INPUTS + polarisation;
  starts += (int64_t)channel * (ROWS * COLUMNS + 1) + row * COLUMNS;
  for (int column = warp; column < COLUMNS; column += WARPS) {
    double re = 0, im = 0;
    const uint32_t end = __ldg(starts + column + 1);
    for (uint32_t n = __ldg(starts + column); n < end; ++n) {
      const int64_t input = (int64_t)__ldg(stations + n) * POLARISATIONS;
      const float2 f = __ldg(factor + input);
      if ((f.x == 0 && f.y == 0) || t >= samples) continue;  // left out, whatever it holds
      const double2 w = __ldg(taps + n);
      const float2 sample = sampleAt(inputs + input * pitch, t);
      const double x = sample.x * f.x - sample.y * f.y, y = sample.x * f.y + sample.y * f.x;
      re += x * w.x - y * w.y;
      im += x * w.y + y * w.x;
    }
    grid[(((int64_t)blockIdx.x * ROWS + row) * COLUMNS + column) * STEPS + lane] = make_float2(re, im);
  }
}

// turns : [depth][TILES * TILE pixels], 0 past the last pixel and the last depth. To shared memory, DEPTH rows of a tile.
__device__ __forceinline__ void loadTurns(float (&to)[DEPTH][TILE], const float *turns, int firstDepth, int firstPixel) {
#pragma unroll
  for (int n = threadIdx.x; n < DEPTH * TILE / 4; n += 32 * WARPS) {
    const int depth = n / (TILE / 4), four = n % (TILE / 4);
    ((float4 *)to[depth])[four] =
        __ldg((const float4 *)(turns + (int64_t)(firstDepth + depth) * (TILES * TILE) + firstPixel) + four);
  }
}

// sum[pixel][part][step] += turns x columns: threads are 16 (two steps each) by 16 (eight pixels each).
template <int N>
__device__ __forceinline__ void multiplyTile(float (&sum)[8][N][2], const float (&turns)[DEPTH][TILE],
                                             const float (&columns)[DEPTH][N][STEPS]) {
  const int pair = threadIdx.x % 16, eight = threadIdx.x / 16;
#pragma unroll
  for (int k = 0; k < DEPTH; ++k) {
    float by[8];
    float2 value[N];
    *(float4 *)by = ((const float4 *)turns[k])[2 * eight];
    *(float4 *)(by + 4) = ((const float4 *)turns[k])[2 * eight + 1];
#pragma unroll
    for (int part = 0; part < N; ++part) value[part] = ((const float2 *)columns[k][part])[pair];
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
      for (int part = 0; part < N; ++part) {
        sum[i][part][0] = fmaf(by[i], value[part].x, sum[i][part][0]);
        sum[i][part][1] = fmaf(by[i], value[part].y, sum[i][part][1]);
      }
  }
}

__device__ __forceinline__ float2 cellAt(const float2 *cells, int row, int column) {
  return cells[(int64_t)(row * COLUMNS + column) * STEPS];
}

// Grid: (planes, ROWS / 2 * TILES).
extern "C" __global__ void __launch_bounds__(32 * WARPS, 2) rowsFloat(const float2 *grid, const float *turns, float *alongL) {
  __shared__ __align__(16) float turn[DEPTH][TILE];
  __shared__ __align__(16) float columns[DEPTH][4][STEPS];
  const int v = blockIdx.y / TILES, firstPixel = blockIdx.y % TILES * TILE;
  // A thread folds the four cells at (+-v, +-u) of its step.
  const int ahead = threadIdx.x / STEPS, t = threadIdx.x % STEPS;
  const float2 *cells = grid + (int64_t)blockIdx.x * ROWS * COLUMNS * STEPS + t;
  float sum[8][4][2] = {};
  for (int first = 0; first < COLUMNS / 2; first += DEPTH / 2) {
    const int u = first + ahead;
    float2 ee = make_float2(0, 0), oe = ee, eo = ee, oo = ee;
    if (u < COLUMNS / 2) {
      const int up = ROWS / 2 + v, down = ROWS / 2 - 1 - v, right = COLUMNS / 2 + u, left = COLUMNS / 2 - 1 - u;
      const float2 a = cellAt(cells, up, right), b = cellAt(cells, up, left);
      const float2 c = cellAt(cells, down, right), d = cellAt(cells, down, left);
      ee = make_float2((a.x + b.x) + (c.x + d.x), (a.y + b.y) + (c.y + d.y));
      oe = make_float2((a.x - b.x) + (c.x - d.x), (a.y - b.y) + (c.y - d.y));
      eo = make_float2((a.x + b.x) - (c.x + d.x), (a.y + b.y) - (c.y + d.y));
      oo = make_float2((a.x - b.x) - (c.x - d.x), (a.y - b.y) - (c.y - d.y));
    }
    __syncthreads();
    float(&even)[4][STEPS] = columns[2 * ahead], (&odd)[4][STEPS] = columns[2 * ahead + 1];
    even[0][t] = ee.x, even[1][t] = -eo.y, even[2][t] = ee.y, even[3][t] = eo.x;
    odd[0][t] = -oe.y, odd[1][t] = -oo.x, odd[2][t] = oe.x, odd[3][t] = -oo.y;
    loadTurns(turn, turns, 2 * first, firstPixel);
    __syncthreads();
    multiplyTile(sum, turn, columns);
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int l = firstPixel + threadIdx.x / 16 * 8 + i;
    if (l >= PIXELS) break;
#pragma unroll
    for (int group = 0; group < 4; ++group) {  // (part, parity along v)
      const int64_t row = ((int64_t)blockIdx.x * PIXELS + l) * ROWS + 2 * v + group % 2;
      ((float2 *)(alongL + (row * 2 + group / 2) * STEPS))[threadIdx.x % 16] = make_float2(sum[i][group][0], sum[i][group][1]);
    }
  }
}

// Over the 16 threads that share a pixel.
__device__ __forceinline__ float overSteps(float value) {
#pragma unroll
  for (int apart = 8; apart > 0; apart /= 2) value += __shfl_xor_sync(0xFFFFFFFFu, value, apart);
  return value;
}

// sums : [c][product][m][l], float64, added to. Grid: (PIXELS * TILES, channels of the group): neighbouring l together, so
// that what they add lies in the same lines.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 2)
    columnsFloat(const float *alongL, const float *turns, int firstChannel, double *sums) {
  __shared__ __align__(16) float turn[DEPTH][TILE];
  __shared__ __align__(16) float columns[DEPTH][PARTS][STEPS];
  const int l = blockIdx.x % PIXELS, firstPixel = blockIdx.x / PIXELS * TILE;
  float sum[8][PARTS][2] = {};
  for (int first = 0; first < ROWS; first += DEPTH) {
    __syncthreads();
#pragma unroll
    for (int n = threadIdx.x; n < DEPTH * PARTS * STEPS / 4; n += 32 * WARPS) {
      const int four = n % (STEPS / 4), part = n / (STEPS / 4) % PARTS, depth = n / (STEPS / 4) / PARTS;
      const int64_t plane = (int64_t)blockIdx.y * POLARISATIONS + part / 2;
      const float *from = alongL + (((plane * PIXELS + l) * ROWS + first + depth) * 2 + part % 2) * STEPS;
      ((float4 *)columns[depth][part])[four] = first + depth < ROWS ? ((const float4 *)from)[four] : make_float4(0, 0, 0, 0);
    }
    loadTurns(turn, turns, first, firstPixel);
    __syncthreads();
    multiplyTile(sum, turn, columns);
  }
  constexpr int64_t PLANE = (int64_t)PIXELS * PIXELS;
  double *image = sums + (int64_t)(firstChannel + blockIdx.y) * PRODUCTS * PLANE + l;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    float products[4] = {};
#pragma unroll
    for (int t = 0; t < 2; ++t) {
      const float xr = sum[i][0][t], xi = sum[i][1][t], yr = sum[i][PARTS - 2][t], yi = sum[i][PARTS - 1][t];
      products[0] += xr * xr + xi * xi, products[1] += yr * yr + yi * yi;
      products[2] += xr * yr + xi * yi, products[3] += xi * yr - xr * yi;
    }
    const int m = firstPixel + threadIdx.x / 16 * 8 + i;
#pragma unroll
    for (int product = 0; product < PRODUCTS; ++product) {
      const float total = overSteps(products[product]);
      if (threadIdx.x % 16 == 0 && m < PIXELS) image[product * PLANE + (int64_t)m * PIXELS] += total;
    }
  }
}
