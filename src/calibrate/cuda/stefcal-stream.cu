// StEFCal from memory, one launch an iteration, gains and sums in float64: for problems too large for the chip, and for
// tolerances below float32's precision.
#include "integers.cuh"

// numerator : [k][i][j] complex float32; denominator : [k][i][j]; gains : [2][k][i] complex float64, `step` reads the set of
// its parity before it and writes its own. Grid: (stations, solves).
extern "C" __global__ void __launch_bounds__(128)
    stefcalStep(const float2 *numerator, const float *denominator, double2 *gains, const int *done, int solves,
                int stations, int step) {
  const int i = blockIdx.x;
  for (int k = blockIdx.y; k < solves; k += gridDim.y) {
    if (done[k]) continue;
    const double2 *before = gains + ((int64_t)(1 - (step & 1)) * solves + k) * stations;
    const int64_t row = ((int64_t)k * stations + i) * stations;
    double x = 0, y = 0, d = 0;
    for (int j = threadIdx.x; j < stations; j += 128) {
      const float2 a = numerator[row + j];
      const double2 g = before[j];
      x += a.x * g.x - a.y * g.y;
      y += a.x * g.y + a.y * g.x;
      d += denominator[row + j] * (g.x * g.x + g.y * g.y);
    }
    __shared__ double sums[3][4];
#pragma unroll
    for (int lanes = 16; lanes >= 1; lanes /= 2) {
      x += __shfl_xor_sync(0xFFFFFFFFu, x, lanes);
      y += __shfl_xor_sync(0xFFFFFFFFu, y, lanes);
      d += __shfl_xor_sync(0xFFFFFFFFu, d, lanes);
    }
    const int warp = threadIdx.x / 32;
    __syncthreads();
    if (threadIdx.x % 32 == 0) sums[0][warp] = x, sums[1][warp] = y, sums[2][warp] = d;
    __syncthreads();
    if (threadIdx.x > 0) continue;
    x = y = d = 0;
    for (int w = 0; w < 4; ++w) x += sums[0][w], y += sums[1][w], d += sums[2][w];
    const double2 was = before[i];
    double2 next = d > 0 ? make_double2(x / d, y / d) : was;
    if (step % 2 == 0) next = make_double2(0.5 * (next.x + was.x), 0.5 * (next.y + was.y));
    gains[((int64_t)(step & 1) * solves + k) * stations + i] = next;
  }
}

// After an even step: solves whose gains changed by less than the tolerance, or that had their last step, are done.
// started : [k], iterations made before step 1; iterations : [k], out. Grid: solves.
extern "C" __global__ void __launch_bounds__(128)
    stefcalJudge(const double2 *gains, int *done, const int *started, int *iterations, double tolerance, int solves,
                 int stations, int step, int most) {
  const int k = blockIdx.x;
  if (done[k]) return;
  const double2 *now = gains + ((int64_t)(step & 1) * solves + k) * stations;
  const double2 *before = gains + ((int64_t)(1 - (step & 1)) * solves + k) * stations;
  double changed = 0, size = 0;
  for (int i = threadIdx.x; i < stations; i += 128) {
    const double2 g = now[i], b = before[i];
    changed += (g.x - b.x) * (g.x - b.x) + (g.y - b.y) * (g.y - b.y);
    size += g.x * g.x + g.y * g.y;
  }
  __shared__ double sums[2][4];
#pragma unroll
  for (int lanes = 16; lanes >= 1; lanes /= 2) {
    changed += __shfl_xor_sync(0xFFFFFFFFu, changed, lanes);
    size += __shfl_xor_sync(0xFFFFFFFFu, size, lanes);
  }
  if (threadIdx.x % 32 == 0) sums[0][threadIdx.x / 32] = changed, sums[1][threadIdx.x / 32] = size;
  __syncthreads();
  if (threadIdx.x > 0) return;
  changed = size = 0;
  for (int w = 0; w < 4; ++w) changed += sums[0][w], size += sums[1][w];
  const int made = started[k] + step;
  const bool still = step % 2 == 0 && changed < tolerance * tolerance * size;
  iterations[k] = made;
  if (still || made >= most) done[k] = 1;
}
