// Direct imaging in single precision without tensor cores: every option, any box, any card. The other kernels are
// compared with it, and it runs where they cannot.
//
// Kernels have a small response at the field's edge, where most of their sum cancels: cells are summed in double and
// rounded once, which keeps four times the precision there. A cell is summed by one warp, over the antennas that touch
// it (cell-lists.ts), and written once.
//
// Three kernels over batches of 32 time steps:
//   grid : [plane][row][column][t]   ->   U : [plane][l][row |v|, parity][part][t]   ->   along m, multiplied, summed over t
// where plane = channel in the group * POLARISATIONS + polarisation. The box is placed symmetrically about its middle and is
// folded into even and odd parts (direct-grid.cu says how), so that both stages are real matrix products, half the
// arithmetic: of factors [pixel][depth = 2 |u| + parity] by columns that are four parts of 32 steps. A block makes
// 128 pixels of 128 columns, a thread 8 of 8, as matrix products are made: each value loaded serves eight times.
//
// Set by the plan: PIXELS, ROWS, COLUMNS (the box, both even), KERNEL, STATIONS, POLARISATIONS, FLOAT_SAMPLES (1: cf32).
#include "integers.cuh"

constexpr int INPUTS = STATIONS * POLARISATIONS;
constexpr int STEPS = 32;
constexpr int WARPS = 8;
constexpr int TILE = 128;  // pixels of a block
constexpr int TILES = (PIXELS + TILE - 1) / TILE;
constexpr int DEPTH = 16;                 // of a product at a time: 8 cells |u|, both parities
constexpr int PARTS = 2 * POLARISATIONS;  // (re, im) of each polarisation
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
    spreadFloat(const int8_t *spectra, int64_t pitch, int samples, int firstStep, int firstChannel,
                const uint32_t *starts, const int *stations, const double2 *taps, const float2 *factors, float2 *grid) {
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
      if ((f.x == 0 && f.y == 0) || t >= samples) continue;  // left out, whatever its value
      const double2 w = __ldg(taps + n);
      const float2 sample = sampleAt(inputs + input * pitch, t);
      const double x = sample.x * f.x - sample.y * f.y, y = sample.x * f.y + sample.y * f.x;
      re += x * w.x - y * w.y;
      im += x * w.y + y * w.x;
    }
    grid[(((int64_t)blockIdx.x * ROWS + row) * COLUMNS + column) * STEPS + lane] = make_float2(re, im);
  }
}

// The next DEPTH rows of factors and of columns that a thread prefetches during the current products.
struct Ahead {
  float4 turns[DEPTH * TILE / 4 / (32 * WARPS)];
};

// turns : [depth][TILES * TILE pixels], 0 past the last pixel and the last depth.
__device__ __forceinline__ void fetchTurns(Ahead &ahead, const float *turns, int firstDepth, int firstPixel) {
#pragma unroll
  for (int n = 0; n < DEPTH * TILE / 4 / (32 * WARPS); ++n) {
    const int at = n * 32 * WARPS + threadIdx.x, depth = at / (TILE / 4), four = at % (TILE / 4);
    ahead.turns[n] =
        __ldg((const float4 *)(turns + (int64_t)(firstDepth + depth) * (TILES * TILE) + firstPixel) + four);
  }
}
__device__ __forceinline__ void storeTurns(float (&to)[DEPTH][TILE], const Ahead &ahead) {
#pragma unroll
  for (int n = 0; n < DEPTH * TILE / 4 / (32 * WARPS); ++n)
    ((float4 *)to)[n * 32 * WARPS + threadIdx.x] = ahead.turns[n];
}

// Columns of a depth : [two parts][pair of steps][part][step], so that a thread reads its own as whole vectors without
// bank conflicts.
template <int N>
using Columns = float[DEPTH][N / 2][STEPS / 2][2][2];

