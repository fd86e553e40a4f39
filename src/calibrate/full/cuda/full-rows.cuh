// Rows of full polarisation in a thread's registers and shared memory, and their sums (full-chip.cu).
#pragma once
#include "full-mix.cuh"
#include "row-sums.cuh"

constexpr int UNPOLARISED = 0, DIAGONAL = 1, GENERAL = 2;
constexpr int NUMBERS = FORM == UNPOLARISED ? 9 : FORM == DIAGONAL ? 12 : 16, FOURS = NUMBERS / 4;
constexpr int STORED = (STATIONS + 3) / 4 * 4;  // columns of a row in memory
constexpr int GROUPS = WARPS / GROUP_WARPS, GROUP = 32 * GROUP_WARPS, BLOCK_ROWS = GROUPS * ROWS;
constexpr int COLUMNS = (STATIONS + GROUP - 1) / GROUP, WIDTH = COLUMNS * GROUP;  // of a thread, of a group
constexpr int SHARED_ROWS = ROWS - REGISTER_ROWS;
constexpr bool ALONE = BLOCKS_PER_SOLVE == 1;
constexpr int SUMS = 12;
static_assert(BLOCK_ROWS * BLOCKS_PER_SOLVE >= STATIONS, "blocks cover a solve");
static_assert(ALONE || BLOCK_ROWS * (BLOCKS_PER_SOLVE - 1) < STATIONS, "every block has rows: packets.cuh");
static_assert(ROWS <= 32 && ROWS % CHUNK == 0, "a lane finishes a row, chunks are whole");
static_assert(ALONE || !MIXES, "only a block by itself mixes");

// Shared memory, in order, in float4s.
constexpr int MATRIX = 0;                                              // [GROUPS][SHARED_ROWS][FOURS][WIDTH]
constexpr int POWERS = MATRIX + GROUPS * SHARED_ROWS * FOURS * WIDTH;  // float [GROUPS][SHARED_ROWS][WIDTH]
constexpr int GAINS =
    POWERS + (FORM == UNPOLARISED ? GROUPS * SHARED_ROWS * WIDTH / 4 : 0);  // [2][row 0, row 1][WIDTH]
constexpr int PARTS = GAINS + 2 * 2 * WIDTH;                                // Real [WARPS][ROWS][SUMS]

// The constant numbers of a pair.
struct Pair {
  float4 four[FOURS];
  float power;
};

// sum + a b, as (re, im)
template <class Real>
__device__ __forceinline__ void addTo(Real &re, Real &im, Real aRe, Real aIm, Real bRe, Real bIm) {
  re += aRe * bRe, im += aRe * bIm;
  re -= aIm * bIm, im += aIm * bRe;
}
template <class Real>
__device__ __forceinline__ void widen(Real *out, const float4 &from) {
  out[0] = from.x, out[1] = from.y, out[2] = from.z, out[3] = from.w;
}

// A station's G, rows first, and of an unpolarised model its H = G^H G as 00, 11, 01 re, im.
template <class Real>
struct Column {
  Real g[8], h[4];
  __device__ __forceinline__ void finish() {
    if constexpr (FORM == UNPOLARISED) {
      h[0] = g[0] * g[0] + g[1] * g[1] + g[4] * g[4] + g[5] * g[5];
      h[1] = g[2] * g[2] + g[3] * g[3] + g[6] * g[6] + g[7] * g[7];
      h[2] = h[3] = 0;
      addTo(h[2], h[3], g[0], -g[1], g[2], g[3]), addTo(h[2], h[3], g[4], -g[5], g[6], g[7]);
    }
  }
};

