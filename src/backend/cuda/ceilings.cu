// The peak rate of this card, measured in the same run as the kernels that are compared with it: products only, with
// operands already in registers and shared memory and no loads or stores. And random bytes as input: zeros would draw
// less power and run faster than real data.
//
// Set by the plan: HOPPER (1: wgmma), TENSOR (1: mma.sync); dp4a otherwise.
#include "integers.cuh"
#if HOPPER
#include "hopper.cuh"
#include "wgmma.cuh"
#endif

__device__ __forceinline__ uint32_t scrambled(uint32_t x) {
  x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu, x ^= x >> 16;
  return x;
}

// Every byte uniform in -127..127, as spectra are.
extern "C" __global__ void fillRandom(int8_t *bytes, int64_t count, int seed) {
  const int64_t stride = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
    bytes[i] = (int8_t)((int)(scrambled((uint32_t)i * 2654435761u + seed + (uint32_t)(i >> 32) * 97u) % 255u) - 127);
}

// Operations of one block and iteration: 2 * 64 * 128 * 32 * 8 for each of two warpgroups (wgmma), 2 * 16 * 8 * 32 * 16
// for each of eight warps (mma), 8 * 16 for each of 256 threads (dp4a). 256 threads in each case.
extern "C" __global__ void __launch_bounds__(256, 1) multiplyOnly(int iterations, int *out) {
#if HOPPER
  extern __shared__ uint8_t raw[];
  uint8_t *base = raw + ((1024 - (ptx::sharedAddress(raw) & 1023)) & 1023);
  for (int i = threadIdx.x; i < 16384; i += 256) ((uint32_t *)base)[i] = scrambled(i + 77 * blockIdx.x);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  uint32_t a[32];
  for (int i = 0; i < 32; ++i) a[i] = scrambled(threadIdx.x * 32 + i);
  int acc[2][64] = {};
  for (int n = 0; n < iterations; ++n) {
    const uint64_t columns = ptx::panelDescriptor(ptx::sharedAddress(base) + n % 4 * 16384);
    ptx::wgmmaFence();
#pragma unroll
    for (int s = 0; s < 4; ++s)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int o = (s * 2 + r) * 4;
        Wgmma<128>::multiplyAdd(acc[r], a[o], a[o + 1], a[o + 2], a[o + 3], columns + 2 * s);
      }
    ptx::wgmmaCommit();
    ptx::wgmmaWait<1>();
  }
  ptx::wgmmaWait<0>();
  ptx::pin(acc[0]);
  ptx::pin(acc[1]);
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum ^= acc[0][i] ^ acc[1][i];
#elif TENSOR
  uint32_t a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = scrambled(threadIdx.x * 8 + i);
  for (int i = 0; i < 2; ++i) b[i] = scrambled(threadIdx.x * 8 + 4 + i);
  int acc[16][4] = {};
  for (int n = 0; n < iterations; ++n) {
#pragma unroll
    for (int i = 0; i < 16; ++i)
      asm volatile(
          "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+r"(acc[i][0]), "+r"(acc[i][1]), "+r"(acc[i][2]), "+r"(acc[i][3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
  int sum = 0;
  for (int i = 0; i < 16; ++i) sum ^= acc[i][0] ^ acc[i][1] ^ acc[i][2] ^ acc[i][3];
#else
  const int a = scrambled(threadIdx.x), b = scrambled(threadIdx.x + 1000);
  int acc[16] = {};
  for (int n = 0; n < iterations; ++n) {
#pragma unroll
    for (int i = 0; i < 16; ++i) acc[i] = __dp4a(a + i, b, acc[i]);
  }
  int sum = 0;
  for (int i = 0; i < 16; ++i) sum ^= acc[i];
#endif
  if (sum == 12345) *out = sum;  // keeps the products alive
}

// Bytes copied from device memory to device memory, four vectors a thread in flight; count : vectors of 16 bytes, a multiple of 1024.
extern "C" __global__ void __launch_bounds__(256) copyVectors(const uint4 *from, uint4 *to, int64_t count) {
  for (int64_t i = (int64_t)blockIdx.x * 1024 + threadIdx.x; i < count; i += (int64_t)gridDim.x * 1024) {
    uint4 v[4];
#pragma unroll
    for (int n = 0; n < 4; ++n) v[n] = __ldcs(from + i + n * 256);
#pragma unroll
    for (int n = 0; n < 4; ++n) __stcs(to + i + n * 256, v[n]);
  }
}

// float32 multiply-adds without loads: 16 sums a thread, 2 * 16 operations each iteration.
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
