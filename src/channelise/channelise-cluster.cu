// The channeliser for 8-bit complex voltages and 4096 channels: as channelise-tensor.cu, by a cluster of RANKS blocks that
// each hold 4096 / RANKS channels and share one spectrum.
//
//   n = n2 + 128 n1    k = k1 + 32 (u + 4 step) + 1024 v    (n1, k1 = 0..31, n2 = 0..127)
//
// 1. Filter and 32 points over n1, for the block's 128 / RANKS values of n2.
// 2. The exchange [k1][n2][t] goes to the block that owns k1.
// 3. 128 points over n2 = u + 4 p: 32 over p in registers, then 4 over u across lanes, in place in the exchange.
// 4. Rounding; two warps stage one k1, [channel][16 t], and the copy engine carries it away.
// Measured: four blocks of 512 threads, one to a multiprocessor, are a little faster than eight of 256, two to one.
#include "tensor.cuh"

constexpr int ROWS = 32 / RANKS;  // values of k1 a block owns
constexpr int EXCHANGE_BYTES = ROWS * 128 * TILE * 8, ROW_BYTES = 128 * TILE * 8;
constexpr int LAST_STRIDE = 34;
constexpr int TURN_BYTES = ROWS * TURN_STRIDE * 8, LAST_BYTES = ROWS * 4 * LAST_STRIDE * 8;
constexpr int FACTOR_BYTES = ONE_FACTOR ? 0 : ROWS * 4 * FACTOR_STRIDE * 4;
static_assert(CHANNELS == 4096 && WARPS * RANKS == 64, "two values of n2 to a warp");

__device__ __forceinline__ uint32_t inBlock(uint32_t address, int rank) {
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
__device__ __forceinline__ void sendTo(uint32_t address, float re, float im) {
  asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(re), "f"(im) : "memory");
}
__device__ __forceinline__ void clusterArrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ __forceinline__ void clusterWait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
// The two warps of a row.
__device__ __forceinline__ void pairSync(int row) { asm volatile("bar.sync %0, 64;" ::"r"(1 + row) : "memory"); }

