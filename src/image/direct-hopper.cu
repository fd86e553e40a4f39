// From folded grids to the image on Hopper's tensor cores: both stages of the transform, products and their sums on chip.
//
// A block images 64 l x 128 m of one channel; its sums fill the registers of two warpgroups, one for each 64 m. Per step:
//   stage 1   U[64 l][2 BOX] = [cos | sin][64 l][BOX] x grid[BOX][2 BOX]    warpgroup p for slot p, sums in halves
//   stage 2   F[64 m][4 parts x 16 l] = [cos | sin][64 m][BOX] x U^T        four chunks of 16 l, sums in floats
// U passes through shared memory, two buffers. Parts (re, im of both slots) of one pixel land in one thread: the products
// need no exchange. A step's two grids arrive by one bulk copy, STAGES steps ahead; the barrier that hands U over also
// says that the grid two products ago is free. With one polarisation the two slots are two time steps, and XX + YY is
// the sum of both.
//
// Set by the plan: BOX (32, 48, 64), PIXELS, POLARISATIONS, STAGES, EARLY (1: the next step's stage 1 goes in early).
#include "hopper.cuh"
#include "wgmma-half.cuh"

constexpr int DEPTHS = BOX / 16;
constexpr int SLOT_BYTES = 4 * BOX * BOX, STEP_BYTES = 2 * SLOT_BYTES;
constexpr int U_BYTES = 64 * 4 * BOX * 2;   // [chunk of 16 l][part][2 x 8 l][depth block] core matrices
constexpr int BLOCK_ROW = BOX / 8 * 128;    // bytes of 8 columns, all depths
constexpr int L_TILES = (PIXELS + 63) / 64;
constexpr int PRODUCTS = POLARISATIONS == 1 ? 1 : 4;
// The stage 1 operand in registers where there is room for it.
constexpr bool ROWS_SHARED = BOX > 32;
constexpr int U_AT = 0, ROWS_AT = U_AT + 2 * U_BYTES, RING_AT = ROWS_AT + 128 * BOX, BARS_AT = RING_AT + STAGES * STEP_BYTES;

__device__ __forceinline__ uint64_t coreMatrices(uint32_t address) {
  return (uint64_t)((address & 0x3FFFF) >> 4) | (uint64_t)(128 >> 4) << 16 | (uint64_t)(BLOCK_ROW >> 4) << 32;
}
__device__ __forceinline__ uint32_t packHalves(float low, float high) {
  uint32_t packed;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}
__device__ __forceinline__ void copyStep(uint32_t to, const uint8_t *from, uint32_t barrier) {
  ptx::barrierExpect(barrier, STEP_BYTES);
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from),
               "r"(STEP_BYTES), "r"(barrier)
               : "memory");
}
__device__ __forceinline__ void storeMatrices(uint32_t address, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(a), "r"(b), "r"(c),
               "r"(d)
               : "memory");
}

// cos and sin of the transform e^(-2 pi i pixel u / PIXELS) at u = (depth mod BOX/2) + 1/2: cos first, then sin.
__device__ __forceinline__ float turn(int pixel, int depth) {
  const int twice = 2 * (depth % (BOX / 2)) + 1;
  float sine, cosine;
  sincospif((float)(pixel * twice % (2 * PIXELS)) / PIXELS, &sine, &cosine);
  return depth < BOX / 2 ? cosine : -sine;
}
// The A operand of 16 pixels a warp, as wgmma wants it in registers.
__device__ __forceinline__ void loadTurns(uint32_t (&a)[DEPTHS][4], int firstPixel, int lane) {
#pragma unroll
  for (int k = 0; k < DEPTHS; ++k)
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      const int pixel = firstPixel + (lane >> 2) + (x & 1) * 8, depth = k * 16 + (lane & 3) * 2 + (x >> 1) * 8;
      a[k][x] = packHalves(turn(pixel, depth), turn(pixel, depth + 1));
    }
}

// wgmma writes its sums behind the compiler's back: nothing that reads them may move above this point.
template <int R>
__device__ __forceinline__ void settled(float (&r)[R]) {
#pragma unroll
  for (int i = 0; i < R; ++i) asm volatile("" : "+f"(r[i])::"memory");
}
template <int R>
__device__ __forceinline__ void settled(uint32_t (&r)[R]) {
#pragma unroll
  for (int i = 0; i < R; ++i) asm volatile("" : "+r"(r[i])::"memory");
}

