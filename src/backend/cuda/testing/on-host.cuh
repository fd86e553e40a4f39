// Runs a kernel as a program of the host: a block is as many threads, barriers are barriers, blocks run one after the
// other. It tests the results of a kernel, not its speed. Kernels with inline assembly (asm) are excluded.
//
// Set by on-host.ts: ENTRY, SHARED (the block's own memory), SHARED_BYTES. argv: a folder with `launch` (grid x, grid y, threads,
// arguments, buffers), argument.N, pointers (argument, offset, buffer) and buffer.N, which is written again.
#pragma once
#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)

struct char2 {
  signed char x, y;
};
struct short2 {
  short x, y;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) double2 {
  double x, y;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }
using std::max;
using std::min;

struct Dimensions {
  unsigned x = 0, y = 0, z = 0;
};
inline thread_local Dimensions threadIdx, blockIdx;
inline Dimensions blockDim, gridDim;

namespace host {

constexpr unsigned LANES = 32;

struct Warp {
  std::barrier<> all;
  uint64_t slots[LANES] = {};
  std::mutex guard;
  std::map<unsigned, std::unique_ptr<std::barrier<>>> some;  // by the lanes that wait

  explicit Warp(unsigned lanes) : all(lanes) {}
};
struct Block {
  std::barrier<> all;
  std::vector<std::unique_ptr<Warp>> warps;
};
inline Block *block;

inline Warp &warp() { return *block->warps[threadIdx.x / LANES]; }
/** The value of lane `from`. */
template <class T>
T exchange(T value, unsigned from) {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  Warp &mine = warp();
  std::memcpy(&mine.slots[threadIdx.x % LANES], &value, sizeof value);
  mine.all.arrive_and_wait();
  std::memcpy(&value, &mine.slots[from], sizeof value);
  mine.all.arrive_and_wait();
  return value;
}

}  // namespace host

inline void __syncthreads() { host::block->all.arrive_and_wait(); }
inline void __syncwarp(unsigned lanes = 0xFFFFFFFFu) {
  host::Warp &warp = host::warp();
  std::unique_lock<std::mutex> lock(warp.guard);
  auto &waiting = warp.some[lanes];
  if (!waiting) waiting = std::make_unique<std::barrier<>>(__builtin_popcount(lanes));
  std::barrier<> &here = *waiting;
  lock.unlock();
  here.arrive_and_wait();
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int lanes) {
  return host::exchange(value, threadIdx.x % host::LANES ^ static_cast<unsigned>(lanes));
}
template <class T>
T __shfl_down_sync(unsigned, T value, unsigned lanes, unsigned width = host::LANES) {
  const unsigned lane = threadIdx.x % host::LANES, from = lane + lanes;
  return host::exchange(value, from / width == lane / width ? from : lane);
}
inline unsigned __ballot_sync(unsigned, int says) {
  unsigned all = 0;
  for (unsigned lane = 0; lane < host::LANES; lane++)
    all |= static_cast<unsigned>(host::exchange(says != 0, lane)) << lane;
  return all;
}
inline unsigned long long atomicAdd(unsigned long long *to, unsigned long long value) {
  return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}

template <class T>
T __ldg(const T *from) {
  return *from;
}
template <class T>
T __ldcs(const T *from) {
  return *from;
}
template <class To, class From>
To sameBits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}
inline unsigned __float_as_uint(float x) { return sameBits<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return sameBits<float>(x); }
inline long long __double_as_longlong(double x) { return sameBits<long long>(x); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dsub_rn(double x, double y) { return x - y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}
inline float __sinf(float x) { return std::sin(x); }
inline float __cosf(float x) { return std::cos(x); }
inline void sincospif(float x, float *sine, float *cosine) {
  *sine = static_cast<float>(std::sin(M_PI * x)), *cosine = static_cast<float>(std::cos(M_PI * x));
}

inline int byteOf(int word, int n) { return static_cast<signed char>(static_cast<unsigned>(word) >> 8 * n); }
inline int halfOf(int word, int n) { return static_cast<short>(static_cast<unsigned>(word) >> 16 * n); }
inline int __dp4a(int x, int y, int sum) {
  for (int n = 0; n < 4; n++) sum += byteOf(x, n) * byteOf(y, n);
  return sum;
}
inline int __dp2a_lo(int halves, int bytes, int sum) {
  return sum + halfOf(halves, 0) * byteOf(bytes, 0) + halfOf(halves, 1) * byteOf(bytes, 1);
}
inline int __dp2a_hi(int halves, int bytes, int sum) {
  return sum + halfOf(halves, 0) * byteOf(bytes, 2) + halfOf(halves, 1) * byteOf(bytes, 3);
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const uint64_t both = static_cast<uint64_t>(y) << 32 | x;
  unsigned result = 0;
  for (int n = 0; n < 4; n++) result |= static_cast<unsigned>(both >> 8 * (selector >> 4 * n & 7) & 0xFF) << 8 * n;
  return result;
}
