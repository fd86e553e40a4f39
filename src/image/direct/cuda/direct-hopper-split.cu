// From folded grids to the image on Hopper's tensor cores in single precision: as direct-hopper.cu, with every number the
// sum of two halves. A product is then  nearest * nearest + nearest * rest + rest * nearest : three times the tensor work,
// and as good as single precision; what is left out, rest * rest, is 2^-24 of it.
//
// A block images 64 l x 128 m of one channel; its sums fill the registers of two warpgroups, one for each 64 m. Per step:
//   stage 1   U[64 l][2 BOX] = [cos | sin][64 l][BOX] x grid[BOX][2 BOX]    warpgroup p for slot p, in PIECES
//   stage 2   F[64 m][4 parts x 16 l] = [cos | sin][64 m][BOX] x U^T        four chunks of 16 l
// Registers hold the image's sums and two results in flight: each product is issued before the wait for the one before
// it, whose result is used while it runs. U passes through shared memory, two buffers. Each warpgroup reads one slot's
// grids alone: it releases a piece of the ring as soon as its own four warps have read it.
//
// Small terms are added first: the tensor cores truncate sums.
//
// Set by the plan: BOX (32, 48, 64), PIXELS, POLARISATIONS, GROUPS (2), REFINED (0), RING (steps of grids in shared
// memory), COPIES (of a slot: 2 where each of two pieces of stage 1 releases its own), RESTS_SHARED (1: stage 2 takes
// its factors' rests from shared memory).
#include "direct-hopper.cuh"
#include "halves.cuh"
#include "wgmma-half.cuh"

// Stage 1 goes by 64 columns, as many as stage 2's chunks, so that both share registers; with 96 the second 64 overlap.
constexpr int PIECES = (2 * BOX + 63) / 64;
__device__ constexpr int firstColumn(int piece) { return piece * 64 <= 2 * BOX - 64 ? piece * 64 : 2 * BOX - 64; }
constexpr int COPY_BYTES = SLOT_BYTES / COPIES;
static_assert(GROUPS == 2 && REFINED == 0, "a warpgroup for each slot; every pixel made by itself");
static_assert(COPIES == 1 || (COPIES == PIECES && 2 * BOX == 64 * PIECES), "a copy is a slot, or a piece of it");
// U : [buffer][nearest, rest], rows : [nearest, rest], rests : [warpgroup], ring : [step][slot][nearest, rest]
constexpr int U_AT = 0, ROWS_AT = U_AT + 4 * U_BYTES, RESTS_AT = ROWS_AT + 2 * ROWS_BYTES;
constexpr int RING_AT = RESTS_AT + RESTS_SHARED * 2 * ROWS_BYTES, BARS_AT = RING_AT + RING * 4 * SLOT_BYTES;

// The three products, small ones first. `rows` and `columns` : those of the nearest halves; their rests follow in
// memory.
template <class Rows>
__device__ __forceinline__ void multiplySplit(float (&sums)[32], const Rows &rows, uint64_t columns,
                                              uint32_t restBytes) {
  ptx::wgmmaFence();
#pragma unroll
  for (int k = 0; k < DEPTHS; ++k) rows.rest(sums, k, columns + k * 16, k != 0);
#pragma unroll
  for (int k = 0; k < DEPTHS; ++k) rows.nearest(sums, k, columns + (restBytes >> 4) + k * 16, 1);
#pragma unroll
  for (int k = 0; k < DEPTHS; ++k) rows.nearest(sums, k, columns + k * 16, 1);
  ptx::wgmmaCommit();
}
struct SharedRows {
  uint64_t matrices;
  __device__ __forceinline__ void nearest(float (&d)[32], int k, uint64_t columns, int add) const {
    WgmmaFloat<64>::multiply(d, matrices + k * 16, columns, add);
  }
  __device__ __forceinline__ void rest(float (&d)[32], int k, uint64_t columns, int add) const {
    WgmmaFloat<64>::multiply(d, matrices + (ROWS_BYTES >> 4) + k * 16, columns, add);
  }
};
struct HeldRows {
  uint32_t halves[DEPTHS][4], rests[DEPTHS][4];  // or the rests in shared memory:
  uint64_t restMatrices;
  __device__ __forceinline__ void nearest(float (&d)[32], int k, uint64_t columns, int add) const {
    WgmmaFloat<64>::multiply(d, halves[k], columns, add);
  }
  __device__ __forceinline__ void rest(float (&d)[32], int k, uint64_t columns, int add) const {
    if constexpr (RESTS_SHARED)
      WgmmaFloat<64>::multiply(d, restMatrices + k * 16, columns, add);
    else
      WgmmaFloat<64>::multiply(d, rests[k], columns, add);
  }
};