// The contribution of one pair to the twelve sums of its row: N as eight numbers, D as 00, 11, 01 re, im.
template <class Real>
__device__ __forceinline__ void addPair(Real (&sum)[SUMS], const Pair &pair, const Column<Real> &of) {
  Real v[8];
  widen(v, pair.four[0]), widen(v + 4, pair.four[1]);
  if constexpr (FORM == UNPOLARISED) {
#pragma unroll
    for (int a = 0; a < 8; a += 4)
#pragma unroll
      for (int b = 0; b < 4; b += 2) {
        addTo(sum[a + b], sum[a + b + 1], v[a], v[a + 1], of.g[b], of.g[b + 1]);
        addTo(sum[a + b], sum[a + b + 1], v[a + 2], v[a + 3], of.g[4 + b], of.g[5 + b]);
      }
#pragma unroll
    for (int n = 0; n < 4; ++n) sum[8 + n] += (Real)pair.power * of.h[n];
  } else {
    // Z = G M^H
    Real z[8] = {};
    if constexpr (FORM == DIAGONAL) {
      Real m[4];
      widen(m, pair.four[2]);
#pragma unroll
      for (int n = 0; n < 8; n += 2) addTo(z[n], z[n + 1], of.g[n], of.g[n + 1], m[n % 4], -m[n % 4 + 1]);
    } else {
      Real m[8];
      widen(m, pair.four[2]), widen(m + 4, pair.four[FOURS - 1]);
#pragma unroll
      for (int a = 0; a < 8; a += 4)
#pragma unroll
        for (int b = 0; b < 2; ++b) {
          addTo(z[a + 2 * b], z[a + 2 * b + 1], of.g[a], of.g[a + 1], m[4 * b], -m[4 * b + 1]);
          addTo(z[a + 2 * b], z[a + 2 * b + 1], of.g[a + 2], of.g[a + 3], m[4 * b + 2], -m[4 * b + 3]);
        }
    }
#pragma unroll
    for (int a = 0; a < 8; a += 4)
#pragma unroll
      for (int b = 0; b < 4; b += 2) {
        addTo(sum[a + b], sum[a + b + 1], v[a], v[a + 1], z[b], z[b + 1]);
        addTo(sum[a + b], sum[a + b + 1], v[a + 2], v[a + 3], z[4 + b], z[5 + b]);
      }
#pragma unroll
    for (int n = 0; n < 8; n += 4) {
      sum[8] += z[n] * z[n], sum[9] += z[n + 2] * z[n + 2];
      sum[8] += z[n + 1] * z[n + 1], sum[9] += z[n + 3] * z[n + 3];
      addTo(sum[10], sum[11], z[n], -z[n + 1], z[n + 2], z[n + 3]);
    }
  }
}

// COUNT rows' sums over the lanes of a warp, to their places.
template <int COUNT, class Real>
__device__ __forceinline__ void keep(const Real (*sums)[SUMS], Real *parts, int lane) {
  static_assert(COUNT * SUMS <= 32, "a lane is left with one total: row-sums.cuh");
  Real v[COUNT * SUMS];
#pragma unroll
  for (int n = 0; n < COUNT * SUMS; ++n) v[n] = sums[n / SUMS][n % SUMS];
  int index;
  bool valid;
  const Real total = sumLanes<COUNT * SUMS>(v, lane, index, valid);
  if (valid && lane % sharing(COUNT * SUMS) == 0) parts[index] = total;
}

// Where a thread's rows are 4, 8 or 16 its slot r holds row r ^ mirror: adding up over lanes every lane keeps the lower
// slots and sends the upper ones, and needs no selection (row-sums.cuh).
constexpr bool MIRRORED = ROWS == 4 || ROWS == 8 || ROWS == 16;
__device__ __forceinline__ int mirrorOf(int lane) { return MIRRORED ? lane * ROWS / 32 : 0; }
template <class Real>
__device__ __forceinline__ void addFrom(Real (&to)[SUMS], const Real (&from)[SUMS], int lanes) {
#pragma unroll
  for (int n = 0; n < SUMS; ++n) to[n] += __shfl_xor_sync(0xFFFFFFFFu, from[n], lanes);
}

// A thread's pairs, and the sums over them.
struct Rows {
  Pair kept[REGISTER_ROWS > 0 ? REGISTER_ROWS : 1][COLUMNS];
  const float4 *matrix;  // of this thread's group, at its first column
  const float *powers;

