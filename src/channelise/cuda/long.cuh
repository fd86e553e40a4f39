// Sizes and arguments of channelise-long.cu; loads that the compiler may not move, and values that it must recompute.
#pragma once
#include "delays.cuh"
#include "integers.cuh"
#include "powers.cuh"
#include "shape.cuh"
#include "shared.cuh"

constexpr int TILE = 4, EACH = 4, UNIT = TILE * EACH;
constexpr int THREADS = 512, GROUP = THREADS / 2;
constexpr int QUADS = (TAPS + TILE - 1 + DELAYED + 3) / 4;  // fours of rows that the windows of a tile span
constexpr int PAIRS = (TAPS + 1) / 2, EIGHTS = (TAPS + 7) / 8;
constexpr int ROW_BYTES = 2 * CHANNELS, QUAD_BYTES = 4 * ROW_BYTES;
constexpr int EXCHANGE_BYTES = CHANNELS * 2 * 8, STAGE_BYTES = EXCHANGE_BYTES / 16;
constexpr int BARRIER_BYTES = 96;
constexpr int RING_BYTES = QUADS * QUAD_BYTES, KEPT_BYTES = KEPT * EIGHTS * 256 * 16;
// By measurement: columns of the filter after which results are written, since they have arrived from scratch by then;
// and after which the exchange is released.
constexpr int WRITE_AT = KEPT == 16 ? 8 : 12, FREE_AT = KEPT == 16 ? 15 : 16;
static_assert(CHANNELS == 4096, "16 x 16 x 16 points");
static_assert(OPENS_AT == 16, "where the copy engine begins, and how much it takes");

struct LongWork {
  const int8_t *voltages;  // [a][pitch]
  int64_t pitchBytes;
  const uint4 *taps;        // [n1][eight][256]: taps 2p and 2p + 1 in word p
  const float4 *turns;      // [k1][4]: two twiddles each, omega = e^(-2 pi i k1 / 256)
  const float4 *lastTurns;  // [4][k1][k2]: omega = e^(-2 pi i (k1 + 16 k2) / 4096)
  const float4 *factors;    // [a][k1][k2][k3], unless ONE_FACTOR
  const uint8_t *missing;   // [a][t], 1 where a spectrum is missing; or null
  uint4 *scratch;           // [block][2][tile][warp][quarter][lane]
  unsigned long long *saturated;
  int inputs, spectra;
  const InputDelay *delays;  // DELAYED: [a]
  float factor;              // ONE_FACTOR: of all
  PowerCells powers;         // POWERS: powers.cuh, places [k1][k2 + 16 k3]
};

// Of a unit's 64 channels, k1 = warp, a quarter of all k2 + 16 k3.
__device__ __forceinline__ PowerCell *cellsOf(const LongWork &work, int input, int first, int warp, int quarter) {
  const int64_t cell = cellOf(work.powers, first / UNIT);
  return work.powers.sums + (cell * work.inputs + input) * CHANNELS + warp * 256 + 16 * (4 * quarter ^ 8);
}
__device__ __forceinline__ int asTheyLie(int row) { return row; }

__device__ __forceinline__ uint4 loadTaps(const unsigned char *p) {  // volatile: stays in place
  uint4 v;
  asm volatile("ld.global.nc.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}
// Bypasses L1, which is not coherent with the copy engine.
__device__ __forceinline__ uint4 loadScratch(const uint4 *p) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3},[%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p)
               : "memory");
  return v;
}
// Data that have been read once: L2 need not write them to memory.
__device__ __forceinline__ void discardLine(const uint4 *p) {
  asm volatile("discard.global.L2 [%0], 128;" ::"l"(p) : "memory");
}
// Hidden from the compiler, which would compute addresses once, and run out of registers.
__device__ __forceinline__ int hidden(int value) {
  asm volatile("" : "+r"(value));
  return value;
}
__device__ __forceinline__ uint32_t part(const uint4 &v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}
__device__ __forceinline__ float4 loadFloats(uint32_t from) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3},[%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(from));
  return v;
}
__device__ __forceinline__ void storeFloats(uint32_t to, float a, float b, float c, float d) {
  asm volatile("st.shared.v4.f32 [%0],{%1,%2,%3,%4};" ::"r"(to), "f"(a), "f"(b), "f"(c), "f"(d) : "memory");
}

// The phases of a unit's spectra, phase, slope and its step, [UNIT]; after them the openings of its rows.
constexpr int UNIT_TURN_BYTES = UNIT * 16 + 16;
__device__ __forceinline__ void keepTurns(const LongWork &work, int input, int first, int lane, uint32_t to) {
  if (lane == UNIT) {
    const int opening = openingOf(work.delays, input);
    asm volatile("st.shared.u32 [%0],%1;" ::"r"(to + UNIT * 16), "r"(opening) : "memory");
  } else if (lane < UNIT) {
    const Turn turn = turnOf<CHANNELS / 16>(work.delays, input, first + lane);
    storeFloats(to + lane * 16, turn.phase, turn.slope, turn.step.x, turn.step.y);
  }
}
__device__ __forceinline__ int keptOpening(uint32_t from) { return (int)load4(from + UNIT * 16); }
__device__ __forceinline__ Turn keptTurn(uint32_t from, int spectrum) {
  const float4 turn = loadFloats(from + spectrum * 16);
  return Turn{turn.x, turn.y, make_float2(turn.z, turn.w)};
}
