// The channeliser for 8-bit complex voltages and 1024 or 4096 channels, with the filter on the tensor cores: one read, one
// write, for cards whose blocks have 227 KB of shared memory.
//
//   n = n2 + 32 RANKS n1    k = k1 + 32 k2    (n1, k1 = 0..31)
//
// A block of 512 threads stays on its multiprocessor and walks along time with one input, 16 spectra at a time:
// 1. Rows of input become operands in a ring: 16-byte units {re t,t+1 | re t+2,t+3 | im .. | im ..} of two channels.
// 2. Filter, exact: taps = 256 high + low, int8 each. A sparse product of 16 x 8 x 32: rows {high, low} x 2 channels x 4
//    spectra (shifts of the taps), columns 4 groups of 4 spectra x {re, im}, k = 16 times x 2 channels. Which channel a row
//    means is said by the pattern of its zeros, so the zeros cost nothing. One product for each pair of channels; a lane
//    gets one spectrum, one n2, all n1: what it transforms next.
// 3. 32 points over n1 in registers, an exchange through shared memory [k1][n2][t], 32 points over n2.
// 4. Gain, rounding and saturation in four steps: clamping to 0..1 is free, the second step rounds.
// With 4096 channels (RANKS = 4) four blocks of a cluster hold 32 of 128 values of n2 each. The exchange goes to the block
// that owns k1, and the second transform, of 128 points, is 32 in registers and then 4 across lanes.
//
// Set by the plan besides shape.cuh: RANKS, WINDOWS (1 up to 13 taps, 2 up to 17: times 0-15 and 16-19), ENTRIES and
// ENTRIES_2 (fragments of taps that are not all zero, and one that is), KEPT (of 16 groups of fragments, those in shared
// memory; the others come from L2 for every tile), BATCH (groups of fragments in flight).
#include "butterflies.cuh"
#include "shape.cuh"

constexpr int THREADS = 512, TILE = 16;
constexpr int EXCHANGE_BYTES = 32 * 32 * TILE * 8, RING_BYTES = 512 * 8 * 16;
constexpr int ROWS = RANKS == 1 ? 32 : 8;             // values of k1 a block owns
constexpr int TURN_STRIDE = 18, FACTOR_STRIDE = 36, LAST_STRIDE = 34;
constexpr int TURN_BYTES = ROWS * TURN_STRIDE * 8, FACTOR_BYTES = 32 * FACTOR_STRIDE * 4;
constexpr int LAST_BYTES = RANKS == 1 ? 0 : 32 * LAST_STRIDE * 8;
static_assert(RANKS == 1 || RANKS == 4, "1024 or 4096 channels");
static_assert(CHANNELS == 1024 * RANKS, "1024 channels to a block");

struct TensorWork {
  const int8_t *voltages;         // [a][pitch]
  int64_t pitchBytes;
  const uint4 *taps;              // [rank][warp][16][ENTRIES]: {high, low} of n1 = group and of n1 = group + 16, times 0-15
  const uint4 *moreTaps;          // [rank][warp][16][ENTRIES_2], times 16-31
  const uint8_t *entries;         // [2][32], the fragment each lane reads
  const float2 *twiddles;         // [k1 32][16], butterflies.cuh with omega = e^(-2 pi i k1 / 1024)
  const float2 *lastTwiddles;     // [k1 32][u 4][q 32], e^(-2 pi i u (k1 + 32 q) / 4096), RANKS = 4
  const float *factors;           // [a][c], or one for all
  const float *limits;            // [a], or one for all: below this magnitude nothing saturates
  const uint8_t *missing;         // [a][t], 1 where a spectrum is missing; or null
  int8_t *out;                    // [c][a][pitch]
  int64_t outPitchBytes;
  unsigned long long *saturated;
  int factorStep, inputs, spectra;
};

