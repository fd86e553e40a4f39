// Loads that stay where they are asked for, and words that the compiler may not work out once and keep.
#pragma once
#include "integers.cuh"

__device__ __forceinline__ uint4 loadTaps(const unsigned char *p) {  // volatile: stays where it is asked for
  uint4 v;
  asm volatile("ld.global.nc.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}
// Past L1, which has not seen what the copy engine wrote.
__device__ __forceinline__ uint4 loadScratch(const uint4 *p) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3},[%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p)
               : "memory");
  return v;
}
// What has been read once is of no use to anybody: L2 need not carry it to memory.
__device__ __forceinline__ void discardLine(const uint4 *p) {
  asm volatile("discard.global.L2 [%0], 128;" ::"l"(p) : "memory");
}
// Hidden from the compiler, which would work out places once, and keep them in registers it does not have.
__device__ __forceinline__ int hidden(int value) {
  asm volatile("" : "+r"(value));
  return value;
}
__device__ __forceinline__ uint32_t part(const uint4 &v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}
