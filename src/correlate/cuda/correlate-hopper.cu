// The X-engine on Hopper: wgmma fed by the bulk copy engine (sm_90a).
//
// One wgmma of 64 rows takes 32 inputs: each warp's 16 rows are 8 rows of x and the same 8 rows of x' (made in
// registers), so that a thread ends up with Re and Im of the same products; the columns are read from shared memory
// as they arrived. Row groups of 32 inputs, each with its own number of columns, keep diagonal tiles nearly
// triangular: 19 % waste in a tile of 128 where a square would have 49 %.
//
// Persistent blocks: one producer thread fills a ring of stages, one or two consumer warpgroups multiply. Tiles come
// from a work counter, so blocks with cheap diagonal tiles process more.
//
// Set by the plan (correlate/cuda/plan.ts), beside those of products.cuh:
//   TILE           inputs along a tile's side, 64 or 128
//   WARPGROUPS     consumers of a block, 1 or 2
//   STAGES         stages of the ring
//   SPANS          128-byte spans of K per stage
//   LEAD           stages by which warpgroup 0 runs ahead, so that one multiplies while the other stores
//   CLUSTER        2: pairs of blocks that share columns, each loading half of them for both
//   DIAGONAL_ONLY  1 where one tile holds all inputs
//   BLOCKS_PER_SM
#include "hopper.cuh"
#include "products.cuh"
#include "wgmma.cuh"

constexpr int SPAN = 128;  // bytes of K in a row of a panel: 64 samples, one swizzle span
constexpr int LEAD_STEPS = 80;
constexpr int SLOTS = 8;  // items by which the first block of a cluster may be ahead of the other: more than STAGES
constexpr int BLOCKS = (INPUTS + TILE - 1) / TILE;
constexpr bool SPLIT_REGISTERS = WARPGROUPS > 1;  // the producer's warpgroup gives its registers to the consumers
constexpr int CONSUMERS = WARPGROUPS * 128;
constexpr int THREADS = CONSUMERS + (SPLIT_REGISTERS ? 128 : 32);
constexpr int PANEL_BYTES = TILE * SPAN;
constexpr int SIDE_BYTES = SPANS * PANEL_BYTES;  // the row side or the column side of a stage
constexpr int STAGE_BYTES = (DIAGONAL_ONLY ? 1 : 2) * SIDE_BYTES;
static_assert(TILE == 64 || TILE == 128, "tiles of 64 or 128 inputs");
static_assert(!DIAGONAL_ONLY || BLOCKS == 1, "one tile must hold all inputs");
static_assert(CLUSTER == 1 || (TILE == 128 && SPANS == 1 && !DIAGONAL_ONLY && STAGES < SLOTS), "see above");

struct Work {
  int kSteps;    // stages per tile: ceil(2T / (SPANS * 128))
  int items;     // channels * tiles (or pairs of tiles) per channel
  int *sums;     // see products.cuh
  int *counter;  // zero before the first launch; every launch leaves it at zero
};

struct Tile {
  int channel, row, col;  // row, col in tiles
};

__device__ __forceinline__ Tile tileOf(int item) {
  constexpr int PER_CHANNEL = BLOCKS * (BLOCKS + 1) / 2;
  Tile tile;
  tile.channel = item / PER_CHANNEL;
  triangleTile(item - tile.channel * PER_CHANNEL, tile.row, tile.col);
  return tile;
}

// Clusters: row pair i (tiles 2i and 2i + 1) has 2i items of two tiles in one column, then its triangle (col = row).
__device__ __forceinline__ Tile tileOfPair(int item, int rank) {
  constexpr int PAIRS = (BLOCKS + 1) / 2, PER_CHANNEL = PAIRS * PAIRS;
  const int channel = item / PER_CHANNEL, t = item - channel * PER_CHANNEL;
  int i = (int)sqrtf((float)t);
  if ((i + 1) * (i + 1) <= t) ++i;
  if (i * i > t) --i;
  const int j = t - i * i;
  return j == 2 * i ? Tile{channel, j, j} : Tile{channel, 2 * i + rank, j};
}

struct Ring {
  uint32_t panels, full, empty;  // shared-memory addresses
  int stage;
  uint32_t phase;
  __device__ __forceinline__ uint32_t panel() const { return panels + stage * STAGE_BYTES; }
  __device__ __forceinline__ uint32_t fullBarrier() const { return full + 8 * stage; }
  __device__ __forceinline__ uint32_t emptyBarrier() const { return empty + 8 * stage; }
  __device__ __forceinline__ void advance() {
    if (++stage == STAGES) stage = 0, phase ^= 1;
  }
};

