// What every pass is told, and the last step of a spectrum: gain, rounding, saturation, and its place in the block.
//
// Set by the plan besides shape.cuh: TILE, the spectra of a tile.
#pragma once
#include "shape.cuh"

struct Work {
  const Sample *voltages;         // [a][pitch]
  int64_t pitchBytes;
  const Tap *taps;                // filter.cuh
  const float2 *twiddles;         // [N], e^(-2 pi i n / N)
  const float2 *longTwiddles;     // PASS 1: [N OTHER]; PASS 0 and REAL: [N], e^(-pi i k / N)
  float2 *scratch;                // [item][k1][n2][t]
  const float *factors;           // [a][c], or one for all
  const uint8_t *missing;         // [a][t], 1 where a spectrum is missing; or null
  int8_t *out;                    // [c][a][pitch]
  int64_t outPitchBytes;
  unsigned long long *saturated;
  int factorStep;                 // 0: one factor for all
  int inputs, spectra;
  int firstItem, items;           // (input, tile) pairs, a * tiles + tile
};

// What becomes of channel `channel`: spectra t .. t + VALUES - 1 of the tile.
template <int VALUES>
__device__ __forceinline__ void finish(const Work &work, int input, int channel, int firstSpectrum, int t,
                                       const float2 (&values)[VALUES], int &saturated) {
  if (firstSpectrum + t >= work.spectra) return;
  const int64_t row = (int64_t)channel * work.inputs + input;
  int8_t *out = work.out + row * work.outPitchBytes;
  const float factor = __ldg(work.factors + ((int64_t)input * CHANNELS + channel) * work.factorStep);
  [[maybe_unused]] unsigned int words[(VALUES + 1) / 2];
#pragma unroll
  for (int m = 0; m < VALUES; ++m) {
    const int spectrum = firstSpectrum + t + m;
    const bool there = spectrum < work.spectra &&
                       (work.missing == nullptr || !work.missing[(int64_t)input * work.spectra + spectrum]);
    const float re = values[m].x * factor, im = values[m].y * factor;
#if OUTPUT_FLOAT
    if (spectrum < work.spectra) ((float2 *)out)[spectrum] = there ? make_float2(re, im) : make_float2(0, 0);
#else
    int passed = 0;
    const int r = requantise(re, passed), i = requantise(im, passed);
    saturated += there ? passed : 0;
    const unsigned int both = there ? (unsigned int)(r & 0xFF) | (unsigned int)(i & 0xFF) << 8 : 0u;
    words[m / 2] = m % 2 ? words[m / 2] | both << 16 : both;
#endif
  }
#if !OUTPUT_FLOAT
  // Rows end on a multiple of 64 samples, so a last, part-filled stretch has room for its zeros.
  int8_t *to = out + (int64_t)(firstSpectrum + t) * 2;
  if constexpr (VALUES == 8) *(uint4 *)to = make_uint4(words[0], words[1], words[2], words[3]);
  if constexpr (VALUES == 4) *(uint2 *)to = make_uint2(words[0], words[1]);
  if constexpr (VALUES == 2) *(unsigned int *)to = words[0];
  if constexpr (VALUES == 1) *(uint16_t *)to = (uint16_t)words[0];
#endif
}
