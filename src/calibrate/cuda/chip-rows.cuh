// A thread's share of A and B on the chip (stefcal-chip.cu): COLUMNS columns of ROWS rows, REGISTER_ROWS of them in registers,
// the others in shared memory in 16-byte slots of its own.
#pragma once
#include "integers.cuh"
#include "row-sums.cuh"
#include "shared.cuh"

constexpr int WARPS = GROUP / 32, ALL_WARPS = THREADS / 32, GROUPS = THREADS / GROUP;
constexpr bool DIRECT = GROUPS == 1;  // every thread needs only its own columns' gains: no shared copy
constexpr int SHARED_ROWS = ROWS - REGISTER_ROWS, VECTORS = COLUMNS * 3 / 4;
constexpr int SHARE = SHARED_ROWS * VECTORS * THREADS;                // float4s in shared memory
constexpr bool MIRRORED = (ROWS & (ROWS - 1)) == 0 && CHUNK == ROWS;  // row-sums.cuh
constexpr bool IN_LANES = WARPS == 1 && !MIRRORED && CHUNK == ROWS;   // totals of all rows are in the lanes of one warp
constexpr int AT_ONCE = MIRRORED || COLUMNS < 4 ? COLUMNS : 4;  // columns, a whole number of vectors of either matrix
static_assert(COLUMNS % 2 == 0 && GROUP * COLUMNS >= STATIONS, "a group covers a row");
static_assert(SHARED_ROWS == 0 || COLUMNS * 3 % 4 == 0, "rows in shared memory are whole vectors");
static_assert(ROWS % CHUNK == 0 && ROWS <= 32, "chunks of rows; a lane for each row");

__device__ __forceinline__ float4 loadFour(uint32_t from) {
  const uint4 v = load16(from);
  return make_float4(__uint_as_float(v.x), __uint_as_float(v.y), __uint_as_float(v.z), __uint_as_float(v.w));
}

// Columns are dealt in pairs, in turn to the threads of a group.
__device__ __forceinline__ int columnOf(int j) { return j / 2 * 2 * GROUP + 2 * (threadIdx.x % GROUP) + j % 2; }
// Slot r of a lane holds row r ^ mirror.
__device__ __forceinline__ int mirror() { return MIRRORED ? threadIdx.x % 32 * ROWS / 32 : 0; }

// Gains of AT_ONCE columns, and their squares.
struct Gains {
  float x[AT_ONCE], y[AT_ONCE], power[AT_ONCE];
};

struct Share {
  float ar[REGISTER_ROWS > 0 ? REGISTER_ROWS : 1][COLUMNS], ai[REGISTER_ROWS > 0 ? REGISTER_ROWS : 1][COLUMNS],
      bb[REGISTER_ROWS > 0 ? REGISTER_ROWS : 1][COLUMNS];

