// The arguments of every pass, and the last step of a spectrum: gain, rounding, saturation.
//
// Set by the plan besides shape.cuh: ONE_FACTOR (1: the same for all inputs and channels).
#pragma once
#include "delays.cuh"
#include "powers.cuh"
#include "shape.cuh"

struct Work {
  const Sample *voltages;  // [a][pitch]
  int64_t pitchBytes;
  const Tap *taps;             // filter.cuh
  const float2 *twiddles;      // fused: [level][digits][k]; plain: [N], e^(-2 pi i n / N)
  const float2 *longTwiddles;  // PASS 1: [N OTHER]; PASS 0 and REAL: [N], e^(-pi i k / N)
  float2 *scratch;             // [item][k1][n2][t]
  const float *factors;        // [a][c], or one for all
  const uint8_t *missing;      // [a][t], 1 where a spectrum is missing; or null
  int8_t *out;                 // [c][a][pitch]
  int64_t outPitchBytes;
  unsigned long long *saturated;
  int inputs, spectra;
  int firstItem, items;      // (input, row of SPAN spectra) pairs
  const InputDelay *delays;  // delays.cuh, where DELAYED
  PowerCells powers;         // POWERS: powers.cuh; places are channels, or of floats rows of a tile
};

__device__ __forceinline__ float factorOf(const Work &work, unsigned input, unsigned channel) {
  return ONE_FACTOR ? __ldg(work.factors) : __ldg(work.factors + (int64_t)input * CHANNELS + channel);
}

__device__ __forceinline__ bool isThere(const Work &work, unsigned input, unsigned spectrum) {
  return spectrum < work.spectra &&
         (work.missing == nullptr || !work.missing[(int64_t)input * work.spectra + spectrum]);
}

// x factor, as bytes (re, im). Saturation is very rare: only then are values clamped and counted.
template <int VALUES>
__device__ __forceinline__ void roundAll(const float2 (&x)[VALUES], const float (&factors)[VALUES],
                                         uint16_t (&rounded)[VALUES], int &saturated) {
  constexpr float MAGIC = 12582912.0f;  // 1.5 * 2^23: adding it rounds to the nearest, halves to even
  float largest = 0;
#pragma unroll
  for (int k = 0; k < VALUES; ++k) {
    const float larger = fmaxf(fabsf(x[k].x), fabsf(x[k].y));
    largest = fmaxf(largest, ONE_FACTOR ? larger : larger * fabsf(factors[k]));
    const unsigned int re = __float_as_uint(fmaf(x[k].x, factors[k], MAGIC));
    const unsigned int im = __float_as_uint(fmaf(x[k].y, factors[k], MAGIC));
    rounded[k] = (uint16_t)__byte_perm(re, im, 0x0040);
  }
  if (ONE_FACTOR) largest *= fabsf(factors[0]);
  if (largest >= RAIL + 0.5f) {
#pragma unroll
    for (int k = 0; k < VALUES; ++k) {
      // The rails are odd: half a step past one is rounded away from it, to the even number, which is past it.
      const float re = x[k].x * factors[k], im = x[k].y * factors[k];
      saturated += (fabsf(re) >= RAIL + 0.5f) + (fabsf(im) >= RAIL + 0.5f);
      const unsigned int clampedRe = __float_as_uint(fminf(fmaxf(re, -RAIL), RAIL) + MAGIC);
      const unsigned int clampedIm = __float_as_uint(fminf(fmaxf(im, -RAIL), RAIL) + MAGIC);
      rounded[k] = (uint16_t)__byte_perm(clampedRe, clampedIm, 0x0040);
    }
  }
}
