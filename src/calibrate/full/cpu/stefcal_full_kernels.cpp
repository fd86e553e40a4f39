// levels: portable avx2 avx512
#include "calibrate/full/cpu/stefcal_full_kernels.h"

#include "calibrate/cpu/stefcal_vectors.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** Below this part of d₀₀·d₁₁ the determinant of D is rounding (LEAST_DETERMINANT of full/plan.ts). */
constexpr double LEAST_DETERMINANT = 1e-12;

// Rows taken together: their sums, the column's and the column's gains are to stay in registers.
#if CORELLA_ARM || defined(__AVX512F__)
constexpr bool MANY_REGISTERS = true;
#else
constexpr bool MANY_REGISTERS = false;
#endif
template <class Real>
constexpr int PRODUCT_ROWS = MANY_REGISTERS && sizeof(Real) == sizeof(float) ? 2 : 1;
template <class Real>
constexpr int POWER_ROWS = MANY_REGISTERS && sizeof(Real) == sizeof(float) ? 4 : 1;

// Exact sums take one row at a time, wherever it lies.
constexpr int TOGETHER = PRODUCT_ROWS<float>;

/** Part of a panel: its columns, in vectors, and the sums of its rows, [plane][row] as vectors yet to be added up. */
template <class Real, class Vector>
struct Part {
  const float *panel;
  int64_t first, end;
  /** Station of row 0. */
  int64_t row;
  StationPlanes<const Real> in;
  StationPlanes<Real> sums;
  Vector (*rows)[PANEL_ROWS];
};

/** Four planes of a station, to multiply by. */
template <class Real>
struct Own {
  Real numbers[4];
  CORELLA_INLINE Own(StationPlanes<const Real> in, int64_t plane, int64_t station) {
    for (int64_t n = 0; n < 4; n++) numbers[n] = in.first[(plane + n) * in.stride + station];
  }
  CORELLA_INLINE RowFactors<Real> factors() const { return rowFactors(numbers); }
};

/** Rows' sums of four planes in registers, over all columns of a part; `use` adds one vector of columns. */
template <int ROWS, class Real, class Vector, class Use>
CORELLA_INLINE void eachColumn(const Part<Real, Vector> &part, int64_t plane, int64_t row, const Use &use) {
  Vector rows[ROWS][4];
#pragma GCC unroll 4
  for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 4
    for (int n = 0; n < 4; n++) rows[r][n] = part.rows[plane + n][row + r];
  for (int64_t v = part.first; v < part.end; v++) {
    Vector columns[4];
    Real *const to = part.sums.first + plane * part.sums.stride + v * COLUMNS;
#pragma GCC unroll 4
    for (int n = 0; n < 4; n++) columns[n] = loadVector<Vector>(to + n * part.sums.stride);
    use(v, rows, columns);
#pragma GCC unroll 4
    for (int n = 0; n < 4; n++) storeVector(to + n * part.sums.stride, columns[n]);
  }
#pragma GCC unroll 4
  for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 4
    for (int n = 0; n < 4; n++) part.rows[plane + n][row + r] = rows[r][n];
}

/** Four planes of a vector of columns. */
template <class Vector, class Real>
CORELLA_INLINE void loadFour(Vector (&x)[4], StationPlanes<const Real> in, int64_t plane, int64_t v) {
#pragma GCC unroll 4
  for (int n = 0; n < 4; n++) x[n] = loadVector<Vector>(in.first + (plane + n) * in.stride + v * COLUMNS);
}

