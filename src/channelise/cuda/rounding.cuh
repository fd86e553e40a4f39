// Gain, rounding and saturation of values that leave as bytes.
//
// Set by the plan: RAIL, and CLAMP (1: with these gains a value could outgrow 16 bits).
#pragma once
#include "integers.cuh"

// Values as bytes, two complex ones to a word. Adding 1.5 * 2^23 rounds halves to the even number and leaves the whole
// number in the last bits. Nothing is clamped on the way: extremes are kept, and only where one has passed the rails are
// the values made and stored again, clamped and counted.
struct Rounding {
  uint32_t most = 0, least = 0;  // of 16-bit halves

  static __device__ __forceinline__ uint32_t round(float value, float factor) {
    constexpr float MAGIC = 12582912.0f;
#if CLAMP
    return __float_as_uint(fminf(fmaxf(value * factor, -(RAIL + 1.0f)), RAIL + 1.0f) + MAGIC);
#else
    return __float_as_uint(fmaf(value, factor, MAGIC));
#endif
  }
  __device__ __forceinline__ uint32_t pack(uint32_t re0, uint32_t im0, uint32_t re1, uint32_t im1) {
    const uint32_t reals = __byte_perm(re0, re1, 0x5410), imaginaries = __byte_perm(im0, im1, 0x5410);
    most = __vimax3_s16x2(most, reals, imaginaries);
    least = __vimin3_s16x2(least, reals, imaginaries);
    return __byte_perm(reals, imaginaries, 0x6240);
  }
  // True where a value has passed the rails, and now and then where one is at them: bit 15 of each half says so, and a
  // borrow from the lower half is made up for.
  __device__ __forceinline__ bool beyond() const {
    constexpr uint32_t ROOM = 0x7FFF - RAIL;
    return (((most + (ROOM << 16 | ROOM)) | ((ROOM + 1 << 16 | ROOM) - least)) & 0x80008000u) != 0;
  }
  static __device__ __forceinline__ uint32_t clamped(uint32_t rounded, int &saturated) {
    const int value = (int)(rounded - 0x4B400000u);
    saturated += value > RAIL || value < -RAIL;
    return (uint32_t)max(-RAIL, min(RAIL, value));
  }
};