__device__ __forceinline__ void addProducts(float (&sum)[4], float xr, float xi, float yr, float yi) {
  sum[0] = fmaf(xr, xr, sum[0]), sum[1] = fmaf(yr, yr, sum[1]);
  sum[2] = fmaf(xr, yr, sum[2]), sum[3] = fmaf(xi, yr, sum[3]);
  sum[0] = fmaf(xi, xi, sum[0]), sum[1] = fmaf(yi, yi, sum[1]);
  sum[2] = fmaf(xi, yi, sum[2]), sum[3] = fmaf(-xr, yi, sum[3]);
}

// grids : [c in group][slot] (direct-grid.cu), slotsPerChannel of them, of which the first 2 * pairs are used. unscale : [c].
// sums : [c][product][m][l] float64, replaced or added to. Grid: (tiles, channels of the group), 256 threads.
extern "C" __global__ void __launch_bounds__(256, 1)
    imageHopper(const uint8_t *grids, int slotsPerChannel, int pairs, int firstChannel, int add, const double *unscale,
                double *sums) {
  extern __shared__ __align__(1024) uint8_t shared[];
  const uint32_t base = ptx::sharedAddress(shared);
  // Through a shuffle, so that the compiler knows the warp's number to be the same in all its lanes, as wgmma demands.
  const int lane = threadIdx.x % 32, warp = __shfl_sync(0xFFFFFFFFu, threadIdx.x / 32, 0), group = warp / 4;
  const int firstL = blockIdx.x % L_TILES * 64, firstM = blockIdx.x / L_TILES * 128 + group * 64;
  const uint8_t *steps = grids + (int64_t)blockIdx.y * slotsPerChannel * SLOT_BYTES;
  const uint32_t bars = base + BARS_AT;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) ptx::barrierInit(bars + 8 * s, 1);
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
    for (int s = 0; s < STAGES && s < pairs; ++s)
      copyStep(base + RING_AT + s * STEP_BYTES, steps + (int64_t)s * STEP_BYTES, bars + 8 * s);
  }
  if (ROWS_SHARED) {
    for (int i = threadIdx.x; i < 64 * BOX / 2; i += 256) {  // [l block][depth block][8 l][8 depths], two halves at a time
      const int pair = i % 4, l = i / 4 % 8, depthBlock = i / 32 % (BOX / 8), block = i / 32 / (BOX / 8);
      const int pixel = firstL + block * 8 + l, depth = depthBlock * 8 + pair * 2;
      ((uint32_t *)(shared + ROWS_AT))[i] = packHalves(turn(pixel, depth), turn(pixel, depth + 1));
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  uint32_t rows[DEPTHS][4], turns[DEPTHS][4];
  if (!ROWS_SHARED) loadTurns(rows, firstL + warp % 4 * 16, lane);
  loadTurns(turns, firstM + warp % 4 * 16, lane);
  float sum[8][4][4];
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int k = 0; k < 4; ++k) sum[i][j][k] = 0;
  __syncthreads();

  const uint32_t uLane = base + U_AT + (warp % 4 * 8 + (lane >> 3 & 1)) * BLOCK_ROW + (lane >> 4) * 128 + (lane & 7) * 16 +
                         group * 4 * BLOCK_ROW;
  auto stage1 = [&](uint32_t (&u)[BOX / 2], int t) {
    const int s = t % STAGES;
    ptx::barrierWait(bars + 8 * s, t / STAGES & 1);
    const uint64_t columns = coreMatrices(base + RING_AT + s * STEP_BYTES + group * SLOT_BYTES);
    ptx::wgmmaFence();
#pragma unroll
    for (int k = 0; k < DEPTHS; ++k) {
      if constexpr (ROWS_SHARED)
        WgmmaHalf<2 * BOX>::multiply(u, coreMatrices(base + ROWS_AT) + k * 16, columns + k * 16, k != 0);
      else
        WgmmaHalf<2 * BOX>::multiply(u, rows[k], columns + k * 16, k != 0);
    }
    ptx::wgmmaCommit();
  };
  auto storeU = [&](uint32_t (&u)[BOX / 2], int t) {
    settled(u);
#pragma unroll
    for (int i = 0; i < BOX / 8; ++i) {  // two column blocks, four matrices, at a time
      const int part = 2 * i / (BOX / 8), depthBlock = 2 * i % (BOX / 8);
      storeMatrices(uLane + (t & 1) * U_BYTES + part * 2 * BLOCK_ROW + depthBlock * 128, u[4 * i], u[4 * i + 1], u[4 * i + 2],
                    u[4 * i + 3]);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  };
  auto stage2 = [&](float (&f)[32], int t, int chunk) {
    const uint64_t columns = coreMatrices(base + U_AT + (t & 1) * U_BYTES + chunk * 8 * BLOCK_ROW);
    ptx::wgmmaFence();
#pragma unroll
    for (int k = 0; k < DEPTHS; ++k) WgmmaFloat<64>::multiply(f, turns[k], columns + k * 16, k != 0);
    ptx::wgmmaCommit();
  };
  auto accumulate = [&](float (&f)[32], int chunk) {
    settled(f);
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        addProducts(sum[chunk * 2 + h][i], f[h * 4 + i], f[8 + h * 4 + i], f[16 + h * 4 + i], f[24 + h * 4 + i]);
  };

  {
    uint32_t u[BOX / 2];
    stage1(u, 0);
    ptx::wgmmaWait<0>();
    storeU(u, 0);
  }
#pragma unroll 1
  for (int t = 0; t < pairs; ++t) {
    // U of this step is whole; both warpgroups are done with the U before it and with this step's grids.
    ptx::namedSync<1, 256>();
    if (threadIdx.x == 0 && t + STAGES < pairs)
      copyStep(base + RING_AT + t % STAGES * STEP_BYTES, steps + (int64_t)(t + STAGES) * STEP_BYTES, bars + 8 * (t % STAGES));
    float f0[32], f1[32];
    uint32_t u[BOX / 2];
    stage2(f0, t, 0);
#if EARLY
    // The next step's stage 1 goes in early, so that storing U hides behind this step's products.
    stage1(u, t + 1 < pairs ? t + 1 : t);
    ptx::wgmmaWait<1>();
    stage2(f1, t, 1);
    accumulate(f0, 0);
    ptx::wgmmaWait<1>();
    storeU(u, t + 1);
    stage2(f0, t, 2);
    ptx::wgmmaWait<1>();
    accumulate(f1, 1);
    stage2(f1, t, 3);
    ptx::wgmmaWait<1>();
    accumulate(f0, 2);
    ptx::wgmmaWait<0>();
    accumulate(f1, 3);
#else
    stage2(f1, t, 1);
    ptx::wgmmaWait<1>();
    accumulate(f0, 0);
    stage2(f0, t, 2);
    ptx::wgmmaWait<1>();
    accumulate(f1, 1);
    stage2(f1, t, 3);
    ptx::wgmmaWait<1>();
    accumulate(f0, 2);
    stage1(u, t + 1 < pairs ? t + 1 : t);
    ptx::wgmmaWait<1>();
    accumulate(f1, 3);
    ptx::wgmmaWait<0>();
    storeU(u, t + 1);
#endif
  }

  const double by = unscale[firstChannel + blockIdx.y];
  constexpr int64_t PLANE = (int64_t)PIXELS * PIXELS;
  double *image = sums + (firstChannel + blockIdx.y) * PRODUCTS * PLANE;
#pragma unroll
  for (int product = 0; product < PRODUCTS; ++product)
#pragma unroll
    for (int block = 0; block < 8; ++block)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int l = firstL + block * 8 + (lane & 3) * 2 + (i & 1), m = firstM + warp % 4 * 16 + (lane >> 2) + (i >> 1) * 8;
        if (l >= PIXELS || m >= PIXELS) continue;
        const float value = POLARISATIONS == 1 ? sum[block][i][0] + sum[block][i][1] : sum[block][i][product];
        double *to = image + product * PLANE + (int64_t)m * PIXELS + l;
        *to = (add ? *to : 0.0) + value * by;
      }
}
