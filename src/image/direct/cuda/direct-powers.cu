// Each station's own power, summed beside a direct image without autocorrelations.
//
// Set by the plan: STATIONS, POLARISATIONS, FLOAT_SAMPLES.
#include "integers.cuh"

constexpr int PRODUCTS = POLARISATIONS == 1 ? 1 : 4;
constexpr int THREADS = 128;

#if FLOAT_SAMPLES
typedef float2 Sample;
typedef double Sum;
#else
typedef char2 Sample;
typedef int64_t Sum;
#endif

// spectra : [c][a][pitch] samples; powers : [c][s][product], XX, YY, Re XY, Im XY, or XX alone: added to, or replaced
// where isFresh. A block of 128 threads for each channel and station.
extern "C" __global__ void __launch_bounds__(THREADS)
    addPowers(const char *spectra, int64_t pitchBytes, int samples, int isFresh, double *powers) {
  __shared__ Sum shares[PRODUCTS][THREADS];
  const int64_t station = blockIdx.x;
  const Sample *x = (const Sample *)(spectra + station * POLARISATIONS * pitchBytes);
  const Sample *y = (const Sample *)(spectra + (station * POLARISATIONS + POLARISATIONS - 1) * pitchBytes);
  Sum own[4] = {};
  for (int t = threadIdx.x; t < samples; t += THREADS) {
    const Sum xRe = x[t].x, xIm = x[t].y, yRe = y[t].x, yIm = y[t].y;
    own[0] += xRe * xRe + xIm * xIm;
    own[1] += yRe * yRe + yIm * yIm;
    own[2] += xRe * yRe + xIm * yIm;
    own[3] += xIm * yRe - xRe * yIm;
  }
#pragma unroll
  for (int product = 0; product < PRODUCTS; ++product) shares[product][threadIdx.x] = own[product];
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
#pragma unroll
      for (int product = 0; product < PRODUCTS; ++product)
        shares[product][threadIdx.x] += shares[product][threadIdx.x + half];
  }
  __syncthreads();
  if (threadIdx.x < PRODUCTS) {
    double *to = powers + station * PRODUCTS + threadIdx.x;
    *to = (isFresh ? 0.0 : *to) + (double)shares[threadIdx.x][0];
  }
}