#if __CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 5)
#define SPARSE "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
#else
#define SPARSE "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
#endif
__device__ __forceinline__ void product(int (&d)[4], uint32_t a0, uint32_t a1, uint2 b, uint32_t pattern) {
  asm(SPARSE "{%0,%1,%2,%3},{%4,%5},{%6,%7},{%8,%8,%8,%8},%9,0x0;"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a0), "r"(a1), "r"(b.x), "r"(b.y), "r"(0), "r"(pattern));
}
__device__ __forceinline__ void addProduct(int (&d)[4], uint32_t a0, uint32_t a1, uint2 b, uint32_t pattern) {
  asm(SPARSE "{%0,%1,%2,%3},{%4,%5},{%6,%7},{%0,%1,%2,%3},%8,0x0;"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a0), "r"(a1), "r"(b.x), "r"(b.y), "r"(pattern));
}
__device__ __forceinline__ uint4 loadOnce(const uint4 *p) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3},[%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p));
  return v;
}
__device__ __forceinline__ uint4 loadTaps(const uint4 *p) {  // volatile: or all are hoisted to the top of the tile
  uint4 v;
  asm volatile("ld.global.nc.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}
__device__ __forceinline__ void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void await(uint32_t barrier, uint32_t phase) {
  asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p,[%0],%1;\n@!p bra W;\n}" ::"r"(barrier),
               "r"(phase)
               : "memory");
}
__device__ __forceinline__ void clusterArrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ __forceinline__ void clusterWait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

// Four times of four channel pairs, turned into units; places keep both the writing and the reading free of conflicts.
__device__ __forceinline__ void putUnits(unsigned char *ring, const uint4 (&rows)[4], int firstPair, int slot) {
  const uint32_t words[4][4] = {{rows[0].x, rows[0].y, rows[0].z, rows[0].w},
                                {rows[1].x, rows[1].y, rows[1].z, rows[1].w},
                                {rows[2].x, rows[2].y, rows[2].z, rows[2].w},
                                {rows[3].x, rows[3].y, rows[3].z, rows[3].w}};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    uint4 unit;
    unit.x = __byte_perm(words[0][i], words[1][i], 0x6240);
    unit.y = __byte_perm(words[2][i], words[3][i], 0x6240);
    unit.z = __byte_perm(words[0][i], words[1][i], 0x7351);
    unit.w = __byte_perm(words[2][i], words[3][i], 0x7351);
    const int pair = firstPair + i;
    *(uint4 *)(ring + pair * 128 + ((slot ^ (pair >> 2 & 7)) << 4)) = unit;
  }
}

// Within a row of 16 spectra (4096 channels): halves change places so that four lanes' rows meet different banks.
__device__ __forceinline__ int swapped(int n2) { return ((n2 ^ n2 >> 2) & 1) << 6; }

