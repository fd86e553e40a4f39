// Parts of panels of full polarisation (stefcal_full_kernels.h): contributions of their pairs to rows, to columns, or
// to both. For sources compiled for each level.
#pragma once
#include "calibrate/full/cpu/factors.h"
#include "calibrate/full/cpu/stefcal_full_kernels.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

// Rows processed together: their sums, the column's and the column's gains should stay in registers.
#if CORELLA_ARM || defined(__AVX512F__)
constexpr bool MANY_REGISTERS = true;
#else
constexpr bool MANY_REGISTERS = false;
#endif
constexpr int PRODUCT_ROWS = MANY_REGISTERS ? 2 : 1, POWER_ROWS = MANY_REGISTERS ? 4 : 1;

/** The sums that pairs are added to. */
enum class Side { both, rows, columns };

/** Part of a panel: its columns, in vectors, and the sums of its rows, [plane][row] as vectors yet to be added up. */
template <class Real, class Vector>
struct Part {
  const float *panel;
  int64_t first, end;
  /** The bounds of loops: all of it, or less. */
  int64_t from, upTo;
  /** Station of row 0. */
  int64_t row;
  /** The first lane of a vector of columns, where a register cannot hold all of it. */
  int64_t lane;
  StationPlanes<const Real> in;
  StationPlanes<Real> sums;
  Vector (*rows)[PANEL_ROWS];
};

/** Prefetches a general model's numbers eight vectors of columns ahead: hardware prefetch ends at each page. */
CORELLA_INLINE void askAhead(const float *from) {
#pragma GCC unroll 16
  for (int64_t n = 0; n < 16 * COLUMNS; n += 16) __builtin_prefetch(from + 8 * 16 * COLUMNS + n);
}

/** Rows' sums of four planes in registers, over all columns of a part; `use` adds one vector of columns. */
template <int ROWS, Side SIDE, class Real, class Vector, class Use>
CORELLA_INLINE void eachColumn(const Part<Real, Vector> &part, int64_t plane, int64_t row, const Use &use) {
  Vector rows[ROWS][4] = {};
  if constexpr (SIDE != Side::columns) {
#pragma GCC unroll 4
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 4
      for (int n = 0; n < 4; n++) rows[r][n] = part.rows[plane + n][row + r];
  }
  for (int64_t v = part.from; v < part.upTo; v++) {
    Vector columns[4] = {};
    Real *const to = part.sums.first + plane * part.sums.stride + v * COLUMNS + part.lane;
    if constexpr (SIDE != Side::rows) {
#pragma GCC unroll 4
      for (int n = 0; n < 4; n++) columns[n] = loadVector<Vector>(to + n * part.sums.stride);
    }
    use(v, rows, columns);
    if constexpr (SIDE != Side::rows) {
#pragma GCC unroll 4
      for (int n = 0; n < 4; n++) storeVector(to + n * part.sums.stride, columns[n]);
    }
  }
  if constexpr (SIDE != Side::columns) {
#pragma GCC unroll 4
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 4
      for (int n = 0; n < 4; n++) part.rows[plane + n][row + r] = rows[r][n];
  }
}

/** Four planes of a vector of columns. */
template <class Vector, class Real>
CORELLA_INLINE void loadFour(Vector (&x)[4], const Part<Real, Vector> &part, int64_t plane, int64_t v) {
  const Real *const from = part.in.first + plane * part.in.stride + v * COLUMNS + part.lane;
#pragma GCC unroll 4
  for (int n = 0; n < 4; n++) x[n] = loadVector<Vector>(from + n * part.in.stride);
}

