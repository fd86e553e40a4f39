// Numbers as halves, two to a register.
#pragma once
#include "integers.cuh"

__device__ __forceinline__ uint32_t packHalves(float low, float high) {
  uint32_t packed;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}
// As sums of two halves, good to 22 bits: the nearest half, and the nearest half to the remainder.
__device__ __forceinline__ void splitHalves(float low, float high, uint32_t &nearest, uint32_t &rest) {
  nearest = packHalves(low, high);
  float lowNearest, highNearest;
  asm("{.reg .f16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
      : "=f"(lowNearest), "=f"(highNearest)
      : "r"(nearest));
  rest = packHalves(low - lowNearest, high - highNearest);
}
