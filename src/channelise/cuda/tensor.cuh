// The filter on tensor cores, its operands in a ring, and the rounding at the end.
//
// Filter, exact: taps = 256 high + low, int8 each. A sparse product of 16 x 8 x 32: rows {high, low} x 2 channels x 4
// spectra (shifts of the taps), columns 4 groups of 4 spectra x {re, im}, k = 16 times x 2 channels. The pattern of a
// row's zeros selects its channel, so the zeros cost nothing. One product for each pair of channels; a lane gets one
// spectrum, one n2, all n1, which it transforms next. From 14 taps on a dense product adds times 16-19.
//
// Where DELAYED the taps are shifted by `rotation` samples (delays.cuh), which makes them one more a channel; there are
// tables for each of ROTATIONS.
//
// Set by the plan besides shape.cuh and rounding.cuh: GAPS (1: some spectra are missing), POWERS (1: powers are summed
// too, powers.cuh), ONE_FACTOR (1: the same for all channels and inputs), WARPS (of a block), WINDOWS (1 up to 13 taps,
// 2 up to 17), ENTRIES and ENTRIES_2 (fragments of taps, each of them once), KEPT and KEPT_2 (of 16 groups of
// fragments, those in shared memory; the others come from L2 for every tile).
#pragma once
#include "butterflies.cuh"
#include "delays.cuh"
#include "hopper.cuh"
#include "powers.cuh"
#include "rounding.cuh"
#include "shape.cuh"
#include "shared.cuh"

constexpr int THREADS = 32 * WARPS, TILE = 16;
constexpr int RING_BYTES = 32 * WARPS * 128;  // [channel pair][8 units of 4 times][16 bytes]
constexpr int TURN_STRIDE = 18, FACTOR_STRIDE = 36;
constexpr int BATCH = WINDOWS == 1 ? 4 : 2;   // groups multiplied together
constexpr int AHEAD = WINDOWS == 1 ? 16 : 4;  // groups prefetched from L2 before the first product

struct TensorWork {
  const int8_t *voltages;  // [a][pitch]
  int64_t pitchBytes;
  const uint4
      *taps;  // [rotation][pair of n2][16][ENTRIES]: {high, low} of n1 = group and of n1 = group + 16, times 0-15
  const uint4 *moreTaps;   // [rotation][pair of n2][16][ENTRIES_2], times 16-19
  const uint8_t *entries;  // [2][32], the fragment each lane reads
  const float2 *twiddles;  // [k1 32][16], butterflies.cuh with omega = e^(-2 pi i k1 / 1024)
  const float *factors;    // [a][c], or one for all where factorStep is 0; unless ONE_FACTOR
  const uint8_t *missing;  // [a][t], 1 where a spectrum is missing, where GAPS
  unsigned long long *saturated;
  int inputs, spectra;
  float factor;  // ONE_FACTOR: of all
  int factorStep;
  const InputDelay *delays;  // delays.cuh, where DELAYED
  PowerCells powers;         // POWERS: powers.cuh, places [k1][k2]
};

#if __CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 5)
#define SPARSE "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
#else
#define SPARSE "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
#endif
__device__ __forceinline__ void product(int (&d)[4], uint32_t a0, uint32_t a1, uint2 b, uint32_t pattern) {
  asm(SPARSE "{%0,%1,%2,%3},{%4,%5},{%6,%7},{%8,%8,%8,%8},%9,0x0;"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a0), "r"(a1), "r"(b.x), "r"(b.y), "r"(0), "r"(pattern));
}
// Times 16-19, both channels of the pair side by side, with the taps of the other one zero: half as much to load.
__device__ __forceinline__ void addProduct(int (&d)[4], uint32_t a0, uint32_t a1, uint32_t b) {
  asm("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a0), "r"(a1), "r"(b));
}
__device__ __forceinline__ uint4 loadOnce(const uint4 *p) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3},[%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p));
  return v;
}
// With two windows not all fragments fit in registers: these loads stay after the last barrier of the warp.
__device__ __forceinline__ uint4 loadTaps(const uint4 *p) {
  uint4 v;
#if WINDOWS == 1
  asm volatile("ld.global.nc.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
#else
  asm volatile("ld.global.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory");
#endif
  return v;
}

// Four times of four channel pairs, transposed into units {re t,t+1 | re t+2,t+3 | im .. | im ..} of two channels;
// places are free of bank conflicts for writes and reads.
__device__ __forceinline__ void putUnits(unsigned char *ring, const uint4 (&rows)[4], int firstPair, int slot) {
  const uint32_t words[4][4] = {{rows[0].x, rows[0].y, rows[0].z, rows[0].w},
                                {rows[1].x, rows[1].y, rows[1].z, rows[1].w},
                                {rows[2].x, rows[2].y, rows[2].z, rows[2].w},
                                {rows[3].x, rows[3].y, rows[3].z, rows[3].w}};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    uint4 unit;
    unit.x = __byte_perm(words[0][i], words[1][i], 0x6240);
    unit.y = __byte_perm(words[2][i], words[3][i], 0x6240);
    unit.z = __byte_perm(words[0][i], words[1][i], 0x7351);
    unit.w = __byte_perm(words[2][i], words[3][i], 0x7351);
    const int pair = firstPair + i;
    *(uint4 *)(ring + pair * 128 + ((slot ^ (pair >> 2 & 7)) << 4)) = unit;
  }
}