/** One column of G: rows += A x of the columns, columns += Aᴴ x of the rows; A in this block of the pair's. */
template <ModelForm FORM, Side SIDE, int ROWS, class Real, class Vector>
CORELLA_INLINE void addProducts(const Part<Real, Vector> &part, int64_t plane, int64_t row, int64_t block) {
  const PairPlace<FORM> place = {part.end - part.first, PRODUCT_ROWS};
  const Own<Real> kept[2] = {{part.in, plane, part.row + row}, {part.in, plane, part.row + row + ROWS - 1}};
  const Factors<Real> own[2] = {kept[0].factors(), kept[1].factors()};
  eachColumn<ROWS, SIDE>(
      part, plane, row, [&](int64_t v, Vector(&rows)[ROWS][4], Vector(&columns)[4]) __attribute__((always_inline)) {
        Vector x[4];
        loadFour(x, part, plane, v);
#pragma GCC unroll 2
        for (int r = 0; r < ROWS; r++) {
          const float *a = part.panel + place.product(row + r, block, v - part.first) * COLUMNS;
#pragma GCC unroll 4
          for (int n = 0; n < 4; n++) {
            const int q = 2 * (n / 2), k = 2 * (n % 2);
            const Vector re = loadPairs<Vector>(a + 2 * n * COLUMNS), im = loadPairs<Vector>(a + (2 * n + 1) * COLUMNS);
            if constexpr (SIDE != Side::columns) {
              rows[r][q] += re * x[k];
              rows[r][q + 1] += re * x[k + 1];
              rows[r][q] -= im * x[k + 1];
              rows[r][q + 1] += im * x[k];
            }
            if constexpr (SIDE != Side::rows) {
              addBy(columns[k], re, own[r], q);
              addBy(columns[k + 1], re, own[r], q + 1);
              addBy(columns[k], im, own[r], q + 1);
              subtractBy(columns[k + 1], im, own[r], q);
            }
          }
        }
      });
}

/** H of an unpolarised or diagonal model, or any other Hermitian matrix, in four planes from this one on. */
template <ModelForm FORM, Side SIDE, int ROWS, class Real, class Vector>
CORELLA_INLINE void addPowers(const Part<Real, Vector> &part, int64_t plane, int64_t row) {
  const PairPlace<FORM> place = {part.end - part.first, PRODUCT_ROWS};
  const Own<Real> kept[4] = {{part.in, plane, part.row + row},
                             {part.in, plane, part.row + row + (ROWS > 1 ? 1 : 0)},
                             {part.in, plane, part.row + row + (ROWS > 1 ? 2 : 0)},
                             {part.in, plane, part.row + row + (ROWS > 1 ? 3 : 0)}};
  const Factors<Real> own[4] = {kept[0].factors(), kept[1].factors(), kept[2].factors(), kept[3].factors()};
  eachColumn<ROWS, SIDE>(
      part, plane, row, [&](int64_t v, Vector(&rows)[ROWS][4], Vector(&columns)[4]) __attribute__((always_inline)) {
        Vector h[4];
        loadFour(h, part, plane, v);
#pragma GCC unroll 4
        for (int r = 0; r < ROWS; r++) {
          const float *from = part.panel + place.power(row + r, v - part.first) * COLUMNS;
          const Vector first = loadPairs<Vector>(from);
          if constexpr (SIDE != Side::columns) rows[r][0] += first * h[0];
          if constexpr (SIDE != Side::rows) addBy(columns[0], first, own[r], 0);
          if constexpr (FORM == UNPOLARISED) {
#pragma GCC unroll 3
            for (int n = 1; n < 4; n++) {
              if constexpr (SIDE != Side::columns) rows[r][n] += first * h[n];
              if constexpr (SIDE != Side::rows) addBy(columns[n], first, own[r], n);
            }
          } else {
            const Vector second = loadPairs<Vector>(from + COLUMNS), re = loadPairs<Vector>(from + 2 * COLUMNS),
                         im = loadPairs<Vector>(from + 3 * COLUMNS);
            if constexpr (SIDE != Side::columns) {
              rows[r][1] += second * h[1];
              rows[r][2] += re * h[2];
              rows[r][2] -= im * h[3];
              rows[r][3] += re * h[3];
              rows[r][3] += im * h[2];
            }
            if constexpr (SIDE != Side::rows) {
              addBy(columns[1], second, own[r], 1);
              addBy(columns[2], re, own[r], 2);
              addBy(columns[2], im, own[r], 3);
              addBy(columns[3], re, own[r], 3);
              subtractBy(columns[3], im, own[r], 2);
            }
          }
        }
      });
}