// sum[pixel][part][step] += turns x columns: threads are 16 (two steps each) by 16 (eight pixels each).
template <int N>
__device__ __forceinline__ void multiplyTile(float (&sum)[8][N][2], const float (&turns)[DEPTH][TILE],
                                             const Columns<N> &columns) {
  const int pair = threadIdx.x % 16, eight = threadIdx.x / 16;
#pragma unroll
  for (int k = 0; k < DEPTH; ++k) {
    const float4 low = ((const float4 *)turns[k])[2 * eight], high = ((const float4 *)turns[k])[2 * eight + 1];
    const float by[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int two = 0; two < N / 2; ++two) {
      const float4 value = *(const float4 *)columns[k][two][pair];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        sum[i][2 * two][0] = fmaf(by[i], value.x, sum[i][2 * two][0]);
        sum[i][2 * two][1] = fmaf(by[i], value.y, sum[i][2 * two][1]);
        sum[i][2 * two + 1][0] = fmaf(by[i], value.z, sum[i][2 * two + 1][0]);
        sum[i][2 * two + 1][1] = fmaf(by[i], value.w, sum[i][2 * two + 1][1]);
      }
    }
  }
}

__device__ __forceinline__ float2 cellAt(const float2 *cells, int row, int column) {
  return cells[(int64_t)(row * COLUMNS + column) * STEPS];
}

// Grid: (planes, ROWS / 2 * TILES).
extern "C" __global__ void __launch_bounds__(32 * WARPS, 2)
    rowsFloat(const float2 *grid, const float *turns, float *alongL) {
  __shared__ __align__(16) float turn[DEPTH][TILE];
  __shared__ __align__(16) Columns<4> columns;
  const int v = blockIdx.y / TILES, firstPixel = blockIdx.y % TILES * TILE;
  // A thread folds the four cells at (+-v, +-u) of its step.
  const int cell = threadIdx.x / STEPS, t = threadIdx.x % STEPS;
  const float2 *cells = grid + (int64_t)blockIdx.x * ROWS * COLUMNS * STEPS + t;
  float2 a, b, c, d;
  Ahead ahead;
  auto fetch = [&](int first) {
    const int u = first + cell;
    a = b = c = d = make_float2(0, 0);
    if (u < COLUMNS / 2) {
      const int up = ROWS / 2 + v, down = ROWS / 2 - 1 - v, right = COLUMNS / 2 + u, left = COLUMNS / 2 - 1 - u;
      a = cellAt(cells, up, right), b = cellAt(cells, up, left);
      c = cellAt(cells, down, right), d = cellAt(cells, down, left);
    }
    fetchTurns(ahead, turns, 2 * first, firstPixel);
  };
  float sum[8][4][2] = {};
  fetch(0);
  for (int first = 0; first < COLUMNS / 2; first += DEPTH / 2) {
    const float2 ee = make_float2((a.x + b.x) + (c.x + d.x), (a.y + b.y) + (c.y + d.y));
    const float2 oe = make_float2((a.x - b.x) + (c.x - d.x), (a.y - b.y) + (c.y - d.y));
    const float2 eo = make_float2((a.x + b.x) - (c.x + d.x), (a.y + b.y) - (c.y + d.y));
    const float2 oo = make_float2((a.x - b.x) - (c.x - d.x), (a.y - b.y) - (c.y - d.y));
    const float even[4] = {ee.x, -eo.y, ee.y, eo.x}, odd[4] = {-oe.y, -oo.x, oe.x, -oo.y};
    __syncthreads();
#pragma unroll
    for (int group = 0; group < 4; ++group) {
      columns[2 * cell][group / 2][t / 2][group % 2][t % 2] = even[group];
      columns[2 * cell + 1][group / 2][t / 2][group % 2][t % 2] = odd[group];
    }
    storeTurns(turn, ahead);
    __syncthreads();
    if (first + DEPTH / 2 < COLUMNS / 2) fetch(first + DEPTH / 2);
    multiplyTile(sum, turn, columns);
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int l = firstPixel + threadIdx.x / 16 * 8 + i;
    if (l >= PIXELS) break;
#pragma unroll
    for (int group = 0; group < 4; ++group) {  // (part, parity along v)
      const int64_t row = ((int64_t)blockIdx.x * PIXELS + l) * ROWS + 2 * v + group % 2;
      ((float2 *)(alongL + (row * 2 + group / 2) * STEPS))[threadIdx.x % 16] =
          make_float2(sum[i][group][0], sum[i][group][1]);
    }
  }
}

