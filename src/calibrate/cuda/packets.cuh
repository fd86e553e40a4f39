// The exchange of gains between blocks. A gain is one 8-byte packet: two floats whose last bits are two bits of the
// iteration's number. Readers poll the packets themselves, so the data is its own flag: one write and one read in L2 an
// iteration, no atomics, no fence. Two sets of packets, by the iteration's parity, suffice: a block that writes
// iteration i + 2 has read all of i + 1, so every block has read i. Therefore every block that reads a solve's packets
// must also write some. All are zero before the launch.
#pragma once
#include "integers.cuh"

__device__ __forceinline__ uint4 loadPackets(const uint2 *from) {
  uint4 v;
  asm volatile("{.reg .b64 a, b; ld.relaxed.gpu.global.v2.b64 {a, b}, [%4]; mov.b64 {%0, %1}, a; mov.b64 {%2, %3}, b;}"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return v;
}
__device__ __forceinline__ void storePacket(uint2 *to, float re, float im, uint32_t iteration) {
  const uint32_t x = (__float_as_uint(re) & ~1u) | (iteration & 1),
                 y = (__float_as_uint(im) & ~1u) | (iteration >> 1 & 1);
  asm volatile("{.reg .b64 a; mov.b64 a, {%1, %2}; st.relaxed.gpu.global.b64 [%0], a;}" ::"l"(to), "r"(x), "r"(y)
               : "memory");
}
// The last bits of an iteration's packets: all ones or none, for either float.
struct Tag {
  uint32_t x, y;
  __device__ __forceinline__ explicit Tag(uint32_t iteration) : x(0u - (iteration & 1)), y(0u - (iteration >> 1 & 1)) {}
};
// (a ^ c) | (b ^ c) in one step; otherwise the compiler extracts single bits first.
__device__ __forceinline__ uint32_t differing(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t d;
  asm("lop3.b32 %0, %1, %2, %3, 0x7E;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
// Whether both packets are of this iteration; the second only where there is one.
__device__ __forceinline__ bool arrived(const uint4 &v, Tag tag, bool both) {
  return ((differing(v.x, both ? v.z : v.x, tag.x) | differing(v.y, both ? v.w : v.y, tag.y)) & 1) == 0;
}
// A barrier for the threads of one group.
__device__ __forceinline__ void groupSync(int group, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(1 + group), "r"(threads) : "memory");
}
