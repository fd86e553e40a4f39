// Common to every integer path of the X-engine: the algebra, the matrix loads and where a product is stored.
//
// A row of interleaved (re, im) bytes is a K-major int8 operand of length 2T, so that
//   Re V_ij = x_i . x_j     with x  = (re, im) pairs
//   Im V_ij = x'_i . x_j    with x' = (im, -re) pairs
// are two real products of the same data. -128 has no int8 negative; spectra never contain it.
//
// Set by the plan: INPUTS (a = s * POLARISATIONS + p), POLARISATIONS, and ADD: 1 adds to the existing sums, 0 replaces
// them. Two compilations rather than one with both, which would need more registers. sums : [c][b][p_i][p_j][re, im],
// int32, b = s_i (s_i + 1) / 2 + s_j, s_i >= s_j.
#pragma once
#include "shape.cuh"

// (re, im) -> (im, -re) for the two samples of a word. 0x100 - re cannot borrow across the 16-bit lanes.
__device__ __forceinline__ uint32_t timesMinusI(uint32_t x) {
  return __byte_perm(x, 0x01000100u - (x & 0x00FF00FFu), 0x6341);
}

// Four matrices of 8 rows x 16 bytes; lane l names row l % 8 of matrix l / 8.
__device__ __forceinline__ void loadMatrices(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

// A row's products are stored in pairs of columns, col + 8 j and col + 8 j + 1 with col even: a thread's values after
// both wgmma and mma. With two polarisations a pair belongs to one station s_j: one 16-byte store, and the two rows of
// station s_i fill a 32-byte sector. With one, a pair may straddle the diagonal, and is not 16-byte aligned.
struct Pair {
  int re0, im0, re1, im1;
};

__device__ __forceinline__ Pair loadPair(const int *from, int row, int col) {
  if (POLARISATIONS == 2) {
    const int4 old = __ldcs((const int4 *)from);
    return {old.x, old.y, old.z, old.w};
  }
  const int2 first = *(const int2 *)from;
  const int2 second = col + 1 <= row ? ((const int2 *)from)[1] : make_int2(0, 0);
  return {first.x, first.y, second.x, second.y};
}
__device__ __forceinline__ void storePair(int *to, int row, int col, Pair pair) {
  if (POLARISATIONS == 2) {
    __stcs((int4 *)to, make_int4(pair.re0, pair.im0, pair.re1, pair.im1));
  } else {
    *(int2 *)to = make_int2(pair.re0, pair.im0);
    if (col + 1 <= row) ((int2 *)to)[1] = make_int2(pair.re1, pair.im1);
  }
}

// COUNT pairs of a row, acc(j) the j-th. When adding, old sums are fetched BATCH at a time before any is written back:
// the compiler cannot know that they do not overlap, and one by one each would wait for memory.
template <int COUNT, class Accumulators>
__device__ __forceinline__ void storePairs(int *channelSums, int row, int col, Accumulators acc) {
  if (row >= INPUTS) return;
  constexpr int BATCH = 8, STEP = 16 * POLARISATIONS;  // ints from a pair to the one 8 columns on
  const int si = row / POLARISATIONS, sj = col / POLARISATIONS;
  int *to = channelSums + (((int64_t)si * (si + 1) / 2 + sj) * POLARISATIONS + row % POLARISATIONS) * POLARISATIONS * 2;
  const auto wanted = [&](int j) { return sj + 8 / POLARISATIONS * j <= si; };  // on or below the diagonal
#pragma unroll
  for (int from = 0; from < COUNT; from += BATCH) {
    Pair old[BATCH] = {};
    if (ADD) {
#pragma unroll
      for (int j = from; j < from + BATCH && j < COUNT; ++j)
        if (wanted(j)) old[j - from] = loadPair(to + STEP * j, row, col + 8 * j);
    }
#pragma unroll
    for (int j = from; j < from + BATCH && j < COUNT; ++j) {
      if (!wanted(j)) continue;
      const Pair sum = acc(j), &was = old[j - from];
      const Pair total = {was.re0 + sum.re0, was.im0 + sum.im0, was.re1 + sum.re1, was.im1 + sum.im1};
      storePair(to + STEP * j, row, col + 8 * j, total);
    }
  }
}
