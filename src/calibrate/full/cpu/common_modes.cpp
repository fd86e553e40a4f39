// What all stations may share: the sums, and the step along determined modes.
#include "calibrate/full/cpu/common_modes.h"

namespace corella {
namespace {

/**
 * As in full/common.ts: a rotation with a larger error is open; relative to the stiffest mode, below it all is
 * rounding.
 */
constexpr double MOST_ERROR_RAD = 0.1, LEAST_CURVATURE = 1e-7;
constexpr int U = 8;
constexpr int MOST_SWEEPS = 60;

/** sum : [4][4] complex += a ⊗ b, by their elements. */
void addOuter(double (&sum)[4][8], const Matrix2 &a, const Matrix2 &b, double factor) {
  for (int p = 0; p < 4; p++) {
    const double re = factor * a.x[2 * p], im = factor * a.x[2 * p + 1];
    for (int q = 0; q < 4; q++) {
      sum[p][2 * q] += re * b.x[2 * q] - im * b.x[2 * q + 1];
      sum[p][2 * q + 1] += re * b.x[2 * q + 1] + im * b.x[2 * q];
    }
  }
}

/** Jacobi rotations: afterwards the diagonal of a has the values, the columns of v the vectors. */
void eigenSymmetric(double (&a)[U][U], double (&v)[U][U]) {
  for (int p = 0; p < U; p++)
    for (int q = 0; q < U; q++) v[p][q] = p == q ? 1 : 0;
  for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    double off = 0, whole = 0;
    for (int p = 0; p < U; p++)
      for (int q = 0; q < U; q++) {
        whole += a[p][q] * a[p][q];
        if (p != q) off += a[p][q] * a[p][q];
      }
    if (!(off > 1e-30 * whole)) return;
    for (int p = 0; p < U; p++)
      for (int q = p + 1; q < U; q++) {
        if (!(a[p][q] * a[p][q] > 1e-33 * whole)) continue;  // the sum of 56 of them is still negligible
        const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double tangent = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double cosine = 1 / std::sqrt(tangent * tangent + 1), sine = tangent * cosine;
        const auto turn = [cosine, sine](double &x, double &y) {
          const double before = x;
          x = cosine * before - sine * y;
          y = sine * before + cosine * y;
        };
        for (int k = 0; k < U; k++) turn(a[k][p], a[k][q]);
        for (int k = 0; k < U; k++) turn(a[p][k], a[q][k]);
        for (int k = 0; k < U; k++) turn(v[k][p], v[k][q]);
      }
  }
}

}  // namespace

void CommonSums::add(const CommonSums &other) {
  for (int p = 0; p < 4; p++)
    for (int q = 0; q < 8; q++) {
      rows[p][q] += other.rows[p][q];
      pairs[p][q] += other.pairs[p][q];
    }
  for (int n = 0; n < 8; n++) right[n] += other.right[n];
  squares += other.squares;
  numbers += other.numbers;
  stations += other.stations;
}

void CommonSums::addRow(const Matrix2 &gain, const Matrix2 &h, const Matrix2 &n, const Matrix2 &d) {
  addOuter(rows, h, d, 1);
  const Matrix2 seen = times<Take::adjoint>(gain, n), made = times(h, d);
  for (int k = 0; k < 8; k++) right[k] += seen.x[k] - made.x[k];
  // Re tr Gᴴ N includes every pair twice, as does tr H D.
  squares += -(seen.x[0] + seen.x[6]) + (made.x[0] + made.x[6]) / 2;
  if (d.x[0] + d.x[6] > 0) stations++;
}

void CommonSums::addOwn(const double (&sum)[32], double factor, const Matrix2 &own) {
  for (int ab = 0; ab < 4; ab++)
    for (int c = 0; c < 2; c++)
      for (int d = 0; d < 2; d++)
        for (int e = 0; e < 2; e++) {
          const double x = factor * sum[8 * ab + 4 * e + 2 * c], y = factor * sum[8 * ab + 4 * e + 2 * c + 1];
          const double re = own.x[4 * e + 2 * d], im = own.x[4 * e + 2 * d + 1];
          pairs[ab][2 * (2 * c + d)] += x * re - y * im;
          pairs[ab][2 * (2 * c + d) + 1] += x * im + y * re;
        }
}

void CommonSums::addSelf(double weight, const double *data, const Matrix2 &model, const Matrix2 &h) {
  addOuter(pairs, times(model, h), times<Take::adjoint>(model, h), weight / 2);
  for (int n = 0; n < 8; n++) squares += weight / 2 * data[n] * data[n];
  numbers += 4;
}

CommonFit fitCommon(const CommonSums &sums) {
  CommonFit fit = {};
  double a[U][U], single[U][U], v[U][U];
  const auto element = [](const double(&sum)[4][8], int p, int q, int turns) {
    // Re of (re + i im) i^turns
    const double re = sum[p][2 * q], im = sum[p][2 * q + 1];
    const double quarter[4] = {re, -im, -re, im};
    return quarter[turns & 3];
  };
  // u_m = iᵗ e_row,column; m = 4 row + 2 column + t
  for (int m = 0; m < U; m++)
    for (int k = 0; k < U; k++) {
      const int row = m / 4, column = m / 2 % 2, turns = m % 2;
      const int otherRow = k / 4, otherColumn = k / 2 % 2, otherTurns = k % 2;
      single[m][k] = element(sums.rows, 2 * row + otherRow, 2 * otherColumn + column, otherTurns - turns);
      // K_abcd u_m,bc u_k,da
      a[m][k] = single[m][k] + element(sums.pairs, 2 * otherColumn + row, 2 * column + otherRow, turns + otherTurns) +
                element(sums.pairs, 2 * column + otherRow, 2 * otherColumn + row, turns + otherTurns);
      fit.normal[U * m + k] = a[m][k];
    }
  fit.variance = sums.variance();
  // Every mode's vector times itself, over its value plus the noise term.
  const auto addInverse = [&fit, &v](const double(&matrix)[U][U], double factor, double noise) {
    double stiffest = matrix[0][0];
    for (int m = 1; m < U; m++) stiffest = std::max(stiffest, matrix[m][m]);
    for (int mode = 0; mode < U; mode++) {
      if (!(matrix[mode][mode] > LEAST_CURVATURE * stiffest)) continue;
      const double over = factor / (matrix[mode][mode] + noise);
      for (int m = 0; m < U; m++)
        for (int k = 0; k < U; k++) fit.amends[U * m + k] += over * v[m][mode] * v[k][mode];
    }
  };
  eigenSymmetric(a, v);
  addInverse(a, 1, 2 * fit.variance / (MOST_ERROR_RAD * MOST_ERROR_RAD));
  for (int m = 0; m < U; m++)
    for (int k = 0; k < U; k++) fit.step.x[m] += fit.amends[U * m + k] * sums.right[k];
  eigenSymmetric(single, v);
  addInverse(single, -1, 0);
  double squares = 0;
  for (double value : fit.step.x) squares += value * value;
  fit.size = std::sqrt(squares);
  return fit;
}

}  // namespace corella
