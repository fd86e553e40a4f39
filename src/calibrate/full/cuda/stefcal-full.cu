// Full-polarisation StEFCal from memory, two launches an iteration; formula and layout as in full/plan.ts.
//
//   pairs : [k][i][numbers of the pair][column] float32, both triangles, COLUMNS = stations rounded up to 4. By the model's form:
//           0 unpolarised, M = m 1: A = V m* as two float4 (its rows), |m|^2;                     9 numbers
//           1 diagonal, M = diag(m, n): V as two float4, (m, n);                                 12
//           2 general: V and M as four float4;                                                   16
//           all times the root of the pair's weight (unpolarised: its weight), scaled
//   gains, next : [k][i][8] float64; `fullStep` reads gains and writes next, `fullMix` takes both to the next gains
//   sums  : [k][i][12] float64, N as eight numbers, D as 00, 11, 01 re, 01 im, of `gains`
//
// Sums are float32 while a solve's gains move by more than SWITCH_BELOW, and float64 from there on.
#include "baselines.cuh"
#include "integers.cuh"

constexpr int UNPOLARISED = 0, DIAGONAL = 1, GENERAL = 2;
__device__ __forceinline__ int numbersOf(int form) { return form == UNPOLARISED ? 9 : form == DIAGONAL ? 12 : 16; }
__device__ __forceinline__ int64_t columnsOf(int stations) { return (stations + 3) / 4 * 4; }

// a conj(b)
__device__ __forceinline__ double2 byConjugate(double2 a, double2 b) {
  return make_double2(a.x * b.x + a.y * b.y, a.y * b.x - a.x * b.y);
}
__device__ __forceinline__ float4 narrow(double2 a, double2 b, double scale) {
  return make_float4((float)(a.x * scale), (float)(a.y * scale), (float)(b.x * scale), (float)(b.y * scale));
}

// One pair for its row: v and m as 00, 01, 10, 11.
__device__ __forceinline__ void writePair(float *row, int64_t columns, int64_t j, const double2 (&v)[4],
                                          const double2 (&m)[4], double weight, double ofData, double ofModel,
                                          int form) {
  float4 *four = (float4 *)row + j;
  if (form == UNPOLARISED) {
    const double product = weight * ofData * ofModel, power = m[0].x * m[0].x + m[0].y * m[0].y;
    four[0] = narrow(byConjugate(v[0], m[0]), byConjugate(v[1], m[0]), product);
    four[columns] = narrow(byConjugate(v[2], m[0]), byConjugate(v[3], m[0]), product);
    row[8 * columns + j] = (float)(power * weight * ofModel * ofModel);
    return;
  }
  const double root = sqrt(weight);
  four[0] = narrow(v[0], v[1], root * ofData), four[columns] = narrow(v[2], v[3], root * ofData);
  if (form == DIAGONAL) {
    four[2 * columns] = narrow(m[0], m[3], root * ofModel);
  } else {
    four[2 * columns] = narrow(m[0], m[1], root * ofModel), four[3 * columns] = narrow(m[2], m[3], root * ofModel);
  }
}