extern "C" __global__ void __launch_bounds__(THREADS, 1) channeliseTensor(const __grid_constant__ TensorWork work) {
  extern __shared__ __align__(128) unsigned char shared[];
  unsigned char *exchange = shared, *ring = exchange + EXCHANGE_BYTES;
  float2 *turns = (float2 *)(ring + RING_BYTES);
  float *factors = (float *)((unsigned char *)turns + TURN_BYTES);
  float2 *lastTurns = (float2 *)((unsigned char *)factors + FACTOR_BYTES);
  unsigned char *afterTables = (unsigned char *)lastTurns + LAST_BYTES;
  const uint32_t ringReady = (uint32_t)__cvta_generic_to_shared(afterTables);
  uint4 *kept = (uint4 *)(afterTables + 64);

  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, g = lane >> 2, q = lane & 3;
  const int rank = blockIdx.x % RANKS;
  if (tid == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 16;" ::"r"(ringReady));
  for (int i = tid; i < ROWS * 16; i += THREADS)
    turns[i / 16 * TURN_STRIDE + i % 16] = work.twiddles[(rank * ROWS * (RANKS > 1) + i / 16) * 16 + i % 16];
#if RANKS > 1
  for (int i = tid; i < 32 * 32; i += THREADS)
    lastTurns[i / 32 * LAST_STRIDE + i % 32] = work.lastTwiddles[rank * 1024 + i];
#endif
  const uint4 *table = work.taps + (rank * 16 + warp) * 16 * ENTRIES;
  for (int i = lane; i < KEPT * ENTRIES; i += 32) kept[warp * KEPT * ENTRIES + i] = table[(16 - KEPT) * ENTRIES + i];
  table += work.entries[lane];
  const uint4 *keptTable = kept + warp * KEPT * ENTRIES + work.entries[lane];
  const uint4 *secondTable =
      WINDOWS == 2 ? work.moreTaps + (rank * 16 + warp) * 16 * ENTRIES_2 + work.entries[32 + lane] : nullptr;
  const uint32_t pattern = g < 4 ? 0x44444444u : 0xEEEEEEEEu;

  // Operands of the filter: group g >> 1 of four spectra, component g & 1, unit (group + q) of the ring.
  const int operand = warp * 128 + ((((g >> 1) + q) ^ (warp >> 2)) << 4) + (g & 1) * 8;
  const int loadQuad = warp >> 2, loadPairs = (tid & 127) * 4;
  const int loadOffset = ((loadPairs >> 4) * 32 * RANKS + 32 * rank + 2 * (loadPairs & 15)) * 2;
#if RANKS == 1
  unsigned char *store = exchange + (2 * warp + (g >> 2)) * 128 + (4 * q + (g & 3)) * 8;
  const int t = lane & 15, row = 2 * warp + (lane >> 4), k1 = row;
  const unsigned char *load = exchange + row * 4096 + t * 8;
  const int factorRow = row;
#else
  const int n2 = 32 * rank + 2 * warp + (g >> 2);
  const uint32_t storeOffset = n2 * 128 + (((4 * q + (g & 3)) * 8) ^ swapped(n2));
  uint32_t stores[RANKS];
#pragma unroll
  for (int r = 0; r < RANKS; ++r)
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(stores[r])
        : "r"((uint32_t)__cvta_generic_to_shared(exchange) + storeOffset), "r"(r));
  const int u = lane >> 3, row = warp >> 1, t = (warp & 1) * 8 + (lane & 7), k1 = 8 * rank + row;
  unsigned char *load = exchange + row * 16384 + u * 128 + ((t * 8) ^ (u & 1) << 6);
  unsigned char *loadOdd = exchange + row * 16384 + u * 128 + ((t * 8) ^ (~u & 1) << 6);
  const unsigned char *last = exchange + row * 16384 + u * 512 + ((t * 8) ^ (u & 1) << 6);
  const unsigned char *lastOdd = exchange + row * 16384 + u * 512 + ((t * 8) ^ (~u & 1) << 6);
  const float4 *lastTurn = (const float4 *)(lastTurns + (row * 4 + u) * LAST_STRIDE);
  const int factorRow = row * 4 + u;
  bool busy = false;  // a cluster barrier says when the exchange may be written again
#endif
  const float4 *turn = (const float4 *)(turns + row * TURN_STRIDE);
  const float4 *factor = (const float4 *)(factors + factorRow * FACTOR_STRIDE);

  const int lastRow = work.spectra + TAPS - 2;
  const int tiles = (work.spectra + TILE - 1) / TILE;
  const int64_t all = (int64_t)work.inputs * tiles;
  const int walkers = gridDim.x / RANKS, walker = blockIdx.x / RANKS;
  const int64_t end = all * (walker + 1) / walkers;
  uint32_t phase = 0;
  int saturated = 0;
  __syncthreads();
#if RANKS > 1
  clusterArrive();
  clusterWait();
#endif
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
    for (int i = tid; i < 1024; i += THREADS) {
#if RANKS == 1
      const int channel = i ^ 512, to = (i & 31) * FACTOR_STRIDE + (i >> 5);
#else
      // i = [row][u][step][v]: k = k1 + 32 (u + 4 step) + 1024 v
      const int v = i & 3, step = i >> 2 & 7;
      const int channel = (8 * rank + (i >> 7) + 32 * ((i >> 5 & 3) + 4 * step) + 1024 * v) ^ 2048;
      const int to = (i >> 5) * FACTOR_STRIDE + (i & 31);
#endif
      factors[to] = work.factors[((int64_t)input * CHANNELS + channel) * work.factorStep] * (0.5f / RAIL);
    }
    const float limit = work.limits[input * work.factorStep];
    fetch(0);
    putUnits(ring, rows, loadPairs, loadQuad);
    fetch(1);
    putUnits(ring, rows, loadPairs, 4 + loadQuad);
    fetch(2);
    __syncthreads();

    const int64_t channelBytes = work.inputs * work.outPitchBytes;
    int8_t *out = work.out + input * work.outPitchBytes + (int64_t)(RANKS == 1 ? k1 : k1 + 32 * (lane >> 3)) * channelBytes +
                  (firstTile * TILE + t) * 2;
    for (int tile = 0; tile < count; ++tile, out += TILE * 2) {
      uint4 taps[BATCH * WINDOWS];
      auto fetchTaps = [&](int batch) {
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
          const int group = batch * BATCH + j;
          taps[j] = group >= 16 - KEPT ? keptTable[(group - 16 + KEPT) * ENTRIES] : loadTaps(table + group * ENTRIES);
          if (WINDOWS == 2) taps[BATCH * (WINDOWS - 1) + j] = loadTaps(secondTable + group * ENTRIES_2);
        }
      };
      fetchTaps(0);
      if (tile) await(ringReady, phase ^ 1);
      const unsigned char *even = ring + (operand ^ (tile & 1) << 6), *odd = ring + (operand ^ (tile & 1) << 6 ^ 64);
      float re[32], im[32];
#pragma unroll
      for (int batch = 0; batch < 16 / BATCH; ++batch) {
        int sums[2 * BATCH][4];
        uint2 x[2 * BATCH][WINDOWS];
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
          const int group = batch * BATCH + j;
#pragma unroll
          for (int window = 0; window < WINDOWS; ++window) {
            const unsigned char *from = ((group ^ window) & 1) ? odd : even;
            x[2 * j][window] = *(const uint2 *)(from + group * 2048);
            x[2 * j + 1][window] = *(const uint2 *)(from + (group + 16) * 2048);
          }
        }
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
          product(sums[2 * j], taps[j].x, taps[j].y, x[2 * j][0], pattern);
          product(sums[2 * j + 1], taps[j].z, taps[j].w, x[2 * j + 1][0], pattern);
        }
        if (WINDOWS == 2) {
#pragma unroll
          for (int j = 0; j < BATCH; ++j) {
            const uint4 more = taps[BATCH * (WINDOWS - 1) + j];
            addProduct(sums[2 * j], more.x, more.y, x[2 * j][WINDOWS - 1], pattern);
            addProduct(sums[2 * j + 1], more.z, more.w, x[2 * j + 1][WINDOWS - 1], pattern);
          }
        }
        if (batch + 1 < 16 / BATCH) fetchTaps(batch + 1);