// ---- consumers ----

// A consumer warp is done with a stage: notifies its own producer and, in a cluster, the other one, which writes here
// too.
__device__ __forceinline__ void release(uint32_t barrier, int lane) {
  if (lane == 0) ptx::barrierArrive(barrier);
  if (CLUSTER == 2 && lane == 1) ptx::barrierArriveAt(barrier, ptx::clusterRank() ^ 1);
}

// acc0 += rows of group 0 times N0 columns, acc1 += rows of group 1 times N1 columns, over all of K.
// rowOffset: this lane's byte offset inside the row panel (swizzled) for each group.
template <int N0, int N1>
__device__ __forceinline__ void multiply(Ring &ring, int kSteps, int signalAt, uint32_t rowOffset0, uint32_t rowOffset1,
                                         uint32_t colSide, int (&acc0)[N0 / 2], int (&acc1)[N1 / 2]) {
  // wgmma groups in flight: 144 accumulators leave no room for two sets of fragments.
  constexpr int PENDING = N0 + N1 > 256 ? 0 : 1;
  const int lane = threadIdx.x & 31;
  uint32_t previous = 0;
  ptx::pin(acc0);
  ptx::pin(acc1);
  for (int k = 0; k < kSteps; ++k) {
    ptx::barrierWait(ring.fullBarrier(), ring.phase);
    const uint32_t panel = ring.panel();
    const uint64_t columns = ptx::panelDescriptor(panel + colSide);
#pragma unroll
    for (int h = 0; h < 2 * SPANS; ++h) {  // 64 bytes of K each; the halves alternate fragment registers
      const int half = h & 1, span = (h >> 1) * PANEL_BYTES;
      uint32_t a[4], b[4], at[4], bt[4];
      loadMatrices(a, panel + span + (rowOffset0 ^ (half * 64)));
      loadMatrices(b, panel + span + (rowOffset1 ^ (half * 64)));
#pragma unroll
      for (int i = 0; i < 4; ++i) at[i] = timesMinusI(a[i]), bt[i] = timesMinusI(b[i]);
      ptx::wgmmaFence();
#pragma unroll
      for (int s = 0; s < 2; ++s) {
        const uint64_t d = columns + span / 16 + half * 4 + s * 2;
        Wgmma<N0>::multiplyAdd(acc0, a[2 * s], at[2 * s], a[2 * s + 1], at[2 * s + 1], d);
        Wgmma<N1>::multiplyAdd(acc1, b[2 * s], bt[2 * s], b[2 * s + 1], bt[2 * s + 1], d);
      }
      ptx::wgmmaCommit();
      ptx::wgmmaWait<PENDING>();                     // the previous group is complete:
      if (h == 0 && k > 0) release(previous, lane);  // it was the last reader of its stage
    }
    if (LEAD && k == signalAt) ptx::namedArrive<1, 256>();
    previous = ring.emptyBarrier();
    ring.advance();
  }
  ptx::wgmmaWait<0>();
  release(previous, lane);
  ptx::pin(acc0);
  ptx::pin(acc1);
}

template <int N>
__device__ __forceinline__ void storeGroup(int *channelSums, int row, int col, const int (&acc)[N / 2]) {
  storePairs<N / 8>(channelSums, row, col, [&](int j) {
    return Pair{acc[4 * j], acc[4 * j + 2], acc[4 * j + 1], acc[4 * j + 3]};
  });
}

// One tile: this warpgroup's row groups g0 (N0 columns) and g1 (N1 columns).
template <int N0, int N1>
__device__ __forceinline__ void correlate(const Work &work, Ring &ring, Tile tile, int signalAt, int g0, int g1,
                                          uint32_t colSide) {
  const int lane = threadIdx.x & 31, warp = (threadIdx.x >> 5) & 3;
  const uint32_t r = warp * 8 + (lane & 7), chunk = ((lane >> 3) ^ (lane & 7)) * 16;  // 128-byte swizzle
  int *channelSums = work.sums + tile.channel * PRODUCTS * 2;
  const int row = tile.row * TILE + warp * 8 + (lane >> 2), col = tile.col * TILE + (lane & 3) * 2;
  // Zeroed: left undefined, the assembler keeps every path's set alive and runs the wgmmas one by one (C7512).
  int acc0[N0 / 2] = {}, acc1[N1 / 2] = {};
  multiply<N0, N1>(ring, work.kSteps, signalAt, (g0 * 32 + r) * SPAN + chunk, (g1 * 32 + r) * SPAN + chunk, colSide,
                   acc0, acc1);
  storeGroup<N0>(channelSums, row + g0 * 32, col, acc0);
  storeGroup<N1>(channelSums, row + g1 * 32, col, acc1);
}

