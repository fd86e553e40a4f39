// The layout of a block's shared memory: a tile of points, and the rows of bytes after it; and powers of floats, in the
// tile where its points were.
//
// Set by the plan: N, GROUP, TILE, SPAN, R0 .. R6, THREADS, POWERS, OUTPUT_FLOAT, PASS.
#pragma once
#include "integers.cuh"

extern __shared__ float4 memory[];

// Rows of TILE points, [n][g]; 16 bytes after every 128 or more, so that threads that write one row, or two, each use
// different banks.
constexpr int ROWS_PER_GAP = TILE < 8 ? 16 / TILE : 2;
__host__ __device__ constexpr unsigned placeOf(unsigned row) { return row * TILE + row / ROWS_PER_GAP * 2; }
constexpr int TILE_ELEMENTS = (placeOf(N * GROUP) + 1) / 2 * 2;

// The place of point k of a butterfly, whose points are APART rows from each other, the first at `row`: from the first
// two all others are known at compile time, unless gaps are irregular.
template <int RADIX, int APART>
__device__ __forceinline__ unsigned pointOf(unsigned row, unsigned first, unsigned second, int k) {
  if constexpr (APART % ROWS_PER_GAP == 0 || (APART == 1 && RADIX % ROWS_PER_GAP == 0))
    return first + placeOf(k * APART);
  else if constexpr (ROWS_PER_GAP == 2)
    return (k % 2 ? second : first) + placeOf(k / 2 * 2 * APART);
  else
    return first - placeOf(row) + placeOf(row + k * APART);
}

// Neighbouring butterflies of the last level make bins STEP apart: their rows of bytes are permuted, so that they are
// in different banks. Its own inverse.
constexpr int LAST_RADIX = R6 > 1 ? R6 : R5 > 1 ? R5 : R4 > 1 ? R4 : R3 > 1 ? R3 : R2 > 1 ? R2 : R1 > 1 ? R1 : R0;
constexpr int LAST_BUT_ONE = R6 > 1 ? R5 : R5 > 1 ? R4 : R4 > 1 ? R3 : R3 > 1 ? R2 : R2 > 1 ? R1 : R1 > 1 ? R0 : 1;
constexpr int STEP = N / LAST_RADIX / LAST_BUT_ONE;
__device__ __forceinline__ unsigned stagedRow(unsigned row) {
  const unsigned digit = row % (N / LAST_RADIX) / STEP;
  if constexpr (GROUP > 1 || STEP % 2 == 1)
    return row;
  else if constexpr (STEP % 4 == 2)
    return row ^ (digit / 2 % 2);
  else
    return row ^ (digit % 4);
}

// Powers of a tile's bins are in half of each row, for two butterflies in the one and for the next two in the other:
// banks differ.
__device__ __forceinline__ float *powersAt(unsigned row) {
  return (float *)((float2 *)memory + placeOf(row)) + row / LAST_RADIX / 2 % 2 * TILE;
}

// Floats: a thread sums rows THREADS apart, tile by tile, and stores them as a cell.
constexpr bool FLOAT_POWERS = POWERS && PASS == 0 && OUTPUT_FLOAT;
constexpr int POWER_ROWS = FLOAT_POWERS ? (N + THREADS - 1) / THREADS : 1;
struct RowPowers {
  float s1[POWER_ROWS] = {}, s2[POWER_ROWS] = {};

  __device__ __forceinline__ void add() {
    // Rows so far apart have the same layout.
    constexpr bool IN_STEP = THREADS % (4 * LAST_RADIX) == 0 && THREADS % ROWS_PER_GAP == 0;
    const float *first = powersAt(threadIdx.x);
#pragma unroll
    for (int n = 0; n < POWER_ROWS; ++n) {
      const unsigned row = threadIdx.x + n * THREADS;
      if (row >= N) break;
      const float4 *from = (const float4 *)(IN_STEP ? first + 2 * placeOf(n * THREADS) : powersAt(row));
#pragma unroll
      for (int t = 0; t < TILE / 4; ++t) {
        const float4 p = from[t];
        s1[n] += (p.x + p.y) + (p.z + p.w);
        s2[n] = fmaf(p.w, p.w, fmaf(p.z, p.z, fmaf(p.y, p.y, fmaf(p.x, p.x, s2[n]))));
      }
    }
    __syncthreads();
  }
  // cells : [row].
  __device__ __forceinline__ void store(float2 *cells) const {
#pragma unroll
    for (int n = 0; n < POWER_ROWS; ++n) {
      const unsigned row = threadIdx.x + n * THREADS;
      if (row < N) cells[row] = make_float2(s1[n], s2[n]);
    }
  }
};
