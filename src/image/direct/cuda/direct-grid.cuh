// Common to both gridding kernels (direct-grid.cu, direct-grid-split.cu): tasks, gathering, samples in flight.
#pragma once
#include "halves.cuh"

struct __align__(16) Task {
  uint32_t groups, place, first,
      unused;  // how many groups of 16 stations; which rows and cells; where the groups start
};

__device__ __forceinline__ uint32_t negated(uint32_t a) { return a ^ 0x80008000u; }

__device__ __forceinline__ void gather(uint32_t (&a)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(address));
}

// Two int8 samples (re, im) times the factor. A byte b under 0x4B0000 is the float 2^23 + b.
__device__ __forceinline__ void scaledPair(uint32_t word, float2 factor, float (&re)[2], float (&im)[2]) {
  const uint32_t biased = word ^ 0x80808080u;
  auto value = [&](uint32_t selector) {
    return __uint_as_float(__byte_perm(biased, 0x4B000000u, selector)) - 8388736.0f;
  };
  const float x0 = value(0x7440), y0 = value(0x7441), x1 = value(0x7442), y1 = value(0x7443);
  re[0] = x0 * factor.x - y0 * factor.y, re[1] = x1 * factor.x - y1 * factor.y;
  im[0] = x0 * factor.y + y0 * factor.x, im[1] = x1 * factor.y + y1 * factor.x;
}

// The whole line comes to L2 at once: fetches for later steps find it there.
__device__ __forceinline__ void copyAhead(uint32_t to, const void *from) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
// Closes a group of fetches of a thread; and waits for all such groups but the last so many.
__device__ __forceinline__ void fetched() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int PENDING>
__device__ __forceinline__ void fetchesArrived() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

// 16 bytes of each input's row in flight: a thread fetches what it will unpack itself.
template <int INPUTS, int THREADS>
__device__ __forceinline__ void fetchSamples(uint32_t to, const int8_t *rows, int64_t pitch, int first) {
#pragma unroll 1
  for (int n = 0; n < (INPUTS + THREADS - 1) / THREADS; ++n) {
    const int a = n * THREADS + threadIdx.x;
    if (INPUTS % THREADS == 0 || a < INPUTS) copyAhead(to + a * 16, rows + a * pitch + (int64_t)first * 2);
  }
}

// Which of the group's stations a lane gathers in a quadrant: two bytes of its list.
__device__ __forceinline__ uint32_t stationOf(uint2 list, int quadrant) {
  return __byte_perm(quadrant < 2 ? list.x : list.y, 0, quadrant % 2 ? 0x4432 : 0x4410);
}
