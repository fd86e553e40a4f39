// The X-engine without tensor cores: dp4a, four int8 products in one instruction (sm_61 and later).
//
// A block makes a tile of 64 x 64 inputs, each of its 256 threads 4 x 4. Shared memory holds 32 samples of x and x' of
// the rows and x of the columns, word by word: [word][input], so that a thread's four inputs are one 16-byte load.
#include "products.cuh"

constexpr int TILE = 64, WORDS = 16;  // words of two samples per step: 64 bytes of K
constexpr int PITCH = TILE + 4;       // keeps 16-byte alignment and spreads the transposing stores over the banks
constexpr int BLOCKS = (INPUTS + TILE - 1) / TILE;
constexpr int TILES = BLOCKS * (BLOCKS + 1) / 2;

// spectra : [c][a][pitch], int8 (re, im), zero from 2T to the next multiple of 64 bytes.
// Grid: channels * TILES blocks of 256 threads.
extern "C" __global__ void __launch_bounds__(256)
    correlateDp4a(const int8_t *spectra, int64_t pitchBytes, int kSteps, int *sums) {
  __shared__ __align__(16) uint32_t rowWords[WORDS][PITCH], turnedWords[WORDS][PITCH], colWords[WORDS][PITCH];
  const int channel = blockIdx.x / TILES;
  int tileRow, tileCol;
  triangleTile(blockIdx.x - channel * TILES, tileRow, tileCol);
  const int8_t *rows = spectra + (int64_t)channel * INPUTS * pitchBytes;

  // Each thread loads 16 bytes of one row and of one column.
  const int r = threadIdx.x / 4, q = threadIdx.x % 4;
  const int rowInput = tileRow * TILE + r, colInput = tileCol * TILE + r;
  const uint4 nothing = make_uint4(0, 0, 0, 0);
  auto fetch = [&](int input, int k) {
    return input < INPUTS ? *(const uint4 *)(rows + input * pitchBytes + (int64_t)k * WORDS * 4 + q * 16) : nothing;
  };
  uint4 x = fetch(rowInput, 0), y = fetch(colInput, 0);

  const int threadRow = threadIdx.x / 16 * 4, threadCol = threadIdx.x % 16 * 4;
  int re[4][4] = {}, im[4][4] = {};
  for (int k = 0; k < kSteps; ++k) {
    const uint32_t xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
    __syncthreads();  // all threads are done with the previous step
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      rowWords[q * 4 + w][r] = xs[w];
      turnedWords[q * 4 + w][r] = timesMinusI(xs[w]);
      colWords[q * 4 + w][r] = ys[w];
    }
    __syncthreads();
    if (k + 1 < kSteps) x = fetch(rowInput, k + 1), y = fetch(colInput, k + 1);
#pragma unroll
    for (int w = 0; w < WORDS; ++w) {
      const uint4 a = *(const uint4 *)&rowWords[w][threadRow], t = *(const uint4 *)&turnedWords[w][threadRow];
      const uint4 b = *(const uint4 *)&colWords[w][threadCol];
      const uint32_t as[4] = {a.x, a.y, a.z, a.w}, ts[4] = {t.x, t.y, t.z, t.w}, bs[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          re[i][j] = __dp4a((int)as[i], (int)bs[j], re[i][j]);
          im[i][j] = __dp4a((int)ts[i], (int)bs[j], im[i][j]);
        }
    }
  }
  int *channelSums = sums + channel * PRODUCTS * 2;
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; j += 2)
      storePairs<1>(channelSums, tileRow * TILE + threadRow + i, tileCol * TILE + threadCol + j, [&](int) {
        return Pair{re[i][j], im[i][j], re[i][j + 1], im[i][j + 1]};
      });
}