// N values of each of the 16 threads that share pixels, added over them: at each step a thread hands away half of its
// values, until each has N / 16 sums, or some have the same one. They are the ones from the thread's number times N /
// 16 on.
template <int N, int APART>
__device__ __forceinline__ void overSteps(float *values) {
  if constexpr (APART > 0) {
    const bool isUpper = threadIdx.x & APART;
    if constexpr (N > 1) {
#pragma unroll
      for (int n = 0; n < N / 2; ++n) {
        const float kept = isUpper ? values[N / 2 + n] : values[n], given = isUpper ? values[n] : values[N / 2 + n];
        values[n] = kept + __shfl_xor_sync(0xFFFFFFFFu, given, APART);
      }
      overSteps<N / 2, APART / 2>(values);
    } else {
      values[0] += __shfl_xor_sync(0xFFFFFFFFu, values[0], APART);
      overSteps<1, APART / 2>(values);
    }
  }
}

// sums : [c][product][m][l], float64, added to. Grid: (PIXELS * TILES, channels of the group): neighbouring l together,
// so that they add to the same cache lines.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 2)
    columnsFloat(const float *alongL, const float *turns, int firstChannel, double *sums) {
  __shared__ __align__(16) float turn[DEPTH][TILE];
  __shared__ __align__(16) Columns<PARTS> columns;
  const int l = blockIdx.x % PIXELS, firstPixel = blockIdx.x / PIXELS * TILE;
  constexpr int FOURS = DEPTH * PARTS * STEPS / 4 / (32 * WARPS);
  float4 values[FOURS];
  Ahead ahead;
  auto fetch = [&](int first) {
#pragma unroll
    for (int n = 0; n < FOURS; ++n) {
      const int at = n * 32 * WARPS + threadIdx.x;
      const int four = at % (STEPS / 4), part = at / (STEPS / 4) % PARTS, depth = at / (STEPS / 4) / PARTS;
      const int64_t plane = (int64_t)blockIdx.y * POLARISATIONS + part / 2;
      const float *from = alongL + (((plane * PIXELS + l) * ROWS + first + depth) * 2 + part % 2) * STEPS;
      values[n] = first + depth < ROWS ? ((const float4 *)from)[four] : make_float4(0, 0, 0, 0);
    }
    fetchTurns(ahead, turns, first, firstPixel);
  };
  float sum[8][PARTS][2] = {};
  fetch(0);
  for (int first = 0; first < ROWS; first += DEPTH) {
    __syncthreads();
#pragma unroll
    for (int n = 0; n < FOURS; ++n) {
      const int at = n * 32 * WARPS + threadIdx.x;
      const int four = at % (STEPS / 4), part = at / (STEPS / 4) % PARTS, depth = at / (STEPS / 4) / PARTS;
      *(float2 *)columns[depth][part / 2][2 * four][part % 2] = make_float2(values[n].x, values[n].y);
      *(float2 *)columns[depth][part / 2][2 * four + 1][part % 2] = make_float2(values[n].z, values[n].w);
    }
    storeTurns(turn, ahead);
    __syncthreads();
    if (first + DEPTH < ROWS) fetch(first + DEPTH);
    multiplyTile(sum, turn, columns);
  }
  float products[8 * PRODUCTS];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    float of[4] = {};
#pragma unroll
    for (int t = 0; t < 2; ++t) {
      const float xr = sum[i][0][t], xi = sum[i][1][t], yr = sum[i][PARTS - 2][t], yi = sum[i][PARTS - 1][t];
      of[0] += xr * xr + xi * xi, of[1] += yr * yr + yi * yi;
      of[2] += xr * yr + xi * yi, of[3] += xi * yr - xr * yi;
    }
#pragma unroll
    for (int product = 0; product < PRODUCTS; ++product) products[i * PRODUCTS + product] = of[product];
  }
  overSteps<8 * PRODUCTS, 8>(products);
  constexpr int LEFT = PRODUCTS == 1 ? 1 : 2,
                SHARING = PRODUCTS == 1 ? 2 : 1;  // sums of a thread; threads with the same
  constexpr int64_t PLANE = (int64_t)PIXELS * PIXELS;
  double *image = sums + (int64_t)(firstChannel + blockIdx.y) * PRODUCTS * PLANE + l;
  const int first = threadIdx.x % 16 / SHARING * LEFT;
#pragma unroll
  for (int n = 0; n < LEFT; ++n) {
    const int m = firstPixel + threadIdx.x / 16 * 8 + (first + n) / PRODUCTS, product = (first + n) % PRODUCTS;
    if (threadIdx.x % SHARING == 0 && m < PIXELS) image[product * PLANE + (int64_t)m * PIXELS] += products[n];
  }
}
