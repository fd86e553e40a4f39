// Shared memory by its own addresses. The run-time compiler uses 64-bit pointers to it (nvcc does not), two registers
// each: where registers are scarce, these spill.
#pragma once
#include "integers.cuh"

__device__ __forceinline__ uint4 load16(uint32_t from) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(from));
  return v;
}
__device__ __forceinline__ uint2 load8(uint32_t from) {
  uint2 v;
  asm volatile("ld.shared.v2.u32 {%0,%1},[%2];" : "=r"(v.x), "=r"(v.y) : "r"(from));
  return v;
}
__device__ __forceinline__ uint32_t load4(uint32_t from) {
  uint32_t v;
  asm volatile("ld.shared.u32 %0,[%1];" : "=r"(v) : "r"(from));
  return v;
}
__device__ __forceinline__ void load8(float &a, float &b, uint32_t from) {
  asm volatile("ld.shared.v2.f32 {%0,%1},[%2];" : "=f"(a), "=f"(b) : "r"(from));
}
__device__ __forceinline__ void store16(uint32_t to, uint4 v) {
  asm volatile("st.shared.v4.u32 [%0],{%1,%2,%3,%4};" ::"r"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
__device__ __forceinline__ void store8(uint32_t to, float a, float b) {
  asm volatile("st.shared.v2.f32 [%0],{%1,%2};" ::"r"(to), "f"(a), "f"(b) : "memory");
}
