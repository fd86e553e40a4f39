// The peak rates of this card without its matrix units: bytes copied from device memory to device memory, and float32
// multiply-adds without loads.
#include "integers.cuh"

// Four vectors a thread in flight; count : vectors of 16 bytes, a multiple of 1024.
extern "C" __global__ void __launch_bounds__(256) copyVectors(const uint4 *from, uint4 *to, int64_t count) {
  for (int64_t i = (int64_t)blockIdx.x * 1024 + threadIdx.x; i < count; i += (int64_t)gridDim.x * 1024) {
    uint4 v[4];
#pragma unroll
    for (int n = 0; n < 4; ++n) v[n] = __ldcs(from + i + n * 256);
#pragma unroll
    for (int n = 0; n < 4; ++n) __stcs(to + i + n * 256, v[n]);
  }
}

// 16 sums a thread, 2 * 16 operations each iteration.
extern "C" __global__ void __launch_bounds__(256) multiplyAdds(int iterations, float factor, float *out) {
  float sums[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) sums[i] = threadIdx.x + i;
  for (int n = 0; n < iterations; ++n) {
#pragma unroll
    for (int i = 0; i < 16; ++i) sums[i] = fmaf(sums[i], factor, 0.5f);
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) sum += sums[i];
  if (sum == 12345.0f) *out = sum;  // keeps the products alive
}