#pragma unroll
        for (int j = 0; j < 2 * BATCH; ++j) {
          const int n1 = batch * BATCH + j / 2 + 16 * (j & 1);
          re[reversed(n1)] = __int2float_rn(sums[j][0] * 256 + sums[j][2]);
          im[reversed(n1)] = __int2float_rn(sums[j][1] * 256 + sums[j][3]);
        }
      }
      transform32(re, im);
#if RANKS == 1
#pragma unroll
      for (int k = 0; k < 32; ++k) *(float2 *)(store + k * 4096) = make_float2(re[k], im[k]);
      __syncthreads();
#else
      if (busy) clusterWait();
#pragma unroll
      for (int k = 0; k < 32; ++k)
        asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(stores[k / 8] + k % 8 * 16384), "f"(re[k]), "f"(im[k])
                     : "memory");
      clusterArrive();
      clusterWait();
#endif
      // Pinned here: the assembler would turn the rows over where they arrive, and wait for them in the filter.
#pragma unroll
      for (int r = 0; r < 4; ++r) asm volatile("" : "+r"(rows[r].x), "+r"(rows[r].y), "+r"(rows[r].z), "+r"(rows[r].w));
      putUnits(ring, rows, loadPairs, 4 * (tile & 1) + loadQuad);
#pragma unroll
      for (int n = 0; n < 32; ++n) {
#if RANKS == 1
        const float2 value = *(const float2 *)(load + n * 128);
#else
        const float2 value = *(const float2 *)((n & 1 ? loadOdd : load) + n * 512);
#endif
        re[reversed(n)] = value.x;
        im[reversed(n)] = value.y;
      }
      __syncwarp();
      if (lane == 0) arrive(ringReady);
      fetch(tile + 3);
      turnedTransform32(re, im, turn);
