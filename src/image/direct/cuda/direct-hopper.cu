// From folded grids to the image on Hopper's tensor cores: both stages of the transform, products and their sums on chip.
//
// A block images 64 l x 128 m of one channel; its sums fill the registers of two warpgroups, one for each 64 m. Or a block is
// one warpgroup, for 64 x 64, and two of them share a multiprocessor (GROUPS). Per step:
//   stage 1   U[64 l][2 BOX] = [cos | sin][64 l][BOX] x grid[BOX][2 BOX]    warpgroup p for slot p, sums in halves
//   stage 2   F[64 m][4 parts x 16 l] = [cos | sin][64 m][BOX] x U^T        four chunks of 16 l, sums in floats
// U passes through shared memory, two buffers; the barrier after it also frees the grids it was made of. Parts (re, im
// of both slots) of one pixel land in one thread: the products need no exchange. Grids arrive UNROLL steps at a time by
// one bulk copy, STAGES such copies ahead: waiting for one costs more than a barrier does. With one polarisation the
// two slots are two time steps, and XX + YY is the sum of both.
//
// Tensor cores and multiply-adds share the registers' ports and hardly overlap; the aim is that neither waits. So every
// product is issued before the wait for the one before it: sums that are waited for any earlier are moved by the
// assembler in between the parts of a product.
//
// Set by the plan: BOX (32, 48, 64), PIXELS (or samples: direct-refine.cu), POLARISATIONS, GROUPS, REFINED, STAGES, UNROLL
// (even), ACROSS (1: a step's last products are summed while the next step's first are made), ROWS_SHARED (1: stage 1 takes
// its factors from shared memory).
#include "direct-hopper.cuh"
#include "wgmma-half.cuh"

constexpr int STEP_BYTES = 2 * SLOT_BYTES;
constexpr int SLOTS = 2 / GROUPS;  // of a warpgroup
constexpr int PART_BYTES = UNROLL * STEP_BYTES;
constexpr int U_AT = 0, ROWS_AT = U_AT + 2 * U_BYTES, RING_AT = ROWS_AT + ROWS_BYTES,
              BARS_AT = RING_AT + STAGES * PART_BYTES;

__device__ __forceinline__ void copySteps(uint32_t to, const uint8_t *from, uint32_t bytes, uint32_t barrier) {
  ptx::barrierExpect(barrier, bytes);
  ptx::copyBytes(to, from, bytes, barrier);
}

