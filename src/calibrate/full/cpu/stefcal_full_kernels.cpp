// levels: portable avx2 avx512
#include "calibrate/full/cpu/stefcal_full_kernels.h"

#include "calibrate/full/cpu/full_parts.h"
#include "calibrate/full/cpu/common_sums.h"
#include "calibrate/full/cpu/load_kernels.h"
#include "calibrate/full/cpu/newton_kernels.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** Below this fraction of d₀₀·d₁₁ the determinant of D is rounding (LEAST_DETERMINANT of full/plan.ts). */
constexpr double LEAST_DETERMINANT = 1e-12;

CORELLA_INLINE void addTotals(const Doubles *rows, double *sums) {
  for (int64_t row = 0; row < PANEL_ROWS; row++) sums[row] += total<double>(rows[row]);
}

template <ModelForm FORM, class Real, class Vector>
void addPanels(const PanelRange &range, StationPlanes<const Real> in, StationPlanes<Real> sums) {
  for (int64_t n = 0; n < range.end - range.first; n++) {
    const int64_t at = range.backwards ? range.end - 1 - n : range.first + n;
    const int64_t vectors = vectorsOf<FORM>(range, at);
    Vector rows[ALL_PLANES][PANEL_ROWS] = {};
    for (int64_t first = 0; first < vectors; first += VECTORS_AT_ONCE)
      for (int64_t lane = 0; lane < COLUMNS; lane += LANES<Real>)
        addPart<FORM, Side::both>(partAt<FORM>(range, at, first, vectors, in, sums, rows, lane));
    for (int64_t plane = 0; plane < ALL_PLANES; plane++)
      addTotals(rows[plane], sums.first + plane * sums.stride + at * PANEL_ROWS);
  }
}

template <ModelForm FORM>
void addExtension(const PanelRange &range, int64_t columns, StationPlanes<const float> in, StationPlanes<float> sums) {
  const int64_t wanted = columns / COLUMNS, begin = columns / PANEL_ROWS;
  for (int64_t at = range.first > begin ? range.first : begin; at < range.end; at++) {
    const int64_t vectors = vectorsOf<FORM>(range, at);
    Floats rows[ALL_PLANES][PANEL_ROWS] = {};
    for (int64_t first = 0; first < wanted; first += VECTORS_AT_ONCE) {
      Part<float, Floats> part = partAt<FORM>(range, at, first, vectors, in, sums, rows);
      if (part.upTo > wanted) part.upTo = wanted;
      addPart<FORM, Side::rows>(part);
    }
    for (int64_t plane = 0; plane < ALL_PLANES; plane++)
      addTotals(rows[plane], sums.first + plane * sums.stride + at * PANEL_ROWS);
  }
}

typedef double FourDoubles __attribute__((vector_size(4 * sizeof(double))));
typedef float FourFloats __attribute__((vector_size(4 * sizeof(float))));

/**
 * N D⁻¹ of a panel's stations from their sums, and its distance from the anchor; gains unchanged where D has no
 * inverse.
 */
