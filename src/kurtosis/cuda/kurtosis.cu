// Spectral kurtosis: powers of every input and channel summed over windows of spectra, and what is taken zeroed.
//
// spectra : [c][a][pitch], rows of (re, im), int8 or float32 as FLOATS says (backend/cuda/spectra.ts)
// edges   : [w + 1], windows [edges[w], edges[w + 1]); all but the last edge are multiples of 4
// sums    : [w][c][a][S1, S2] float64, of |x|^2 and |x|^4: whole numbers of integers, and exact
// mask    : [w][c][a], 1 where an input's samples become zeros
//
// Rows are read once, from one end to the other, and the sums are few: the card's memory is the limit. A warp takes a
// window of a row; eight bytes a lane make 256 a warp, two lines of the cache.
#include "integers.cuh"

constexpr int WARP = 32;
/** Samples in eight bytes. */
constexpr int PER_WORD = FLOATS ? 1 : 4;

__device__ __forceinline__ int64_t warpOf() { return ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP; }
__device__ __forceinline__ int64_t warps() { return (int64_t)gridDim.x * blockDim.x / WARP; }

#if FLOATS
typedef double Sum;
__device__ __forceinline__ void add(const uint2 word, Sum &s1, Sum &s2) {
  const double re = __uint_as_float(word.x), im = __uint_as_float(word.y);
  const double power = re * re + im * im;
  s1 += power;
  s2 += power * power;
}
#else
typedef unsigned long long Sum;
__device__ __forceinline__ void add(const uint2 word, Sum &s1, Sum &s2) {
  const uint32_t in[2] = {word.x, word.y};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int pair = (int)(in[i / 2] >> (i % 2 * 16));
    const int re = (int)(int8_t)(pair & 0xFF), im = (int)(int8_t)(pair >> 8 & 0xFF);
    const uint32_t power = (uint32_t)(re * re + im * im);
    s1 += power;
    s2 += (Sum)power * power;
  }
}
#endif

extern "C" __global__ void sumPowers(const int8_t *spectra, int64_t pitch, const int *edges, int windows, int64_t rows,
                                     double *sums) {
  const int lane = threadIdx.x % WARP;
  for (int64_t item = warpOf(); item < rows * windows; item += warps()) {
    const int64_t row = item / windows;
    const int window = (int)(item % windows);
    const uint2 *words = (const uint2 *)(spectra + row * pitch);
    const int end = (edges[window + 1] + PER_WORD - 1) / PER_WORD;
    Sum s1 = 0, s2 = 0;
    for (int word = edges[window] / PER_WORD + lane; word < end; word += WARP) add(words[word], s1, s2);
#pragma unroll
    for (int step = WARP / 2; step > 0; step /= 2) {
      s1 += __shfl_down_sync(0xFFFFFFFFu, s1, step);
      s2 += __shfl_down_sync(0xFFFFFFFFu, s2, step);
    }
    if (lane == 0) {
      sums[2 * (window * rows + row)] = (double)s1;
      sums[2 * (window * rows + row) + 1] = (double)s2;
    }
  }
}

extern "C" __global__ void zeroTaken(int8_t *spectra, int64_t pitch, const int *edges, int windows, int64_t rows,
                                     const uint8_t *mask) {
  const int lane = threadIdx.x % WARP;
  for (int64_t item = warpOf(); item < rows * windows; item += warps()) {
    const int64_t row = item / windows;
    const int window = (int)(item % windows);
    if (mask[window * rows + row] == 0) continue;
    uint2 *words = (uint2 *)(spectra + row * pitch);
    const int end = (edges[window + 1] + PER_WORD - 1) / PER_WORD;
    for (int word = edges[window] / PER_WORD + lane; word < end; word += WARP) words[word] = make_uint2(0, 0);
  }
}
