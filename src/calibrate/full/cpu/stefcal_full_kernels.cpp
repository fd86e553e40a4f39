// levels: portable avx2 avx512
#include "calibrate/full/cpu/stefcal_full_kernels.h"

#include "backend/cpu/vector.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** Of a row, taken at a time. */
constexpr int COLUMNS = LANES<float>;

/** As many float64 as a register holds float32: the compiler takes two registers. */
typedef double WideDoubles __attribute__((vector_size(2 * VECTOR_BYTES)));

template <class Vector>
struct Complex {
  Vector re, im;
};

/** sum + a·b */
template <class Vector, class Factor>
CORELLA_INLINE void add(Complex<Vector> &sum, const Complex<Factor> &a, const Complex<Vector> &b) {
  sum.re += a.re * b.re;
  sum.re -= a.im * b.im;
  sum.im += a.re * b.im;
  sum.im += a.im * b.re;
}
/** sum + conj(a)·b */
template <class Vector>
CORELLA_INLINE void addConjugated(Complex<Vector> &sum, const Complex<Vector> &a, const Complex<Vector> &b) {
  sum.re += a.re * b.re;
  sum.re += a.im * b.im;
  sum.im += a.re * b.im;
  sum.im -= a.im * b.re;
}
/** sum + a·conj(b) */
template <class Vector>
CORELLA_INLINE void addByConjugate(Complex<Vector> &sum, const Complex<Vector> &a, const Complex<Vector> &b) {
  sum.re += a.re * b.re;
  sum.re += a.im * b.im;
  sum.im += a.im * b.re;
  sum.im -= a.re * b.im;
}

template <class Vector>
struct Sums {
  Complex<Vector> n[4] = {};
  Vector d00 = {}, d11 = {};
  Complex<Vector> d01 = {};

  /** D + Zᴴ Z */
  CORELLA_INLINE void addSquare(const Complex<Vector> (&z)[4]) {
    d00 += z[0].re * z[0].re;
    d00 += z[0].im * z[0].im;
    d00 += z[2].re * z[2].re;
    d00 += z[2].im * z[2].im;
    d11 += z[1].re * z[1].re;
    d11 += z[1].im * z[1].im;
    d11 += z[3].re * z[3].re;
    d11 += z[3].im * z[3].im;
    addConjugated(d01, z[0], z[1]);
    addConjugated(d01, z[2], z[3]);
  }
};

