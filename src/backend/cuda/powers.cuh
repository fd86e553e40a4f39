// Powers of 8-bit spectra on their way to a block, for a flagger behind it: |x|^2 and |x|^4 summed over cells of sixteen spectra,
// S2 * 2^20 + S1 in a word. Powers are 2^15 at the most, so neither reaches the other, nor do sums of sixteen.
//
// cells : [t / 16][a][k low][k high], channel k = k low + LOW * k high: as the filter's warps have them
#pragma once
#include "integers.cuh"

typedef unsigned long long PowerCell;
constexpr int CELL_SPECTRA = 16, CELL_S1_BITS = 20;

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

// A warp has 64 rows of sixteen samples, each in two lanes side by side: lane l the halves l % 2 of rows l / 2 + 16 i. What the
// other half makes is handed over, and each lane leaves two rows' sums where `at` says.
template <class At>
__device__ __forceinline__ void storePowers(const PowerCell (&halves)[4], int lane, PowerCell *cells, At at) {
  const bool isOdd = lane & 1;
  const PowerCell first = __shfl_xor_sync(0xFFFFFFFFu, isOdd ? halves[0] : halves[2], 1);
  const PowerCell second = __shfl_xor_sync(0xFFFFFFFFu, isOdd ? halves[1] : halves[3], 1);
  const int row = (lane >> 1) + (isOdd ? 32 : 0);
  cells[at(row)] = first + (isOdd ? halves[2] : halves[0]);
  cells[at(row + 16)] = second + (isOdd ? halves[3] : halves[1]);
}
