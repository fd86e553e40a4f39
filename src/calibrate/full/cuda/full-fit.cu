// What all stations of a solve share (full/common.ts): the normal equations from the sums of full-common.cu, the
// correction of single stations' steps, and whether the solve continues. One warp a solve: its matrices are 8 x 8.
#include "integers.cuh"

constexpr int U = 8;
constexpr int PAIRS = 32, RIGHT = 64, SQUARES = 72, NUMBERS = 73, STATIONS = 74;
static_assert(COMMON_SUMS == 75, "as full/cuda/common-sums.ts has it");
constexpr int MOST_SWEEPS = 60;

struct FitWork {
  const double *totals;          // [k][COMMON_SUMS]
  double *normals, *variances;   // out : [k][8][8], [k]
  double *turns, *amends;        // out : [k][8], 1 + u of the best common step; [k][8][8]
  double *changes;               // [k], in and out: the size of u where that step is still to be made
  const int *done, *iterations;  // [k]
  int *how;                      // out : [k], as for fullResume
  double tolerance;
  int most, unused;
};

__device__ __forceinline__ double sumWarp(double value) {
#pragma unroll
  for (int lanes = 16; lanes >= 1; lanes /= 2) value += __shfl_xor_sync(0xFFFFFFFFu, value, lanes);
  return value;
}

// Re of an element of a [4][4] complex sum times i^turns.
__device__ __forceinline__ double element(const double *sum, int p, int q, int turns) {
  const double re = sum[8 * p + 2 * q], im = sum[8 * p + 2 * q + 1];
  return (turns & 1) == 0 ? ((turns & 2) == 0 ? re : -re) : ((turns & 2) == 0 ? -im : im);
}

// Jacobi rotations, four at a time: afterwards the diagonal of a has the values, the columns of v the vectors.
__device__ void eigenSymmetric(double (*a)[U], double (*v)[U], double (*turn)[2]) {
  const int lane = threadIdx.x, k = lane % U;
  for (int n = lane; n < U * U; n += 32) v[n / U][n % U] = n / U == n % U ? 1 : 0;
  __syncwarp();
  for (int sweep = 0; sweep < MOST_SWEEPS; ++sweep) {
    double off = 0, whole = 0;
    for (int n = lane; n < U * U; n += 32) {
      const double square = a[n / U][n % U] * a[n / U][n % U];
      whole += square, off += n / U == n % U ? 0 : square;
    }
    off = sumWarp(off), whole = sumWarp(whole);
    if (!(off > 1e-30 * whole)) return;
    // All pairs in seven rounds: 0 stays, the others rotate.
    for (int round = 0; round < U - 1; ++round) {
      const int n = lane / U, one = n == 0 ? 0 : (round + n) % 7 + 1,
                other = n == 0 ? round % 7 + 1 : (round + 7 - n) % 7 + 1;
      const int p = min(one, other), q = max(one, other);
      if (k == 0) {
        double cosine = 1, sine = 0;
        if (a[p][q] != 0) {
          const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
          const double tangent = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1.0));
          cosine = 1 / hypot(tangent, 1.0), sine = tangent * cosine;
        }
        turn[n][0] = cosine, turn[n][1] = sine;
      }
      __syncwarp();
      const double cosine = turn[n][0], sine = turn[n][1];
      const auto rotate = [cosine, sine](double &x, double &y) {
        const double before = x;
        x = cosine * before - sine * y, y = sine * before + cosine * y;
      };
      rotate(a[k][p], a[k][q]);
      rotate(v[k][p], v[k][q]);
      __syncwarp();
      rotate(a[p][k], a[q][k]);
      __syncwarp();
    }
  }
}

// amends + factor sum of vectors times themselves over value and noise, of all modes above rounding.
__device__ void addInverse(double (*amends)[U], const double (*a)[U], const double (*v)[U], double factor,
                           double noise) {
  double stiffest = a[0][0];
#pragma unroll
  for (int m = 1; m < U; ++m) stiffest = fmax(stiffest, a[m][m]);
  for (int n = threadIdx.x; n < U * U; n += 32)
    for (int mode = 0; mode < U; ++mode)
      if (a[mode][mode] > LEAST_CURVATURE * stiffest)
        amends[n / U][n % U] += factor / (a[mode][mode] + noise) * v[n / U][mode] * v[n % U][mode];
  __syncwarp();
}

// Grid: solves; 32 threads.
extern "C" __global__ void __launch_bounds__(32) fullFit(const __grid_constant__ FitWork work) {
  const int64_t k = blockIdx.x;
  const double *sums = work.totals + COMMON_SUMS * k;
  __shared__ double a[U][U], single[U][U], v[U][U], amends[U][U], turn[U / 2][2];
  const int lane = threadIdx.x;
  // The difference of large sums may be below 0 where there is no noise.
  const double variance = fmax(0.0, sums[SQUARES]) / fmax(1.0, sums[NUMBERS] - 8 * sums[STATIONS] + 1);
  // u_m = i^t e_row,column with m = 4 row + 2 column + t
  for (int n = lane; n < U * U; n += 32) {
    const int m = n / U, other = n % U;
    const int row = m / 4, column = m / 2 % 2, turns = m % 2;
    const int otherRow = other / 4, otherColumn = other / 2 % 2, otherTurns = other % 2;
    const double alone = element(sums, 2 * row + otherRow, 2 * otherColumn + column, otherTurns - turns + 4);
    const double both = alone +
                        element(sums + PAIRS, 2 * otherColumn + row, 2 * column + otherRow, turns + otherTurns) +
                        element(sums + PAIRS, 2 * column + otherRow, 2 * otherColumn + row, turns + otherTurns);
    single[m][other] = alone, a[m][other] = both, amends[m][other] = 0;
    work.normals[U * U * k + n] = both;
  }
  __syncwarp();
  eigenSymmetric(a, v, turn);
  addInverse(amends, a, v, 1, 2 * variance / (MOST_ERROR_RAD * MOST_ERROR_RAD));
  double u = 0;
  if (lane < U) {
    for (int n = 0; n < U; ++n) u += amends[lane][n] * sums[RIGHT + n];
    work.turns[U * k + lane] = u + (lane == 0 || lane == 6 ? 1 : 0);
  }
  const double size = sqrt(sumWarp(u * u));
  __syncwarp();
  eigenSymmetric(single, v, turn);
  addInverse(amends, single, v, -1, 0);
  for (int n = lane; n < U * U; n += 32) work.amends[U * U * k + n] = amends[n / U][n % U];
  if (lane > 0) return;
  work.variances[k] = variance;
  int how = work.done[k] == PAUSED ? 1 : 0;
  if (work.done[k] == SETTLED && size >= MOST_TOLERANCES * work.tolerance) {
    work.changes[k] = size;
    how = work.iterations[k] < work.most ? 2 : 0;
  }
  work.how[k] = how;
}