// data, model : [k][b][8] float64; weights : [k][b]; scales : [k][2], what V and M are multiplied by.
// Grid: (baselines / 128, solves), grid-stride over both; 128 threads.
extern "C" __global__ void __launch_bounds__(128)
    makePairs(const double *data, const double *model, const double *weights, const double *scales, float *pairs,
              int solves, int stations, int form) {
  const int64_t baselines = (int64_t)stations * (stations + 1) / 2, columns = columnsOf(stations);
  const int64_t rowFloats = numbersOf(form) * columns;
  for (int64_t k = blockIdx.y; k < solves; k += gridDim.y)
    for (int64_t b = (int64_t)blockIdx.x * 128 + threadIdx.x; b < baselines; b += (int64_t)gridDim.x * 128) {
      int64_t i, j;
      stationsOf(b, i, j);
      const double weight = weights[k * baselines + b];
      double2 v[4], m[4], vTurned[4], mTurned[4];
      for (int n = 0; n < 4; ++n) {
        const int64_t at = 8 * (k * baselines + b) + 2 * n;
        v[n] = weight == 0 ? make_double2(0, 0) : make_double2(data[at], data[at + 1]);
        m[n] = weight == 0 ? make_double2(0, 0) : make_double2(model[at], model[at + 1]);
      }
      // transposed and conjugated
      for (int n = 0; n < 4; ++n) {
        const int from = 2 * (n % 2) + n / 2;
        vTurned[n] = make_double2(v[from].x, -v[from].y), mTurned[n] = make_double2(m[from].x, -m[from].y);
      }
      writePair(pairs + (k * stations + i) * rowFloats, columns, j, v, m, weight, scales[2 * k], scales[2 * k + 1],
                form);
      if (i != j)
        writePair(pairs + (k * stations + j) * rowFloats, columns, i, vTurned, mTurned, weight, scales[2 * k],
                  scales[2 * k + 1], form);
    }
}

template <class Real>
struct Pair {
  Real re, im;
};
// sum + a b
template <class Real>
__device__ __forceinline__ void add(Pair<Real> &sum, const Pair<Real> &a, const Pair<Real> &b) {
  sum.re += a.re * b.re, sum.re -= a.im * b.im;
  sum.im += a.re * b.im, sum.im += a.im * b.re;
}
// sum + conj(a) b
template <class Real>
__device__ __forceinline__ void addConjugated(Pair<Real> &sum, const Pair<Real> &a, const Pair<Real> &b) {
  sum.re += a.re * b.re, sum.re += a.im * b.im;
  sum.im += a.re * b.im, sum.im -= a.im * b.re;
}
// out = two rows of four float32
template <class Real>
__device__ __forceinline__ void widen(Pair<Real> (&out)[4], const float4 &first, const float4 &second) {
  out[0] = {(Real)first.x, (Real)first.y}, out[1] = {(Real)first.z, (Real)first.w};
  out[2] = {(Real)second.x, (Real)second.y}, out[3] = {(Real)second.z, (Real)second.w};
}

// The contributions of this thread's columns: N as eight numbers, then D as 00, 11, 01 re, 01 im.
template <class Real, int FORM>
__device__ __forceinline__ void sumRow(const float *row, const double *before, int stations, double (&sums)[12]) {
  const int64_t columns = columnsOf(stations);
  const float4 *four = (const float4 *)row;
  Pair<Real> n[4] = {};
  Pair<Real> cross = {};
  Real d00 = 0, d11 = 0;
#pragma unroll 2
  for (int j = threadIdx.x; j < stations; j += 128) {
    Pair<Real> g[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const double2 from = ((const double2 *)before)[4 * j + e];
      g[e] = {(Real)from.x, (Real)from.y};
    }
    Pair<Real> v[4], z[4] = {};
    widen(v, four[j], four[columns + j]);
    if constexpr (FORM == GENERAL) {
      Pair<Real> m[4];
      widen(m, four[2 * columns + j], four[3 * columns + j]);
#pragma unroll
      for (int e = 0; e < 4; ++e) m[e].im = -m[e].im;  // Z = G_j M^H
#pragma unroll
      for (int a = 0; a < 2; ++a)
#pragma unroll
        for (int b = 0; b < 2; ++b) {
          add(z[2 * a + b], g[2 * a], m[2 * b]);
          add(z[2 * a + b], g[2 * a + 1], m[2 * b + 1]);
        }
    } else if constexpr (FORM == DIAGONAL) {
      const float4 m = four[2 * columns + j];
#pragma unroll
      for (int e = 0; e < 4; e += 2) {
        add(z[e], g[e], Pair<Real>{(Real)m.x, -(Real)m.y});
        add(z[e + 1], g[e + 1], Pair<Real>{(Real)m.z, -(Real)m.w});
      }
    } else {
#pragma unroll
      for (int e = 0; e < 4; ++e) z[e] = g[e];  // its products include the model
    }
#pragma unroll
    for (int a = 0; a < 2; ++a)
#pragma unroll
      for (int b = 0; b < 2; ++b) {
        add(n[2 * a + b], v[2 * a], z[b]);
        add(n[2 * a + b], v[2 * a + 1], z[2 + b]);
      }
    const Real power = FORM == UNPOLARISED ? (Real)row[8 * columns + j] : (Real)1;
    d00 += power * (z[0].re * z[0].re + z[0].im * z[0].im + z[2].re * z[2].re + z[2].im * z[2].im);
    d11 += power * (z[1].re * z[1].re + z[1].im * z[1].im + z[3].re * z[3].re + z[3].im * z[3].im);
    Pair<Real> apart = {};
    addConjugated(apart, z[0], z[1]);
    addConjugated(apart, z[2], z[3]);
    cross.re += power * apart.re, cross.im += power * apart.im;
  }
#pragma unroll
  for (int e = 0; e < 4; ++e) sums[2 * e] = n[e].re, sums[2 * e + 1] = n[e].im;
  sums[8] = d00, sums[9] = d11, sums[10] = cross.re, sums[11] = cross.im;
}

