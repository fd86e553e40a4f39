// Full-polarisation StEFCal from memory, one launch an iteration; formula and layout as in full/plan.ts.
//
//   blocks : [k][i][V row 0, V row 1, M row 0, M row 1][j] float4, both triangles: V and M times the root of the pair's
//            weight, scaled; a float4 is one row of a matrix, (re, im) of its two elements
//   gains  : [2][k][i][8] float64; `step` reads the set of its parity before it and writes its own
//
// Sums are float32 while a solve's gains move by more than SWITCH_BELOW, and float64 from there on.
#include "baselines.cuh"
#include "integers.cuh"

// data, model : [k][b][8] float64; weights : [k][b]; scales : [k][2], what V and M are multiplied by.
// Grid: (baselines / 128, solves), grid-stride over both; 128 threads.
extern "C" __global__ void __launch_bounds__(128)
    makeBlocks(const double *data, const double *model, const double *weights, const double *scales, float4 *blocks,
               int solves, int stations) {
  const int64_t baselines = (int64_t)stations * (stations + 1) / 2;
  for (int64_t k = blockIdx.y; k < solves; k += gridDim.y)
    for (int64_t b = (int64_t)blockIdx.x * 128 + threadIdx.x; b < baselines; b += (int64_t)gridDim.x * 128) {
      int64_t i, j;
      stationsOf(b, i, j);
      const double weight = weights[k * baselines + b];
      const double root = sqrt(weight);
      for (int part = 0; part < 2; ++part) {
        const double *from = (part == 0 ? data : model) + 8 * (k * baselines + b);
        const double scale = root * scales[2 * k + part];
        float x[8];
        for (int n = 0; n < 8; ++n) x[n] = weight == 0 ? 0.0f : (float)(from[n] * scale);
        float4 *own = blocks + ((k * stations + i) * 4 + 2 * part) * stations + j;
        float4 *other = blocks + ((k * stations + j) * 4 + 2 * part) * stations + i;
        own[0] = make_float4(x[0], x[1], x[2], x[3]);
        own[stations] = make_float4(x[4], x[5], x[6], x[7]);
        if (i == j) continue;
        // turned over its diagonal and conjugated
        other[0] = make_float4(x[0], -x[1], x[4], -x[5]);
        other[stations] = make_float4(x[2], -x[3], x[6], -x[7]);
      }
    }
}

template <class Real>
struct Pair {
  Real re, im;
};
// sum + a b
template <class Real>
__device__ __forceinline__ void add(Pair<Real> &sum, const Pair<Real> &a, const Pair<Real> &b) {
  sum.re += a.re * b.re - a.im * b.im;
  sum.im += a.re * b.im + a.im * b.re;
}
// sum + conj(a) b
template <class Real>
__device__ __forceinline__ void addConjugated(Pair<Real> &sum, const Pair<Real> &a, const Pair<Real> &b) {
  sum.re += a.re * b.re + a.im * b.im;
  sum.im += a.re * b.im - a.im * b.re;
}

// What this thread's columns give: N as eight numbers, then D as 00, 11, 01 re, 01 im.
template <class Real>
__device__ __forceinline__ void sumRow(const float4 *row, const double *before, int stations, double (&sums)[12]) {
  Pair<Real> n[4] = {};
  Pair<Real> cross = {};
  Real d00 = 0, d11 = 0;
  for (int j = threadIdx.x; j < stations; j += 128) {
    const float4 v0 = row[j], v1 = row[stations + j], m0 = row[2 * stations + j], m1 = row[3 * stations + j];
    const Pair<Real> v[4] = {{v0.x, v0.y}, {v0.z, v0.w}, {v1.x, v1.y}, {v1.z, v1.w}};
    // conjugated: Z = G_j M^H
    const Pair<Real> m[4] = {{m0.x, -m0.y}, {m0.z, -m0.w}, {m1.x, -m1.y}, {m1.z, -m1.w}};
    Pair<Real> g[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      g[e].re = (Real)before[8 * j + 2 * e];
      g[e].im = (Real)before[8 * j + 2 * e + 1];
    }
    Pair<Real> z[4] = {};
#pragma unroll
    for (int a = 0; a < 2; ++a)
#pragma unroll
      for (int b = 0; b < 2; ++b) {
        add(z[2 * a + b], g[2 * a], m[2 * b]);
        add(z[2 * a + b], g[2 * a + 1], m[2 * b + 1]);
      }
#pragma unroll
    for (int a = 0; a < 2; ++a)
#pragma unroll
      for (int b = 0; b < 2; ++b) {
        add(n[2 * a + b], v[2 * a], z[b]);
        add(n[2 * a + b], v[2 * a + 1], z[2 + b]);
      }
    d00 += z[0].re * z[0].re + z[0].im * z[0].im + z[2].re * z[2].re + z[2].im * z[2].im;
    d11 += z[1].re * z[1].re + z[1].im * z[1].im + z[3].re * z[3].re + z[3].im * z[3].im;
    addConjugated(cross, z[0], z[1]);
    addConjugated(cross, z[2], z[3]);
  }
#pragma unroll
  for (int e = 0; e < 4; ++e) sums[2 * e] = n[e].re, sums[2 * e + 1] = n[e].im;
  sums[8] = d00, sums[9] = d11, sums[10] = cross.re, sums[11] = cross.im;
}

