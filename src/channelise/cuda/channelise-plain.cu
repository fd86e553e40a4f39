// The second pass for lengths with a large prime factor: N points as plain sums, of the matrix that the first pass
// (channelise-fused.cu) left in scratch. Slow, for any N.
//
// Set by the plan besides shape.cuh: N, OTHER (points of the first pass), TILE, THREADS (a multiple of TILE).
#include "finish.cuh"

constexpr int AT_ONCE = 128;  // points in shared memory at a time; their sum is rounded separately, then added

extern "C" __global__ void __launch_bounds__(THREADS) channelisePlain(const __grid_constant__ Work work) {
  __shared__ float2 points[AT_ONCE * TILE];
  constexpr int TOGETHER = THREADS / TILE;  // values of k2
  constexpr int GROUPS = (N + TOGETHER - 1) / TOGETHER;
  const int tiles = (work.spectra + TILE - 1) / TILE;
  const int t = threadIdx.x % TILE;
  const int64_t all = (int64_t)work.items * OTHER * GROUPS;
  int saturated = 0;
  for (int64_t n = blockIdx.x; n < all; n += gridDim.x) {
    const int k2 = (int)(n % GROUPS) * TOGETHER + threadIdx.x / TILE;
    const int k1 = (int)(n / GROUPS % OTHER), slot = (int)(n / GROUPS / OTHER), item = work.firstItem + slot;
    const float2 *row = work.scratch + ((int64_t)slot * OTHER + k1) * N * TILE;
    float2 total = make_float2(0, 0);
    for (int first = 0; first < N; first += AT_ONCE) {
      const int count = min(AT_ONCE, N - first);
      __syncthreads();
      for (int i = threadIdx.x; i < count * TILE; i += THREADS) points[i] = row[(int64_t)first * TILE + i];
      __syncthreads();
      float2 sum = make_float2(0, 0);
      int turn = (int)((int64_t)first * k2 % N);
      for (int n2 = 0; n2 < count && k2 < N; ++n2) {
        const float2 w = __ldg(work.twiddles + turn), x = points[n2 * TILE + t];
        sum.x = fmaf(x.x, w.x, fmaf(-x.y, w.y, sum.x));
        sum.y = fmaf(x.x, w.y, fmaf(x.y, w.x, sum.y));
        turn += k2;
        if (turn >= N) turn -= N;
      }
      total.x += sum.x, total.y += sum.y;
    }
    const int bin = k1 + OTHER * k2;
    const int channel = REAL ? bin : (bin + CHANNELS / 2) % CHANNELS;
    if (k2 >= N || channel >= CHANNELS) continue;
    const int input = item / tiles, spectrum = item % tiles * TILE + t;
    if (spectrum >= work.spectra) continue;
    const bool there = isThere(work, input, spectrum);
#if DELAYED
    const Turn turn = turnOf<1>(work.delays, input, spectrum);
    total = times(total, unitAt(fmaf(turn.slope, (float)fromZero(bin), turn.phase)));
#endif
    const float factors[1] = {there ? factorOf(work, input, channel) : 0.0f};
    int8_t *out = work.out + ((int64_t)channel * work.inputs + input) * work.outPitchBytes;
#if OUTPUT_FLOAT
    ((float2 *)out)[spectrum] = there ? make_float2(total.x * factors[0], total.y * factors[0]) : make_float2(0, 0);
#else
    const float2 values[1] = {total};
    uint16_t rounded[1];
    roundAll(values, factors, rounded, saturated);
    ((uint16_t *)out)[spectrum] = rounded[0];
#endif
  }
  if (!OUTPUT_FLOAT) addSaturated(saturated, work.saturated);
}