__device__ __forceinline__ void consume(const Work &work, Ring ring, const volatile int *itemOfStage) {
  const int wg = threadIdx.x >> 7;
  // Warpgroup 1 starts each tile LEAD stages after warpgroup 0: once per tile, since nothing else restores a lost lead;
  // not with few stages to a tile, where warpgroup 0 could signal twice before warpgroup 1 waits once, and not with
  // many, where the stores it hides are small and the late start is not made up (clusters, T = 8192: -1 to -6 %).
  const bool lead = LEAD > 0 && work.kSteps >= 2 * STAGES && work.kSteps <= LEAD_STEPS;
  const int signalAt = lead && wg == 0 ? LEAD - 1 : -1;
  for (;;) {
    ptx::barrierWait(ring.fullBarrier(), ring.phase);
    const int item = itemOfStage[ring.stage];
    if (item < 0) break;
    if (LEAD > 0 && lead && wg == 1) ptx::namedSync<1, 256>();
    const Tile tile = CLUSTER == 2 ? tileOfPair(item, ptx::clusterRank()) : tileOf(item);
    // Diagonal tiles: row group g of 32 needs 32 (g + 1) columns, dealt out so that all have the same work.
    if constexpr (TILE == 64) {
      if (DIAGONAL_ONLY || tile.row == tile.col)
        correlate<32, 64>(work, ring, tile, signalAt, 0, 1, 0);
      else
        correlate<64, 64>(work, ring, tile, signalAt, 0, 1, SIDE_BYTES);
    } else if constexpr (DIAGONAL_ONLY) {
      if (wg == 0)
        correlate<32, 128>(work, ring, tile, signalAt, 0, 3, 0);
      else
        correlate<64, 96>(work, ring, tile, signalAt, 1, 2, 0);
    } else if (tile.row != tile.col) {
      correlate<128, 128>(work, ring, tile, signalAt, 2 * wg, 2 * wg + 1, SIDE_BYTES);
    } else if constexpr (CLUSTER == 1) {
      if (wg == 0)
        correlate<32, 128>(work, ring, tile, signalAt, 0, 3, 0);
      else
        correlate<64, 96>(work, ring, tile, signalAt, 1, 2, 0);
    } else {  // a triangle of 256 inputs over two blocks: 288 columns for each of the four warpgroups
      if (ptx::clusterRank() == 0) {
        if (wg == 0)
          correlate<32, 256>(work, ring, tile, signalAt, 0, 7, 0);
        else
          correlate<128, 160>(work, ring, tile, signalAt, 3, 4, 0);
      } else {
        if (wg == 0)
          correlate<64, 224>(work, ring, tile, signalAt, 1, 6, 0);
        else
          correlate<96, 192>(work, ring, tile, signalAt, 2, 5, 0);
      }
    }
  }
}

// ---- producers: one thread each ----

// No more work: an empty stage marks the end.
__device__ __forceinline__ void finish(Ring &ring, volatile int *itemOfStage) {
  itemOfStage[ring.stage] = -1;
  ptx::barrierArrive(ring.fullBarrier());
}

__device__ __forceinline__ void produce(const Work &work, const TensorMap *map, Ring ring, volatile int *itemOfStage) {
  ptx::prefetchMap(map);
  for (int item = blockIdx.x;;) {
    if (item >= work.items) {
      ptx::barrierWait(ring.emptyBarrier(), ring.phase ^ 1);
      return finish(ring, itemOfStage);
    }
    const int drawn = atomicAdd(work.counter, 1);  // early: its latency hides behind this item's loads
    const Tile tile = tileOf(item);
    const bool diagonal = DIAGONAL_ONLY || tile.row == tile.col;
    for (int k = 0; k < work.kSteps; ++k) {
      const uint32_t full = ring.fullBarrier(), panel = ring.panel();
      ptx::barrierWait(ring.emptyBarrier(), ring.phase ^ 1);
      if (k == 0) itemOfStage[ring.stage] = item;
      ptx::barrierExpect(full, diagonal ? SIDE_BYTES : 2 * SIDE_BYTES);
#pragma unroll
      for (int i = 0; i < SPANS; ++i) {
        const uint32_t to = panel + i * PANEL_BYTES;
        const int byte = (k * SPANS + i) * SPAN;
        ptx::copyBox(to, map, full, byte, tile.row * TILE, tile.channel);
        if (!diagonal) ptx::copyBox(to + SIDE_BYTES, map, full, byte, tile.col * TILE, tile.channel);
      }
      ring.advance();
    }
    if (drawn == work.items - 1) atomicExch(work.counter, 0);  // exactly `items` draws are made: this was the last
    item = gridDim.x + drawn;
  }
}

