// Filter, transform, gain, rounding and corner turn, for any number of channels that 2, 3, 5 and 7 make up.
//
// PASS 0: a block holds whole spectra, TILE of them at a time: one read, one write. Where a spectrum is too long, N * OTHER
// points are transformed as a matrix: n = n1 OTHER + n2, k = k1 + N k2. PASS 1 filters GROUP columns n2, transforms over
// n1, turns by n2 k1 and leaves the matrix in scratch; PASS 2 takes GROUP rows k1, transforms over n2 and finishes.
//
// In shared memory a tile is [n][g][t]: the spectra of a tile side by side, so that a warp works on neighbours.
//
// Set by the plan besides shape.cuh: PASS, N (points of this pass), OTHER (those of the other pass, 1 for PASS 0),
// TILE, GROUP (1 for PASS 0), THREADS, R0 .. R6 (radices whose product is N; 1 where there are fewer).
#include "filter.cuh"
#include "finish.cuh"
#include "transform.cuh"

constexpr int COLUMNS = N * OTHER;
constexpr int BATCH = GROUP * TILE;
constexpr int ALL = N * BATCH;
constexpr bool POWER = (N & (N - 1)) == 0 && (BATCH & (BATCH - 1)) == 0;
static_assert(R0 * R1 * R2 * R3 * R4 * R5 * R6 == N, "the radices make up the transform");
static_assert((TILE & (TILE - 1)) == 0 && TILE <= 64, "tiles end where rows of output end");

extern __shared__ float2 tile[];

// Spreads elements that lie a power of two apart over the banks. Linear over exclusive or: place(a ^ b) = place(a) ^ place(b).
__host__ __device__ constexpr int place(int e) { return POWER ? e ^ (e >> 4 & 15) ^ (e >> 8 & 15) : e; }
// place(a + b), where a and b share no bits if sizes are powers of two, and b is known when compiling.
__device__ __forceinline__ int placeSum(int a, int placedA, int b) { return POWER ? placedA ^ place(b) : a + b; }

// One level of a transform that sorts itself: butterfly j takes points j + k N / R; LENGTH points are already transformed.
template <int R, int LENGTH>
__device__ __forceinline__ void level(const float2 *__restrict__ twiddles) {
  if constexpr (R > 1) {
    constexpr int BUTTERFLIES = ALL / R;
    constexpr int EACH = (BUTTERFLIES + THREADS - 1) / THREADS;
    constexpr bool FULL = BUTTERFLIES % THREADS == 0;
    float2 x[EACH][R];
    __syncthreads();
#pragma unroll
    for (int u = 0; u < EACH; ++u) {
      const int i = threadIdx.x + u * THREADS;
      if (!FULL && i >= BUTTERFLIES) break;
      const int placed = place(i);
#pragma unroll
      for (int k = 0; k < R; ++k) x[u][k] = tile[placeSum(i, placed, k * BUTTERFLIES)];
      if constexpr (LENGTH > 1) {
        const int p = i / BATCH % LENGTH;
        float2 w[R];
        w[1] = __ldg(twiddles + p * (N / (LENGTH * R)));
#pragma unroll
        for (int k = 2; k < R; ++k) w[k] = times(w[k / 2], w[k - k / 2]);
#pragma unroll
        for (int k = 1; k < R; ++k) x[u][k] = times(x[u][k], w[k]);
      }
      Transform<R>::run(x[u]);
    }
    __syncthreads();
#pragma unroll
    for (int u = 0; u < EACH; ++u) {
      const int i = threadIdx.x + u * THREADS;
      if (!FULL && i >= BUTTERFLIES) break;
      const int j = i / BATCH, p = j % LENGTH;
      const int to = ((j - p) * R + p) * BATCH + i % BATCH, placed = place(to);
#pragma unroll
      for (int k = 0; k < R; ++k) tile[placeSum(to, placed, k * LENGTH * BATCH)] = x[u][k];
    }
  }
}

__device__ __forceinline__ void transformTile(const float2 *twiddles) {
  level<R0, 1>(twiddles);
  level<R1, R0>(twiddles);
  level<R2, R0 * R1>(twiddles);
  level<R3, R0 * R1 * R2>(twiddles);
  level<R4, R0 * R1 * R2 * R3>(twiddles);
  level<R5, R0 * R1 * R2 * R3 * R4>(twiddles);
  level<R6, R0 * R1 * R2 * R3 * R4 * R5>(twiddles);
  __syncthreads();
}

constexpr int TOGETHER = TILE < 16 ? TILE : 16;  // spectra a thread filters in one go
constexpr bool PAIRS = SAMPLE_BYTES == 1 && FOLDED && (PASS == 0 ? N % 2 == 0 : OTHER % 2 == 0 && GROUP % 2 == 0);