/** Column P of N of a general model: rows += V (G_j Mᴴ), columns += Vᴴ (G_i M). */
template <int P, Side SIDE, class Real, class Vector>
CORELLA_INLINE void addGeneralProducts(const Part<Real, Vector> &part, int64_t row) {
  const PairPlace<GENERAL> place = {part.end - part.first, 1};
  const Own<Real> kept[2] = {{part.in, 0, part.row + row}, {part.in, 4, part.row + row}};
  const Factors<Real> own[2] = {kept[0].factors(), kept[1].factors()};
  eachColumn<1, SIDE>(
      part, 4 * P, row, [&](int64_t v, Vector(&rows)[1][4], Vector(&columns)[4]) __attribute__((always_inline)) {
        const float *from = part.panel + place.product(row, 0, v - part.first) * COLUMNS;
        Vector z[4], y[4];
#pragma GCC unroll 2
        for (int k = 0; k < 2; k++) {
          // M_Pk for the row, M_kP for the column
          if constexpr (SIDE != Side::columns) {
            const float *m = from + (8 + 4 * P + 2 * k) * COLUMNS;
            const Vector mRe = loadPairs<Vector>(m), mIm = loadPairs<Vector>(m + COLUMNS);
            Vector x[4];
            loadFour(x, part, 4 * k, v);
#pragma GCC unroll 2
            for (int q = 0; q < 4; q += 2) {
              z[q] = k == 0 ? x[q] * mRe : z[q] + x[q] * mRe;
              z[q + 1] = k == 0 ? x[q + 1] * mRe : z[q + 1] + x[q + 1] * mRe;
              z[q] += x[q + 1] * mIm;
              z[q + 1] -= x[q] * mIm;
            }
          }
          if constexpr (SIDE != Side::rows) {
            const float *w = from + (8 + 4 * k + 2 * P) * COLUMNS;
            const Vector wRe = loadPairs<Vector>(w), wIm = loadPairs<Vector>(w + COLUMNS);
#pragma GCC unroll 2
            for (int q = 0; q < 4; q += 2) {
              if (k == 0) {
                setBy(y[q], wRe, own[k], q);
                setBy(y[q + 1], wRe, own[k], q + 1);
              } else {
                addBy(y[q], wRe, own[k], q);
                addBy(y[q + 1], wRe, own[k], q + 1);
              }
              subtractBy(y[q], wIm, own[k], q + 1);
              addBy(y[q + 1], wIm, own[k], q);
            }
          }
        }
#pragma GCC unroll 4
        for (int n = 0; n < 4; n++) {
          const int q = 2 * (n / 2), k = 2 * (n % 2);
          const Vector re = loadPairs<Vector>(from + 2 * n * COLUMNS),
                       im = loadPairs<Vector>(from + (2 * n + 1) * COLUMNS);
          if constexpr (SIDE != Side::columns) {
            rows[0][q] += re * z[k];
            rows[0][q + 1] += re * z[k + 1];
            rows[0][q] -= im * z[k + 1];
            rows[0][q + 1] += im * z[k];
          }
          if constexpr (SIDE != Side::rows) {
            columns[k] += re * y[q];
            columns[k + 1] += re * y[q + 1];
            columns[k] += im * y[q + 1];
            columns[k + 1] -= im * y[q];
          }
        }
      });
}

/** The same of a general model: rows += L h of the columns, columns += Lᵀ h of the row. */
template <Side SIDE, class Real, class Vector>
CORELLA_INLINE void addGeneralPowers(const Part<Real, Vector> &part, int64_t plane, int64_t row) {
  const PairPlace<GENERAL> place = {part.end - part.first, 1};
  const Own<Real> kept(part.in, plane, part.row + row);
  const Factors<Real> own = kept.factors();
  eachColumn<1, SIDE>(
      part, plane, row, [&](int64_t v, Vector(&rows)[1][4], Vector(&columns)[4]) __attribute__((always_inline)) {
        const float *from = part.panel + place.power(row, v - part.first) * COLUMNS;
        Vector h[4];
        loadFour(h, part, plane, v);
#pragma GCC unroll 4
        for (int a = 0; a < 4; a++)
#pragma GCC unroll 4
          for (int b = 0; b < 4; b++) {
            const Vector l = loadPairs<Vector>(from + (4 * a + b) * COLUMNS);
            if constexpr (SIDE != Side::columns) rows[0][a] += l * h[b];
            if constexpr (SIDE != Side::rows) addBy(columns[b], l, own, a);
          }
      });
}

template <ModelForm FORM, Side SIDE, class Real, class Vector>
CORELLA_INLINE void addPart(const Part<Real, Vector> &part) {
  if constexpr (FORM == GENERAL) {
    for (int64_t row = 0; row < PANEL_ROWS; row++) {
      addGeneralProducts<0, SIDE>(part, row);
      addGeneralProducts<1, SIDE>(part, row);
      addGeneralPowers<SIDE>(part, GAIN_PLANES, row);
    }
  } else {
    for (int64_t row = 0; row < PANEL_ROWS; row += PRODUCT_ROWS) {
      addProducts<FORM, SIDE, PRODUCT_ROWS>(part, 0, row, 0);
      addProducts<FORM, SIDE, PRODUCT_ROWS>(part, 4, row, FORM == DIAGONAL ? 1 : 0);
    }
    for (int64_t row = 0; row < PANEL_ROWS; row += POWER_ROWS)
      addPowers<FORM, SIDE, POWER_ROWS>(part, GAIN_PLANES, row);
  }
}

