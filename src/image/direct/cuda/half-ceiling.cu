// The peak rate of Hopper's tensor cores with halves and single-precision sums: products only, rows in registers,
// columns in shared memory, no loads or stores.
#include "hopper.cuh"
#include "wgmma-half.cuh"

__device__ __forceinline__ uint32_t scrambled(uint32_t x) {
  x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu, x ^= x >> 16;
  return x;
}
// Two halves between 1 and 2, signs at random: zeros would draw less power.
__device__ __forceinline__ uint32_t halves(uint32_t seed) { return (scrambled(seed) & 0x83FF83FFu) | 0x3C003C00u; }

// Operations of one block and iteration: two warpgroups, 8 products of 64 x 128 x 16, two operations each.
extern "C" __global__ void __launch_bounds__(256, 1) multiplyHalves(int iterations, float *out) {
  __shared__ __align__(128) uint32_t columns[128 * 64 / 2];
  for (int i = threadIdx.x; i < 128 * 64 / 2; i += 256) columns[i] = halves(i + 77 * blockIdx.x);
  ptx::showToCopies();
  __syncthreads();
  uint32_t a[4][4];
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < 4; ++i) a[k][i] = halves(threadIdx.x * 16 + k * 4 + i);
  float sums[2][64] = {};
  // core matrices of 8 x 16 bytes: 128 bytes apart along K, 8 of them (64 halves) to the next 8 columns
  const uint32_t address = ptx::sharedAddress(columns);
  const uint64_t from = (uint64_t)((address & 0x3FFFF) >> 4) | (uint64_t)(128 >> 4) << 16 | (uint64_t)(1024 >> 4) << 32;
  for (int n = 0; n < iterations; ++n) {
    ptx::wgmmaFence();
#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
      for (int r = 0; r < 2; ++r) WgmmaFloat<128>::multiply(sums[r], a[k], from + k * 16, 1);
    ptx::wgmmaCommit();
    ptx::wgmmaWait<1>();
  }
  ptx::wgmmaWait<0>();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    asm volatile("" : "+f"(sums[0][i]), "+f"(sums[1][i])::"memory");
    sum += sums[0][i] + sums[1][i];
  }
  if (sum == 12345.0f) *out = sum;  // keeps the products alive
}
