// The X-engine on the tensor cores of any card since Ampere (sm_80): mma.sync m16n8k32, int8 in, int32 out.
//
// As on Hopper, the 16 rows of an instruction are 8 rows of x and the same 8 rows of x', so a thread holds Re and Im
// of the same products. A block makes one tile; each warp 32 inputs by 64. Stages of 64 bytes of K arrive by
// cp.async, one stage ahead of the products for each stage of the ring.
//
// Set by the plan, beside those of products.cuh: TILE (64 or 128), STAGES.
#include "products.cuh"

constexpr int CHUNK = 64;  // bytes of K per stage: 32 samples, two instructions deep
constexpr int BLOCKS = (INPUTS + TILE - 1) / TILE;
constexpr int TILES = BLOCKS * (BLOCKS + 1) / 2;
constexpr int COLUMN_WARPS = TILE / 64, THREADS = 32 * COLUMN_WARPS * (TILE / 32);
constexpr int SIDE_BYTES = TILE * CHUNK, STAGE_BYTES = 2 * SIDE_BYTES;
constexpr int ROW_STEPS = 4, COLUMN_STEPS = 8;  // a warp's 32 x 64 inputs in steps of 8 x 8
static_assert(TILE == 64 || TILE == 128, "tiles of 64 or 128 inputs");

// Chunk q of row r. The exclusive-or spreads 8 rows of one chunk over all 32 banks.
__device__ __forceinline__ uint32_t swizzled(uint32_t r, uint32_t q) { return r * CHUNK + ((q ^ (r >> 1 & 3)) * 16); }

__device__ __forceinline__ void copy16(uint32_t to, const void *from, int present) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(present) : "memory");
}

__device__ __forceinline__ void multiplyAdd(int (&d)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                                            uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// spectra : [c][a][pitch], int8 (re, im), zero from 2T to the next multiple of 64 bytes.
// Grid: channels * TILES blocks.
extern "C" __global__ void __launch_bounds__(THREADS)
    correlateTensor(const int8_t *spectra, int64_t pitchBytes, int kSteps, int *sums) {
  extern __shared__ __align__(128) uint8_t shared[];
  const uint32_t base = (uint32_t)__cvta_generic_to_shared(shared);
  const int channel = blockIdx.x / TILES;
  int tileRow, tileCol;
  triangleTile(blockIdx.x - channel * TILES, tileRow, tileCol);
  const bool diagonal = tileRow == tileCol;
  const int8_t *rows = spectra + (int64_t)channel * INPUTS * pitchBytes;

  auto load = [&](int k) {
    const uint32_t stage = base + k % STAGES * STAGE_BYTES;
    for (int i = threadIdx.x; i < (diagonal ? 1 : 2) * TILE * 4; i += THREADS) {
      const int side = i / (TILE * 4), r = i / 4 % TILE, q = i % 4;
      const int input = (side ? tileCol : tileRow) * TILE + r;
      // Rows past the last input are read as zeros; their address must still be valid.
      const int8_t *from = rows + (int64_t)(input < INPUTS ? input : 0) * pitchBytes + (int64_t)k * CHUNK + q * 16;
      copy16(stage + side * SIDE_BYTES + swizzled(r, q), from, input < INPUTS ? 16 : 0);
    }
  };

  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int warpRow = warp / COLUMN_WARPS * 32, warpCol = warp % COLUMN_WARPS * 64;
  const bool idle = diagonal && warpCol > warpRow + 31;  // above the diagonal: only loads
  int acc[ROW_STEPS][COLUMN_STEPS][4] = {};

  for (int k = 0; k < STAGES - 1; ++k) {
    if (k < kSteps) load(k);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int k = 0; k < kSteps; ++k) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();  // stage k has arrived for all threads, and all are done with stage k - 1
    if (k + STAGES - 1 < kSteps) load(k + STAGES - 1);
    asm volatile("cp.async.commit_group;" ::: "memory");
    if (idle) continue;
    const uint32_t rowPanel = base + k % STAGES * STAGE_BYTES, colPanel = rowPanel + (diagonal ? 0 : SIDE_BYTES);
    uint32_t a[ROW_STEPS][4], at[ROW_STEPS][4];
#pragma unroll
    for (int i = 0; i < ROW_STEPS; ++i) {
      loadMatrices(a[i], rowPanel + swizzled(warpRow + i * 8 + (lane & 7), lane >> 3));
#pragma unroll
      for (int w = 0; w < 4; ++w) at[i][w] = timesMinusI(a[i][w]);
    }
#pragma unroll
    for (int j = 0; j < COLUMN_STEPS; ++j) {
      uint32_t b[4];
      loadMatrices(b, colPanel + swizzled(warpCol + j * 8 + (lane & 7), lane >> 3));
#pragma unroll
      for (int i = 0; i < ROW_STEPS; ++i) {
        multiplyAdd(acc[i][j], a[i][0], at[i][0], a[i][1], at[i][1], b[0], b[1]);
        multiplyAdd(acc[i][j], a[i][2], at[i][2], a[i][3], at[i][3], b[2], b[3]);
      }
    }
  }
  if (idle) return;
  int *channelSums = sums + channel * PRODUCTS * 2;
#pragma unroll
  for (int i = 0; i < ROW_STEPS; ++i) {
    const int row = tileRow * TILE + warpRow + i * 8 + (lane >> 2);
    storePairs<COLUMN_STEPS>(channelSums, row, tileCol * TILE + warpCol + (lane & 3) * 2, [&](int j) {
      const int(&v)[4] = acc[i][j];
      return Pair{v[0], v[2], v[1], v[3]};
    });
  }
}
