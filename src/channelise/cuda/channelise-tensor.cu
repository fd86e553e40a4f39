// The channeliser for 8-bit complex voltages and 1024 channels, with the filter on the tensor cores: one read, one write,
// for cards whose blocks have 227 KB of shared memory and copy engines (Hopper).
//
//   n = n2 + 32 n1    k = k1 + 32 k2    (n1, n2, k1, k2 = 0..31)
//
// A persistent block of 512 threads processes one input along time, 16 spectra at a time:
// 1. Rows of input become operands in a ring (tensor.cuh), the filter's sums are in registers.
// 2. 32 points over n1 in registers, an exchange through shared memory [k1][n2][t], 32 points over n2.
// 3. Gain, rounding and saturation. A warp stages its two k1, [k2][k1][16 t], where it just read from, and the copy engine
//    carries them to their 64 channels: no registers held back by stores, no addresses, nothing past the last spectrum.
#include "tensor.cuh"

static_assert(CHANNELS == 1024 && WARPS == 16, "32 x 32 points");
constexpr int EXCHANGE_BYTES = 32 * 32 * TILE * 8;
constexpr int TURN_BYTES = 32 * TURN_STRIDE * 8, FACTOR_BYTES = ONE_FACTOR ? 0 : 32 * FACTOR_STRIDE * 4;

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    channeliseTensor(const __grid_constant__ TensorMap map, const __grid_constant__ TensorWork work) {
  extern __shared__ __align__(128) unsigned char shared[];
  unsigned char *exchange = shared, *ring = exchange + EXCHANGE_BYTES;
  float2 *turns = (float2 *)(ring + RING_BYTES);
  float *factors = (float *)((unsigned char *)turns + TURN_BYTES);
  unsigned char *afterTables = (unsigned char *)factors + FACTOR_BYTES;
  const uint32_t ringReady = ptx::sharedAddress(afterTables), stageFree = ringReady + 8, filtered = ringReady + 16,
                 exchanged = ringReady + 24;
  float *oneFactor = (float *)(afterTables + 32);

  const int tid = threadIdx.x, lane = tid & 31, warp = __shfl_sync(0xFFFFFFFFu, tid >> 5, 0), g = lane >> 2,
            q = lane & 3;
  if (tid == 0) {
    ptx::barrierInit(ringReady, THREADS);
    ptx::barrierInit(stageFree, THREADS);
    ptx::barrierInit(filtered, THREADS);
    ptx::barrierInit(exchanged, THREADS);
    *oneFactor = work.factor;
  }
  for (int i = tid; i < 32 * 16; i += THREADS) turns[i / 16 * TURN_STRIDE + i % 16] = work.twiddles[i];
  uint4 *keptTaps = (uint4 *)(afterTables + 64);
  Filter filter(work, keptTaps, warp, warp, lane);

  const int loadQuad = warp >> 2, loadPairs = (tid & 127) * 4;
  // For odd k1 fours of t are swapped, so that the reading lanes use different banks.
  const uint32_t store = ptx::sharedAddress(exchange + (2 * warp + (g >> 2)) * 128 + (4 * q + (g & 3)) * 8);
  const uint32_t storeOdd = ptx::sharedAddress(exchange + (2 * warp + (g >> 2)) * 128 + (4 * q + (g & 3) ^ 4) * 8);
  // A lane's spectrum and k1 match the transposing store of matrices.
  const int t = (lane >> 2) + 8 * (lane & 1), k1 = 2 * warp + (lane >> 1 & 1);
  const uint32_t load = ptx::sharedAddress(exchange + k1 * 4096 + (t ^ (k1 & 1) << 2) * 8);
  const uint32_t stage = ptx::sharedAddress(exchange + warp * 8192);
  const uint32_t stageRow = stage + (2 * (lane >> 3) + (lane & 1)) * 64 + (lane >> 2 & 1) * 32 + (lane >> 1 & 1) * 16;
  const float4 *turn = (const float4 *)(turns + k1 * TURN_STRIDE);
  [[maybe_unused]] const float *factor = factors + k1 * FACTOR_STRIDE;

  // Of the extra row for delays only the first samples are needed.
  const int lastRow = work.spectra + TAPS - 2 - (DELAYED && loadPairs > 0);
  const int tiles = (work.spectra + TILE - 1) / TILE;
  const int64_t all = (int64_t)work.inputs * tiles;
  const int64_t end = all * (blockIdx.x + 1) / gridDim.x;
  uint32_t phase = 0;
  __syncthreads();
  for (int64_t at = all * blockIdx.x / gridDim.x; at < end;) {
    const int input = (int)(at / tiles), firstTile = (int)(at % tiles);
    const int count = (int)min((int64_t)(tiles - firstTile), end - at);
    at += count;
    const int8_t *source = work.voltages + input * work.pitchBytes + loadPairs * 4;
#if DELAYED
    const int opening = openingOf(work.delays, input), rotation = rotationOf(opening);
    source += opening - rotation * SAMPLE_SIZE;
#endif
    uint4 rows[4];
    auto fetch = [&](int tile) {
      const int first = (firstTile + tile) * TILE + 4 * loadQuad;
#pragma unroll
      for (int r = 0; r < 4; ++r)
        rows[r] = loadOnce((const uint4 *)(source + (int64_t)min(first + r, lastRow) * (2 * CHANNELS)));
    };
    __syncthreads();
#if DELAYED
    filter.take(work, keptTaps, rotation, warp, warp, lane);
#endif
#if !ONE_FACTOR
    for (int i = tid; i < CHANNELS; i += THREADS)
      factors[(i & 31) * FACTOR_STRIDE + (i >> 5)] =
          work.factors[((int64_t)input * CHANNELS + (i ^ CHANNELS / 2)) * work.factorStep];
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
      ptx::storesRead();
      ptx::warpArrive(stageFree);
      float re[32], im[32];
      filter.run(ptx::sharedAddress(ring), (tile & 1) << 6, re, im);
      ptx::warpArrive(filtered);
      transform(re, im);
      ptx::barrierWait(stageFree, phase);
#pragma unroll
      for (int k = 0; k < 32; ++k) store8((k & 1 ? storeOdd : store) + k * 4096, re[k], im[k]);
      // The ring is free once every warp is past its filter; it is refilled while the last ones fill the exchange.
      ptx::warpArrive(exchanged);
      ptx::barrierWait(filtered, phase);
      // Pinned here: the assembler would transpose the rows on arrival, and wait for them in the filter.
#pragma unroll
      for (int r = 0; r < 4; ++r) asm volatile("" : "+r"(rows[r].x), "+r"(rows[r].y), "+r"(rows[r].z), "+r"(rows[r].w));
      putUnits(ring, rows, loadPairs, 4 * (tile & 1) + loadQuad);
      ptx::barrierWait(exchanged, phase);
#pragma unroll
      for (int n = 0; n < 32; ++n) load8(re[reversed<32>(n)], im[reversed<32>(n)], load + n * 128);
      ptx::warpArrive(ringReady);  // also: the stage overwrites what the warp has read
      fetch(tile + 3);
      turnedTransform(re, im, turn);

      const int spectrum = (firstTile + tile) * TILE + t;
#if GAPS
      if (spectrum < work.spectra && work.missing[(int64_t)input * work.spectra + spectrum]) {
#pragma unroll
        for (int k = 0; k < 32; ++k) re[k] = im[k] = 0;
      }
#endif
#if DELAYED
      delayParts(turnOf<32>(work.delays, input, spectrum), k1, re, im);
#endif
      // Channels are ordered from the middle of the transform: the upper half comes first.
      roundAll(
          re, im,
          [&] {
            const float one = ONE_FACTOR ? loadAgain(oneFactor) : 0;
            return [=](int k) { return ONE_FACTOR ? one : factor[k]; };
          },
          [&](int quarter, const uint32_t(&words)[4]) { storeMatrices(stageRow + (8 * quarter ^ 16) * 64, words); },
          spectrum < work.spectra, work.saturated);
      ptx::showToCopies();
      __syncwarp();
      if (ptx::elected()) ptx::storeBox(&map, stage, (firstTile + tile) * TILE, input, 2 * warp, 0);
#if POWERS
      uint4 eights[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) eights[i] = load16(stage + i * 512 + lane * 16);
      const int left = work.spectra - (firstTile + tile) * TILE;
      if (left < TILE)
#pragma unroll
        for (int i = 0; i < 4; ++i) eights[i] = firstSamples(eights[i], left - 8 * (lane & 1));
      PowerCell halves[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) halves[i] = powersOf(eights[i]);
      addPowers(halves, lane,
                work.powers.sums + ((int64_t)cellOf(work.powers, firstTile + tile) * work.inputs + input) * CHANNELS +
                    warp * 64,
                [](int row) { return (row & 1) * 32 + (row >> 1); });
#endif
      phase ^= 1;
    }
    ptx::barrierWait(ringReady, phase ^ 1);
  }
  ptx::storesDone();
}