CORELLA_INLINE void stepPanel(const FullTurn &turn, int64_t s, FourDoubles &change, FourDoubles &size) {
  const int64_t stride = turn.stride;
  FourDoubles sum[ALL_PLANES], g[GAIN_PLANES], was[GAIN_PLANES];
#pragma GCC unroll 12
  for (int64_t plane = 0; plane < ALL_PLANES; plane++) {
    sum[plane] = loadVector<FourDoubles>(turn.anchorSums + plane * stride + s) +
                 __builtin_convertvector(loadVector<FourFloats>(turn.sums + plane * stride + s), FourDoubles);
    if (turn.own) sum[plane] += loadVector<FourDoubles>(turn.own + plane * stride + s);
  }
  const FourDoubles d00 = sum[8], d11 = sum[9], re = sum[10] * 0.70710678118654752, im = sum[11] * 0.70710678118654752;
  const FourDoubles determinant = d00 * d11 - re * re - im * im;
  const auto known = determinant > LEAST_DETERMINANT * d00 * d11;
  const FourDoubles scale = turn.ratio / (known ? determinant : FourDoubles{} + 1);
#pragma GCC unroll 2
  for (int64_t q = 0; q < 4; q += 2) {
    // (n, m) of row q / 2 times [[d11, -d01], [-conj(d01), d00]]
    const FourDoubles nRe = sum[q], nIm = sum[q + 1], mRe = sum[4 + q], mIm = sum[5 + q];
    g[q] = (nRe * d11 - mRe * re - mIm * im) * scale;
    g[q + 1] = (nIm * d11 + mRe * im - mIm * re) * scale;
    g[4 + q] = (mRe * d00 - nRe * re + nIm * im) * scale;
    g[5 + q] = (mIm * d00 - nRe * im - nIm * re) * scale;
  }
#pragma GCC unroll 8
  for (int64_t plane = 0; plane < GAIN_PLANES; plane++) {
    was[plane] = loadVector<FourDoubles>(turn.gains + plane * stride + s);
    g[plane] = known ? g[plane] : was[plane];
    change += (g[plane] - was[plane]) * (g[plane] - was[plane]);
    size += g[plane] * g[plane];
    storeVector(turn.next + plane * stride + s, g[plane]);
    const FourDoubles away = g[plane] - loadVector<FourDoubles>(turn.anchor + plane * stride + s);
    storeVector(turn.distance + plane * stride + s, __builtin_convertvector(away, FourFloats));
  }
  const FourDoubles h[4] = {g[0] * g[0] + g[1] * g[1] + g[2] * g[2] + g[3] * g[3],
                            g[4] * g[4] + g[5] * g[5] + g[6] * g[6] + g[7] * g[7],
                            (g[0] * g[4] + g[1] * g[5] + g[2] * g[6] + g[3] * g[7]) * 1.41421356237309505,
                            (g[0] * g[5] - g[1] * g[4] + g[2] * g[7] - g[3] * g[6]) * 1.41421356237309505};
#pragma GCC unroll 4
  for (int64_t n = 0; n < 4; n++) {
    const int64_t at = (GAIN_PLANES + n) * stride + s;
    const FourDoubles away = h[n] - loadVector<FourDoubles>(turn.anchor + at);
    storeVector(turn.distance + at, __builtin_convertvector(away, FourFloats));
  }
}