template <class Real, class Vector>
CORELLA_INLINE void addRow(const float *values, int64_t vectors, int64_t row, FullPlanes<const Real> gains,
                           FullPlanes<Real> sums) {
  Complex<Real> own[4];
  for (int64_t n = 0; n < 4; n++) {
    own[n].re = gains.first[2 * n * gains.stride + row];
    own[n].im = gains.first[(2 * n + 1) * gains.stride + row];
  }
  Sums<Vector> rowSums;
  for (int64_t v = 0; v < vectors; v++, values += 16 * COLUMNS) {
    const int64_t column = v * COLUMNS;
    Complex<Vector> data[4], model[4], other[4];
#pragma GCC unroll 4
    for (int64_t n = 0; n < 4; n++) {
      const auto load = [values](int64_t plane) __attribute__((always_inline)) {
        return __builtin_convertvector(loadVector<Floats>(values + plane * COLUMNS), Vector);
      };
      data[n] = {load(2 * n), load(2 * n + 1)};
      model[n] = {load(8 + 2 * n), load(8 + 2 * n + 1)};
      other[n] = {loadVector<Vector>(gains.first + 2 * n * gains.stride + column),
                  loadVector<Vector>(gains.first + (2 * n + 1) * gains.stride + column)};
    }
    // The row's: Z = G_j Mᴴ.
    {
      Complex<Vector> z[4] = {};
#pragma GCC unroll 2
      for (int64_t a = 0; a < 2; a++)
#pragma GCC unroll 2
        for (int64_t b = 0; b < 2; b++) {
          addByConjugate(z[2 * a + b], other[2 * a], model[2 * b]);
          addByConjugate(z[2 * a + b], other[2 * a + 1], model[2 * b + 1]);
        }
#pragma GCC unroll 2
      for (int64_t a = 0; a < 2; a++)
#pragma GCC unroll 2
        for (int64_t b = 0; b < 2; b++) {
          add(rowSums.n[2 * a + b], data[2 * a], z[b]);
          add(rowSums.n[2 * a + b], data[2 * a + 1], z[2 + b]);
        }
      rowSums.addSquare(z);
    }
    // The column's: Y = G_i M.
    Complex<Vector> y[4] = {};
#pragma GCC unroll 2
    for (int64_t a = 0; a < 2; a++)
#pragma GCC unroll 2
      for (int64_t b = 0; b < 2; b++) {
        add(y[2 * a + b], own[2 * a], model[b]);
        add(y[2 * a + b], own[2 * a + 1], model[2 + b]);
      }
    const auto columnAt = [&sums, column ](int64_t plane) __attribute__((always_inline)) {
      return sums.first + plane * sums.stride + column;
    };
#pragma GCC unroll 2
    for (int64_t a = 0; a < 2; a++)
#pragma GCC unroll 2
      for (int64_t b = 0; b < 2; b++) {
        const int64_t plane = 2 * (2 * a + b);
        Complex<Vector> n = {loadVector<Vector>(columnAt(plane)), loadVector<Vector>(columnAt(plane + 1))};
        addConjugated(n, data[a], y[b]);
        addConjugated(n, data[2 + a], y[2 + b]);
        storeVector(columnAt(plane), n.re);
        storeVector(columnAt(plane + 1), n.im);
      }
    Sums<Vector> squares;
    squares.d00 = loadVector<Vector>(columnAt(8));
    squares.d11 = loadVector<Vector>(columnAt(9));
    squares.d01 = {loadVector<Vector>(columnAt(10)), loadVector<Vector>(columnAt(11))};
    squares.addSquare(y);
    storeVector(columnAt(8), squares.d00);
    storeVector(columnAt(9), squares.d11);
    storeVector(columnAt(10), squares.d01.re);
    storeVector(columnAt(11), squares.d01.im);
  }
  const auto rowAt = [&sums, row](int64_t plane) -> Real & { return sums.first[plane * sums.stride + row]; };
  for (int64_t n = 0; n < 4; n++) {
    rowAt(2 * n) += total<Real>(rowSums.n[n].re);
    rowAt(2 * n + 1) += total<Real>(rowSums.n[n].im);
  }
  rowAt(8) += total<Real>(rowSums.d00);
  rowAt(9) += total<Real>(rowSums.d11);
  rowAt(10) += total<Real>(rowSums.d01.re);
  rowAt(11) += total<Real>(rowSums.d01.im);
}

template <class Real, class Vector>
CORELLA_INLINE void addRows(const FullRows &rows, FullPlanes<const Real> gains, FullPlanes<Real> sums) {
  for (int64_t n = 0; n < rows.end - rows.first; n++) {
    const int64_t row = rows.backwards ? rows.end - 1 - n : rows.first + n;
    const int64_t vectors = (rows.offsets[row + 1] - rows.offsets[row]) / (16 * COLUMNS);
    addRow<Real, Vector>(rows.values + rows.offsets[row], vectors, row, gains, sums);
  }
}

void sweep(const FullRows &rows, FullPlanes<const float> gains, FullPlanes<float> sums) {
  addRows<float, Floats>(rows, gains, sums);
}

void sweepExactly(const FullRows &rows, FullPlanes<const double> gains, FullPlanes<double> sums) {
  addRows<double, WideDoubles>(rows, gains, sums);
}

}  // namespace

extern const FullKernels fullKernels = {COLUMNS, sweep, sweepExactly};

}  // namespace CORELLA_LEVEL
}  // namespace corella