/** One column of G: rows += A x of the columns, columns += Aᴴ x of the rows; A in this block of the pair's. */
template <ModelForm FORM, int ROWS, class Real, class Vector>
CORELLA_INLINE void addProducts(const Part<Real, Vector> &part, int64_t plane, int64_t row, int64_t block) {
  const PairPlace<FORM> place = {part.end - part.first, TOGETHER};
  const Own<Real> kept[2] = {{part.in, plane, part.row + row}, {part.in, plane, part.row + row + ROWS - 1}};
  const RowFactors<Real> own[2] = {kept[0].factors(), kept[1].factors()};
  eachColumn<ROWS>(
      part, plane, row, [&](int64_t v, Vector(&rows)[ROWS][4], Vector(&columns)[4]) __attribute__((always_inline)) {
        Vector x[4];
        loadFour(x, part.in, plane, v);
#pragma GCC unroll 2
        for (int r = 0; r < ROWS; r++) {
          const float *a = part.panel + place.product(row + r, block, v - part.first) * COLUMNS;
#pragma GCC unroll 4
          for (int n = 0; n < 4; n++) {
            const int q = 2 * (n / 2), k = 2 * (n % 2);
            const Vector re = loadMatrix<Vector>(a + 2 * n * COLUMNS),
                         im = loadMatrix<Vector>(a + (2 * n + 1) * COLUMNS);
            rows[r][q] += re * x[k];
            rows[r][q + 1] += re * x[k + 1];
            columns[k] += re * own[r][q];
            columns[k + 1] += re * own[r][q + 1];
            rows[r][q] -= im * x[k + 1];
            rows[r][q + 1] += im * x[k];
            columns[k] += im * own[r][q + 1];
            columns[k + 1] -= im * own[r][q];
          }
        }
      });
}

/** H of an unpolarised or diagonal model. */
template <ModelForm FORM, int ROWS, class Real, class Vector>
CORELLA_INLINE void addPowers(const Part<Real, Vector> &part, int64_t row) {
  const PairPlace<FORM> place = {part.end - part.first, TOGETHER};
  const Own<Real> kept[4] = {{part.in, GAIN_PLANES, part.row + row},
                             {part.in, GAIN_PLANES, part.row + row + (ROWS > 1 ? 1 : 0)},
                             {part.in, GAIN_PLANES, part.row + row + (ROWS > 1 ? 2 : 0)},
                             {part.in, GAIN_PLANES, part.row + row + (ROWS > 1 ? 3 : 0)}};
  const RowFactors<Real> own[4] = {kept[0].factors(), kept[1].factors(), kept[2].factors(), kept[3].factors()};
  eachColumn<ROWS>(
      part, GAIN_PLANES,
      row, [&](int64_t v, Vector(&rows)[ROWS][4], Vector(&columns)[4]) __attribute__((always_inline)) {
        Vector h[4];
        loadFour(h, part.in, GAIN_PLANES, v);
#pragma GCC unroll 4
        for (int r = 0; r < ROWS; r++) {
          const float *from = part.panel + place.power(row + r, v - part.first) * COLUMNS;
          const Vector first = loadMatrix<Vector>(from);
          rows[r][0] += first * h[0];
          columns[0] += first * own[r][0];
          if constexpr (FORM == UNPOLARISED) {
            rows[r][1] += first * h[1];
            rows[r][2] += first * h[2];
            rows[r][3] += first * h[3];
            columns[1] += first * own[r][1];
            columns[2] += first * own[r][2];
            columns[3] += first * own[r][3];
          } else {
            const Vector second = loadMatrix<Vector>(from + COLUMNS), re = loadMatrix<Vector>(from + 2 * COLUMNS),
                         im = loadMatrix<Vector>(from + 3 * COLUMNS);
            rows[r][1] += second * h[1];
            columns[1] += second * own[r][1];
            rows[r][2] += re * h[2];
            rows[r][2] -= im * h[3];
            rows[r][3] += re * h[3];
            rows[r][3] += im * h[2];
            columns[2] += re * own[r][2];
            columns[2] += im * own[r][3];
            columns[3] += re * own[r][3];
            columns[3] -= im * own[r][2];
          }
        }
      });
}