// The filter of one warp: channels n2, n2 + 1 of its pair, all n1, 16 spectra.
struct Filter {
  const uint4 *taps, *kept, *more, *keptMore;
  int operand, moreOperand;
  uint32_t pattern;

  // `pair` of n2 among all; `memory` has room for WARPS x (KEPT ENTRIES + KEPT_2 ENTRIES_2) fragments.
  __device__ __forceinline__ Filter(const TensorWork &work, uint4 *memory, int pair, int warp, int lane) {
    const int g = lane >> 2, q = lane & 3;
    take(work, memory, 0, pair, warp, lane);
    // Group g >> 1 of four spectra, component g & 1; unit group + q of the ring, and of times 16-19 unit group + 4.
    operand = warp * 128 + ((((g >> 1) + q) ^ warp >> 2) << 4) + (g & 1) * 8;
    moreOperand = warp * 128 + (((g >> 1) ^ 4 ^ warp >> 2) << 4) + (g & 1) * 8 + (q & 1) * 4;
    pattern = g < 4 ? 0x44444444u : 0xEEEEEEEEu;
  }
  // The taps for rows that open `rotation` samples late; those in shared memory are the warp's own.
  __device__ __forceinline__ void take(const TensorWork &work, uint4 *memory, int rotation, int pair, int warp,
                                       int lane) {
    uint4 *first = memory + warp * (KEPT * ENTRIES + KEPT_2 * ENTRIES_2), *second = first + KEPT * ENTRIES;
    const int group = (rotation * WARPS + pair) * 16;
    taps = work.taps + group * ENTRIES;
    more = work.moreTaps + group * ENTRIES_2;
    for (int i = lane; i < KEPT * ENTRIES; i += 32) first[i] = taps[i];
    for (int i = lane; i < KEPT_2 * ENTRIES_2; i += 32) second[i] = more[i];
    taps += work.entries[lane];
    kept = first + work.entries[lane];
    more += work.entries[32 + lane];
    keptMore = second + work.entries[32 + lane];
  }

