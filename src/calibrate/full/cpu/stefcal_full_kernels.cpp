// levels: portable avx2 avx512
#include "calibrate/full/cpu/stefcal_full_kernels.h"

#include "calibrate/full/cpu/full_parts.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** Below this part of d₀₀·d₁₁ the determinant of D is rounding (LEAST_DETERMINANT of full/plan.ts). */
constexpr double LEAST_DETERMINANT = 1e-12;

template <ModelForm FORM, class Real, class Vector>
void addPanels(const PanelRange &range, StationPlanes<const Real> in, StationPlanes<Real> sums) {
  for (int64_t n = 0; n < range.end - range.first; n++) {
    const int64_t at = range.backwards ? range.end - 1 - n : range.first + n;
    const int64_t vectors = vectorsOf<FORM>(range, at);
    Vector rows[ALL_PLANES][PANEL_ROWS] = {};
    for (int64_t first = 0; first < vectors; first += VECTORS_AT_ONCE)
      addPart<FORM, Side::both>(partAt<FORM>(range, at, first, vectors, in, sums, rows));
    for (int64_t plane = 0; plane < ALL_PLANES; plane++)
      addTotals(rows[plane], sums.first + plane * sums.stride + at * PANEL_ROWS);
  }
}

/** One station's N D⁻¹ from its sums, and how far it is from the anchor; the gain as it is where D has no inverse. */
CORELLA_INLINE void stepOne(const FullTurn &turn, int64_t s, FullMovement &movement) {
  const int64_t stride = turn.stride;
  double sum[ALL_PLANES], g[GAIN_PLANES], was[GAIN_PLANES];
  for (int64_t plane = 0; plane < ALL_PLANES; plane++)
    sum[plane] = turn.anchorSums[plane * stride + s] + static_cast<double>(turn.sums[plane * stride + s]) +
                 (turn.own ? turn.own[plane * stride + s] : 0);
  for (int64_t plane = 0; plane < GAIN_PLANES; plane++) g[plane] = was[plane] = turn.gains[plane * stride + s];
  const double d00 = sum[8], d11 = sum[9], re = sum[10] * 0.70710678118654752, im = sum[11] * 0.70710678118654752;
  const double determinant = d00 * d11 - re * re - im * im;
  if (determinant > LEAST_DETERMINANT * d00 * d11) {
    const double scale = turn.ratio / determinant;
    for (int64_t q = 0; q < 4; q += 2) {
      const double nRe = sum[q], nIm = sum[q + 1], mRe = sum[4 + q], mIm = sum[5 + q];
      g[q] = (nRe * d11 - mRe * re - mIm * im) * scale;
      g[q + 1] = (nIm * d11 + mRe * im - mIm * re) * scale;
      g[4 + q] = (mRe * d00 - nRe * re + nIm * im) * scale;
      g[5 + q] = (mIm * d00 - nRe * im - nIm * re) * scale;
    }
  }
  for (int64_t plane = 0; plane < GAIN_PLANES; plane++) {
    movement.change += (g[plane] - was[plane]) * (g[plane] - was[plane]);
    movement.size += g[plane] * g[plane];
    turn.next[plane * stride + s] = g[plane];
    turn.distance[plane * stride + s] = static_cast<float>(g[plane] - turn.anchor[plane * stride + s]);
  }
  const double h[4] = {g[0] * g[0] + g[1] * g[1] + g[2] * g[2] + g[3] * g[3],
                       g[4] * g[4] + g[5] * g[5] + g[6] * g[6] + g[7] * g[7],
                       (g[0] * g[4] + g[1] * g[5] + g[2] * g[6] + g[3] * g[7]) * 1.41421356237309505,
                       (g[0] * g[5] - g[1] * g[4] + g[2] * g[7] - g[3] * g[6]) * 1.41421356237309505};
  for (int64_t n = 0; n < 4; n++)
    turn.distance[(GAIN_PLANES + n) * stride + s] =
        static_cast<float>(h[n] - turn.anchor[(GAIN_PLANES + n) * stride + s]);
}