// The same for one block of a cluster. Rank 0 draws the items and hands each to the other block through a slot in its
// shared memory. A stage may be filled once the consumers of both blocks have released it.
__device__ __forceinline__ void producePair(const Work &work, const TensorMap *map, const TensorMap *halfMap, Ring ring,
                                            volatile int *itemOfStage, uint32_t slotFull, uint32_t slotItem,
                                            const volatile int *slots) {
  constexpr int HALF = SIDE_BYTES / 2;
  const int rank = ptx::clusterRank(), clusters = gridDim.x / 2;
  int item = blockIdx.x / 2, drawn = 0;
  for (int turn = 0;; ++turn) {
    ptx::barrierWait(ring.emptyBarrier(), ring.phase ^ 1);
    const int slot = turn % SLOTS;
    if (rank == 0) {
      ptx::storeAt(slotItem + 4 * slot, 1, item);
      ptx::barrierReleaseAt(slotFull + 8 * slot, 1);
    } else {
      ptx::barrierWaitAcquire(slotFull + 8 * slot, turn / SLOTS & 1);
      item = slots[slot];
    }
    if (item >= work.items) return finish(ring, itemOfStage);
    if (rank == 0) drawn = atomicAdd(work.counter, 1);
    const Tile tile = tileOfPair(item, rank);
    for (int k = 0; k < work.kSteps; ++k) {
      const uint32_t full = ring.fullBarrier(), panel = ring.panel();
      if (k > 0)
        ptx::barrierWait(ring.emptyBarrier(), ring.phase ^ 1);
      else
        itemOfStage[ring.stage] = item;
      ptx::barrierExpect(full, STAGE_BYTES);
      if (tile.row == tile.col) {  // a triangle: both sides of the stage are one panel of 256 rows
        ptx::copyBoxToAll(panel + rank * SIDE_BYTES, map, full, 3, k * SPAN, (tile.row + rank) * TILE, tile.channel);
      } else {
        ptx::copyBox(panel, map, full, k * SPAN, tile.row * TILE, tile.channel);
        ptx::copyBoxToAll(panel + SIDE_BYTES + rank * HALF, halfMap, full, 3, k * SPAN,
                          tile.col * TILE + rank * (TILE / 2), tile.channel);
      }
      ring.advance();
    }
    if (rank == 0) {
      if (drawn == work.items - 1) atomicExch(work.counter, 0);
      item = clusters + drawn;
    }
  }
}

// map: boxes of TILE rows; halfMap: boxes of TILE / 2 rows, for clusters.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    correlateHopper(const __grid_constant__ TensorMap map, const __grid_constant__ TensorMap halfMap, const Work work) {
  extern __shared__ uint8_t raw[];
  const uint32_t skip = (1024 - (ptx::sharedAddress(raw) & 1023)) & 1023;
  uint8_t *base = raw + skip;
  uint64_t *full = (uint64_t *)(base + STAGES * STAGE_BYTES), *empty = full + STAGES, *slotFull = empty + STAGES;
  int *itemOfStage = (int *)(slotFull + SLOTS), *slots = itemOfStage + STAGES;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      ptx::barrierInit(ptx::sharedAddress(full + s), 1);
      ptx::barrierInit(ptx::sharedAddress(empty + s), CLUSTER * WARPGROUPS * 4);  // one arrival per consumer warp
    }
    for (int s = 0; s < SLOTS; ++s) ptx::barrierInit(ptx::sharedAddress(slotFull + s), 1);
    ptx::barrierInitFence();
  }
  if constexpr (CLUSTER > 1)
    ptx::clusterSync();
  else
    __syncthreads();
  const Ring ring{ptx::sharedAddress(base), ptx::sharedAddress(full), ptx::sharedAddress(empty), 0, 0};
  if (threadIdx.x >= CONSUMERS) {
    if constexpr (SPLIT_REGISTERS) ptx::giveRegisters<40>();
    if (threadIdx.x == CONSUMERS) {
      if constexpr (CLUSTER == 1)
        produce(work, &map, ring, itemOfStage);
      else
        producePair(work, &map, &halfMap, ring, itemOfStage, ptx::sharedAddress(slotFull), ptx::sharedAddress(slots),
                    slots);
    }
  } else {
    if constexpr (SPLIT_REGISTERS) ptx::takeRegisters<232>();
    consume(work, ring, itemOfStage);
  }
  if constexpr (CLUSTER > 1) ptx::clusterSync();  // the other block may still arrive on this one's barriers
}