#if RANKS > 1
      // Four lanes hold n2 = u + 4 p: turned, handed round within the warp, and transformed over u.
#pragma unroll
      for (int k = 0; k < 32; k += 2) {
        const float4 w = lastTurn[k / 2];
        *(float2 *)(load + k * 512) =
            make_float2(fmaf(re[k], w.x, -im[k] * w.y), fmaf(re[k], w.y, im[k] * w.x));
        *(float2 *)(loadOdd + (k + 1) * 512) =
            make_float2(fmaf(re[k + 1], w.z, -im[k + 1] * w.w), fmaf(re[k + 1], w.w, im[k + 1] * w.z));
      }
      __syncwarp();
#pragma unroll
      for (int step = 0; step < 8; ++step) {
        float2 x[4];
#pragma unroll
        for (int v = 0; v < 4; ++v) x[v] = *(const float2 *)((v & 1 ? lastOdd : last) + (16 * step + v) * 128);
        const float2 p = make_float2(x[0].x + x[2].x, x[0].y + x[2].y), m = make_float2(x[0].x - x[2].x, x[0].y - x[2].y);
        const float2 s = make_float2(x[1].x + x[3].x, x[1].y + x[3].y), d = make_float2(x[1].x - x[3].x, x[1].y - x[3].y);
        re[4 * step] = p.x + s.x, im[4 * step] = p.y + s.y;
        re[4 * step + 1] = m.x + d.y, im[4 * step + 1] = m.y - d.x;
        re[4 * step + 2] = p.x - s.x, im[4 * step + 2] = p.y - s.y;
        re[4 * step + 3] = m.x - d.y, im[4 * step + 3] = m.y + d.x;
      }
      clusterArrive();
      busy = true;
#endif
      const int spectrum = (firstTile + tile) * TILE + t;
      const bool inside = spectrum < work.spectra;
      if (work.missing != nullptr && inside && work.missing[(int64_t)input * work.spectra + spectrum]) {
#pragma unroll
        for (int k = 0; k < 32; ++k) re[k] = im[k] = 0;
      }
      float largest = 0;
#pragma unroll
      for (int k = 0; k < 32; ++k) largest = fmaxf(largest, fmaxf(fabsf(re[k]), fabsf(im[k])));
      if (largest >= limit && inside) {  // rare, so counting may be slow
        constexpr float EDGE = (RAIL + 0.5f) * (0.5f / RAIL);
#pragma unroll
        for (int k = 0; k < 32; ++k) {
          const float f = factors[factorRow * FACTOR_STRIDE + k];
          saturated += (fabsf(re[k] * f) >= EDGE) + (fabsf(im[k] * f) >= EDGE);
        }
      }
#pragma unroll
      for (int k4 = 0; k4 < 8; ++k4) {
        const float4 f4 = factor[k4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const int k = 4 * k4 + j;
          const float f = j == 0 ? f4.x : j == 1 ? f4.y : j == 2 ? f4.z : f4.w;
          // To 0..1 and no further, then to -RAIL..RAIL; adding 1.5 * 2^23 rounds halves to the even number.
          constexpr float MAGIC = 12582912.0f - RAIL;
          const uint32_t r = __float_as_uint(fmaf(__saturatef(fmaf(re[k], f, 0.5f)), 2.0f * RAIL, MAGIC));
          const uint32_t i = __float_as_uint(fmaf(__saturatef(fmaf(im[k], f, 0.5f)), 2.0f * RAIL, MAGIC));
#if RANKS == 1
          const int64_t to = (int64_t)(32 * (k ^ 16)) * channelBytes;
#else
          const int64_t to = (int64_t)(128 * k4 + 1024 * (j ^ 2)) * channelBytes;
#endif
          if (inside) *(uint16_t *)(out + to) = (uint16_t)__byte_perm(r, i, 0x0040);
        }
      }
      phase ^= 1;
    }
    await(ringReady, phase ^ 1);
  }
#if RANKS > 1
  if (busy) clusterWait();
#endif
  addSaturated(saturated, work.saturated);
}