// grids : [c in group][slot] (direct-grid.cu), slotsPerChannel of them, of which the first 2 * pairs are used. unscale : [c].
// turnTable : [pixel][BOX] halves, unscaleTurns : [pixel], what products are multiplied by for their scale.
// sums : [c][product][m][l] float64, replaced or added to; where REFINED, samples. Grid: (tiles, channels of the group).
extern "C" __global__ void __launch_bounds__(128 * GROUPS, 2 / GROUPS)
    imageFolded(const uint8_t *grids, int slotsPerChannel, int pairs, int firstChannel, int add, const double *unscale,
                const uint32_t *turnTable, const double *unscaleTurns, void *sums) {
  extern __shared__ __align__(1024) uint8_t shared[];
  const uint32_t base = ptx::sharedAddress(shared);
  // Through a shuffle, so that the compiler knows the warp's number to be the same in all its lanes, as wgmma demands.
  const int lane = threadIdx.x % 32, warp = __shfl_sync(0xFFFFFFFFu, threadIdx.x / 32, 0), group = warp / 4;
  const int firstL = blockIdx.x % L_TILES * 64, firstM = (blockIdx.x / L_TILES * GROUPS + group) * 64;
  const uint8_t *steps = grids + (int64_t)blockIdx.y * slotsPerChannel * SLOT_BYTES;
  const uint32_t bars = base + BARS_AT;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) ptx::barrierInit(bars + 8 * s, 1);
    ptx::barrierInitFence();
    ptx::showToCopies();
    for (int s = 0; s < STAGES && s * UNROLL < pairs; ++s)
      copySteps(base + RING_AT + s * PART_BYTES, steps + (int64_t)s * PART_BYTES,
                min(UNROLL, pairs - s * UNROLL) * STEP_BYTES, bars + 8 * s);
  }
  if (ROWS_SHARED) {
    shareTurns(shared + ROWS_AT, turnTable, firstL);
    ptx::showToCopies();
  }
  uint32_t rows[DEPTHS][4], turns[DEPTHS][4];
  if (!ROWS_SHARED) loadTurns(rows, turnTable, firstL + warp % 4 * 16, lane);
  loadTurns(turns, turnTable, firstM + warp % 4 * 16, lane);
  float sum[8][4][4];
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int k = 0; k < 4; ++k) sum[i][j][k] = 0;
  __syncthreads();

  const uint32_t uLane = base + U_AT + (warp % 4 * 8 + (lane >> 3 & 1)) * BLOCK_ROW + (lane >> 4) * 128 +
                         (lane & 7) * 16 + group * SLOTS * 4 * BLOCK_ROW;
  auto stage1 = [&](uint32_t(&u)[SLOTS * BOX / 2], uint32_t grid) {
    const uint64_t columns = coreMatrices(grid + group * SLOTS * SLOT_BYTES);
    ptx::wgmmaFence();
#pragma unroll
    for (int k = 0; k < DEPTHS; ++k) {
      if constexpr (ROWS_SHARED)
        WgmmaHalf<SLOTS * 2 * BOX>::multiply(u, coreMatrices(base + ROWS_AT) + k * 16, columns + k * 16, k != 0);
      else
        WgmmaHalf<SLOTS * 2 * BOX>::multiply(u, rows[k], columns + k * 16, k != 0);
    }
    ptx::wgmmaCommit();
  };
  auto storeU = [&](uint32_t(&u)[SLOTS * BOX / 2], int t) {
    settled(u);
#pragma unroll
    for (int i = 0; i < SLOTS * BOX / 8; ++i) {  // two column blocks, four matrices, at a time
      const int part = 2 * i / (BOX / 8),
                depthBlock = 2 * i % (BOX / 8);  // parts of one slot follow those of the other
      storeMatrices(uLane + (t & 1) * U_BYTES + part * 2 * BLOCK_ROW + depthBlock * 128, u[4 * i], u[4 * i + 1],
                    u[4 * i + 2], u[4 * i + 3]);
    }
  };
  // A fence makes stores visible to the tensor cores; not at once, or the warp would wait for them.
  auto stage2 = [&](float(&f)[32], int t, int chunk) {
    const uint64_t columns = coreMatrices(base + U_AT + (t & 1) * U_BYTES + chunk * 8 * BLOCK_ROW);
    ptx::wgmmaFence();
#pragma unroll
    for (int k = 0; k < DEPTHS; ++k) WgmmaFloat<64>::multiply(f, turns[k], columns + k * 16, k != 0);
    ptx::wgmmaCommit();
  };
  auto accumulate = [&](float(&f)[32], int chunk) { addChunk(sum, f, chunk); };

  const uint32_t ring = base + RING_AT;
  uint32_t u[SLOTS * BOX / 2];
  ptx::barrierWait(bars, 0);
  stage1(u, ring);
  ptx::wgmmaWait<0>();
  storeU(u, 0);
  ptx::showToCopies();
  float f0[32], f1[32];
  int part = 0, lap = 0;
#pragma unroll 1
  for (int first = 0; first < pairs; first += UNROLL) {
    const int nextPart = part + 1 == STAGES ? 0 : part + 1, nextLap = part + 1 == STAGES ? lap ^ 1 : lap;
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
      const int t = first + i;
      if (i > 0 && t >= pairs) break;
      // U of this step is complete; both warpgroups are done with the previous U and with this step's grids.
      ptx::namedSync<1, 128 * GROUPS>();
      if (i == UNROLL - 1) {
        if (threadIdx.x == 0 && first + STAGES * UNROLL < pairs)
          copySteps(ring + part * PART_BYTES, steps + (int64_t)(first + STAGES * UNROLL) * STEP_BYTES,
                    min(UNROLL, pairs - first - STAGES * UNROLL) * STEP_BYTES, bars + 8 * part);
        if (t + 1 < pairs) ptx::barrierWait(bars + 8 * nextPart, nextLap);
      }
      const uint32_t next =
          i == UNROLL - 1 ? ring + nextPart * PART_BYTES : ring + part * PART_BYTES + (i + 1) * STEP_BYTES;
      stage2(f0, i, 0);
      // Inside a branch, or the assembler would move these too.
      if (ACROSS && t > 0) accumulate(f1, 3);
      stage2(f1, i, 1);
      stage1(u, next);
      ptx::wgmmaWait<2>();
      accumulate(f0, 0);
      stage2(f0, i, 2);
      ptx::wgmmaWait<2>();
      accumulate(f1, 1);
      ptx::wgmmaWait<1>();
      storeU(u, i + 1);
      stage2(f1, i, 3);
      ptx::wgmmaWait<1>();
      accumulate(f0, 2);
      ptx::showToCopies();
      ptx::wgmmaWait<0>();
      if (!ACROSS) accumulate(f1, 3);
    }
    part = nextPart, lap = nextLap;
  }
  if (ACROSS) accumulate(f1, 3);

  storeImage(sum, sums, firstChannel, firstL, firstM + warp % 4 * 16, lane, add, unscale, unscaleTurns);
}