// A panel's rows use the old gains of the columns before them and, from its column of later panels, the new gains of
// those after them; then its own columns get the contribution of its new gains.
template <ModelForm FORM>
FullMovement addInTurn(const PanelRange &range, const FullTurn &turn) {
  const StationPlanes<const float> in = {turn.distance, turn.stride};
  const StationPlanes<float> sums = {turn.sums, turn.stride};
  static_assert(PANEL_ROWS == 4, "stepPanel");
  FourDoubles change = {}, size = {};
  for (int64_t at = range.end - 1; at >= range.first; at--) {
    const int64_t vectors = vectorsOf<FORM>(range, at), last = (vectors - 1) * COLUMNS;
    Floats rows[ALL_PLANES][PANEL_ROWS] = {}, kept[ALL_PLANES];
    for (int64_t first = 0; first < vectors; first += VECTORS_AT_ONCE)
      addPart<FORM, Side::rows>(partAt<FORM>(range, at, first, vectors, in, sums, rows));
    // Its four stations among themselves, with their old gains: their columns are in its last vector, with others
    // beside them.
    for (int64_t plane = 0; plane < ALL_PLANES; plane++)
      kept[plane] = loadVector<Floats>(sums.first + plane * sums.stride + last);
    const int64_t lastPart = (vectors - 1) / VECTORS_AT_ONCE * VECTORS_AT_ONCE;
    Part<float, Floats> among = partAt<FORM>(range, at, lastPart, vectors, in, sums, rows);
    among.from = vectors - 1;
    addPart<FORM, Side::columns>(among);
    for (int64_t plane = 0; plane < ALL_PLANES; plane++)
      addTotals(rows[plane], sums.first + plane * sums.stride + at * PANEL_ROWS);
    stepPanel(turn, at * PANEL_ROWS, change, size);
    for (int64_t plane = 0; plane < ALL_PLANES; plane++)
      storeVector(sums.first + plane * sums.stride + last, kept[plane]);
    for (int64_t first = 0; first < vectors; first += VECTORS_AT_ONCE)
      addPart<FORM, Side::columns>(partAt<FORM>(range, at, first, vectors, in, sums, rows));
  }
  return {change[0] + change[1] + change[2] + change[3], size[0] + size[1] + size[2] + size[3]};
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
        sums[plane] += loadWidened(stations.partial + (part * ALL_PLANES + plane) * stride + s);
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
    if (stations.powers) {
      const Doubles d[4] = {d00, d11, re, im}, i[4] = {d11, d00, -re, -im};
#pragma GCC unroll 4
      for (int64_t n = 0; n < 4; n++) {
        storeVector(stations.powers + n * stride + s, known ? d[n] : Doubles{});
        storeVector(stations.inverses + n * stride + s, known ? i[n] / determinant : Doubles{});
      }
    }
    // Gᴴ (N − G D), row q of both at a time
#pragma GCC unroll 2
    for (int64_t q = 0; q < 4; q += 2) {
      const Doubles gRe = was[q], gIm = was[q + 1], fRe = was[4 + q], fIm = was[5 + q];
      const Doubles rest[4] = {sums[q] * stations.ratio - (gRe * d00 + fRe * re + fIm * im),
                               sums[q + 1] * stations.ratio - (gIm * d00 + fIm * re - fRe * im),
                               sums[4 + q] * stations.ratio - (fRe * d11 + gRe * re - gIm * im),
                               sums[5 + q] * stations.ratio - (fIm * d11 + gRe * im + gIm * re)};
      if (stations.rest) {
#pragma GCC unroll 4
        for (int64_t n = 0; n < 4; n++)
          storeVector(stations.rest + (4 * (n / 2) + q + n % 2) * stride + s, known ? rest[n] : Doubles{});
      }
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
      storeNarrowed(distance + plane * stride + s, away);
    }
    const Doubles h[4] = {g[0] * g[0] + g[1] * g[1] + g[2] * g[2] + g[3] * g[3],
                          g[4] * g[4] + g[5] * g[5] + g[6] * g[6] + g[7] * g[7],
                          (g[0] * g[4] + g[1] * g[5] + g[2] * g[6] + g[3] * g[7]) * 1.41421356237309505,
                          (g[0] * g[5] - g[1] * g[4] + g[2] * g[7] - g[3] * g[6]) * 1.41421356237309505};
#pragma GCC unroll 4
    for (int64_t n = 0; n < 4; n++)
      storeNarrowed(distance + (GAIN_PLANES + n) * stride + s,
                    h[n] - loadVector<Doubles>(anchor + (GAIN_PLANES + n) * stride + s));
  }
  return total<double>(squares);
}

}  // namespace

extern const FullKernels fullKernels = {
    COLUMNS,
    PRODUCT_ROWS,
    {addPanels<UNPOLARISED, float, Floats>, addPanels<DIAGONAL, float, Floats>, addPanels<GENERAL, float, Floats>},
    {addPanels<UNPOLARISED, double, Doubles>, addPanels<DIAGONAL, double, Doubles>,
     addPanels<GENERAL, double, Doubles>},
    {addExtension<UNPOLARISED>, addExtension<DIAGONAL>, addExtension<GENERAL>},
    {addInTurn<UNPOLARISED>, addInTurn<DIAGONAL>},
    {nullptr, sumDiagonal, sumGeneral},
    step,
    amend,
    keepDistance,
    &newtonKernels,
    &loadKernels};

}  // namespace CORELLA_LEVEL
}  // namespace corella