/** Column P of N of a general model: rows += V (G_j Mᴴ), columns += Vᴴ (G_i M). */
template <int P, class Real, class Vector>
CORELLA_INLINE void addGeneralProducts(const Part<Real, Vector> &part, int64_t row) {
  const PairPlace<GENERAL> place = {part.end - part.first, 1};
  const Own<Real> kept[2] = {{part.in, 0, part.row + row}, {part.in, 4, part.row + row}};
  const RowFactors<Real> own[2] = {kept[0].factors(), kept[1].factors()};
  eachColumn<1>(
      part, 4 * P, row, [&](int64_t v, Vector(&rows)[1][4], Vector(&columns)[4]) __attribute__((always_inline)) {
        const float *from = part.panel + place.product(row, 0, v - part.first) * COLUMNS;
        Vector z[4] = {}, y[4] = {};
#pragma GCC unroll 2
        for (int k = 0; k < 2; k++) {
          // M_Pk for the row, M_kP for the column
          const float *m = from + (8 + 4 * P + 2 * k) * COLUMNS, *w = from + (8 + 4 * k + 2 * P) * COLUMNS;
          const Vector mRe = loadMatrix<Vector>(m), mIm = loadMatrix<Vector>(m + COLUMNS);
          const Vector wRe = loadMatrix<Vector>(w), wIm = loadMatrix<Vector>(w + COLUMNS);
          Vector x[4];
          loadFour(x, part.in, 4 * k, v);
#pragma GCC unroll 2
          for (int q = 0; q < 4; q += 2) {
            z[q] += x[q] * mRe;
            z[q] += x[q + 1] * mIm;
            z[q + 1] += x[q + 1] * mRe;
            z[q + 1] -= x[q] * mIm;
            y[q] += wRe * own[k][q];
            y[q] -= wIm * own[k][q + 1];
            y[q + 1] += wIm * own[k][q];
            y[q + 1] += wRe * own[k][q + 1];
          }
        }
#pragma GCC unroll 4
        for (int n = 0; n < 4; n++) {
          const int q = 2 * (n / 2), k = 2 * (n % 2);
          const Vector re = loadMatrix<Vector>(from + 2 * n * COLUMNS),
                       im = loadMatrix<Vector>(from + (2 * n + 1) * COLUMNS);
          rows[0][q] += re * z[k];
          rows[0][q + 1] += re * z[k + 1];
          columns[k] += re * y[q];
          columns[k + 1] += re * y[q + 1];
          rows[0][q] -= im * z[k + 1];
          rows[0][q + 1] += im * z[k];
          columns[k] += im * y[q + 1];
          columns[k + 1] -= im * y[q];
        }
      });
}

/** H of a general model: rows += L h of the columns, columns += Lᵀ h of the row. */
template <class Real, class Vector>
CORELLA_INLINE void addGeneralPowers(const Part<Real, Vector> &part, int64_t row) {
  const PairPlace<GENERAL> place = {part.end - part.first, 1};
  const Own<Real> kept(part.in, GAIN_PLANES, part.row + row);
  const RowFactors<Real> own = kept.factors();
  eachColumn<1>(
      part, GAIN_PLANES, row, [&](int64_t v, Vector(&rows)[1][4], Vector(&columns)[4]) __attribute__((always_inline)) {
        const float *from = part.panel + place.power(row, v - part.first) * COLUMNS;
        Vector h[4];
        loadFour(h, part.in, GAIN_PLANES, v);
#pragma GCC unroll 4
        for (int a = 0; a < 4; a++)
#pragma GCC unroll 4
          for (int b = 0; b < 4; b++) {
            const Vector l = loadMatrix<Vector>(from + (4 * a + b) * COLUMNS);
            rows[0][a] += l * h[b];
            columns[b] += l * own[a];
          }
      });
}

