// What all stations may share (full/common.ts): the sums for its normal equations, a row of stations to a block.
//
//   normal = Re sum_i tr u_m^H H_i u_k D_i + X_mk + X_km,  X_mk = Re sum_pairs w tr M H_j u_m M^H H_i u_k,  H = G^H G
//   right  = sum_i G_i^H N_i - H_i D_i
//
//   parts, totals : [k][i][COMMON_SUMS], [k][COMMON_SUMS] float64:
//     rows  [ac][db]  H_ac D_db            32 numbers, complex
//     pairs [ab][cd]  (M H_j)_ab (M^H H_i)_cd  32
//     right 8, squares of the misfit, numbers, stations
#include "integers.cuh"

constexpr int ROWS = 0, PAIRS = 32, RIGHT = 64, SQUARES = 72, NUMBERS = 73, STATIONS = 74;
static_assert(COMMON_SUMS == 75, "as full/cuda/common-sums.ts has it");

// 2 x 2 complex, rows first, real before imaginary.
struct Matrix {
  double x[8];
};
__device__ __forceinline__ Matrix turned(const Matrix &a) {
  return {{a.x[0], -a.x[1], a.x[4], -a.x[5], a.x[2], -a.x[3], a.x[6], -a.x[7]}};
}
__device__ __forceinline__ Matrix times(const Matrix &a, const Matrix &b) {
  Matrix out;
#pragma unroll
  for (int r = 0; r < 2; ++r)
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      double re = 0, im = 0;
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const double p = a.x[4 * r + 2 * k], q = a.x[4 * r + 2 * k + 1];
        const double s = b.x[4 * k + 2 * c], t = b.x[4 * k + 2 * c + 1];
        re += p * s - q * t, im += p * t + q * s;
      }
      out.x[4 * r + 2 * c] = re, out.x[4 * r + 2 * c + 1] = im;
    }
  return out;
}
__device__ __forceinline__ Matrix load(const double *from, double scale) {
  Matrix m;
#pragma unroll
  for (int n = 0; n < 8; ++n) m.x[n] = scale * from[n];
  return m;
}
// sum : [4][4] complex += factor a (x) b
__device__ void addOuter(double *sum, const Matrix &a, const Matrix &b, double factor) {
  for (int p = 0; p < 4; ++p)
    for (int q = 0; q < 4; ++q) {
      const double re = factor * a.x[2 * p], im = factor * a.x[2 * p + 1];
      sum[8 * p + 2 * q] += re * b.x[2 * q] - im * b.x[2 * q + 1];
      sum[8 * p + 2 * q + 1] += re * b.x[2 * q + 1] + im * b.x[2 * q];
    }
}

