// Powers of spectra, computed while a block is filled, for a flagger after it: |x|^2 and |x|^4 summed over cells,
// ranges of spectra that begin at multiples of sixteen.
//
// cells : [cell][a][place], places of channels in the filter's order (backend/cuda/power-cells.ts)
//
// For integers the thread that made sixteen spectra adds their sums, S2 * 2^24 + S1 in a word. Powers are at most 2 *
// 127^2, so for 512 spectra the two do not overlap; integer sums are the same in any order. Of floats a block makes all
// of a cell, (S1, S2): every STRIPES-th few spectra of a window, or of a part of one, whose others the blocks beside it
// make.
#pragma once
#include "integers.cuh"

typedef unsigned long long PowerCell;
constexpr int GROUP_SPECTRA = 16, CELL_S1_BITS = 24, STRIPES = 4;

struct PowerCells {
  PowerCell *sums;
  uint64_t inverse;  // 2^64 / spectra, rounded up
  uint32_t eights;   // 8 cells
  uint32_t last;
};

// Cell n begins at the multiple of sixteen that is nearest to n / all of the spectra.
__device__ __forceinline__ uint32_t cellOf(const PowerCells &cells, uint32_t group) {
  const uint64_t at = (uint64_t)(2 * group + 1) * cells.eights - 1;
  return min((uint32_t)__umul64hi(at, cells.inverse), cells.last);
}

// Floats: the beginning of a cell's window.
__device__ __forceinline__ int windowStart(const PowerCells &cells, int window, int spectra) {
  const uint32_t windows = (cells.last + 1) / STRIPES;
  return GROUP_SPECTRA *
         (int)((2 * (uint64_t)window * spectra + GROUP_SPECTRA * windows) / (2 * GROUP_SPECTRA * windows));
}

// Of eight samples (re, im), -127 to 127: four squares of powers fit into 32 bits.
__device__ __forceinline__ PowerCell powersOf(const uint4 in) {
  const uint32_t words[4] = {in.x, in.y, in.z, in.w};
  uint32_t s1 = 0, squares[2] = {};
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    const uint32_t both = (uint32_t)__dp4a((int)words[n], (int)words[n], 0);
    const uint32_t one = (uint32_t)__dp4a((int)words[n], (int)(words[n] & 0xFFFFu), 0), other = both - one;
    s1 += both;
    squares[n / 2] += one * one;
    squares[n / 2] += other * other;
  }
  return ((PowerCell)squares[0] + squares[1]) << CELL_S1_BITS | s1;
}

// The first `count` of eight samples; zeros for the others.
__device__ __forceinline__ uint4 firstSamples(const uint4 in, int count) {
  auto kept = [&](uint32_t word, int n) { return count > n + 1 ? word : count > n ? word & 0xFFFFu : 0; };
  return make_uint4(kept(in.x, 0), kept(in.y, 2), kept(in.z, 4), kept(in.w, 6));
}

// Two neighbouring lanes have the halves of two rows of sixteen samples: the even one gets the first row's sum, the odd
// one the second's.
__device__ __forceinline__ PowerCell exchanged(PowerCell first, PowerCell second, bool isOdd) {
  return __shfl_xor_sync(0xFFFFFFFFu, isOdd ? first : second, 1) + (isOdd ? second : first);
}

// A warp has 64 rows of sixteen samples, each in two lanes side by side: lane l the halves l % 2 of rows l / 2 + 16 i. Each lane
// adds two rows' sums where `at` says.
template <class At>
__device__ __forceinline__ void addPowers(const PowerCell (&halves)[4], int lane, PowerCell *cells, At at) {
  const bool isOdd = lane & 1;
  const int row = (lane >> 1) + (isOdd ? 32 : 0);
  atomicAdd(cells + at(row), exchanged(halves[0], halves[2], isOdd));
  atomicAdd(cells + at(row + 16), exchanged(halves[1], halves[3], isOdd));
}