template <int FORM>
__device__ __forceinline__ void sumRow(bool exactly, const float *row, const double *before, int stations,
                                       double (&sums)[12]) {
  if (exactly)
    sumRow<double, FORM>(row, before, stations, sums);
  else
    sumRow<float, FORM>(row, before, stations, sums);
}

// ratios : [k], the factor from N D^-1 of scaled sums to a gain. Grid: (stations, solves), grid-stride over solves.
extern "C" __global__ void __launch_bounds__(128)
    fullStep(const float *pairs, const double *gains, double *next, double *sumsOut, const int *done, const int *exact,
             const double *ratios, int solves, int stations, int form) {
  const int i = blockIdx.x;
  const int64_t rowFloats = numbersOf(form) * columnsOf(stations);
  for (int64_t k = blockIdx.y; k < solves; k += gridDim.y) {
    if (done[k]) continue;
    const double *before = gains + k * stations * 8;
    const float *row = pairs + (k * stations + i) * rowFloats;
    double sums[12];
    if (form == UNPOLARISED)
      sumRow<UNPOLARISED>(exact[k], row, before, stations, sums);
    else if (form == DIAGONAL)
      sumRow<DIAGONAL>(exact[k], row, before, stations, sums);
    else
      sumRow<GENERAL>(exact[k], row, before, stations, sums);
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
    for (int e = 0; e < 12; ++e) {
      sums[e] = parts[e][0] + parts[e][1] + parts[e][2] + parts[e][3];
      sumsOut[(k * stations + i) * 12 + e] = sums[e];
    }
    const double d00 = sums[8], d11 = sums[9], re = sums[10], im = sums[11];
    const double determinant = d00 * d11 - re * re - im * im;
    const bool solvable = determinant > LEAST_DETERMINANT * d00 * d11;
    const double scale = solvable ? ratios[k] / determinant : 0;
    double *after = next + (k * stations + i) * 8;
    const double *was = before + 8 * i;
    for (int a = 0; a < 2; ++a) {
      const double *n = sums + 4 * a;
      // (n0, n1) times [[d11, -d01], [-conj(d01), d00]]
      const double moved[4] = {
          (n[0] * d11 - n[2] * re - n[3] * im) * scale, (n[1] * d11 + n[2] * im - n[3] * re) * scale,
          (n[2] * d00 - n[0] * re + n[1] * im) * scale, (n[3] * d00 - n[0] * im - n[1] * re) * scale};
      for (int e = 0; e < 4; ++e) after[4 * a + e] = solvable ? moved[e] : was[4 * a + e];
    }
  }
}