// grids : [c in group][slot][nearest, rest] (direct-grid-split.cu), slotsPerChannel of them, of which the first 2 * pairs are
// used. turnTable : [nearest, rest][pixel][BOX] halves. The rest as in direct-hopper.cu.
extern "C" __global__ void __launch_bounds__(256, 1)
    imageFolded(const uint8_t *grids, int slotsPerChannel, int pairs, int firstChannel, int add, const double *unscale,
                const uint32_t *turnTable, const double *unscaleTurns, double *sums) {
  extern __shared__ __align__(1024) uint8_t shared[];
  const uint32_t base = ptx::sharedAddress(shared);
  // Through a shuffle, so that the compiler knows the warp's number to be the same in all its lanes, as wgmma demands.
  const int lane = threadIdx.x % 32, warp = __shfl_sync(0xFFFFFFFFu, threadIdx.x / 32, 0), group = warp / 4;
  const int firstL = blockIdx.x % L_TILES * 64, firstM = blockIdx.x / L_TILES * 128 + warp * 16;
  const uint8_t *slots = grids + ((int64_t)blockIdx.y * slotsPerChannel + group) * (2 * SLOT_BYTES);
  const uint32_t ring = base + RING_AT + group * (2 * SLOT_BYTES), bars = base + BARS_AT + group * (8 * COPIES);
  // One thread of each warpgroup: a copy's part of step t to its place `at` in the ring.
  auto copyPart = [&](int t, int at, int copy) {
    const uint8_t *from = slots + (int64_t)t * (4 * SLOT_BYTES) + copy * COPY_BYTES;
    const uint32_t to = ring + at * (4 * SLOT_BYTES) + copy * COPY_BYTES, bar = bars + at * (16 * COPIES) + 8 * copy;
    ptx::barrierExpect(bar, 2 * COPY_BYTES);
    if constexpr (COPIES == 1) {
      ptx::copyBytes(to, from, 2 * SLOT_BYTES, bar);
    } else {
      ptx::copyBytes(to, from, COPY_BYTES, bar);
      ptx::copyBytes(to + SLOT_BYTES, from + SLOT_BYTES, COPY_BYTES, bar);
    }
  };
  if (threadIdx.x == 0) {
    for (int n = 0; n < 2 * COPIES * RING; ++n) ptx::barrierInit(base + BARS_AT + 8 * n, 1);
    ptx::barrierInitFence();
    ptx::showToCopies();
  }
  constexpr int TABLE = PIXELS * BOX / 2;
  for (int rest = 0; rest < 2; ++rest)
    shareTurns(shared + ROWS_AT + rest * ROWS_BYTES, turnTable + rest * TABLE, firstL);
  if constexpr (RESTS_SHARED)
    for (int n = 0; n < 2; ++n)
      shareTurns(shared + RESTS_AT + n * ROWS_BYTES, turnTable + TABLE, blockIdx.x / L_TILES * 128 + n * 64);
  ptx::showToCopies();
  HeldRows turns;
  loadTurns(turns.halves, turnTable, firstM, lane);
  if constexpr (RESTS_SHARED)
    turns.restMatrices = coreMatrices(base + RESTS_AT + group * ROWS_BYTES);
  else
    loadTurns(turns.rests, turnTable + TABLE, firstM, lane);
  const SharedRows rows = {coreMatrices(base + ROWS_AT)};
  float sum[8][4][4];
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int k = 0; k < 4; ++k) sum[i][j][k] = 0;
  __syncthreads();
  if (threadIdx.x % 128 == 0)
    for (int t = 0; t < RING && t < pairs; ++t)
      for (int copy = 0; copy < COPIES; ++copy) copyPart(t, t, copy);

  // The place of the next stage-1 step in the ring, and the number of laps.
  int at = 0, lap = 0, t1 = 0;
  auto stage1 = [&](float(&u)[32], int piece) {
    if (piece < COPIES && t1 < pairs) ptx::barrierWait(bars + at * (16 * COPIES) + 8 * piece, lap);
    multiplySplit(u, rows, coreMatrices(ring + at * (4 * SLOT_BYTES) + firstColumn(piece) / 8 * BLOCK_ROW), SLOT_BYTES);
  };
  const uint32_t uLane = base + U_AT + (warp % 4 * 8 + (lane >> 3 & 1)) * BLOCK_ROW + (lane >> 4) * 128 +
                         (lane & 7) * 16 + group * 4 * BLOCK_ROW;
  auto storeU = [&](float(&u)[32], int buffer, int piece) {
    settled(u);
    if (COPIES == PIECES || piece == PIECES - 1) {
      // All four warps have read this part: the next may overwrite it.
      asm volatile("bar.sync %0, 128;" ::"r"(2 + group) : "memory");
      if (threadIdx.x % 128 == 0 && t1 + RING < pairs) copyPart(t1 + RING, at, COPIES == PIECES ? piece : 0);
    }
    if (piece == PIECES - 1) {
      ++t1;
      if (++at == RING) at = 0, lap ^= 1;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {  // two column blocks, four matrices, at a time
      const int pair = firstColumn(piece) / 16 + i, part = 2 * pair / (BOX / 8), depthBlock = 2 * pair % (BOX / 8);
      if (pair < piece * 4) continue;  // the previous piece included it
      uint32_t nearest[4], rest[4];
#pragma unroll
      for (int n = 0; n < 4; ++n) splitHalves(u[8 * i + 2 * n], u[8 * i + 2 * n + 1], nearest[n], rest[n]);
      const uint32_t to = uLane + buffer * (2 * U_BYTES) + part * 2 * BLOCK_ROW + depthBlock * 128;
      storeMatrices(to, nearest[0], nearest[1], nearest[2], nearest[3]);
      storeMatrices(to + U_BYTES, rest[0], rest[1], rest[2], rest[3]);
    }
    ptx::showToCopies();
  };
  auto stage2 = [&](float(&f)[32], int buffer, int chunk) {
    multiplySplit(f, turns, coreMatrices(base + U_AT + buffer * (2 * U_BYTES) + chunk * 8 * BLOCK_ROW), U_BYTES);
  };

  float a[32], b[32];
#pragma unroll
  for (int piece = 0; piece < PIECES; ++piece) {
    stage1(a, piece);
    ptx::wgmmaWait<0>();
    storeU(a, 0, piece);
  }
  // `b` holds the last chunk of the step before; where PIECES is odd, `a` holds that of this one.
  auto step = [&](float(&a)[32], float(&b)[32], int t, int i) {
    // U of this step is complete; both warpgroups are done with the previous U.
    ptx::namedSync<1, 256>();
    stage2(a, i, 0);
    // Inside a branch, or the assembler would move these in between the parts of a product.
    if (t > 0) addChunk(sum, b, 3);
    stage2(b, i, 1);
    ptx::wgmmaWait<1>();
    addChunk(sum, a, 0);
    stage1(a, 0);
    ptx::wgmmaWait<1>();
    addChunk(sum, b, 1);
    stage2(b, i, 2);
    ptx::wgmmaWait<1>();
    storeU(a, i ^ 1, 0);
    if constexpr (PIECES == 2) {
      stage1(a, 1);
      ptx::wgmmaWait<1>();
      addChunk(sum, b, 2);
      stage2(b, i, 3);
      ptx::wgmmaWait<1>();
      storeU(a, i ^ 1, 1);
    } else {
      stage2(a, i, 3);
      ptx::wgmmaWait<1>();
      addChunk(sum, b, 2);
    }
    ptx::wgmmaWait<0>();
  };
#pragma unroll 1
  for (int first = 0; first < pairs; first += 2) {
    step(a, b, first, 0);
    if (first + 1 >= pairs) break;
    if constexpr (PIECES == 1)
      step(b, a, first + 1, 1);
    else
      step(a, b, first + 1, 1);
  }
  if (PIECES == 1 && pairs % 2 == 1)
    addChunk(sum, a, 3);
  else
    addChunk(sum, b, 3);
  storeSums(sum, sums, firstChannel + blockIdx.y, firstL, firstM, lane, add, unscale, unscaleTurns);
}
