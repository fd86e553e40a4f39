// Delays of channelised data: every sample is rotated by the phase of its channel, input and spectrum.
//
// spectra       : [c][a][pitch], rows of (re, im), int8 or float32 as FLOATS says (backend/cuda/spectra.ts)
// frequenciesHz : [c]
// runs          : [run + 1] edges, behind them [run][a][d, d', p, p'], all float64, as runs.ts has them
// out           : [c][a][outPitch], rows of (re, im), float32
//
// Whole turns are dropped in float64; the rest is small enough for float32. Four spectra to a thread are eight bytes
// in, or 32, and 32 out: memory bandwidth is the limit.
#include "integers.cuh"

constexpr int EACH = 4;

__device__ __forceinline__ void load(const int8_t *row, int t, float2 (&x)[EACH]) {
#if FLOATS
  const float4 *from = (const float4 *)(row + (int64_t)t * 8);
#pragma unroll
  for (int k = 0; k < EACH; k += 2) {
    const float4 two = from[k / 2];
    x[k] = make_float2(two.x, two.y), x[k + 1] = make_float2(two.z, two.w);
  }
#else
  const uint2 four = *(const uint2 *)(row + (int64_t)t * 2);
#pragma unroll
  for (int k = 0; k < EACH; ++k) {
    const uint32_t pair = (k < 2 ? four.x : four.y) >> (k % 2 * 16);
    x[k] = make_float2((float)(int8_t)(pair & 0xFF), (float)(int8_t)(pair >> 8 & 0xFF));
  }
#endif
}

extern "C" __global__ void turnSpectra(const int8_t *spectra, int64_t pitch, const double *frequenciesHz,
                                       const double *runs, int runCount, int inputs, int64_t rows, int samples,
                                       int8_t *out, int64_t outPitch) {
  const double *coefficients = runs + runCount + 1;
  const int pieces = (samples + EACH - 1) / EACH;
  const int64_t stride = (int64_t)gridDim.x * blockDim.x;
  for (int64_t item = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; item < rows * pieces; item += stride) {
    const int64_t row = item / pieces;
    const int first = (int)(item % pieces) * EACH;
    const double frequencyHz = frequenciesHz[row / inputs];
    float2 x[EACH];
    load(spectra + row * pitch, first, x);
    float2 *to = (float2 *)(out + row * outPitch) + first;
    int run = 0;
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
      const int t = first + k;
      if (t >= samples) break;
      while (run + 1 < runCount && t >= runs[run + 1]) ++run;
      const double *delay = coefficients + ((int64_t)run * inputs + row % inputs) * 4;
      const double since = t - runs[run];
      const double turns = delay[2] + since * delay[3] - frequencyHz * (delay[0] + since * delay[1]);
      float sine, cosine;
      sincospif(2 * (float)(turns - rint(turns)), &sine, &cosine);
      to[k] = make_float2(x[k].x * cosine - x[k].y * sine, x[k].x * sine + x[k].y * cosine);
    }
  }
}