// data, model, weights as in full/plan.ts; gains : [k][i][8] in units of `units` [k]; sums : [k][i][12] of pairs scaled
// by scales [k][2]. Grid: (stations, solves), grid-stride over solves; 128 threads.
extern "C" __global__ void __launch_bounds__(128)
    commonRows(const double *data, const double *model, const double *weights, const double *gains, const double *sums,
               const double *scales, const double *units, double *parts, int solves, int stations) {
  const int i = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t baselines = (int64_t)stations * (stations + 1) / 2;
  __shared__ double warps[34][4];
  for (int64_t k = blockIdx.y; k < solves; k += gridDim.y) {
    const double unit = units[k], ofData = scales[2 * k], ofModel = scales[2 * k + 1];
    const int64_t first = k * baselines + (int64_t)i * (i + 1) / 2;
    // [ab][ec] of (M H_j)_ab conj(M_ec), then power of the data and the count of numbers
    double v[34] = {};
    for (int j = threadIdx.x; j < i; j += 128) {
      const double weight = weights[first + j];
      if (weight == 0) continue;
      const Matrix m = load(model + 8 * (first + j), 1), g = load(gains + 8 * (k * stations + j), unit);
      const Matrix mh = times(m, times(turned(g), g));
#pragma unroll
      for (int p = 0; p < 4; ++p)
#pragma unroll
        for (int q = 0; q < 4; ++q) {
          const double re = weight * mh.x[2 * p], im = weight * mh.x[2 * p + 1];
          v[8 * p + 2 * q] += re * m.x[2 * q] + im * m.x[2 * q + 1];
          v[8 * p + 2 * q + 1] += im * m.x[2 * q] - re * m.x[2 * q + 1];
        }
#pragma unroll
      for (int n = 0; n < 8; ++n) v[32] += weight * data[8 * (first + j) + n] * data[8 * (first + j) + n];
      v[33] += 8;
    }
#pragma unroll
    for (int e = 0; e < 34; ++e)
#pragma unroll
      for (int lanes = 16; lanes >= 1; lanes /= 2) v[e] += __shfl_xor_sync(0xFFFFFFFFu, v[e], lanes);
    __syncthreads();
    if (lane == 0) {
#pragma unroll
      for (int e = 0; e < 34; ++e) warps[e][warp] = v[e];
    }
    __syncthreads();
    if (threadIdx.x > 0) continue;
    double *out = parts + (k * stations + i) * COMMON_SUMS;
    for (int e = 0; e < COMMON_SUMS; ++e) out[e] = 0;
    const auto total = [&](int e) { return warps[e][0] + warps[e][1] + warps[e][2] + warps[e][3]; };
    const Matrix gain = load(gains + 8 * (k * stations + i), unit), h = times(turned(gain), gain);
    for (int ab = 0; ab < 4; ++ab)
      for (int c = 0; c < 2; ++c)
        for (int d = 0; d < 2; ++d)
          for (int e = 0; e < 2; ++e) {
            const double x = total(8 * ab + 2 * (2 * e + c)), y = total(8 * ab + 2 * (2 * e + c) + 1);
            const double re = h.x[4 * e + 2 * d], im = h.x[4 * e + 2 * d + 1];
            out[PAIRS + 8 * ab + 2 * (2 * c + d)] += x * re - y * im;
            out[PAIRS + 8 * ab + 2 * (2 * c + d) + 1] += x * im + y * re;
          }
    const double *from = sums + 12 * (k * stations + i);
    const double perData = unit / (ofData * ofModel), perModel = unit * unit / (ofModel * ofModel);
    const Matrix n = load(from, perData);
    const Matrix d = {{from[8] * perModel, 0, from[10] * perModel, from[11] * perModel, from[10] * perModel,
                       -from[11] * perModel, from[9] * perModel, 0}};
    const double weight = weights[first + i];
    double squares = total(32), numbers = total(33);
    if (weight != 0) {  // the station with itself, as if from both sides with half its weight
      const Matrix m = load(model + 8 * (first + i), 1);
      addOuter(out + PAIRS, times(m, h), times(turned(m), h), weight / 2);
      for (int e = 0; e < 8; ++e) squares += weight / 2 * data[8 * (first + i) + e] * data[8 * (first + i) + e];
      numbers += 4;
    }
    addOuter(out + ROWS, h, d, 1);
    const Matrix seen = times(turned(gain), n), made = times(h, d);
    for (int e = 0; e < 8; ++e) out[RIGHT + e] = seen.x[e] - made.x[e];
    out[SQUARES] = squares - (seen.x[0] + seen.x[6]) + (made.x[0] + made.x[6]) / 2;
    out[NUMBERS] = numbers;
    out[STATIONS] = d.x[0] + d.x[6] > 0 ? 1 : 0;
  }
}

// Grid: solves; 96 threads.
extern "C" __global__ void __launch_bounds__(96) commonTotals(const double *parts, double *totals, int stations) {
  const int64_t k = blockIdx.x;
  if (threadIdx.x >= COMMON_SUMS) return;
  double sum = 0;
  for (int i = 0; i < stations; ++i) sum += parts[(k * stations + i) * COMMON_SUMS + threadIdx.x];
  totals[k * COMMON_SUMS + threadIdx.x] = sum;
}