// ratios : [k], what turns N D^-1 of scaled sums into a gain. Grid: (stations, solves), grid-stride over solves.
extern "C" __global__ void __launch_bounds__(128)
    fullStep(const float4 *blocks, double *gains, const int *done, const int *exact, const double *ratios, int solves,
             int stations, int step) {
  const int i = blockIdx.x;
  for (int64_t k = blockIdx.y; k < solves; k += gridDim.y) {
    if (done[k]) continue;
    const double *before = gains + ((1 - (step & 1)) * (int64_t)solves + k) * stations * 8;
    const float4 *row = blocks + (k * stations + i) * 4 * stations;
    double sums[12];
    if (exact[k])
      sumRow<double>(row, before, stations, sums);
    else
      sumRow<float>(row, before, stations, sums);
    __shared__ double parts[12][4];
#pragma unroll
    for (int e = 0; e < 12; ++e)
#pragma unroll
      for (int lanes = 16; lanes >= 1; lanes /= 2) sums[e] += __shfl_xor_sync(0xFFFFFFFFu, sums[e], lanes);
    const int warp = threadIdx.x / 32;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
#pragma unroll
      for (int e = 0; e < 12; ++e) parts[e][warp] = sums[e];
    }
    __syncthreads();
    if (threadIdx.x > 0) continue;
#pragma unroll
    for (int e = 0; e < 12; ++e) sums[e] = parts[e][0] + parts[e][1] + parts[e][2] + parts[e][3];
    const double d00 = sums[8], d11 = sums[9], re = sums[10], im = sums[11];
    const double determinant = d00 * d11 - re * re - im * im;
    const bool solvable = determinant > LEAST_DETERMINANT * d00 * d11;
    const double scale = solvable ? ratios[k] / determinant : 0;
    double *after = gains + ((step & 1) * (int64_t)solves + k) * stations * 8 + 8 * i;
    const double *was = before + 8 * i;
    for (int a = 0; a < 2; ++a) {
      const double *n = sums + 4 * a;
      // (n0, n1) times [[d11, -d01], [-conj(d01), d00]]
      double next[4] = {(n[0] * d11 - n[2] * re - n[3] * im) * scale, (n[1] * d11 + n[2] * im - n[3] * re) * scale,
                        (n[2] * d00 - n[0] * re + n[1] * im) * scale, (n[3] * d00 - n[0] * im - n[1] * re) * scale};
      for (int e = 0; e < 4; ++e) {
        const double old = was[4 * a + e];
        const double moved = solvable ? next[e] : old;
        after[4 * a + e] = step % 2 == 0 ? 0.5 * (moved + old) : moved;
      }
    }
  }
}

// After each step: whether a solve goes on in float64; whether its gains changed by less than the tolerance (even steps), or
// it had its last step. changes : [k], iterations : [k], out. Grid: solves.
extern "C" __global__ void __launch_bounds__(128)
    fullJudge(const double *gains, int *done, int *exact, int *iterations, double *changes, double tolerance,
              int solves, int stations, int step, int most) {
  const int64_t k = blockIdx.x;
  if (done[k]) return;
  const double *now = gains + ((step & 1) * (int64_t)solves + k) * stations * 8;
  const double *before = gains + ((1 - (step & 1)) * (int64_t)solves + k) * stations * 8;
  double changed = 0, size = 0;
  for (int n = threadIdx.x; n < 8 * stations; n += 128) {
    changed += (now[n] - before[n]) * (now[n] - before[n]);
    size += now[n] * now[n];
  }
  __shared__ double parts[2][4];
#pragma unroll
  for (int lanes = 16; lanes >= 1; lanes /= 2) {
    changed += __shfl_xor_sync(0xFFFFFFFFu, changed, lanes);
    size += __shfl_xor_sync(0xFFFFFFFFu, size, lanes);
  }
  if (threadIdx.x % 32 == 0) parts[0][threadIdx.x / 32] = changed, parts[1][threadIdx.x / 32] = size;
  __syncthreads();
  if (threadIdx.x > 0) return;
  changed = parts[0][0] + parts[0][1] + parts[0][2] + parts[0][3];
  size = parts[1][0] + parts[1][1] + parts[1][2] + parts[1][3];
  const double change = sqrt(changed / size);
  iterations[k] = step;
  changes[k] = change;
  if (change < SWITCH_BELOW) exact[k] = 1;
  if ((step % 2 == 0 && change < tolerance) || step >= most) done[k] = 1;
}