template <ModelForm FORM, class Real, class Vector>
void addPanels(const PanelRange &range, StationPlanes<const Real> in, StationPlanes<Real> sums) {
  constexpr int64_t FLOATS = PAIR_FLOATS[FORM];
  for (int64_t n = 0; n < range.end - range.first; n++) {
    const int64_t at = range.backwards ? range.end - 1 - n : range.first + n;
    const int64_t vectors = (range.offsets[at + 1] - range.offsets[at]) / (FLOATS * PANEL_ROWS * COLUMNS);
    Vector rows[ALL_PLANES][PANEL_ROWS] = {};
    for (int64_t first = 0; first < vectors; first += VECTORS_AT_ONCE) {
      const int64_t end = first + VECTORS_AT_ONCE < vectors ? first + VECTORS_AT_ONCE : vectors;
      const Part<Real, Vector> part = {range.panels + range.offsets[at] + first * PANEL_ROWS * FLOATS * COLUMNS,
                                       first,
                                       end,
                                       at * PANEL_ROWS,
                                       in,
                                       sums,
                                       rows};
      if constexpr (FORM == GENERAL) {
        for (int64_t row = 0; row < PANEL_ROWS; row++) {
          addGeneralProducts<0>(part, row);
          addGeneralProducts<1>(part, row);
          addGeneralPowers(part, row);
        }
      } else {
        for (int64_t row = 0; row < PANEL_ROWS; row += PRODUCT_ROWS<Real>) {
          addProducts<FORM, PRODUCT_ROWS<Real>>(part, 0, row, 0);
          addProducts<FORM, PRODUCT_ROWS<Real>>(part, 4, row, FORM == DIAGONAL ? 1 : 0);
        }
        for (int64_t row = 0; row < PANEL_ROWS; row += POWER_ROWS<Real>) addPowers<FORM, POWER_ROWS<Real>>(part, row);
      }
    }
    for (int64_t plane = 0; plane < ALL_PLANES; plane++)
      addTotals(rows[plane], sums.first + plane * sums.stride + at * PANEL_ROWS);
  }
}

FullStep step(const FullStations &stations, int64_t first, int64_t end) {
  const int64_t stride = stations.stride;
  Doubles change = {}, size = {}, right[GAIN_PLANES] = {};
  for (int64_t s = first; s < end; s += LANES<double>) {
    Doubles sums[ALL_PLANES], was[GAIN_PLANES];
#pragma GCC unroll 12
    for (int64_t plane = 0; plane < ALL_PLANES; plane++) {
      sums[plane] = loadVector<Doubles>(stations.anchorSums + plane * stride + s);
      for (int64_t part = 0; part < stations.parts; part++)
        sums[plane] += loadNarrow(stations.partial + (part * ALL_PLANES + plane) * stride + s);
      if (stations.own) sums[plane] += loadVector<Doubles>(stations.own + plane * stride + s);
    }
#pragma GCC unroll 8
    for (int64_t plane = 0; plane < GAIN_PLANES; plane++)
      was[plane] = loadVector<Doubles>(stations.gains + plane * stride + s);
    const Doubles d00 = sums[8], d11 = sums[9], re = sums[10] * 0.70710678118654752,
                  im = sums[11] * 0.70710678118654752;
    const Doubles determinant = d00 * d11 - re * re - im * im;
    const auto known = determinant > LEAST_DETERMINANT * d00 * d11;
    const Doubles scale = stations.ratio / (known ? determinant : Doubles{} + 1);
#pragma GCC unroll 2
    for (int64_t q = 0; q < 4; q += 2) {
      // (n, m) of row q / 2 times [[d11, -d01], [-conj(d01), d00]]
      const Doubles nRe = sums[q], nIm = sums[q + 1], mRe = sums[4 + q], mIm = sums[5 + q];
      const Doubles next[4] = {(nRe * d11 - mRe * re - mIm * im) * scale, (nIm * d11 + mRe * im - mIm * re) * scale,
                               (mRe * d00 - nRe * re + nIm * im) * scale, (mIm * d00 - nRe * im - nIm * re) * scale};
#pragma GCC unroll 4
      for (int64_t n = 0; n < 4; n++) {
        const int64_t plane = 4 * (n / 2) + q + n % 2;
        const Doubles now = known ? next[n] : was[plane];
        change += (now - was[plane]) * (now - was[plane]);
        size += now * now;
        storeVector(stations.next + plane * stride + s, now);
      }
    }
    // Gᴴ times what N has beyond G D, row q of both at a time
#pragma GCC unroll 2
    for (int64_t q = 0; q < 4; q += 2) {
      const Doubles gRe = was[q], gIm = was[q + 1], fRe = was[4 + q], fIm = was[5 + q];
      const Doubles rest[4] = {sums[q] * stations.ratio - (gRe * d00 + fRe * re + fIm * im),
                               sums[q + 1] * stations.ratio - (gIm * d00 + fIm * re - fRe * im),
                               sums[4 + q] * stations.ratio - (fRe * d11 + gRe * re - gIm * im),
                               sums[5 + q] * stations.ratio - (fIm * d11 + gRe * im + gIm * re)};
#pragma GCC unroll 2
      for (int64_t c = 0; c < 4; c += 2) {
        right[2 * c] += gRe * rest[c] + gIm * rest[c + 1];
        right[2 * c + 1] += gRe * rest[c + 1] - gIm * rest[c];
        right[2 * c + 2] += fRe * rest[c] + fIm * rest[c + 1];
        right[2 * c + 3] += fRe * rest[c + 1] - fIm * rest[c];
      }
    }
  }
  FullStep found = {{total<double>(change), total<double>(size)}, {}};
  for (int64_t n = 0; n < GAIN_PLANES; n++) found.right[n] = total<double>(right[n]);
  return found;
}

