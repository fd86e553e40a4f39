// Common to both imaging kernels (direct-hopper.cu, direct-hopper-split.cu): operands in wgmma's layout, products,
// sums. Before this: BOX, PIXELS, POLARISATIONS, GROUPS (warpgroups of a block, one for each 64 m), REFINED (1: samples
// are imaged, from which direct-refine.cu makes the pixels).
#pragma once
#include "hopper.cuh"

constexpr int DEPTHS = BOX / 16;
constexpr int SLOT_BYTES = 4 * BOX * BOX;
constexpr int U_BYTES = 64 * 4 * BOX * 2;  // [chunk of 16 l][part][2 x 8 l][depth block] core matrices
constexpr int BLOCK_ROW = BOX / 8 * 128;   // bytes of 8 columns, all depths
constexpr int ROWS_BYTES = 64 * BOX * 2;   // factors of 64 pixels
constexpr int L_TILES = (PIXELS + 63) / 64;
constexpr int PRODUCTS = POLARISATIONS == 1 ? 1 : 4;

__device__ __forceinline__ uint64_t coreMatrices(uint32_t address) {
  return (uint64_t)((address & 0x3FFFF) >> 4) | (uint64_t)(128 >> 4) << 16 | (uint64_t)(BLOCK_ROW >> 4) << 32;
}
__device__ __forceinline__ void storeMatrices(uint32_t address, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(a), "r"(b),
               "r"(c), "r"(d)
               : "memory");
}

// The A operand of 16 pixels a warp, in wgmma's register layout. turns : [pixel][BOX] halves (half-rounding.ts).
__device__ __forceinline__ uint32_t turnPair(const uint32_t *turns, int pixel, int depth) {
  return pixel < PIXELS ? __ldg(turns + (pixel * BOX + depth) / 2) : 0;
}
__device__ __forceinline__ void loadTurns(uint32_t (&a)[DEPTHS][4], const uint32_t *turns, int firstPixel, int lane) {
#pragma unroll
  for (int k = 0; k < DEPTHS; ++k)
#pragma unroll
    for (int x = 0; x < 4; ++x)
      a[k][x] = turnPair(turns, firstPixel + (lane >> 2) + (x & 1) * 8, k * 16 + (lane & 3) * 2 + (x >> 1) * 8);
}

// The same of 64 pixels into shared memory : [l block][depth block][8 l][8 depths], two halves at a time.
__device__ __forceinline__ void shareTurns(uint8_t *to, const uint32_t *turns, int firstPixel) {
  for (int i = threadIdx.x; i < 64 * BOX / 2; i += 128 * GROUPS) {
    const int pair = i % 4, l = i / 4 % 8, depthBlock = i / 32 % (BOX / 8), block = i / 32 / (BOX / 8);
    ((uint32_t *)to)[i] = turnPair(turns, firstPixel + block * 8 + l, depthBlock * 8 + pair * 2);
  }
}

// wgmma writes its sums without the compiler's knowledge: nothing that reads them may move above this point.
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

// The products of one chunk of 16 l, whose parts (re, im of both slots) are 8 registers apart.
__device__ __forceinline__ void addChunk(float (&sum)[8][4][4], float (&f)[32], int chunk) {
  settled(f);
#pragma unroll
  for (int h = 0; h < 2; ++h)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      addProducts(sum[chunk * 2 + h][i], f[h * 4 + i], f[8 + h * 4 + i], f[16 + h * 4 + i], f[24 + h * 4 + i]);
}

// sums : [c][product][m][l] float64, replaced or added to; 64 l x 16 m of a warp. Four pairs of pixels are read before the
// first is written: one after the other, each would wait for memory.
__device__ __forceinline__ void storeSums(const float (&sum)[8][4][4], double *sums, int channel, int firstL,
                                          int firstM, int lane, int add, const double *unscale,
                                          const double *unscaleTurns) {
  constexpr int64_t PLANE = (int64_t)PIXELS * PIXELS;
  constexpr int BATCH = 4;
  // Or addresses and scales would be computed before there are registers for them.
  asm volatile("" : "+r"(lane));
#pragma unroll
  for (int n = 0; n < 2 * PRODUCTS * 8 / BATCH; ++n) {
    const int firstBlock = n % (8 / BATCH) * BATCH, product = n / (8 / BATCH) % PRODUCTS,
              row = n / (8 / BATCH) / PRODUCTS;
    const int l = firstL + firstBlock * 8 + (lane & 3) * 2, m = firstM + (lane >> 2) + row * 8;
    if (m >= PIXELS) break;
    const double by = unscale[channel] * __ldg(unscaleTurns + m);
    double2 *to = (double2 *)(sums + ((int64_t)channel * PRODUCTS + product) * PLANE + (int64_t)m * PIXELS + l);
    double2 before[BATCH];
#pragma unroll
    for (int i = 0; i < BATCH; ++i) before[i] = add && l + i * 8 < PIXELS ? to[i * 4] : make_double2(0, 0);
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
      if (l + i * 8 >= PIXELS) break;
      const double2 turn = __ldg((const double2 *)(unscaleTurns + l + i * 8));
      const float(&even)[4] = sum[firstBlock + i][2 * row], (&odd)[4] = sum[firstBlock + i][2 * row + 1];
      const float first = POLARISATIONS == 1 ? even[0] + even[1] : even[product];
      const float second = POLARISATIONS == 1 ? odd[0] + odd[1] : odd[product];
      to[i * 4] = make_double2(before[i].x + first * (by * turn.x), before[i].y + second * (by * turn.y));
    }
    // Or the compiler would read everything at once, and run out of registers.
    asm volatile("" ::: "memory");
  }
}

// samples : [c in group][product][m][l], from which direct-refine.cu makes pixels, in the scale of the factors.
__device__ __forceinline__ void storeSamples(const float (&sum)[8][4][4], float *samples, int channel, int firstL,
                                             int firstM, int lane, const double *unscaleTurns) {
  constexpr int PLANE = PIXELS * PIXELS;
  asm volatile("" : "+r"(lane));
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    const int m = firstM + (lane >> 2) + row * 8;
    if (m >= PIXELS) break;
    const float by = (float)__ldg(unscaleTurns + m);
#pragma unroll
    for (int block = 0; block < 8; ++block) {
      const int l = firstL + block * 8 + (lane & 3) * 2;
      if (l >= PIXELS) break;
      const double2 turn = __ldg((const double2 *)(unscaleTurns + l));
      const float x = by * (float)turn.x, y = by * (float)turn.y;
      const float(&even)[4] = sum[block][2 * row], (&odd)[4] = sum[block][2 * row + 1];
      float *to = samples + (int64_t)channel * PRODUCTS * PLANE + m * PIXELS + l;
#pragma unroll
      for (int product = 0; product < PRODUCTS; ++product)
        *(float2 *)(to + product * PLANE) = make_float2(x * (POLARISATIONS == 1 ? even[0] + even[1] : even[product]),
                                                        y * (POLARISATIONS == 1 ? odd[0] + odd[1] : odd[product]));
    }
  }
}

// sums : [c][product][m][l] float64, or where REFINED samples of the group, always replaced.
__device__ __forceinline__ void storeImage(const float (&sum)[8][4][4], void *sums, int firstChannel, int firstL,
                                           int firstM, int lane, int add, const double *unscale,
                                           const double *unscaleTurns) {
  if constexpr (REFINED)
    storeSamples(sum, (float *)sums, blockIdx.y, firstL, firstM, lane, unscaleTurns);
  else
    storeSums(sum, (double *)sums, firstChannel + blockIdx.y, firstL, firstM, lane, add, unscale, unscaleTurns);
}