  // Rows from `from` on, consecutive in memory; zeros past the last row or column.
  __device__ __forceinline__ void load(const float *from, int rows, float4 *shared, int group, int inGroup) {
    float4 *toMatrix = shared + MATRIX + group * SHARED_ROWS * FOURS * WIDTH + inGroup;
    float *toPowers = (float *)(shared + POWERS) + group * SHARED_ROWS * WIDTH + inGroup;
    matrix = toMatrix, powers = toPowers;
    const int mirror = mirrorOf(threadIdx.x % 32);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const float *row = from + (int64_t)(r ^ mirror) * NUMBERS * STORED;
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
        const int j = inGroup + c * GROUP;
        const bool there = (r ^ mirror) < rows && j < STATIONS;
        Pair pair;
#pragma unroll
        for (int f = 0; f < FOURS; ++f)
          pair.four[f] = there ? __ldcs((const float4 *)row + f * STORED + j) : make_float4(0, 0, 0, 0);
        pair.power = FORM == UNPOLARISED && there ? __ldcs(row + 8 * STORED + j) : 0;
        if (r < REGISTER_ROWS) {
          kept[r][c] = pair;
        } else {
#pragma unroll
          for (int f = 0; f < FOURS; ++f)
            toMatrix[((r - REGISTER_ROWS) * FOURS + f) * WIDTH + c * GROUP] = pair.four[f];
          if (FORM == UNPOLARISED) toPowers[(r - REGISTER_ROWS) * WIDTH + c * GROUP] = pair.power;
        }
      }
    }
  }
  __device__ __forceinline__ Pair pairOf(int r, int c) const {
    if (r < REGISTER_ROWS) return kept[r][c];
    Pair pair;
#pragma unroll
    for (int f = 0; f < FOURS; ++f) pair.four[f] = matrix[((r - REGISTER_ROWS) * FOURS + f) * WIDTH + c * GROUP];
    pair.power = FORM == UNPOLARISED ? powers[(r - REGISTER_ROWS) * WIDTH + c * GROUP] : 0;
    return pair;
  }
  // Slots FIRST, FIRST + STEP, ... over this thread's columns.
  template <int COUNT, int FIRST, int STEP, class Real, class Columns>
  __device__ __forceinline__ void addSlots(const Columns &column, Real (&sums)[COUNT][SUMS]) const {
#pragma unroll
    for (int n = 0; n < COUNT * SUMS; ++n) sums[n / SUMS][n % SUMS] = 0;
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) {
      const Column<Real> of = column(c);
#pragma unroll
      for (int r = 0; r < COUNT; ++r) addPair(sums[r], pairOf(FIRST + r * STEP, c), of);
    }
  }
  // Over all slots from FIRST by STEP: the partial sums in slot FIRST, over the lanes that hold its row elsewhere.
  template <int TOGETHER, int FIRST, int STEP, class Real, class Columns>
  __device__ __forceinline__ void sumTree(const Columns &column, Real (&sum)[SUMS]) const {
    if constexpr (ROWS / STEP <= TOGETHER) {
      constexpr int COUNT = ROWS / STEP;
      Real sums[COUNT][SUMS];
      addSlots<COUNT, FIRST, STEP>(column, sums);
#pragma unroll
      for (int half = COUNT / 2; half >= 1; half /= 2)
#pragma unroll
        for (int r = 0; r < COUNT / 2; ++r)
          if (r < half) addFrom(sums[r], sums[r + half], 32 * half * STEP / ROWS);
#pragma unroll
      for (int n = 0; n < SUMS; ++n) sum[n] = sums[0][n];
    } else {
      Real other[SUMS];
      sumTree<TOGETHER, FIRST, 2 * STEP>(column, sum);
      sumTree<TOGETHER, FIRST + STEP, 2 * STEP>(column, other);
      addFrom(sum, other, 32 * STEP / ROWS);
    }
  }
  // The remaining lanes of a row: 12 numbers are halved with them as far as possible, to 3.
  template <class Real>
  __device__ __forceinline__ void keepRow(Real (&v)[SUMS], Real *parts, int lane) const {
    constexpr int LEFT = 32 / ROWS, HALVINGS = LEFT == 2 ? 1 : 2, COUNT = SUMS >> HALVINGS;
    int index = 0;
#pragma unroll
    for (int level = 0; level < HALVINGS; ++level) {
      const int half = SUMS >> (level + 1), lanes = (LEFT / 2) >> level;
      const bool upper = lane & lanes;
#pragma unroll
      for (int i = 0; i < SUMS / 2; ++i)
        if (i < half) {
          const Real low = v[i], high = v[i + half];
          v[i] = (upper ? high : low) + __shfl_xor_sync(0xFFFFFFFFu, upper ? low : high, lanes);
        }
      index += upper ? half : 0;
    }
    if constexpr (LEFT == 8) {
#pragma unroll
      for (int i = 0; i < COUNT; ++i) v[i] += __shfl_xor_sync(0xFFFFFFFFu, v[i], 1);
    }
    if (LEFT == 8 && lane % 2 == 1) return;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) parts[mirrorOf(lane) * SUMS + index + i] = v[i];
  }
  // Sums over a warp's columns to parts : [ROWS][SUMS]; column(c) gives a station's gains.
  template <class Real, int TOGETHER, class Columns>
  __device__ __forceinline__ void sum(const Columns &column, Real *parts) const {
    const int lane = threadIdx.x % 32;
    if constexpr (MIRRORED) {
      Real total[SUMS];
      sumTree<TOGETHER, 0, 1>(column, total);
      keepRow(total, parts, lane);
    } else {
      sumChunks<TOGETHER, 0>(column, parts, lane);
    }
  }
  template <int TOGETHER, int CHUNK_AT, class Real, class Columns>
  __device__ __forceinline__ void sumChunks(const Columns &column, Real *parts, int lane) const {
    Real sums[TOGETHER][SUMS];
    addSlots<TOGETHER, CHUNK_AT, 1>(column, sums);
    // Two rows at a time: 24 numbers over 32 lanes.
#pragma unroll
    for (int r = 0; r + 1 < TOGETHER; r += 2) keep<2>(&sums[r], parts + (CHUNK_AT + r) * SUMS, lane);
    if constexpr (TOGETHER % 2 == 1) keep<1>(&sums[TOGETHER - 1], parts + (CHUNK_AT + TOGETHER - 1) * SUMS, lane);
    if constexpr (CHUNK_AT + TOGETHER < ROWS) sumChunks<TOGETHER, CHUNK_AT + TOGETHER>(column, parts, lane);
  }
};