  // numerator, denominator : [i][j] of one solve; zeros where there is none, or no such row or column.
  __device__ __forceinline__ void load(const float2 *numerator, const float *denominator, int firstRow, bool active,
                                       float4 *shared) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      float row[COLUMNS * 3];
      const int i = firstRow + (r ^ mirror());
      const int64_t from = (int64_t)i * STATIONS;
#pragma unroll
      for (int j = 0; j < COLUMNS; ++j) {
        const bool there = active && i < STATIONS && columnOf(j) < STATIONS;
        if constexpr (STATIONS % 2 == 0) {  // two columns in one load
          if (j % 2) continue;
          const float4 a = there ? __ldcs((const float4 *)(numerator + from + columnOf(j))) : make_float4(0, 0, 0, 0);
          const float2 b = there ? __ldcs((const float2 *)(denominator + from + columnOf(j))) : make_float2(0, 0);
          row[2 * j] = a.x, row[2 * j + 1] = a.y, row[2 * j + 2] = a.z, row[2 * j + 3] = a.w;
          row[2 * COLUMNS + j] = b.x, row[2 * COLUMNS + j + 1] = b.y;
        } else {
          const float2 a = there ? __ldcs(numerator + from + columnOf(j)) : make_float2(0, 0);
          row[2 * j] = a.x, row[2 * j + 1] = a.y;
          row[2 * COLUMNS + j] = there ? __ldcs(denominator + from + columnOf(j)) : 0.0f;
        }
      }
      if (r < REGISTER_ROWS) {
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) {
          const int to = r < REGISTER_ROWS ? r : 0;
          ar[to][j] = row[2 * j], ai[to][j] = row[2 * j + 1], bb[to][j] = row[2 * COLUMNS + j];
        }
      } else {
#pragma unroll
        for (int f = 0; f < VECTORS; ++f)
          shared[((r - REGISTER_ROWS) * VECTORS + f) * THREADS + threadIdx.x] =
              make_float4(row[4 * f], row[4 * f + 1], row[4 * f + 2], row[4 * f + 3]);
      }
    }
  }

  // Adds the contributions of columns j to j + AT_ONCE to the sum of row slot r. matrixAt: start of this thread's
  // slots.
  __device__ __forceinline__ void add(int r, int j, const Gains &gains, RowSum &sum, uint32_t matrixAt) const {
    float a[2 * AT_ONCE], b[AT_ONCE];
    if (r < REGISTER_ROWS) {
#pragma unroll
      for (int n = 0; n < AT_ONCE; ++n) {
        const int from = r < REGISTER_ROWS ? r : 0;
        a[2 * n] = ar[from][j + n], a[2 * n + 1] = ai[from][j + n], b[n] = bb[from][j + n];
      }
    } else {
      const uint32_t from = matrixAt + (r - REGISTER_ROWS) * (VECTORS * THREADS * 16);
#pragma unroll
      for (int n = 0; n < AT_ONCE / 2; ++n) {
        const float4 four = loadFour(from + (j / 2 + n) * (THREADS * 16));
        a[4 * n] = four.x, a[4 * n + 1] = four.y, a[4 * n + 2] = four.z, a[4 * n + 3] = four.w;
      }
#pragma unroll
      for (int n = 0; n < AT_ONCE / 4; ++n) {
        const float4 four = loadFour(from + (COLUMNS / 2 + j / 4 + n) * (THREADS * 16));
        b[4 * n] = four.x, b[4 * n + 1] = four.y, b[4 * n + 2] = four.z, b[4 * n + 3] = four.w;
      }
    }
#pragma unroll
    for (int n = 0; n < AT_ONCE; ++n) {
      sum.x = fmaf(a[2 * n], gains.x[n], sum.x), sum.y = fmaf(a[2 * n], gains.y[n], sum.y);
      sum.x = fmaf(-a[2 * n + 1], gains.y[n], sum.x), sum.y = fmaf(a[2 * n + 1], gains.x[n], sum.y);
      sum.d = fmaf(b[n], gains.power[n], sum.d);
    }
  }

  // The sums over all of a warp's columns : [ROWS], (x, y, d, -), or where IN_LANES this lane's total of them (row-sums.cuh).
  // gainPair(j) gives the gains of columns j and j + 1.
  template <class GainPair>
  __device__ __forceinline__ float sumRows(const GainPair &gainPair, uint32_t matrixAt, float4 *warpSums) const {
    const int lane = threadIdx.x % 32;
    auto gainsOf = [&](int j) {
      Gains g;
#pragma unroll
      for (int n = 0; n < AT_ONCE; n += 2) {
        const float4 two = gainPair(j + n);
        g.x[n] = two.x, g.y[n] = two.y, g.x[n + 1] = two.z, g.y[n + 1] = two.w;
      }
#pragma unroll
      for (int n = 0; n < AT_ONCE; ++n) g.power[n] = g.x[n] * g.x[n] + g.y[n] * g.y[n];
      return g;
    };
    if constexpr (MIRRORED) {
      const Gains gains = gainsOf(0);
      RowSum total = sumTree<ROWS, 0, 1>([&](int r) {
        RowSum sum{0, 0, 0};
        add(r, 0, gains, sum, matrixAt);
        return sum;
      });
#pragma unroll
      for (int lanes = 16 / ROWS; lanes >= 1; lanes >>= 1) {
        total.x += __shfl_xor_sync(0xFFFFFFFFu, total.x, lanes);
        total.y += __shfl_xor_sync(0xFFFFFFFFu, total.y, lanes);
        total.d += __shfl_xor_sync(0xFFFFFFFFu, total.d, lanes);
      }
      if (lane % (32 / ROWS) == 0) warpSums[mirror()] = make_float4(total.x, total.y, total.d, 0);
      return 0;
    } else {
      float total = 0;
      // Column after column: the sums of a chunk of rows stay in registers instead of the gains of all columns.
#pragma unroll
      for (int chunk = 0; chunk < ROWS; chunk += CHUNK) {
        RowSum part[CHUNK];
#pragma unroll
        for (int q = 0; q < CHUNK; ++q) part[q] = {0, 0, 0};
#pragma unroll
        for (int j = 0; j < COLUMNS; j += AT_ONCE) {
          const Gains gains = gainsOf(j);
#pragma unroll
          for (int q = 0; q < CHUNK; ++q) add(chunk + q, j, gains, part[q], matrixAt);
        }
        float v[3 * CHUNK];
#pragma unroll
        for (int q = 0; q < CHUNK; ++q) v[3 * q] = part[q].x, v[3 * q + 1] = part[q].y, v[3 * q + 2] = part[q].d;
        int index;
        bool valid;
        total = sumLanes<3 * CHUNK>(v, lane, index, valid);
        if (!IN_LANES && valid && lane % sharing(3 * CHUNK) == 0)
          ((float *)(warpSums + chunk + index / 3))[index % 3] = total;
      }
      return total;
    }
  }
};