  uint4 far[17 - KEPT], farMore[17 - KEPT_2];
  __device__ __forceinline__ void ask(int from, int to) {
#pragma unroll
    for (int group = from; group < to; ++group)
      if (group >= KEPT && group < 16) far[group < KEPT ? 0 : group - KEPT] = loadTaps(taps + group * ENTRIES);
  }
  __device__ __forceinline__ void askMore(int from, int to) {
#pragma unroll
    for (int group = from; group < to; ++group)
      if (WINDOWS == 2 && group >= KEPT_2 && group < 16)
        farMore[group < KEPT_2 ? 0 : group - KEPT_2] = loadTaps(more + group * ENTRIES_2);
  }
  // Before the wait for the ring: starts the loads from L2, and then uses the taps in shared memory first.
  __device__ __forceinline__ void begin() {
    askMore(0, 2 * BATCH);
    ask(0, KEPT + AHEAD);
  }
  // half: 64 where the tile starts in the upper half of the ring. Sums are in bit-reversed order of n1.
  __device__ __forceinline__ void run(uint32_t ring, int half, float (&re)[32], float (&im)[32]) {
    [[maybe_unused]] const uint32_t near = ptx::sharedAddress(kept), nearMore = ptx::sharedAddress(keptMore);
#pragma unroll
    for (int batch = 0; batch < 16 / BATCH; ++batch) {
      int sums[2 * BATCH][4];
      uint4 fragments[BATCH];
      uint2 x[2 * BATCH];
      uint32_t y[2 * BATCH];
#pragma unroll
      for (int j = 0; j < BATCH; ++j) {
        // A unit's place is its slot ^ (pair / 4 % 8), and pair = WARPS n1 + warp.
        const int group = batch * BATCH + j, place = (group * (WARPS / 4) & 7) << 4;
        fragments[j] = group < KEPT ? load16(near + group * ENTRIES * 16) : far[group < KEPT ? 0 : group - KEPT];
        uint32_t from = ring + (operand ^ half ^ place);
        x[2 * j] = load8(from + group * (WARPS * 128));
        x[2 * j + 1] = load8(from + (group + 16) * (WARPS * 128));
        if (WINDOWS == 2) {
          from = ring + (moreOperand ^ half ^ place);
          y[2 * j] = load4(from + group * (WARPS * 128));
          y[2 * j + 1] = load4(from + (group + 16) * (WARPS * 128));
        }
      }
#pragma unroll
      for (int j = 0; j < BATCH; ++j) {
        product(sums[2 * j], fragments[j].x, fragments[j].y, x[2 * j], pattern);
        product(sums[2 * j + 1], fragments[j].z, fragments[j].w, x[2 * j + 1], pattern);
      }
      if (WINDOWS == 2) {
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
          const int group = batch * BATCH + j;
          const uint4 last =
              group < KEPT_2 ? load16(nearMore + group * ENTRIES_2 * 16) : farMore[group < KEPT_2 ? 0 : group - KEPT_2];
          addProduct(sums[2 * j], last.x, last.y, y[2 * j]);
          addProduct(sums[2 * j + 1], last.z, last.w, y[2 * j + 1]);
        }
        if (batch % 2 == 1) __syncwarp();
        askMore((batch + 2) * BATCH, (batch + 3) * BATCH);
        ask(KEPT + AHEAD + batch * BATCH, KEPT + AHEAD + (batch + 1) * BATCH);
      }
#pragma unroll
      for (int j = 0; j < 2 * BATCH; ++j) {
        const int n1 = batch * BATCH + j / 2 + 16 * (j & 1);
        re[reversed<32>(n1)] = __int2float_rn(sums[j][0] * 256 + sums[j][2]);
        im[reversed<32>(n1)] = __int2float_rn(sums[j][1] * 256 + sums[j][3]);
      }
    }
  }
};

// Reads shared memory in place, after every store before it.
__device__ __forceinline__ float loadAgain(const float *p) {
  float value;
  asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(value) : "r"(ptx::sharedAddress(p)));
  return value;
}

// A warp's values; `store` takes four words at a time, k = 8 quarter ... 8 quarter + 7. `factors` returns a quarter's
// factors, from shared memory: loads that may not move before the last quarter's stores keep the assembler from
// rounding all values first, and from keeping them for the rare clamping.
template <class Factors, class Store>
__device__ __forceinline__ void roundAll(const float (&re)[32], const float (&im)[32], Factors factors, Store store,
                                         bool counted, unsigned long long *total) {
  Rounding rounding;
  int saturated = 0;
  auto roundQuarters = [&](bool clamped) {
#pragma unroll
    for (int quarter = 0; quarter < 4; ++quarter) {
      const auto factor = factors();
      auto rounded = [&](float value, int k) {
        const uint32_t bits = Rounding::round(value, factor(k));
        return clamped ? Rounding::clamped(bits, saturated) : bits;
      };
      uint32_t words[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int k = 8 * quarter + 2 * i;
        words[i] =
            rounding.pack(rounded(re[k], k), rounded(im[k], k), rounded(re[k + 1], k + 1), rounded(im[k + 1], k + 1));
      }
      store(quarter, words);
    }
  };
  roundQuarters(false);
  if (__any_sync(0xFFFFFFFFu, rounding.beyond())) {  // rare, so it may be slow
    roundQuarters(true);
    if (counted && saturated > 0) atomicAdd(total, (unsigned long long)saturated);
  }
}

// Four matrices of 8 rows of 8 (re, im) pairs each, transposed: a lane gives spectrum lane / 4 of two rows.
__device__ __forceinline__ void storeMatrices(uint32_t row, const uint32_t (&words)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(row), "r"(words[0]),
               "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}
