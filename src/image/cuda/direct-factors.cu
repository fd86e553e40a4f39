// The factor for each voltage before gridding, scaled so that half precision cannot overflow.
//
// No value on the way to the image exceeds full scale * sum over inputs of |factor| * sum |taps| (every signal in
// phase); a power of two per channel puts that below the largest half. Halves are floating-point: the scale costs no
// precision.
//
// Set by the plan: STATIONS, POLARISATIONS.
#include "integers.cuh"

constexpr int INPUTS = STATIONS * POLARISATIONS;
constexpr float FULL_SCALE = 127.0f * 1.41422f;
constexpr float MOST_HALF = 60000.0f;  // of 65504: sums are rounded in between

// factors : [c][a]. tapSums : [c][s], sum of |taps|. scaled : [c][a]. unscale : [c], what the products are multiplied by.
// One block of 256 threads per channel.
extern "C" __global__ void scaleFactors(const float2 *factors, const float *tapSums, float2 *scaled, double *unscale) {
  __shared__ float sums[256];
  const int64_t first = (int64_t)blockIdx.x * INPUTS;
  float sum = 0;
  for (int a = threadIdx.x; a < INPUTS; a += 256)
    sum += hypotf(factors[first + a].x, factors[first + a].y) *
           tapSums[(int64_t)blockIdx.x * STATIONS + a / POLARISATIONS];
  sums[threadIdx.x] = sum;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  __syncthreads();
  const float most = sums[0] * FULL_SCALE;
  const float scale = most > 0 ? exp2f(floorf(log2f(MOST_HALF / most))) : 1.0f;
  for (int a = threadIdx.x; a < INPUTS; a += 256)
    scaled[first + a] = make_float2(factors[first + a].x * scale, factors[first + a].y * scale);
  if (threadIdx.x == 0) unscale[blockIdx.x] = 1.0 / ((double)scale * scale);
}