// A panel's rows take the columns before them as they were and, from its column of later panels, those after them as they
// are now; then its own columns get what its new gains make of them.
template <ModelForm FORM>
FullMovement addInTurn(const PanelRange &range, const FullTurn &turn) {
  const StationPlanes<const float> in = {turn.distance, turn.stride};
  const StationPlanes<float> sums = {turn.sums, turn.stride};
  FullMovement movement = {0, 0};
  for (int64_t at = range.end - 1; at >= range.first; at--) {
    const int64_t vectors = vectorsOf<FORM>(range, at), last = (vectors - 1) * COLUMNS;
    Floats rows[ALL_PLANES][PANEL_ROWS] = {}, kept[ALL_PLANES];
    for (int64_t first = 0; first < vectors; first += VECTORS_AT_ONCE)
      addPart<FORM, Side::rows>(partAt<FORM>(range, at, first, vectors, in, sums, rows));
    // Its four stations among themselves, all as they were: their columns lie in its last vector, with others beside them.
    for (int64_t plane = 0; plane < ALL_PLANES; plane++)
      kept[plane] = loadVector<Floats>(sums.first + plane * sums.stride + last);
    const int64_t lastPart = (vectors - 1) / VECTORS_AT_ONCE * VECTORS_AT_ONCE;
    Part<float, Floats> among = partAt<FORM>(range, at, lastPart, vectors, in, sums, rows);
    among.from = vectors - 1;
    addPart<FORM, Side::columns>(among);
    for (int64_t plane = 0; plane < ALL_PLANES; plane++)
      addTotals(rows[plane], sums.first + plane * sums.stride + at * PANEL_ROWS);
    for (int64_t s = at * PANEL_ROWS; s < (at + 1) * PANEL_ROWS; s++) stepOne(turn, s, movement);
    for (int64_t plane = 0; plane < ALL_PLANES; plane++)
      storeVector(sums.first + plane * sums.stride + last, kept[plane]);
    for (int64_t first = 0; first < vectors; first += VECTORS_AT_ONCE)
      addPart<FORM, Side::columns>(partAt<FORM>(range, at, first, vectors, in, sums, rows));
  }
  return movement;
}

/** Of a panel's rows, a general model's: [row][ab][ec] of (M H_j)_ab conj(M_ec) over all columns, re and im. */
void sumCommon(const PanelRange &range, int64_t at, StationPlanes<const float> hs, double (*out)[PANEL_ROWS][32]) {
  const int64_t vectors = vectorsOf<GENERAL>(range, at);
  for (int64_t row = 0; row < PANEL_ROWS; row++)
    for (int64_t n = 0; n < 32; n++) (*out)[row][n] = 0;
  for (int64_t first = 0; first < vectors; first += VECTORS_AT_ONCE) {
    const int64_t end = first + VECTORS_AT_ONCE < vectors ? first + VECTORS_AT_ONCE : vectors;
    const PairPlace<GENERAL> place = {end - first, 1};
    const float *part = range.panels + range.offsets[at] + first * PANEL_ROWS * PAIR_FLOATS[GENERAL] * COLUMNS;
    for (int64_t row = 0; row < PANEL_ROWS; row++)
      for (int64_t ab = 0; ab < 4; ab++) {
        // Float32 over a part alone: its rounding is another in each, and small beside what counts as none (common_modes.cpp).
        Floats sums[8] = {};
        for (int64_t v = first; v < end; v++) {
          const float *m = part + (place.product(row, 0, v - first) + 8) * COLUMNS, *h = hs.first + v * COLUMNS;
          const float *left = m + 4 * (ab / 2) * COLUMNS;
          const Floats a = loadVector<Floats>(left), b = loadVector<Floats>(left + COLUMNS),
                       c = loadVector<Floats>(left + 2 * COLUMNS), d = loadVector<Floats>(left + 3 * COLUMNS);
          const Floats re = loadVector<Floats>(h + 2 * hs.stride), im = loadVector<Floats>(h + 3 * hs.stride);
          Floats x, y;
          if (ab % 2 == 0) {  // M_a0 H_00 + M_a1 conj(H_01)
            const Floats power = loadVector<Floats>(h);
            x = a * power + c * re + d * im, y = b * power + d * re - c * im;
          } else {  // M_a0 H_01 + M_a1 H_11
            const Floats power = loadVector<Floats>(h + hs.stride);
            x = a * re - b * im + c * power, y = a * im + b * re + d * power;
          }
#pragma GCC unroll 4
          for (int ec = 0; ec < 4; ec++) {
            const Floats p = loadVector<Floats>(m + 2 * ec * COLUMNS),
                         q = loadVector<Floats>(m + (2 * ec + 1) * COLUMNS);
            sums[2 * ec] += x * p + y * q;
            sums[2 * ec + 1] += y * p - x * q;
          }
        }
        for (int64_t n = 0; n < 8; n++) (*out)[row][8 * ab + n] += static_cast<double>(total<float>(sums[n]));
      }
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
    {addInTurn<UNPOLARISED>, addInTurn<DIAGONAL>},
    sumCommon,
    step,
    amend,
    keepDistance};

}  // namespace CORELLA_LEVEL
}  // namespace corella
