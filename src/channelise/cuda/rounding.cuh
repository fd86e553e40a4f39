// Gain, rounding and saturation of values that are stored as bytes.
//
// Set by the plan: RAIL, and CLAMP (1: with these gains a value could exceed 16 bits).
#pragma once
#include "integers.cuh"

// Values as bytes, two complex ones to a word. Adding 1.5 * 2^23 rounds halves to even and leaves the integer in the
// last bits. Nothing is clamped at first: extremes are recorded, and only if one exceeds the rails are the values made
// and stored again, clamped and counted.
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
  // True where a value exceeds the rails, and sometimes where one is at them: by bit 15 of each half, with a correction
  // for a borrow from the lower half.
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