// UNIT: columns a thread filters side by side.
template <int UNIT>
__device__ __forceinline__ void filterTile(const Work &work, int input, int firstSpectrum, int firstColumn) {
  constexpr int UNITS = N * GROUP / UNIT;
  const Sample *voltages = (const Sample *)((const int8_t *)work.voltages + input * work.pitchBytes);
  const int lastRow = work.spectra + TAPS - 2;
  for (int i = threadIdx.x; i < UNITS * (TILE / TOGETHER); i += THREADS) {
    const int unit = i % UNITS * UNIT, t = i / UNITS * TOGETHER;
    const int column = PASS == 1 ? unit / GROUP * OTHER + firstColumn + unit % GROUP : unit;
    const bool inside = PASS != 1 || firstColumn + unit % GROUP < OTHER;
    Sum re[UNIT][TOGETHER] = {}, im[UNIT][TOGETHER] = {};
    if (inside) {
#if SAMPLE_BYTES == 1
      if constexpr (UNIT == 2)
        filterColumnPair<TOGETHER, COLUMNS>(voltages, column, firstSpectrum + t, lastRow, work.taps, re, im);
      else
#endif
        filterColumn<TOGETHER, COLUMNS>(voltages, column, firstSpectrum + t, lastRow, work.taps, re[0], im[0]);
    }
#pragma unroll
    for (int c = 0; c < UNIT; ++c)
#pragma unroll
      for (int m = 0; m < TOGETHER; ++m)
        tile[place((unit + c) * TILE + t + m)] = make_float2((float)re[c][m], (float)im[c][m]);
  }
}

// From two real transforms in one: X[k] = (Z[k] + conj Z[N-k]) / 2 - i e^(-pi i k / N) (Z[k] - conj Z[N-k]) / 2.
__device__ __forceinline__ float2 unfolded(float2 z, float2 mirrored, float2 turn) {
  const float2 even = make_float2(0.5f * (z.x + mirrored.x), 0.5f * (z.y - mirrored.y));
  const float2 odd = make_float2(0.5f * (z.y + mirrored.y), -0.5f * (z.x - mirrored.x));
  const float2 turnedOdd = times(odd, turn);
  return make_float2(even.x + turnedOdd.x, even.y + turnedOdd.y);
}

extern "C" __global__ void __launch_bounds__(THREADS) channelise(const __grid_constant__ Work work) {
  constexpr int GROUPS = PASS == 0 ? 1 : (OTHER + GROUP - 1) / GROUP;
  constexpr int VALUES = TILE < 8 ? TILE : 8;
  const int tiles = (work.spectra + TILE - 1) / TILE;
  const int64_t all = (int64_t)work.items * GROUPS;
  // A block walks along time with one input, so that rows it reads again are still near.
  const int64_t first = all * blockIdx.x / gridDim.x, end = all * (blockIdx.x + 1) / gridDim.x;
  int saturated = 0;
  for (int64_t n = first; n < end; ++n) {
    const int slot = (int)(n / GROUPS), item = work.firstItem + slot, group = (int)(n % GROUPS) * GROUP;
    const int input = item / tiles, firstSpectrum = item % tiles * TILE;
    [[maybe_unused]] float2 *scratch = work.scratch + (int64_t)slot * COLUMNS * TILE;
    if (n > first) __syncthreads();
#if PASS == 2
    for (int i = threadIdx.x; i < ALL; i += THREADS) {
      const int g = i / (N * TILE), rest = i % (N * TILE);
      const int to = rest / TILE * BATCH + g * TILE + rest % TILE;
      tile[place(to)] = group + g < OTHER ? scratch[(int64_t)(group + g) * N * TILE + rest] : make_float2(0, 0);
    }
#else
    filterTile<PAIRS ? 2 : 1>(work, input, firstSpectrum, group);
#endif
    transformTile(work.twiddles);
#if PASS == 1
    for (int i = threadIdx.x; i < ALL; i += THREADS) {
      const int k1 = i / BATCH, n2 = group + i % BATCH / TILE;
      if (n2 >= OTHER) continue;
      const float2 turn = __ldg(work.longTwiddles + (int64_t)n2 * k1);
      scratch[((int64_t)k1 * OTHER + n2) * TILE + i % TILE] = times(tile[place(i)], turn);
    }
#else
    for (int i = threadIdx.x; i < ALL / VALUES; i += THREADS) {
      const int t = i % (TILE / VALUES) * VALUES, row = i / (TILE / VALUES);
      const int g = row % GROUP, bin = row / GROUP * OTHER + group + g;
      if (group + g >= OTHER) continue;
      const int channel = REAL ? bin : (bin + CHANNELS / 2) % CHANNELS;
      if (channel >= CHANNELS) continue;  // the upper half of a real transform mirrors the lower
      float2 values[VALUES];
#pragma unroll
      for (int m = 0; m < VALUES; ++m) values[m] = tile[place(row * TILE + t + m)];
#if PASS == 0 && FOLDED && REAL
      const int mirror = bin == 0 ? 0 : N - bin;
      const float2 turn = __ldg(work.longTwiddles + bin);
#pragma unroll
      for (int m = 0; m < VALUES; ++m) values[m] = unfolded(values[m], tile[place(mirror * TILE + t + m)], turn);
#endif
      finish<VALUES>(work, input, channel, firstSpectrum, t, values, saturated);
    }
#endif
  }
  if (!OUTPUT_FLOAT && PASS != 1) addSaturated(saturated, work.saturated);
}