/** Two Hermitian matrices a station, planes 0 … 3 and 4 … 7, of a general model: L is read once for both. */
template <class Real, class Vector>
CORELLA_INLINE void addTwoGeneralPowers(const Part<Real, Vector> &part, int64_t row) {
  const PairPlace<GENERAL> place = {part.end - part.first, 1};
  const Own<Real> kept[2] = {{part.in, 0, part.row + row}, {part.in, 4, part.row + row}};
  const Factors<Real> own[2] = {kept[0].factors(), kept[1].factors()};
  const int64_t stride = part.sums.stride;
  Vector rows[2][4];
#pragma GCC unroll 8
  for (int n = 0; n < 8; n++) rows[n / 4][n % 4] = part.rows[n][row];
  for (int64_t v = part.first; v < part.end; v++) {
    const float *from = part.panel + place.power(row, v - part.first) * COLUMNS;
    Real *const to = part.sums.first + v * COLUMNS + part.lane;
    askAhead(from);
    const Real *const in = part.in.first + v * COLUMNS + part.lane;
#pragma GCC unroll 4
    for (int b = 0; b < 4; b++) {
      const Vector h[2] = {loadVector<Vector>(in + b * part.in.stride),
                           loadVector<Vector>(in + (4 + b) * part.in.stride)};
      Vector columns[2] = {loadVector<Vector>(to + b * stride), loadVector<Vector>(to + (4 + b) * stride)};
#pragma GCC unroll 4
      for (int a = 0; a < 4; a++) {
        const Vector l = loadPairs<Vector>(from + (4 * a + b) * COLUMNS);
#pragma GCC unroll 2
        for (int one = 0; one < 2; one++) {
          rows[one][a] += l * h[one];
          addBy(columns[one], l, own[one], a);
        }
      }
      storeVector(to + b * stride, columns[0]);
      storeVector(to + (4 + b) * stride, columns[1]);
    }
  }
#pragma GCC unroll 8
  for (int n = 0; n < 8; n++) part.rows[n][row] = rows[n / 4][n % 4];
}

/** The same of any model, to rows and columns. */
template <ModelForm FORM, class Real, class Vector>
CORELLA_INLINE void addTwoPowers(const Part<Real, Vector> &part) {
  if constexpr (FORM == GENERAL && MANY_REGISTERS) {
    for (int64_t row = 0; row < PANEL_ROWS; row++) addTwoGeneralPowers(part, row);
  } else if constexpr (FORM == GENERAL) {
    for (int64_t row = 0; row < PANEL_ROWS; row++)
      for (int64_t plane = 0; plane < GAIN_PLANES; plane += 4) addGeneralPowers<Side::both>(part, plane, row);
  } else {
    for (int64_t plane = 0; plane < GAIN_PLANES; plane += 4)
      for (int64_t row = 0; row < PANEL_ROWS; row += POWER_ROWS)
        addPowers<FORM, Side::both, POWER_ROWS>(part, plane, row);
  }
}

/** Columns first … of panel `at`. */
template <ModelForm FORM, class Real, class Vector>
CORELLA_INLINE Part<Real, Vector> partAt(const PanelRange &range, int64_t at, int64_t first, int64_t vectors,
                                         StationPlanes<const Real> in, StationPlanes<Real> sums,
                                         Vector (*rows)[PANEL_ROWS], int64_t lane = 0) {
  const int64_t end = first + VECTORS_AT_ONCE < vectors ? first + VECTORS_AT_ONCE : vectors;
  const float *panel = range.panels + range.offsets[at] + first * PANEL_ROWS * PAIR_FLOATS[FORM] * COLUMNS + lane;
  return {panel, first, end, first, end, at * PANEL_ROWS, lane, in, sums, rows};
}
template <ModelForm FORM>
CORELLA_INLINE int64_t vectorsOf(const PanelRange &range, int64_t at) {
  return (range.offsets[at + 1] - range.offsets[at]) / (PAIR_FLOATS[FORM] * PANEL_ROWS * COLUMNS);
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella
