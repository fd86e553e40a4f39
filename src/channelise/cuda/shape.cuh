// Constants of the plan for every kernel of the channeliser.
//
// Set by the plan: CHANNELS, TAPS, REAL (1: real samples, two spectra of them a channel), FOLDED (1: a column is two
// adjacent elements, (re, im) of a complex sample or two neighbouring real ones), SAMPLE_BYTES (1 and 2: integers, 4:
// float32), OUTPUT_FLOAT, RAIL (the largest magnitude of an integer output).
#pragma once
#include "integers.cuh"

#if SAMPLE_BYTES == 1
using Sample = int8_t;
using Tap = int;  // two 16-bit taps, an even one low and the next high
using Sum = int;  // exact: 64 taps of 128 * 32767 stay below 2^31
#elif SAMPLE_BYTES == 2
using Sample = short;
using Tap = float;
using Sum = float;
#else
using Sample = float;
using Tap = float;
using Sum = float;
#endif

// Taps are processed this many at a time; the table is padded with zeros to a multiple.
constexpr int CHUNK = TAPS >= 8 ? 8 : (TAPS + 1) / 2 * 2;

__device__ __forceinline__ float2 times(float2 a, float2 b) {
  return make_float2(fmaf(a.x, b.x, -a.y * b.y), fmaf(a.x, b.y, a.y * b.x));
}

// The whole block's count, added to the total by one thread of each warp.
__device__ __forceinline__ void addSaturated(int saturated, unsigned long long *total) {
#pragma unroll
  for (int lanes = 16; lanes >= 1; lanes /= 2) saturated += __shfl_xor_sync(0xFFFFFFFFu, saturated, lanes);
  if (threadIdx.x % 32 == 0 && saturated > 0) atomicAdd(total, (unsigned long long)saturated);
}
