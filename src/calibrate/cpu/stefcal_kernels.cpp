// levels: portable avx2 avx512
#include "calibrate/cpu/stefcal_kernels.h"

#include "calibrate/cpu/stefcal_vectors.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** Twelve row sums, three column sums and the three inputs fill 32 registers. */
template <class Real, class Vector>
CORELLA_INLINE void addPanel(const float *panel, int64_t vectors, int64_t firstRow, StationPlanes<const Real> in,
                             StationPlanes<Real> sums) {
  const Real *xRe = in.first, *xIm = xRe + in.stride, *w = xIm + in.stride;
  Real *aRe = sums.first, *aIm = aRe + sums.stride, *b = aIm + sums.stride;
  Vector rowRe[PANEL_ROWS] = {}, rowIm[PANEL_ROWS] = {}, rowB[PANEL_ROWS] = {};
  const RowFactors<Real> rowsRe = rowFactors(xRe + firstRow), rowsIm = rowFactors(xIm + firstRow),
                         rowsW = rowFactors(w + firstRow);
  for (int64_t v = 0; v < vectors; v++) {
    const int64_t column = v * COLUMNS;
    const Vector jRe = loadVector<Vector>(xRe + column), jIm = loadVector<Vector>(xIm + column),
                 jW = loadVector<Vector>(w + column);
    Vector columnRe = loadVector<Vector>(aRe + column), columnIm = loadVector<Vector>(aIm + column),
           columnB = loadVector<Vector>(b + column);
#pragma GCC unroll 4
    for (int64_t row = 0; row < PANEL_ROWS; row++) {
      const Vector re = loadMatrix<Vector>(panel), im = loadMatrix<Vector>(panel + COLUMNS),
                   power = loadMatrix<Vector>(panel + 2 * COLUMNS);
      panel += 3 * COLUMNS;
      const Real iRe = rowsRe[row], iIm = rowsIm[row], iW = rowsW[row];
      rowRe[row] += re * jRe;
      rowRe[row] -= im * jIm;
      rowIm[row] += re * jIm;
      rowIm[row] += im * jRe;
      rowB[row] += power * jW;
      columnRe += re * iRe;
      columnRe += im * iIm;
      columnIm += re * iIm;
      columnIm -= im * iRe;
      columnB += power * iW;
    }
    storeVector(aRe + column, columnRe);
    storeVector(aIm + column, columnIm);
    storeVector(b + column, columnB);
  }
  addTotals(rowRe, aRe + firstRow);
  addTotals(rowIm, aIm + firstRow);
  addTotals(rowB, b + firstRow);
}

template <class Real, class Vector>
CORELLA_INLINE void addPanels(const PanelRange &range, StationPlanes<const Real> in, StationPlanes<Real> sums) {
  for (int64_t n = 0; n < range.end - range.first; n++) {
    const int64_t at = range.backwards ? range.end - 1 - n : range.first + n;
    const int64_t vectors = (range.offsets[at + 1] - range.offsets[at]) / (3 * PANEL_ROWS * COLUMNS);
    addPanel<Real, Vector>(range.panels + range.offsets[at], vectors, at * PANEL_ROWS, in, sums);
  }
}

void sweep(const PanelRange &range, StationPlanes<const float> in, StationPlanes<float> sums) {
  addPanels<float, Floats>(range, in, sums);
}

void sweepExactly(const PanelRange &range, StationPlanes<const double> in, StationPlanes<double> sums) {
  addPanels<double, WideDoubles>(range, in, sums);
}

Movement move(const Stations &stations, int64_t first, int64_t end) {
  const int64_t stride = stations.stride;
  Doubles change = {}, size = {}, distance = {};
  for (int64_t s = first; s < end; s += LANES<double>) {
    const auto load = [ s, stride ](const double *planes, int64_t plane) __attribute__((always_inline)) {
      return loadVector<Doubles>(planes + plane * stride + s);
    };
    Doubles sums[3];
#pragma GCC unroll 3
    for (int64_t plane = 0; plane < 3; plane++) {
      sums[plane] = load(stations.anchorSums, plane);
      for (int64_t part = 0; part < stations.parts; part++) {
        const float *from = stations.partial + (part * 3 + plane) * stride + s;
        sums[plane] += loadNarrow(from);
      }
    }
    const Doubles re = load(stations.gains, 0), im = load(stations.gains, 1);
    const Doubles ownRe = load(stations.diagonal, 0), ownIm = load(stations.diagonal, 1);
    const Doubles numeratorRe = sums[0] + ownRe * re - ownIm * im;
    const Doubles numeratorIm = sums[1] + ownRe * im + ownIm * re;
    const Doubles denominator = sums[2] + load(stations.diagonal, 2) * (re * re + im * im);
    const auto unknown = denominator == 0;
    const Doubles scale = stations.ratio / (unknown ? Doubles{} + 1 : denominator);
    Doubles nextRe = unknown ? re : numeratorRe * scale, nextIm = unknown ? im : numeratorIm * scale;
    if (stations.average) {
      nextRe = (nextRe + re) / 2;
      nextIm = (nextIm + im) / 2;
    }
    const Doubles awayRe = nextRe - load(stations.anchor, 0), awayIm = nextIm - load(stations.anchor, 1);
    const Doubles power = nextRe * nextRe + nextIm * nextIm;
    change += (nextRe - re) * (nextRe - re) + (nextIm - im) * (nextIm - im);
    size += power;
    distance += awayRe * awayRe + awayIm * awayIm;
    storeVector(stations.gains + s, nextRe);
    storeVector(stations.gains + stride + s, nextIm);
    storeNarrow(stations.distance + s, awayRe);
    storeNarrow(stations.distance + stride + s, awayIm);
    storeNarrow(stations.distance + 2 * stride + s, power - load(stations.anchor, 2));
  }
  return {total<double>(change), total<double>(size), total<double>(distance)};
}

}  // namespace

extern const StefcalKernels stefcalKernels = {COLUMNS, sweep, sweepExactly, move};

}  // namespace CORELLA_LEVEL
}  // namespace corella
