// What whole samples leave of a delay: a phase for each channel and spectrum, straight in both.
//
// Set by the plan besides shape.cuh: DELAYED (1: every launch is told turns).
#pragma once
#include "shape.cuh"

// Of one spectrum of one input: turns at the zero frequency, and turns a channel.
struct Turn {
  float phase, slope;
};

// turns : [a][4]: those of spectrum 0, and how many they change by a spectrum; turns a channel, and by how many those do.
// Whole turns are dropped in float64, where counting spectra costs no digits.
__device__ __forceinline__ Turn turnOf(const double *turns, unsigned input, unsigned spectrum) {
  const double *own = turns + (size_t)input * 4, k = (double)spectrum, phase = fma(k, own[1], own[0]);
  return {(float)(phase - rint(phase)), (float)fma(k, own[3], own[2])};
}

__device__ __forceinline__ float2 unitAt(float turns) {
  float2 unit;
  sincospif(2 * turns, &unit.y, &unit.x);
  return unit;
}

// Channels as the sky has them, from the zero frequency: the upper half of a complex transform is negative.
__device__ __forceinline__ int fromZero(unsigned bin) {
  return REAL || bin < (CHANNELS + 1) / 2 ? (int)bin : (int)bin - CHANNELS;
}

// Where bins are first + k CHANNELS / R, the upper half of them negative: two runs of equal steps. Else one by one.
template <int R, class Get, class Put>
__device__ __forceinline__ void delayBins(Turn turn, unsigned first, unsigned apart, Get get, Put put) {
  if constexpr (R % 2 == 0 && CHANNELS % R == 0 && !REAL) {
    const float2 step = unitAt(turn.slope * (CHANNELS / R));
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float2 unit = unitAt(turn.phase + turn.slope * ((int)first - half * (CHANNELS / 2)));
#pragma unroll
      for (int n = 0; n < R / 2; ++n) {
        const int k = half * (R / 2) + n;
        put(k, times(get(k), unit));
        unit = times(unit, step);
      }
    }
  } else {
#pragma unroll
    for (int k = 0; k < R; ++k) put(k, times(get(k), unitAt(turn.phase + turn.slope * fromZero(first + k * apart))));
  }
}

// The same of parts in arrays of their own.
template <int R>
__device__ __forceinline__ void delayParts(Turn turn, unsigned first, float (&re)[R], float (&im)[R]) {
  delayBins<R>(
      turn, first, CHANNELS / R, [&](int k) { return make_float2(re[k], im[k]); },
      [&](int k, float2 value) { re[k] = value.x, im[k] = value.y; });
}