extern "C" __global__ void __launch_bounds__(THREADS, 512 / THREADS)
    channeliseCluster(const __grid_constant__ TensorMap map, const __grid_constant__ TensorWork work) {
  extern __shared__ __align__(128) unsigned char shared[];
  unsigned char *exchange = shared, *ring = exchange + EXCHANGE_BYTES;
  float2 *turns = (float2 *)(ring + RING_BYTES);
  float2 *lastTurns = (float2 *)((unsigned char *)turns + TURN_BYTES);
  float *factors = (float *)((unsigned char *)lastTurns + LAST_BYTES);
  unsigned char *afterTables = (unsigned char *)factors + FACTOR_BYTES;
  const uint32_t ringReady = ptx::sharedAddress(afterTables), mayFill = ringReady + 8, filtered = ringReady + 16;

  const int tid = threadIdx.x, lane = tid & 31, warp = __shfl_sync(0xFFFFFFFFu, tid >> 5, 0), g = lane >> 2, q = lane & 3;
  const int rank = blockIdx.x % RANKS;
  if (tid == 0) {
    ptx::barrierInit(ringReady, THREADS);
    ptx::barrierInit(mayFill, RANKS * ROWS);
    ptx::barrierInit(filtered, THREADS);
    ptx::barrierInitFence();
  }
  for (int i = tid; i < ROWS * 16; i += THREADS)
    turns[i / 16 * TURN_STRIDE + i % 16] = work.twiddles[rank * ROWS * 16 + i];
  for (int i = tid; i < ROWS * 128; i += THREADS)
    lastTurns[i / 32 * LAST_STRIDE + i % 32] = work.lastTwiddles[rank * ROWS * 128 + i];
  Filter filter(work, (uint4 *)(afterTables + 64), rank * WARPS + warp, warp, lane);

  const int loadQuad = tid / (THREADS / 4), loadPairs = tid % (THREADS / 4) * 4;
  const int loadOffset = (loadPairs / WARPS * 128 + 2 * WARPS * rank + 2 * (loadPairs % WARPS)) * 2;
  // Exchange: t ^ 4 ((n2 ^ n2 / 4) % 4), so that the four lanes of a spectrum meet different banks.
  const int n2 = 2 * (WARPS * rank + warp) + (g >> 2);
  const uint32_t sendOffset =
      ptx::sharedAddress(exchange) + n2 * 128 + (4 * q + (g & 3) ^ ((n2 ^ n2 >> 2) & 3) << 2) * 8;
  const int u = lane & 3, row = warp >> 1, t = (warp & 1) * 8 + (lane >> 2);
  unsigned char *load = exchange + row * ROW_BYTES + u * 128, *last = exchange + row * ROW_BYTES + u * 512;
  const int place = (t ^ u << 2) * 8;
  const float4 *turn = (const float4 *)(turns + row * TURN_STRIDE);
  const float4 *lastTurn = (const float4 *)(lastTurns + (row * 4 + u) * LAST_STRIDE);
  [[maybe_unused]] const float *factor = factors + (row * 4 + u) * FACTOR_STRIDE;
  // Rows of a matrix: u and the step's last bit; matrices: its other bits.
  const uint32_t stage = ptx::sharedAddress(exchange + row * ROW_BYTES);
  const uint32_t stageRow = stage + ((lane >> 3) * 8 + (lane & 1) * 4 + (lane >> 1 & 3)) * 32 + (warp & 1) * 16;

  const int lastRow = work.spectra + TAPS - 2;
  const int tiles = (work.spectra + TILE - 1) / TILE;
  const int64_t all = (int64_t)work.inputs * tiles;
  const int walkers = gridDim.x / RANKS, walker = blockIdx.x / RANKS;
  const int64_t end = all * (walker + 1) / walkers;
  uint32_t phase = 0;
  bool staged = false;
  __syncthreads();
  clusterArrive();
  clusterWait();
  for (int64_t at = all * walker / walkers; at < end;) {
    const int input = (int)(at / tiles), firstTile = (int)(at % tiles);
    const int count = (int)min((int64_t)(tiles - firstTile), end - at);
    at += count;
    const int8_t *source = work.voltages + input * work.pitchBytes + loadOffset;
    uint4 rows[4];
    auto fetch = [&](int tile) {
      const int first = (firstTile + tile) * TILE + 4 * loadQuad;
#pragma unroll
      for (int r = 0; r < 4; ++r)
        rows[r] = loadOnce((const uint4 *)(source + (int64_t)min(first + r, lastRow) * (2 * CHANNELS)));
    };
    __syncthreads();
#if !ONE_FACTOR
    for (int i = tid; i < ROWS * 128; i += THREADS) {  // i = [row][u][v][step]
      const int k = ROWS * rank + (i >> 7) + 32 * ((i >> 5 & 3) + 4 * (i & 7)) + 1024 * (i >> 3 & 3);
      factors[(i >> 5) * FACTOR_STRIDE + (i & 31)] =
          work.factors[((int64_t)input * CHANNELS + (k ^ CHANNELS / 2)) * work.factorStep];
    }
#endif
    fetch(0);
    putUnits(ring, rows, loadPairs, loadQuad);
    fetch(1);
    putUnits(ring, rows, loadPairs, 4 + loadQuad);
    fetch(2);
    __syncthreads();

    for (int tile = 0; tile < count; ++tile) {
      filter.begin();
      if (tile) ptx::barrierWait(ringReady, phase ^ 1);
      if (staged && (warp & 1) == 0) {  // the row's stage is on its way: every block may write there again
        if (ptx::elected()) ptx::storesRead();
        __syncwarp();
        if (lane < RANKS) ptx::barrierArriveAt(mayFill, lane);
      }
      float re[32], im[32];
      filter.run(ring, (tile & 1) << 6, re, im);
      warpArrive(filtered);
      transform32(re, im);
      if (staged) ptx::barrierWait(mayFill, phase ^ 1);
#pragma unroll
      for (int r = 0; r < RANKS; ++r) {
        const uint32_t to = inBlock(sendOffset, r);
#pragma unroll
        for (int i = 0; i < ROWS; ++i) sendTo(to + i * ROW_BYTES, re[r * ROWS + i], im[r * ROWS + i]);
      }
      clusterArrive();
      // The ring is free once every warp is past its filter: refilled while the other blocks' parts are on their way.
      ptx::barrierWait(filtered, phase);
      // Pinned here: the assembler would turn the rows over where they arrive, and wait for them in the filter.
#pragma unroll
      for (int r = 0; r < 4; ++r) asm volatile("" : "+r"(rows[r].x), "+r"(rows[r].y), "+r"(rows[r].z), "+r"(rows[r].w));
      putUnits(ring, rows, loadPairs, 4 * (tile & 1) + loadQuad);
      warpArrive(ringReady);
      clusterWait();
#pragma unroll
      for (int n = 0; n < 32; ++n) {
        const float2 value = *(const float2 *)(load + n * 512 + (place ^ (n & 3) << 5));
        re[reversed(n)] = value.x;
        im[reversed(n)] = value.y;
      }
      fetch(tile + 3);
      turnedTransform32(re, im, turn);
      // Four lanes hold n2 = u + 4 p: turned, handed round within the warp, and transformed over u.
#pragma unroll
      for (int k = 0; k < 32; k += 2) {
        const float4 w = lastTurn[k / 2];
        *(float2 *)(load + k * 512 + (place ^ (k & 3) << 5)) =
            make_float2(fmaf(re[k], w.x, -im[k] * w.y), fmaf(re[k], w.y, im[k] * w.x));
        *(float2 *)(load + (k + 1) * 512 + (place ^ (k + 1 & 3) << 5)) =
            make_float2(fmaf(re[k + 1], w.z, -im[k + 1] * w.w), fmaf(re[k + 1], w.w, im[k + 1] * w.z));
      }
      __syncwarp();
#pragma unroll
      for (int step = 0; step < 8; ++step) {
        float2 x[4];
#pragma unroll
        for (int v = 0; v < 4; ++v) x[v] = *(const float2 *)(last + (16 * step + v) * 128 + (place ^ v << 5));
        const float2 p = make_float2(x[0].x + x[2].x, x[0].y + x[2].y), m = make_float2(x[0].x - x[2].x, x[0].y - x[2].y);
        const float2 s = make_float2(x[1].x + x[3].x, x[1].y + x[3].y), d = make_float2(x[1].x - x[3].x, x[1].y - x[3].y);
        re[step] = p.x + s.x, im[step] = p.y + s.y;  // [v][step]
        re[8 + step] = m.x + d.y, im[8 + step] = m.y - d.x;
        re[16 + step] = p.x - s.x, im[16 + step] = p.y - s.y;
        re[24 + step] = m.x - d.y, im[24 + step] = m.y + d.x;
      }
      pairSync(row);  // both halves of the spectra are read: their place becomes the stage

      const int spectrum = (firstTile + tile) * TILE + t;
#if GAPS
      if (spectrum < work.spectra && work.missing[(int64_t)input * work.spectra + spectrum]) {
#pragma unroll
        for (int k = 0; k < 32; ++k) re[k] = im[k] = 0;
      }
#endif
      // Channels rise from the middle of the transform: v = 2 and 3 come first.
      roundAll(
          re, im, [&](int k) { return ONE_FACTOR ? work.factor : factor[k]; },
          [&](int v, const uint32_t (&words)[4]) { storeMatrices(stageRow + (v ^ 2) * 1024, words); },
          spectrum < work.spectra, work.saturated);
      ptx::showToCopies();
      pairSync(row);
      if ((warp & 1) == 0 && ptx::elected())
        ptx::storeBox(&map, stage, (firstTile + tile) * TILE, input, ROWS * rank + row, 0);
      staged = true;
      phase ^= 1;
    }
    ptx::barrierWait(ringReady, phase ^ 1);
  }
  ptx::storesDone();
  clusterArrive();  // nobody leaves while another may still write to it
  clusterWait();
}