FullMovement amend(int64_t stride, const double *gains, const double *u, double *next, int64_t first, int64_t end) {
  Doubles change = {}, size = {};
  for (int64_t s = first; s < end; s += LANES<double>)
#pragma GCC unroll 2
    for (int64_t q = 0; q < 4; q += 2) {
      Doubles was[4];
#pragma GCC unroll 4
      for (int64_t n = 0; n < 4; n++) was[n] = loadVector<Doubles>(gains + (4 * (n / 2) + q + n % 2) * stride + s);
#pragma GCC unroll 2
      for (int64_t c = 0; c < 2; c++) {
        // row q / 2 of G times column c of u
        const double *of = u + 4 * c;
        const Doubles more[2] = {was[0] * of[0] - was[1] * of[1] + was[2] * of[2] - was[3] * of[3],
                                 was[0] * of[1] + was[1] * of[0] + was[2] * of[3] + was[3] * of[2]};
#pragma GCC unroll 2
        for (int64_t n = 0; n < 2; n++) {
          double *to = next + (4 * c + q + n) * stride + s;
          const Doubles now = loadVector<Doubles>(to) + more[n];
          change += (now - was[2 * c + n]) * (now - was[2 * c + n]);
          size += now * now;
          storeVector(to, now);
        }
      }
    }
  return {total<double>(change), total<double>(size)};
}

double keepDistance(int64_t stride, const double *gains, const double *anchor, float *distance, int64_t first,
                    int64_t end) {
  Doubles squares = {};
  for (int64_t s = first; s < end; s += LANES<double>) {
    Doubles g[GAIN_PLANES];
#pragma GCC unroll 8
    for (int64_t plane = 0; plane < GAIN_PLANES; plane++) {
      g[plane] = loadVector<Doubles>(gains + plane * stride + s);
      const Doubles away = g[plane] - loadVector<Doubles>(anchor + plane * stride + s);
      squares += away * away;
      storeNarrow(distance + plane * stride + s, away);
    }
    const Doubles h[4] = {g[0] * g[0] + g[1] * g[1] + g[2] * g[2] + g[3] * g[3],
                          g[4] * g[4] + g[5] * g[5] + g[6] * g[6] + g[7] * g[7],
                          (g[0] * g[4] + g[1] * g[5] + g[2] * g[6] + g[3] * g[7]) * 1.41421356237309505,
                          (g[0] * g[5] - g[1] * g[4] + g[2] * g[7] - g[3] * g[6]) * 1.41421356237309505};
#pragma GCC unroll 4
    for (int64_t n = 0; n < 4; n++)
      storeNarrow(distance + (GAIN_PLANES + n) * stride + s,
                  h[n] - loadVector<Doubles>(anchor + (GAIN_PLANES + n) * stride + s));
  }
  return total<double>(squares);
}

}  // namespace

extern const FullKernels fullKernels = {
    COLUMNS,
    TOGETHER,
    {addPanels<UNPOLARISED, float, Floats>, addPanels<DIAGONAL, float, Floats>, addPanels<GENERAL, float, Floats>},
    {addPanels<UNPOLARISED, double, WideDoubles>, addPanels<DIAGONAL, double, WideDoubles>,
     addPanels<GENERAL, double, WideDoubles>},
    step,
    amend,
    keepDistance};

}  // namespace CORELLA_LEVEL
}  // namespace corella
